#include "changes/worktree.h"

#include <gtest/gtest.h>

#include "changes/repo_test.h"

namespace errand::changes {
namespace {

TEST(Worktree, WordsOfABranchArePlain) {
  EXPECT_EQ(slug("Fix the *failing* test!"), "fix-the-failing-test");
  EXPECT_EQ(slug("../..; rm -rf"), "rm-rf");
  EXPECT_EQ(slug("日本"), "task");
  EXPECT_LE(slug(std::string(200, 'a')).size(), 40u);
}

TEST(Worktree, IsolationLeavesTheUsersTreeAsItWas) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.write(".gitignore", ".env\nout\n");
  repo.write(".worktreeinclude", ".env\na\n");
  repo.commit();
  repo.write("a", "dirty\n");
  repo.write(".env", "secret\n");
  repo.write("out", "o\n");
  repo.sh("git status");
  const std::string before = repo.user_state();
  const std::string config = repo.read(".git/config");
  const std::string tree = repo.isolate();
  EXPECT_EQ(file_text(tree + "/a"), "1\n");
  EXPECT_EQ(file_text(tree + "/.env"), "secret\n");
  EXPECT_FALSE(std::filesystem::exists(tree + "/out"));
  EXPECT_EQ(repo.sh("git status --porcelain", tree), "");
  EXPECT_EQ(repo.read(".git/config"), config);
  EXPECT_TRUE(repo.record().branch.ends_with("-fix-it"));
  std::ofstream(tree + "/new") << "n\n";
  EXPECT_TRUE(repo.carry_out("list").contains("\"path\":\"new\""));
  EXPECT_TRUE(repo.carry_out("discard").contains("discarded"));
  EXPECT_FALSE(std::filesystem::exists(tree));
  EXPECT_EQ(repo.user_state(), before);
  EXPECT_TRUE(repo.carry_out("restore").contains("\"state\":\"ready\""));
  EXPECT_EQ(file_text(tree + "/new"), "n\n");
  EXPECT_EQ(file_text(tree + "/a"), "1\n");
}

TEST(Worktree, UncommittedWorkIsCarriedWhereThatIsAsked) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  repo.write("a", "dirty\n");
  repo.write("new", "n\n");
  const std::string tree = repo.isolate(true);
  EXPECT_EQ(file_text(tree + "/a"), "dirty\n");
  EXPECT_EQ(repo.sh("git status --porcelain", tree), " M a\n?? new\n");
  EXPECT_TRUE(repo.carry_out("list").contains("\"files_total\":0"));
}

TEST(Worktree, WhatWasBegunAndKilledIsMadeAnew) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  const std::string tree = repo.isolate();
  Record record = repo.record();
  record.state = "preparing";  // As a kill in the middle leaves it, with half of the files.
  ASSERT_TRUE(write_record(repo.data(), record));
  std::filesystem::remove(tree + "/a");
  EXPECT_EQ(repo.isolate(), tree);
  EXPECT_EQ(file_text(tree + "/a"), "1\n");
  EXPECT_EQ(repo.sh("git worktree list | wc -l"), "2\n");
  EXPECT_EQ(repo.sh("git branch --list 'errand/*' | wc -l"), "1\n");
}

TEST(Worktree, WhatCannotBeIsolatedIsRefusedInASentence) {
  const TestRepo plain;
  plain.sh("rm -rf .git");
  Order begin = plain.order("begin");
  begin.isolate = true;
  const std::string answer = carry_out(begin);
  EXPECT_TRUE(answer.contains("\"reason\":\"isolation\"")) << answer;
  EXPECT_TRUE(answer.contains("git init")) << answer;
  const TestRepo empty;  // No commit yet: works.
  empty.write("a", "1\n");
  EXPECT_EQ(file_text(empty.isolate() + "/a"), "1\n");
  const TestRepo taken;  // The branch `errand` exists: another prefix.
  taken.write("a", "1\n");
  taken.commit();
  taken.sh("git branch errand");
  taken.isolate();
  EXPECT_TRUE(taken.record().branch.starts_with("errand-tasks/"));
}

TEST(Worktree, ARemovedTaskTakesOnlyWhatNobodyMisses) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  const std::string tree = repo.isolate();
  std::ofstream(tree + "/only-untracked") << "n\n";
  repo.carry_out("forget");
  EXPECT_TRUE(std::filesystem::exists(tree + "/only-untracked"));
  const TestRepo unused;
  unused.write("a", "1\n");
  unused.commit();
  const std::string clean = unused.isolate();
  unused.carry_out("forget");
  EXPECT_FALSE(std::filesystem::exists(clean));
  EXPECT_EQ(unused.sh("git branch --list 'errand/*'"), "");
}

TEST(Worktree, WhatOnlyRemovedTasksNeededGoesFromTheStore) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  Order other = repo.order("begin");
  other.task = "task_02";
  repo.write("kept", "only of the second\n");
  carry_out(other);
  repo.sh("rm kept && echo only of the first >gone");
  repo.carry_out("begin");
  repo.carry_out("finish");
  const std::string store = repo.record().store;
  const std::string gone = repo.sh("git hash-object gone"),
                    kept = repo.sh("echo only of the second | git hash-object --stdin");
  const auto has = [&](const std::string& blob) {
    return repo.sh("git --git-dir='" + store + "' cat-file -e " + blob.substr(0, blob.size() - 1) +
                   " && echo yes || echo no") == "yes\n";
  };
  ASSERT_TRUE(has(gone) && has(kept));
  // As if it had been made long ago.
  repo.sh("find '" + store + "/objects' -type f -exec touch -d '3 hours ago' {} +");
  repo.carry_out("forget");
  EXPECT_FALSE(has(gone));
  EXPECT_TRUE(has(kept));
  other.order = "list";
  EXPECT_TRUE(carry_out(other).contains("\"path\":\"kept\"")) << "the other task's start is whole";
}

TEST(Worktree, ADeletedOneIsLostAndItsPatchOpens) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  const std::string tree = repo.isolate();
  std::ofstream(tree + "/a") << "2\n";
  repo.carry_out("finish");
  std::filesystem::remove_all(tree);
  repo.sh("git worktree list && git gc -q --prune=now");
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"lost\""));
  EXPECT_TRUE(repo.carry_out("list").contains("\"path\":\"a\""));
  EXPECT_TRUE(repo.carry_out("restore").contains("\"state\":\"ready\""));
  EXPECT_EQ(file_text(tree + "/a"), "2\n");
}

TEST(Worktree, ASandboxedTaskHasACloneThatTouchesNothingOfTheUsersAndIsMergedLikeAnyOther) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  repo.sh("git tag v1 && git branch other && git config core.hooksPath evil && git config alias.x '!touch ran'");
  const std::string before = repo.user_state();
  Order begin = repo.order("begin");
  begin.isolate = begin.sandboxed = true;
  ASSERT_TRUE(carry_out(begin).contains("\"kind\":\"clone\""));
  const Record record = repo.record();
  const std::string tree = record.path;
  EXPECT_EQ(repo.sh("git status --porcelain && git rev-parse --git-common-dir", tree), ".git\n");
  EXPECT_EQ(repo.sh("git for-each-ref --format='%(refname)' refs/tags refs/remotes", tree),
            "refs/remotes/origin/main\nrefs/remotes/origin/other\nrefs/tags/v1\n");
  EXPECT_FALSE(file_text(tree + "/.git/config").contains("evil")) << "nothing of the user's configuration";
  EXPECT_TRUE(std::filesystem::exists(tree + "/.git/hooks")) << "or the sandbox could not shield it";
  // Commits and files; whoever works there knows its author.
  repo.sh("echo 2 >>a && git commit -q -a -m own && echo u >untracked && git log -1 --format=%an", tree);
  EXPECT_EQ(repo.user_state(), before);
  EXPECT_TRUE(repo.carry_out("list").contains("\"files_total\":2"));
  EXPECT_TRUE(repo.carry_out("finish").contains("\"state\":\"final\""));
  EXPECT_TRUE(repo.carry_out("discard").contains("discarded"));
  EXPECT_FALSE(std::filesystem::exists(tree));
  EXPECT_EQ(repo.user_state(), before);
  EXPECT_TRUE(repo.carry_out("restore").contains("\"state\":\"ready\""));
  EXPECT_EQ(repo.sh("git log -1 --format=%s && cat untracked", tree), "own\nu\n");
  EXPECT_TRUE(repo.merge("merge").contains("\"state\":\"merged\""));
  EXPECT_EQ(repo.read("a"), "1\n2\n");
  EXPECT_EQ(repo.read("untracked"), "u\n");
  EXPECT_TRUE(repo.sh("git log --format=%s").contains("own")) << "its commits are the history of the merge";
  repo.sh("git fsck --no-progress");
  EXPECT_EQ(repo.sh("git branch --list 'errand/*'"), "") << "its branch is in the clone alone";
}

TEST(Worktree, AnEmptyRepositoryCanBeClonedToo) {
  const TestRepo repo;
  repo.write("a", "1\n");
  Order begin = repo.order("begin");
  begin.isolate = begin.sandboxed = true;
  ASSERT_TRUE(carry_out(begin).contains("\"reply\":"));
  EXPECT_EQ(repo.sh("cat a && git status --porcelain", repo.record().path), "1\n");
}

TEST(Worktree, WhatTheSetUpCommandChangedIsNotTheTasks) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.write("lock", "1\n");
  repo.commit();
  Order begin = repo.order("begin");
  begin.isolate = true;
  begin.setup_run = "task_01__setup_1.0";
  const std::string begun = carry_out(begin);
  EXPECT_TRUE(begun.contains("\"set_up\":true") && begun.contains("\"state\":\"preparing\"")) << begun;
  EXPECT_EQ(file_text(set_up_mark(repo.data(), "task_01")), "task_01__setup_1.0");
  const std::string tree = repo.record().path;
  std::ofstream(tree + "/lock") << "2\n";
  std::ofstream(tree + "/made") << "m\n";
  begin.order = "ready";
  const std::string ready = carry_out(begin);
  EXPECT_TRUE(ready.contains("\"state\":\"ready\"") && ready.contains("\"set_up\":false")) << ready;
  std::ofstream(tree + "/a") << "task\n";
  EXPECT_TRUE(repo.carry_out("finish").contains("\"files_total\":1"));
  EXPECT_TRUE(repo.merge().contains("merged"));
  EXPECT_EQ(repo.sh("git diff --name-only HEAD^ HEAD"), "a\n");
  // A further turn needs none; one behind a restore does.
  begin.order = "begin";
  begin.setup_run = "task_01__setup_2.0";
  EXPECT_TRUE(carry_out(begin).contains("\"set_up\":false"));
  EXPECT_EQ(file_text(set_up_mark(repo.data(), "task_01")), "task_01__setup_1.0") << "the log of the one that ran";
  repo.carry_out("discard");
  repo.carry_out("restore");
  EXPECT_TRUE(carry_out(begin).contains("\"set_up\":true"));
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"ready\"")) << "its files are not thrown away for that";
  EXPECT_EQ(file_text(tree + "/a"), "task\n");
}

TEST(Worktree, OneWhoseSetUpFailedGoesAndTheMarkOfItsLogStays) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  const std::string before = repo.user_state();
  Order begin = repo.order("begin");
  begin.isolate = true;
  begin.setup_run = "task_01__setup_1.0";
  carry_out(begin);
  const std::string tree = repo.record().path;
  EXPECT_TRUE(repo.carry_out("settle").contains("\"isolation\":null"));
  EXPECT_FALSE(std::filesystem::exists(tree));
  EXPECT_EQ(repo.user_state(), before);
  EXPECT_EQ(repo.record().task, "");
  EXPECT_EQ(file_text(set_up_mark(repo.data(), "task_01")), "task_01__setup_1.0");
  repo.carry_out("forget");
  EXPECT_FALSE(std::filesystem::exists(task_folder(repo.data(), "task_01")));
}

// --- clean-up

struct Old : IsolatedRepo {
  explicit Old(const char* decided = "merge") {
    edit("a", "2\n");
    carry_out("finish");
    EXPECT_TRUE(carry_out(decided).contains("\"reply\":"));
  }
  // Why it stays; empty: it went.
  std::string clean() const {
    EXPECT_TRUE(carry_out("clean").contains("\"reply\":"));
    return record().stays;
  }
};

TEST(CleanUp, AMergedWorkTreeGoesWithItsBranchAndCanBeMadeAgain) {
  const Old old;
  EXPECT_EQ(old.clean(), "");
  EXPECT_FALSE(old.is_there());
  EXPECT_EQ(old.sh("git branch --list 'errand/*' && git worktree list | wc -l"), "1\n");
  EXPECT_EQ(old.record().state, "merged");
  EXPECT_TRUE(old.carry_out("list").contains("\"path\":\"a\"")) << "what it changed is still known";
  EXPECT_TRUE(old.carry_out("begin").contains("--restore")) << "it does not work in an empty folder instead";
  EXPECT_TRUE(old.carry_out("restore").contains("\"state\":\"ready\""));
  EXPECT_EQ(file_text(old.tree + "/a"), "2\n");
}

TEST(CleanUp, WhatWouldBeMissedIsNamedAndStays) {
  const Old files;
  files.edit("untracked", "u\n");
  EXPECT_EQ(files.clean(), "It has changes that were not merged.");
  EXPECT_TRUE(files.is_there());
  std::filesystem::remove(files.tree + "/untracked");
  EXPECT_EQ(files.clean(), "");
  const Old commits;
  commits.sh("git commit -q --allow-empty -m more", commits.tree);
  EXPECT_EQ(commits.clean(), "It has commits that were not merged.");
  EXPECT_TRUE(commits.is_there());
  const Old elsewhere;
  elsewhere.sh("git checkout -q -b mine", elsewhere.tree);
  EXPECT_EQ(elsewhere.clean(), "Another branch is checked out there.");
  const Old locked;
  locked.sh("git worktree unlock '" + locked.tree + "' && git worktree lock --reason 'my disk' '" + locked.tree + "'");
  EXPECT_EQ(locked.clean(), "Somebody locked it: my disk.");
  EXPECT_TRUE(locked.is_there());
  const Old gone;
  std::filesystem::remove_all(gone.tree);
  EXPECT_TRUE(gone.clean().contains("no longer exists"));
  EXPECT_TRUE(gone.sh("git branch --list 'errand/*'").contains("errand/")) << "its branch is nobody's to delete";
}

TEST(CleanUp, WhatWasDiscardedCannotBeTakenBackAndItsPatchOpens) {
  const Old old("discard");
  EXPECT_EQ(old.clean(), "");
  EXPECT_TRUE(old.carry_out("restore").contains("\"reason\":\"expired\""));
  EXPECT_TRUE(old.carry_out("list").contains("\"path\":\"a\""));
  Order file = old.order("file");
  file.path = "a";
  EXPECT_TRUE(changes::carry_out(file).contains("-9"));
  EXPECT_EQ(old.sh("git --git-dir='" + old.record().store + "' for-each-ref"), "");
}

TEST(CleanUp, WhatIsNotDecidedIsNotTouched) {
  const IsolatedRepo repo;
  repo.carry_out("finish");
  repo.carry_out("clean");
  EXPECT_TRUE(repo.is_there());
  EXPECT_EQ(repo.record().stays, "");
}

TEST(Worktree, SizesAreCountedAndNoneIsMadeBeyondTheBound) {
  const TestRepo repo;
  repo.write("a", std::string(100'000, 'a'));
  repo.commit();
  repo.isolate();
  EXPECT_GE(number_in(repo.record().bytes, 0), 100'000);
  Order begin = repo.order("begin");
  begin.task = "task_02";
  begin.isolate = true;
  begin.max_bytes = "50000";
  const std::string refused = carry_out(begin);
  EXPECT_TRUE(refused.contains("changes_max_bytes") && refused.contains("\"reason\":\"isolation\"")) << refused;
  repo.carry_out("discard");
  EXPECT_TRUE(carry_out(begin).contains("\"reply\":"));
}

}  // namespace
}  // namespace errand::changes

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

}  // namespace
}  // namespace errand::changes

#include "changes/snapshot.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "changes/diff.h"
#include "changes/repo_test.h"

namespace errand::changes {
namespace {

Result<Snapshot> snap(const TestRepo& repo, bool fresh = true) {
  const Result<Repository> found = find_repository(repo.top());
  const Result<Store> store = Store::open(repo.data(), *found);
  std::filesystem::create_directories(repo.data() + "/i");
  return take_snapshot(*store, *found, repo.data() + "/i/index", fresh);
}

std::string names_in_tree(const TestRepo& repo, const Snapshot& snapshot) {
  const Store store = *Store::open(repo.data(), *find_repository(repo.top()));
  return git_output(store.call({"ls-tree", "-r", "--name-only", snapshot.commit})).value();
}

TEST(Snapshot, ADirtyRepositoryIsTakenWholeAndStaysAsItWasToTheByte) {
  const TestRepo repo;
  repo.write("kept", "1\n");
  repo.write("edited", "1\n");
  repo.write("staged", "1\n");
  repo.write(".gitignore", "*.log\n");
  repo.commit();
  repo.write("edited", "2\n");
  repo.write("staged", "2\n");
  repo.sh("git add staged");
  repo.write("new", "n\n");
  repo.write("noise.log", "n\n");
  const std::string before = repo.user_state();
  const Result<Snapshot> snapshot = snap(repo);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(repo.user_state(), before);
  EXPECT_EQ(names_in_tree(repo, *snapshot), ".gitignore\nedited\nkept\nnew\nstaged\n");
  repo.write("edited", "3\n");
  EXPECT_NE(snap(repo, false)->tree, snapshot->tree);  // An edit of the same size and second is seen.
}

TEST(Snapshot, SeveralTasksMayBeginInANewFolderAtOnce) {
  const TestRepo repo;
  const Repository found = *find_repository(repo.top());
  for (int round = 0; round < 8; ++round) {
    const std::string data = repo.data() + "/" + std::to_string(round);
    std::vector<std::thread> tasks;
    std::atomic<int> opened = 0;
    for (int i = 0; i < 4; ++i) tasks.emplace_back([&] { opened += Store::open(data, found) ? 1 : 0; });
    for (std::thread& task : tasks) task.join();
    EXPECT_EQ(opened, 4);
  }
}

// What an agent committed is in the user's repository alone, and a clean-up there may remove it.
TEST(Snapshot, WhatIsKeptOutlivesACleanUpOfTheUsersRepository) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  const Result<Snapshot> start = snap(repo);
  repo.sh("git checkout -q -b side");
  repo.write("b", "only in a commit\n");
  repo.commit();
  const Result<Snapshot> end = snap(repo);
  ASSERT_TRUE(start && end);
  const Store store = *Store::open(repo.data(), *find_repository(repo.top()));
  const Status kept = keep_objects(store, end->commit, start->commit);
  ASSERT_TRUE(kept) << kept.error().message;
  repo.sh(
      "git checkout -q main && git branch -q -D side && git reflog expire --expire=now --all && git gc -q --prune=now");
  EXPECT_EQ(git_output(store.call({"cat-file", "-p", end->commit + ":b"})).value_or("gone"), "only in a commit\n");
}

TEST(Snapshot, TheStoreTakesOverWhatDecidesAboutFilesAndNothingElse) {
  const TestRepo repo;
  repo.sh(
      "git config core.autocrlf input && git config core.eol lf && git config core.symlinks false && "
      "git config core.pager evil && git config core.excludesFile /of/the/repository && git config core.eol native");
  const Store store = *Store::open(repo.data(), *find_repository(repo.top()));
  const std::string config = file_text(store.path() + "/config");
  EXPECT_NE(config.find("autocrlf = input\n"), std::string::npos) << config;
  EXPECT_NE(config.find("eol = native\n"), std::string::npos) << "the last value counts: " << config;
  EXPECT_NE(config.find("symlinks = false\n"), std::string::npos) << config;
  EXPECT_EQ(config.find("evil"), std::string::npos) << config;
  EXPECT_EQ(config.find("/of/the/repository"), std::string::npos) << "the user's own alone: " << config;
}

TEST(Snapshot, NothingOfAHostileConfigurationRuns) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.write("nest/b", "1\n");
  repo.commit();
  const std::string marker = repo.beside("marker");
  const std::string program = "touch " + marker;
  for (const std::string& in : {std::string("."), std::string("inner"), std::string("bare_inner")}) {
    repo.sh("mkdir -p " + in + " && cd " + in +
            " && git init -q -b main . && git config user.name A && git config user.email a@b.c");
    if (in == "inner") repo.sh("cd inner && echo x >f && git add f && git commit -q -m x");
    repo.sh("cd " + in + " && git config core.fsmonitor '" + program + "' && git config filter.x.clean '" + program +
            "' && git config filter.x.smudge '" + program + "' && git config diff.external '" + program +
            "' && git config merge.x.driver '" + program + "' && git config core.sshCommand '" + program +
            "' && git config gpg.program '" + program +
            "' && git config commit.gpgSign true && echo '* filter=x merge=x' >.gitattributes");
    repo.sh("cd " + in +
            " && mkdir -p .git/hooks && for h in post-checkout post-index-change reference-transaction post-merge "
            "pre-commit; do printf '#!/bin/sh\\n" +
            program + "\\n' >.git/hooks/$h; chmod +x .git/hooks/$h; done");
  }
  repo.write("a", "2\n");
  repo.write("inner/f", "changed\n");
  repo.sh("rm -f " + marker);
  const Result<Snapshot> snapshot = snap(repo);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->left_out, (std::vector<LeftOut>{{"bare_inner", "repository"}, {"inner", "repository"}}));
  const std::string tree = repo.isolate(true);
  EXPECT_EQ(file_text(tree + "/a"), "2\n");
  std::ofstream(tree + "/a") << "3\n";
  EXPECT_TRUE(repo.carry_out("list").contains("\"path\":\"a\""));
  repo.sh("git update-index --assume-unchanged a; git update-index --no-assume-unchanged a; rm -f " + marker);
  (void)repo.merge();
  (void)repo.carry_out("discard");
  (void)repo.carry_out("restore");
  (void)repo.carry_out("forget");
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Snapshot, StrangeFilesAreRightOrNamed) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  repo.write("line\nend", "x\n");
  repo.write("bad\xff", "x\n");
  repo.write("large", std::string(11 << 20, 'x'));
  repo.sh("ln -s a link && mkfifo pipe && chmod +x a");
  const Result<Snapshot> snapshot = snap(repo);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(snapshot->left_out, (std::vector<LeftOut>{{"large", "large"}}));
  const Store store = *Store::open(repo.data(), *find_repository(repo.top()));
  const auto files = list_changes(store, repo.sh("git rev-parse HEAD").substr(0, 40), snapshot->commit);
  ASSERT_TRUE(files) << files.error().message;
  std::string seen;
  for (const ChangedFile& file : *files) seen += file.path + "|" + file.status + file.new_mode + "\n";
  EXPECT_EQ(seen, "a|M100755\nbad\xff|A100644\nline\nend|A100644\nlink|A120000\n");
}

TEST(Snapshot, ASplitIndexAStaleLockAndASparseCheckoutAreNoObstacle) {
  const TestRepo repo;
  repo.write("a/x", "1\n");
  repo.write("b/y", "1\n");
  repo.commit();
  repo.sh("touch .git/index.lock");
  EXPECT_TRUE(snap(repo));
  repo.sh("rm .git/index.lock && git update-index --split-index");
  repo.write("a/x", "2\n");
  const Result<Snapshot> split = snap(repo);
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(names_in_tree(repo, *split), "a/x\nb/y\n");
  repo.sh("git update-index --no-split-index && git checkout -q . && git sparse-checkout set a");
  const std::string before = repo.user_state();
  const Result<Snapshot> sparse = snap(repo);
  ASSERT_TRUE(sparse) << sparse.error().message;
  EXPECT_EQ(names_in_tree(repo, *sparse), "a/x\nb/y\n");
  EXPECT_EQ(repo.user_state(), before);
}

TEST(Snapshot, AFolderWithoutARepositoryIsTakenWithinBounds) {
  const TestRepo repo;
  repo.sh("rm -rf .git");
  repo.write("a", "1\n");
  const Result<Snapshot> snapshot = snap(repo);
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_EQ(names_in_tree(repo, *snapshot), "a\n");
  const Repository found = *find_repository(repo.top());
  const Store store = *Store::open(repo.data(), found);
  const Result<Snapshot> refused = take_snapshot(store, found, repo.data() + "/i/index", true, {.plain_files = 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "large_folder");
  EXPECT_EQ(may_be_watched({.top = "/"}, repo.data(), "/home/ada").error().reason, "own_data");
  EXPECT_EQ(may_be_watched({.top = "/home/ada"}, repo.data(), "/home/ada").error().reason, "home");
}

TEST(Shared, AFileIsCertainWhereItChangedWhileNobodyElseWasThere) {
  const TestRepo repo;
  repo.write("a", "1\n");
  repo.commit();
  int64_t now = 1'000;
  const auto order = [&](const char* task, const char* what) {
    Order one = repo.order(what);
    one.task = task;
    one.now = std::to_string(now += 1'000);
    return carry_out(one);
  };
  // "path:who" of each file; "" is nobody else.
  const auto files = [&](const char* task) {
    const std::string list = order(task, "list");
    std::string found;
    for (size_t at = 0; (at = list.find("\"path\":\"", at)) != std::string::npos;) {
      at += 8;
      const size_t with = list.find("\"shared_with\":[", at) + 15;
      const std::string who = list.substr(with, list.find(']', with) - with);
      EXPECT_EQ(list.find("\"certain\":true", at) < with, who.empty());
      found += list.substr(at, list.find('"', at) - at) + ":" + who + " ";
    }
    return found;
  };
  order("task_01", "begin");
  repo.write("before", "1\n");
  order("task_02", "begin");
  repo.write("both", "1\n");
  EXPECT_EQ(files("task_01"), "before: both:\"task_02\" ");
  order("task_02", "finish");
  repo.write("after", "1\n");
  EXPECT_EQ(files("task_01"), "after: before: both:\"task_02\" ");
  EXPECT_EQ(files("task_02"), "both:\"task_01\" ");
  repo.write("both", "2\n");  // Again, alone: the first time may still be the other's.
  order("task_03", "begin");
  repo.write("before", "2\n");
  order("task_01", "finish");
  EXPECT_EQ(files("task_01"), "after: before:\"task_03\" both:\"task_02\" ");
  EXPECT_EQ(files("task_03"), "before:\"task_01\" ");
}

}  // namespace
}  // namespace errand::changes

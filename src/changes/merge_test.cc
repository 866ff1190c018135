#include "changes/merge.h"

#include <random>

#include <gtest/gtest.h>

#include "changes/repo_test.h"

namespace errand::changes {
namespace {

TEST(Merge, LandsBesideTheUsersOwnUncommittedWork) {
  const IsolatedRepo repo;
  repo.edit("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
  repo.edit("new", "n\n");
  repo.write("b", "staged\n");
  repo.sh("git add b");
  repo.write("b", "and edited\n");
  repo.write("mine", "m\n");
  const std::string answer = repo.merge();
  EXPECT_TRUE(answer.contains("\"state\":\"merged\"")) << answer;
  EXPECT_EQ(repo.read("a").substr(0, 4), "one\n");
  EXPECT_EQ(repo.read("new"), "n\n");
  EXPECT_EQ(repo.read("b"), "and edited\n");
  EXPECT_EQ(repo.sh("git status --porcelain"), "MM b\n?? mine\n");
  EXPECT_EQ(repo.sh("git log --format='%s %an %p' -1").substr(0, 11), "Fix it Ada ");
  EXPECT_EQ(repo.sh("git fsck --no-dangling"), "");
  EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
  EXPECT_EQ(repo.read("a").substr(0, 2), "1\n");
  EXPECT_FALSE(repo.has("new"));
  EXPECT_EQ(repo.sh("git status --porcelain"), "MM b\n?? mine\n");
}

TEST(Merge, RefusesWhatIsInTheWayAndChangesNothing) {
  for (const char* in_the_way : {"a", "new", "ignored", "folder"}) {
    const IsolatedRepo repo;
    repo.edit("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    repo.edit("new", "n\n");
    std::filesystem::create_directories(repo.tree + "/folder");
    repo.edit("folder/x", "n\n");
    repo.edit("ignored", "task's\n");
    repo.sh("git add -f ignored && git commit -q -m i", repo.tree);
    repo.write(in_the_way, "the user's\n");
    const std::string before = repo.user_state();
    const std::string answer = repo.merge();
    EXPECT_TRUE(answer.contains("\"reason\":\"in_the_way\"")) << in_the_way << answer;
    EXPECT_TRUE(answer.contains("\"files\":[\"" + std::string(in_the_way) + "\"]")) << answer;
    EXPECT_EQ(repo.user_state(), before);
    EXPECT_EQ(repo.read(in_the_way), "the user's\n");
    EXPECT_FALSE(repo.has(".git/index.lock"));
  }
}

TEST(Merge, ATargetThatMovedIsMergedOrIsAConflict) {
  const IsolatedRepo repo;
  repo.edit("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
  repo.write("a", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  repo.commit();
  EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
  EXPECT_EQ(repo.read("a"), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
  const IsolatedRepo other;
  other.edit("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
  other.write("a", "uno\n2\n3\n4\n5\n6\n7\n8\n9\n");
  other.commit();
  const std::string before = other.user_state(), answer = other.merge();
  EXPECT_TRUE(answer.contains("\"state\":\"conflict\"")) << answer;
  EXPECT_TRUE(answer.contains("\"files\":[\"a\"]")) << answer;
  EXPECT_EQ(other.user_state(), before);
}

TEST(Merge, ATargetThatIsNotCheckedOutOrInAnotherWorkTreeIsMergedThere) {
  const IsolatedRepo repo;
  repo.edit("new", "n\n");
  repo.sh("git checkout -q -b aside");
  EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
  EXPECT_FALSE(repo.has("new"));
  EXPECT_EQ(repo.sh("git show main:new"), "n\n");
  EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
  repo.sh("git worktree add -q ../second main");
  EXPECT_TRUE(repo.merge("merge").contains("\"state\":\"merged\""));
  EXPECT_EQ(file_text(repo.beside("second/new")), "n\n");
  EXPECT_EQ(repo.sh("git log --format=%p -1 main").size(), std::string("1234567 1234567\n").size());
  EXPECT_EQ(repo.sh("git status --porcelain", repo.beside("second")), "");
}

TEST(Merge, AStaleLockIsNamedWithItsAge) {
  const IsolatedRepo repo;
  repo.edit("new", "n\n");
  repo.sh("touch -d '1 hour ago' .git/index.lock");
  const std::string answer = repo.merge();
  EXPECT_TRUE(answer.contains("index.lock")) << answer;
  EXPECT_TRUE(answer.contains("since 36")) << answer;
}

TEST(Merge, APatchGoesIntoTheFilesAndBack) {
  const IsolatedRepo repo(true);
  repo.edit("a", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
  const std::string answer = repo.merge("patch");
  EXPECT_TRUE(answer.contains("\"state\":\"merged\"")) << answer;
  EXPECT_EQ(repo.sh("git status --porcelain"), " M a\n M b\n");
  EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
  EXPECT_EQ(repo.sh("git status --porcelain"), " M b\n");
}

TEST(Merge, OneThatWasKilledIsFinishedOrTakenBack) {
  const IsolatedRepo repo;
  repo.edit("new", "n\n");
  repo.carry_out("finish");
  const std::string from = repo.sh("git rev-parse main").substr(0, 40);
  // Killed behind the files and before the branch was moved.
  repo.sh("cp .git/index ../before.index");
  repo.merge();
  Record merged = repo.record();
  repo.sh("git update-ref refs/heads/main " + from +
          " && cp .git/index ../data/changes/tasks/task_01/merge.index && "
          "cp ../before.index .git/index && "
          "printf 'errand task_01\\n' >.git/index.lock");
  merged.state = "merging";
  merged.moving = "yes";
  ASSERT_TRUE(write_record(repo.data(), merged));
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"ready\""));
  EXPECT_FALSE(repo.has(".git/index.lock"));
  EXPECT_FALSE(repo.has("new"));
  EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
  EXPECT_EQ(repo.read("new"), "n\n");
}

// Whatever the user and the task do to their trees: launch, diff and discard leave the user's index and status alone.
TEST(Merge, AnyTreeIsLeftAsItWas) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const TestRepo repo;
    for (int i = 0; i < 12; ++i) repo.write("f" + std::to_string(i), std::to_string(random()) + "\n");
    repo.commit();
    const auto disturb = [&](const std::string& in) {
      for (int i = 0; i < 10; ++i) {
        const std::string file = "f" + std::to_string(random() % 16);
        constexpr const char* acts[] = {
            "echo x >>F",  "rm -f F",      "git add -A",          "chmod +x F",          "git mv F moved$RANDOM",
            "ln -sfn t F", "git stash -q", "git commit -q -am x", "git rm -q --cached F"};
        std::string act = acts[random() % std::size(acts)];
        for (size_t at = act.find('F'); at != std::string::npos; at = act.find('F', at + file.size()))
          act.replace(at, 1, file);
        repo.sh("{ " + act + "; } || true", in);
      }
    };
    disturb(repo.top());
    repo.sh("git status");
    const std::string before = repo.user_state();
    const std::string tree = repo.isolate(seed % 2 == 0);
    if (tree.empty()) continue;
    repo.sh("git config --local --list >/dev/null", tree);
    for (int i = 0; i < 5; ++i) std::ofstream(tree + "/t" + std::to_string(random() % 4)) << random();
    EXPECT_TRUE(repo.carry_out("list").contains("\"reply\":{"));
    EXPECT_TRUE(repo.carry_out("finish").contains("\"state\":\"final\""));
    EXPECT_TRUE(repo.carry_out("discard").contains("\"state\":\"discarded\""));
    EXPECT_EQ(repo.user_state(), before);
  }
}

TEST(Merge, OneThatWasAskedForAndNeverBeganIsTakenBack) {
  const IsolatedRepo repo;
  repo.edit("a", "2\n");
  repo.carry_out("finish");
  const std::string before = repo.user_state();
  EXPECT_TRUE(repo.carry_out("merging").contains("\"state\":\"merging\""));
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"ready\""));
  // Of a conflict it leaves the conflict; a turn that begins meanwhile is ready.
  Record record = repo.record();
  record.state = "conflict";
  ASSERT_TRUE(write_record(repo.data(), record));
  repo.carry_out("merging");
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"conflict\""));
  repo.carry_out("merging");
  EXPECT_TRUE(repo.carry_out("begin").contains("\"state\":\"ready\""));
  EXPECT_EQ(repo.user_state(), before);
  repo.carry_out("finish");
  repo.carry_out("merging");
  EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
  EXPECT_TRUE(repo.carry_out("merging").contains("\"reason\":\"merged\""));
}

}  // namespace
}  // namespace errand::changes

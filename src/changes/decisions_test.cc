#include "changes/decisions.h"

#include <gtest/gtest.h>

#include "changes/repo_test.h"

namespace errand::changes {
namespace {

// A task with a repository that it can be published from, and several turns.
struct Decided : IsolatedRepo {
  std::string turn(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(carry_out("begin").contains("\"reply\":"));
    edit(name, text);
    return carry_out("finish");
  }
  std::string published() const {
    Order publish = order("publish");
    publish.message = "Published";
    const std::string answer = changes::carry_out(publish);
    EXPECT_TRUE(answer.contains("\"reply\":")) << answer;
    return record().published;
  }
  std::string line(const std::string& script) const {
    std::string text = sh(script);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  bool names(const std::string& answer, const std::string& field, const std::string& file) const {
    return answer.contains("\"" + field + "\":[\"" + file + "\"]");
  }
};

// --- an undo that is cut

TEST(Undo, OneThatWasAskedForAndNeverBeganLeavesTheMerge) {
  const Decided repo;
  repo.edit("new", "n\n");
  repo.carry_out("finish");
  EXPECT_TRUE(repo.carry_out("undoing").contains("\"reason\":\"state\"")) << "nothing is merged";
  repo.merge();
  const std::string head = repo.line("git rev-parse main");
  EXPECT_TRUE(repo.carry_out("undoing").contains("\"state\":\"merging\""));
  EXPECT_TRUE(repo.carry_out("settle").contains("\"state\":\"merged\""));
  EXPECT_EQ(repo.line("git rev-parse main"), head);
  EXPECT_EQ(repo.read("new"), "n\n");
  repo.carry_out("undoing");
  EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
  EXPECT_FALSE(repo.has("new"));
}

TEST(Undo, OneThatWasKilledIsFinishedOrTakenBack) {
  for (const bool moved : {false, true}) {
    SCOPED_TRACE(moved);
    const Decided repo;
    repo.edit("new", "n\n");
    repo.carry_out("finish");
    repo.merge();
    Record record = repo.record();
    const std::string merged = repo.line("git rev-parse main");
    // Behind the files, and before or behind the branch: the index is never written.
    repo.sh("cp .git/index ../merged.index");
    ASSERT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
    repo.sh(
        "cp .git/index ../data/changes/tasks/task_01/merge.index && cp ../merged.index .git/index && "
        "printf 'errand task_01\\n' >.git/index.lock");
    if (!moved) repo.sh("git update-ref refs/heads/main " + merged);
    record.before = std::exchange(record.state, "merging");
    record.moving = "yes";
    ASSERT_TRUE(write_record(repo.data(), record));
    const std::string settled = repo.carry_out("settle");
    EXPECT_TRUE(settled.contains(moved ? "\"state\":\"ready\"" : "\"state\":\"merged\"")) << settled;
    EXPECT_FALSE(repo.has(".git/index.lock"));
    EXPECT_EQ(repo.has("new"), !moved);
    EXPECT_EQ(repo.sh("git status --porcelain"), "");
    EXPECT_TRUE((moved ? repo.merge() : repo.carry_out("undo")).contains("\"reply\":")) << "and it goes on from there";
  }
}

TEST(Undo, APatchThatWasCutIsMergedWhereTheFilesHaveIt) {
  for (const bool applied : {false, true}) {
    SCOPED_TRACE(applied);
    const Decided repo;
    repo.edit("a", "one\n");
    repo.carry_out("finish");
    repo.merge("patch");
    Record record = repo.record();
    if (!applied) repo.sh("git checkout -q a");
    record.state = "merging";
    record.before = applied ? "ready" : "merged";  // Forwards, and back.
    record.moving = "yes";
    ASSERT_TRUE(write_record(repo.data(), record));
    EXPECT_TRUE(repo.carry_out("settle").contains(applied ? "\"state\":\"merged\"" : "\"state\":\"ready\""));
  }
}

// --- a further turn behind a merge

TEST(BehindAMerge, OnlyWhatCameSinceIsShownMergedAndTakenBack) {
  const Decided repo;
  repo.turn("first", "1\n");
  repo.merge();
  const std::string merged = repo.line("git rev-parse main");
  EXPECT_TRUE(repo.carry_out("list").contains("\"since_merge\":false"));
  repo.turn("second", "2\n");
  const std::string list = repo.carry_out("list");
  EXPECT_TRUE(list.contains("\"path\":\"second\"") && !list.contains("\"path\":\"first\"")) << list;
  EXPECT_TRUE(list.contains("\"since_merge\":true")) << list;
  EXPECT_TRUE(repo.carry_out("undo").contains("\"reason\":\"state\"")) << "the task went on from that merge";
  EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
  EXPECT_EQ(repo.sh("git diff --name-only HEAD^ HEAD"), "second\n");
  EXPECT_EQ(repo.line("git rev-parse HEAD^"), merged);
  EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
  EXPECT_EQ(repo.line("git rev-parse main"), merged);
  EXPECT_EQ(repo.read("first"), "1\n");
}

TEST(BehindAMerge, ATurnThatChangesNothingLeavesItMergedAndTheMergeCanBeUndone) {
  for (const char* mode : {"squash", "patch"}) {
    SCOPED_TRACE(mode);
    const Decided repo;
    repo.turn("first", "1\n");
    repo.merge(mode);
    EXPECT_TRUE(repo.carry_out("begin").contains("\"state\":\"ready\""));
    EXPECT_TRUE(repo.carry_out("begin").contains("\"state\":\"ready\"")) << "it may be repeated";
    EXPECT_TRUE(repo.carry_out("list").contains("\"files_total\":0")) << "while it works";
    const std::string finished = repo.carry_out("finish");
    EXPECT_TRUE(finished.contains("\"state\":\"merged\"") && finished.contains("\"path\":\"first\"")) << finished;
    EXPECT_TRUE(repo.merge().contains("\"reason\":\"merged\""));
    EXPECT_TRUE(repo.carry_out("undo").contains("\"state\":\"ready\""));
    EXPECT_FALSE(repo.has("first"));
    EXPECT_TRUE(repo.merge().contains("\"state\":\"merged\""));
    EXPECT_EQ(repo.read("first"), "1\n");
  }
}

TEST(BehindAMerge, WhatIsPublishedStandsOnTheMerge) {
  const Decided repo;
  repo.turn("a", "first\n");
  repo.merge();
  EXPECT_TRUE(repo.carry_out("publish").contains("push your own branch"));
  const std::string merged = repo.line("git rev-parse main");
  repo.turn("a", "first\nsecond\n");
  const std::string commit = repo.published();
  EXPECT_EQ(repo.line("git rev-parse " + commit + "^"), merged);
  EXPECT_EQ(repo.sh("git show " + commit + ":a"), "first\nsecond\n");
  EXPECT_EQ(repo.sh("git fsck --no-dangling"), "");
}

TEST(BehindAMerge, WhatWasPublishedBeforeGrowsAndLosesNothing) {
  const Decided repo;
  repo.turn("first", "1\n");
  const std::string before = repo.published();
  repo.write("mine", "m\n");
  repo.commit();
  repo.merge();
  const std::string merged = repo.line("git rev-parse main");
  repo.turn("second", "2\n");
  const std::string commit = repo.published();
  EXPECT_EQ(repo.line("git log -1 --format=%P " + commit), before + " " + merged) << "a push stays a fast-forward";
  EXPECT_EQ(repo.sh("git ls-tree --name-only " + commit), ".gitignore\na\nb\nfirst\nmine\nsecond\n");
  EXPECT_EQ(repo.published(), commit) << "nothing new";
}

TEST(BehindAMerge, AfterAPatchThatIsNotCommittedAPublishSaysWhatToDo) {
  const Decided repo;
  repo.turn("a", "first\n");
  repo.merge("patch");
  repo.turn("a", "first\nsecond\n");
  const std::string refused = repo.carry_out("publish");
  EXPECT_TRUE(refused.contains("Commit what was merged")) << refused;
  repo.commit();
  EXPECT_EQ(repo.sh("git show " + repo.published() + ":a"), "first\nsecond\n");
}

// --- what a test leaves behind

TEST(Held, WhatATestLeftIsNotMergedAndIsNamed) {
  const Decided repo;
  repo.turn("new", "n\n");
  EXPECT_TRUE(repo.carry_out("hold").contains("\"state\":\"ready\""));
  repo.edit("leftover", "l\n");
  repo.edit("new", "broken by the test\n");
  EXPECT_TRUE(repo.carry_out("hold").contains("\"reply\":")) << "a second test";
  EXPECT_TRUE(repo.carry_out("list").contains("\"files_total\":1"));
  const std::string published = repo.carry_out("publish");
  EXPECT_TRUE(published.contains("\"not_merged\":[\"leftover\",\"new\"]")) << published;
  EXPECT_EQ(repo.sh("git show " + repo.record().published + ":new"), "n\n");
  const std::string merged = repo.merge();
  EXPECT_TRUE(merged.contains("\"not_merged\":[\"leftover\",\"new\"]")) << merged;
  EXPECT_EQ(repo.read("new"), "n\n");
  EXPECT_FALSE(repo.has("leftover"));
  repo.carry_out("undo");
  Order all = repo.order("merge");
  all.with_later = true;
  EXPECT_TRUE(carry_out(all).contains("\"not_merged\":[]"));
  EXPECT_EQ(repo.read("leftover"), "l\n");
}

TEST(Held, WhatATestLeftIsNotTheNextTurnsUnlessThatTouchesIt) {
  const Decided repo;
  repo.turn("new", "n\n");
  repo.carry_out("hold");
  repo.edit("leftover", "l\n");
  repo.edit("taken", "by the test\n");
  repo.sh("rm b", repo.tree);
  repo.carry_out("begin");
  repo.edit("taken", "by the task\n");
  repo.edit("more", "m\n");
  const std::string finished = repo.carry_out("finish");
  for (const char* path : {"more", "new", "taken"})
    EXPECT_TRUE(finished.contains("\"path\":\"" + std::string(path) + "\"")) << finished;
  EXPECT_TRUE(finished.contains("\"files_total\":3")) << finished;
  const std::string merged = repo.merge();
  EXPECT_TRUE(merged.contains("\"not_merged\":[\"b\",\"leftover\"]")) << merged;
  EXPECT_EQ(repo.read("taken"), "by the task\n");
  EXPECT_EQ(repo.read("b"), "1\n");
  EXPECT_FALSE(repo.has("leftover"));
}

TEST(Held, ADiscardCanBeTakenBackWithAllThatWasThere) {
  const Decided repo;
  repo.turn("new", "n\n");
  repo.carry_out("hold");
  repo.edit("leftover", "l\n");
  EXPECT_TRUE(repo.carry_out("discard").contains("discarded"));
  EXPECT_FALSE(repo.is_there());
  EXPECT_TRUE(repo.carry_out("restore").contains("\"state\":\"ready\""));
  EXPECT_EQ(file_text(repo.tree + "/leftover"), "l\n");
  EXPECT_TRUE(repo.names(repo.merge(), "not_merged", "leftover"));
  EXPECT_FALSE(repo.has("leftover"));
  EXPECT_EQ(repo.read("new"), "n\n");
}

TEST(Held, AConflictSaysHowToMergeWhatIsDoneByHand) {
  const Decided repo;
  repo.turn("a", "task's\n");
  repo.carry_out("hold");
  repo.write("a", "the user's\n");
  repo.commit();
  EXPECT_TRUE(repo.merge().contains("--with-later"));
  EXPECT_EQ(repo.record().state, "conflict");
}

}  // namespace
}  // namespace errand::changes

#include "task/commit_text.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

Task task_that_answered(std::string result) {
  Task task;
  task.id = TaskId("task_1");
  task.title = "Fix the parser";
  task.launch.prompt = "Fix the parser\nIt crashes on an empty file.";
  if (!result.empty()) task.result = std::move(result);
  return task;
}

TEST(CommitText, IsTheBlockThatTheAgentWrote) {
  const CommitText text = commit_text(task_that_answered(
      "Sure:\n```commit\nStop at the end of the file\n\nThe loop read one byte too many.\n\n\n  - and a test\n```\n"));
  EXPECT_EQ(text.subject, "Stop at the end of the file");
  EXPECT_EQ(text.body, "The loop read one byte too many.\n\n  - and a test");
  EXPECT_EQ(text.source, CommitText::Source::agent);
  EXPECT_EQ(commit_message(text), "Stop at the end of the file\n\nThe loop read one byte too many.\n\n  - and a test");
}

TEST(CommitText, OfSeveralBlocksTheLastWholeOneCounts) {
  EXPECT_EQ(commit_text(task_that_answered("```commit\none\n```\n```commit\ntwo\n```\n```commit\nthree")).subject,
            "two");
  EXPECT_EQ(commit_text(task_that_answered("```commit\n\n```")).source, CommitText::Source::result);
}

TEST(CommitText, IsOtherwiseTheTitleWithTheAnswer) {
  const CommitText text = commit_text(task_that_answered("I stopped the loop.\r\n\r\n\r\nTests pass."));
  EXPECT_EQ(text.subject, "Fix the parser");
  EXPECT_EQ(text.body, "I stopped the loop.\n\nTests pass.");
  EXPECT_EQ(text.source, CommitText::Source::result);
}

TEST(CommitText, WithoutAnAnswerItIsTheTitleWithThePrompt) {
  Task task = task_that_answered("");
  EXPECT_EQ(commit_text(task).body, "Fix the parser\nIt crashes on an empty file.");
  EXPECT_EQ(commit_text(task).source, CommitText::Source::title);
  task.launch.prompt = "Fix the parser";
  EXPECT_EQ(commit_text(task).body, "");
  // What a command printed is no text for a commit.
  task.launch.kind = TaskKind::command;
  task.result = "```commit\nno\n```";
  EXPECT_EQ(commit_message(commit_text(task)), "Fix the parser");
  task.title = "\x01\t\xe2\x80\xae ";
  EXPECT_EQ(commit_text(task).subject, "Changes of task_1");
}

TEST(CommitText, IsPlainAndBounded) {
  const CommitText text = commit_text(task_that_answered("```commit\n--upload-pack=\x1b[31mevil \xe2\x80\xae" +
                                                         std::string(500, 'x') + "\n\na\tb\x07\n```"));
  EXPECT_EQ(text.subject, "--upload-pack=[31mevil " + std::string(57, 'x'));
  EXPECT_EQ(text.body, "a b");
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "a line of the answer\n";
  const CommitText longer = commit_text(task_that_answered(lines));
  EXPECT_LE(longer.body.size(), body_bytes_max);
  EXPECT_TRUE(longer.body.ends_with("answer"));
  EXPECT_EQ(commit_text(task_that_answered(std::string(100'000, 'y'))).body.size(), body_bytes_max);
}

}  // namespace
}  // namespace errand

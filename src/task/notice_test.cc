#include "task/notice.h"

#include <utility>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/text.h"

namespace errand {
namespace {

namespace json = boost::json;

constexpr Time noon{1'763'208'000'000};

Task ended(TaskState state) {
  Task task;
  task.id = TaskId("task_1");
  task.launch.parent_session_id = SessionId("ses_p");
  task.launch.batch_id = BatchId("batch_1");
  task.title = "Build it";
  task.state = state;
  task.phase = TurnPhase::ended;
  task.turn = 2;
  task.started_at = noon;
  task.completed_at = noon + 2'400;
  return task;
}

Notice notice_of(const Task& task, std::string_view path = {}) {
  return turn_notice(task, NoticeId("ntc_1"), path, noon + 5'000);
}

TEST(TurnNotice, HasTheFormOfSeed002) {  // R5.5, R9.5
  Task task = ended(TaskState::completed);
  task.reason = "finished";
  task.launch.kind = TaskKind::command;
  task.exit_code = 0;
  task.result = "compiling\nall done\n";
  const Notice notice = notice_of(task, "/data/run/task_1.1/log");
  EXPECT_EQ(notice.text,
            "### Background Task Completed: Build it\n"
            "- Status: Success\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/run/task_1.1/log\n"
            "- Summary: all done [exit code 0]\n"
            "- Task: task_1\n"
            "\n"
            "compiling\nall done\n");
  EXPECT_EQ(notice.session_id, SessionId("ses_p"));
  EXPECT_EQ(notice.task_id, task.id);
  EXPECT_EQ(notice.turn, 2);
  EXPECT_EQ(notice.kind, NoticeKind::turn_ended);
  EXPECT_EQ(notice.created_at, noon + 5'000);
  EXPECT_FALSE(notice.taken_at);
}

TEST(TurnNotice, OfAnAgentBeginsWithItsAnswer) {
  Task task = ended(TaskState::completed);
  task.result = "The answer is 42.\n\nBecause.";
  const std::string text = notice_of(task).text;
  EXPECT_NE(text.find("- Summary: The answer is 42.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- Output Path: /api/tasks/task_1/messages\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n\nThe answer is 42.\n\nBecause.")) << text;
}

TEST(TurnNotice, OfAFailureSaysWhy) {
  Task task = ended(TaskState::failed);
  task.reason = "timeout";
  task.error = TaskError{"timeout", "It ran past 300 s.\nmore", ""};
  task.signal = 9;
  const Notice notice = notice_of(task);
  EXPECT_TRUE(notice.text.starts_with("### Background Task Failed: Build it\n- Status: Failure\n")) << notice.text;
  EXPECT_NE(notice.text.find("- Summary: It ran past 300 s. (timeout) [ended by signal 9]"), std::string::npos)
      << notice.text;
  const json::value data = json::parse(notice.data);
  EXPECT_EQ(data.at("status"), "failed");
  EXPECT_EQ(data.at("reason"), "timeout");
  EXPECT_EQ(data.at("duration_ms"), 2'400);
  EXPECT_EQ(data.at("signal"), 9);
}

TEST(TurnNotice, OfACancelKeepsWhatWasProduced) {  // R1.6
  Task task = ended(TaskState::cancelled);
  task.reason = "cancelled_by_user";
  task.result = "half";
  const std::string text = notice_of(task).text;
  EXPECT_TRUE(text.starts_with("### Background Task Cancelled: Build it\n- Status: Cancelled\n")) << text;
  EXPECT_NE(text.find("cancelled_by_user"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n\nhalf")) << text;
}

TEST(TurnNotice, OfATaskThatNeverBeganSaysSo) {
  Task task = ended(TaskState::cancelled);
  task.started_at = {};
  const Notice notice = notice_of(task);
  EXPECT_NE(notice.text.find("- Duration: not started"), std::string::npos) << notice.text;
  EXPECT_TRUE(json::parse(notice.data).at("duration_ms").is_null());
}

TEST(TurnNotice, HasTheResponseUpToTheCap) {  // R3.7
  Task task = ended(TaskState::completed);
  task.result = "FIRST" + std::string(50'000, 'x') + "LAST";
  const std::string text = notice_of(task).text;
  const std::string response = text.substr(text.find("\n\n") + 2);
  EXPECT_LE(count_characters(response), result_cap);
  EXPECT_GT(count_characters(response), result_cap - 10);
  EXPECT_TRUE(response.starts_with("FIRSTx"));
  EXPECT_TRUE(response.ends_with("xLAST"));
  EXPECT_NE(response.find("50009 characters"), std::string::npos);
  EXPECT_NE(response.find("/api/tasks/task_1/result"), std::string::npos);
}

TEST(Bounded, LeavesWhatFitsAlone) {
  EXPECT_EQ(bounded("", 0, "how"), "");
  EXPECT_EQ(bounded("abc", 3, "how"), "abc");
  // 3 characters, 9 bytes.
  EXPECT_EQ(bounded("一二三", 3, "how"), "一二三");
}

TEST(Bounded, NeverCutsInsideACharacter) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "é字😀";
  for (size_t cap = 150; cap < 180; ++cap) {
    const std::string cut = bounded(text, cap, "Ask for more.");
    EXPECT_TRUE(is_utf8(cut)) << cap;
    EXPECT_EQ(count_characters(cut), cap);
  }
  EXPECT_TRUE(is_utf8(bounded(text, 1, "")));  // A cap below the mark's own length: the mark alone.
}

TEST(BatchNotice, CountsItsTasks) {
  BatchCounts counts;
  counts.by_state[std::to_underlying(TaskState::completed)] = 2;
  counts.by_state[std::to_underlying(TaskState::failed)] = 1;
  EXPECT_EQ(counts.total(), 3);
  EXPECT_EQ(counts.working(), 0);
  const Notice notice = batch_notice(ended(TaskState::completed), counts, NoticeId("ntc_2"), noon);
  EXPECT_EQ(notice.text,
            "### Background Batch Completed: batch_1\n"
            "- Status: Failure\n"
            "- Output Path: /api/batches/batch_1/results\n"
            "- Summary: 3 tasks: 2 completed, 1 failed.");
  EXPECT_EQ(json::parse(notice.data).at("counts").at("failed"), 1);
  EXPECT_EQ(notice.kind, NoticeKind::batch_ended);

  counts.by_state[std::to_underlying(TaskState::failed)] = 0;
  EXPECT_NE(batch_notice(ended(TaskState::completed), counts, NoticeId("n"), noon).text.find("Success"),
            std::string::npos);
  counts.by_state[std::to_underlying(TaskState::resumed)] = 1;
  EXPECT_EQ(counts.working(), 1);
}

TEST(AskNotice, NamesTheRequestAndItsOptions) {
  const Ask ask{"req_1", AskKind::permission, "Run rm -r build?", {"allow", "deny"}, noon, "", ""};
  const Notice notice = ask_notice(ended(TaskState::running), ask, NoticeId("ntc_3"), noon);
  EXPECT_EQ(notice.text,
            "### Background Task Asks: Build it\n"
            "- Status: Waiting for permission\n"
            "- Summary: Run rm -r build?\n"
            "- Task: task_1\n"
            "- Request: req_1\n"
            "- Options:\n"
            "  - allow\n"
            "  - deny");
  EXPECT_EQ(json::parse(notice.data).at("request_id"), "req_1");
}

}  // namespace
}  // namespace errand

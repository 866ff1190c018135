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

Task command(TaskState state, std::string reason) {
  Task task = ended(state);
  task.reason = std::move(reason);
  task.launch.kind = TaskKind::command;
  return task;
}

void print(Task& task, std::string output, int64_t lines) {
  task.progress.output_bytes = std::ssize(output);
  task.progress.output_lines = lines;
  task.result = std::move(output);
}

Artifact file(std::string name, int64_t size, std::string type) {
  Artifact artifact;
  artifact.id = "a1";
  artifact.name = std::move(name);
  artifact.size = size;
  artifact.media_type = std::move(type);
  artifact.sha256 = "ab12";
  artifact.modified = noon;
  return artifact;
}

TEST(TurnNotice, HasTheFormOfSeed002) {  // R5.5, R9.5
  Task task = command(TaskState::completed, "finished");
  task.exit_code = 0;
  print(task, "compiling\nall done\n", 2);
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

TEST(TurnNotice, NamesTheArtifacts) {  // R9.5
  Task task = command(TaskState::completed, "finished");
  task.exit_code = 0;
  print(task, "done\n", 1);
  task.progress.artifacts = {
      .count = 3,
      .bytes = 1'234'600,
      .left_out = 1,
      .first = {file("dist/app.js", 1'234'567, "text/javascript"), file("a\nb\x1b[31m", 33, "text/plain")}};
  const Notice notice = notice_of(task, "/data/run/task_1.1/log");
  EXPECT_EQ(notice.text,
            "### Background Task Completed: Build it\n"
            "- Status: Success\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/run/task_1.1/log\n"
            "- Summary: done [exit code 0]\n"
            "- Task: task_1\n"
            "- Artifacts: 3 files, 1.2 MB (look_at(task_id=\"task_1\", path=\"artifacts\"))\n"
            "  - dist/app.js (1.2 MB, text/javascript)\n"
            "  - a b (33 B, text/plain)\n"
            "  - and 1 more\n"
            "  - 1 left out; the list says why\n"
            "\n"
            "done\n");
  const json::value data = json::parse(notice.data);
  EXPECT_EQ(data.at("ok"), true);
  EXPECT_EQ(data.at("artifacts").at("count"), 3);
  EXPECT_EQ(data.at("artifacts").at("first").at(0).at("name"), "dist/app.js");
  EXPECT_EQ(data.at("artifacts").at("first").at(0).at("sha256"), "ab12");
  EXPECT_EQ(data.at("last_lines"), "done\n");
}

TEST(TurnNotice, OfAFailureHasTheExitCodeAndTheLastLines) {
  Task task = command(TaskState::failed, "exit");
  task.error = TaskError{"exit", "The command exited with code 2.", ""};
  task.exit_code = 2;
  print(task, "\x1b[1mmake\x1b[0m: *** [all] Error 2\n", 1);
  const Notice notice = notice_of(task, "/data/log");
  EXPECT_EQ(notice.text,
            "### Background Task Failed: Build it\n"
            "- Status: Failure\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/log\n"
            "- Summary: The command exited with code 2. (exit) [exit code 2]\n"
            "- Task: task_1\n"
            "\n"
            "make: *** [all] Error 2\n");
  const json::value data = json::parse(notice.data);
  EXPECT_EQ(data.at("ok"), false);
  EXPECT_EQ(data.at("exit_code"), 2);
  EXPECT_EQ(data.at("error").at("code"), "exit");
  EXPECT_EQ(data.at("last_lines"), "make: *** [all] Error 2\n");
}

TEST(TurnNotice, OfASignalATimeoutAndALimitSaysWhich) {
  Task task = command(TaskState::failed, "signal");
  task.error = TaskError{"signal", "The command was ended by signal 11 (SIGSEGV).", ""};
  task.signal = 11;
  EXPECT_EQ(notice_of(task, "/data/log").text,
            "### Background Task Failed: Build it\n"
            "- Status: Failure\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/log\n"
            "- Summary: The command was ended by signal 11 (SIGSEGV). (signal) [ended by signal 11 (SIGSEGV)]\n"
            "- Task: task_1");
  task = command(TaskState::failed, "timeout");
  task.error =
      TaskError{"timeout", "The command did not end within 5 m and was ended; set timeout_s to give it longer.", ""};
  task.signal = 15;
  print(task, "still waiting\n", 1);
  EXPECT_EQ(notice_of(task, "/data/log").text,
            "### Background Task Failed: Build it\n"
            "- Status: Failure\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/log\n"
            "- Summary: The command did not end within 5 m and was ended; set timeout_s to give it longer. (timeout) "
            "[ended by signal 15 (SIGTERM)]\n"
            "- Task: task_1\n"
            "\n"
            "still waiting\n");
  task = command(TaskState::failed, "memory");
  task.error = TaskError{"memory", "The command needed more than 512 MB of memory and was ended.", ""};
  task.signal = 9;
  EXPECT_EQ(notice_of(task, "/data/log").text,
            "### Background Task Failed: Build it\n"
            "- Status: Failure\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/log\n"
            "- Summary: The command needed more than 512 MB of memory and was ended. (memory) [ended by signal 9 "
            "(SIGKILL)]\n"
            "- Task: task_1");
}

TEST(TurnNotice, OfALongOutputSaysThatTheseAreTheLastLines) {  // R9.3
  Task task = command(TaskState::completed, "finished");
  task.exit_code = 0;
  print(task, "line 999999\nline 1000000\n", 1'000'000);
  task.progress.output_bytes = 12'888'896;
  EXPECT_EQ(notice_of(task, "/data/log").text,
            "### Background Task Completed: Build it\n"
            "- Status: Success\n"
            "- Duration: 2.4 s\n"
            "- Output Path: /data/log\n"
            "- Summary: line 1000000 [exit code 0]\n"
            "- Task: task_1\n"
            "\n"
            "[The last of 1000000 lines, 12.8 MB. Read on with look_at(task_id=\"task_1\", path=\"log\").]\n"
            "line 999999\nline 1000000\n");
  task.launch.limits.output_bytes = 1 << 20;
  const Notice cut = notice_of(task, "/data/log");
  EXPECT_NE(cut.text.find("[The last lines of 12.8 MB; the log keeps the first and the last 524.2 kB."),
            std::string::npos)
      << cut.text;
  EXPECT_EQ(json::parse(cut.data).at("output_cut"), true);
}

TEST(TurnNotice, OfAnAgentBeginsWithItsAnswer) {
  Task task = ended(TaskState::completed);
  task.result = "The answer is 42.\n\nBecause.";
  const std::string text = notice_of(task).text;
  EXPECT_NE(text.find("- Summary: The answer is 42.\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- Output Path: look_at(task_id=\"task_1\", path=\"transcript\")\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n\nThe answer is 42.\n\nBecause.")) << text;
}

TEST(TurnNotice, OfAFailureSaysWhy) {
  Task task = ended(TaskState::failed);
  task.reason = "timeout";
  task.error = TaskError{"timeout", "It ran past 300 s.\nmore", ""};
  task.signal = 9;
  const Notice notice = notice_of(task);
  EXPECT_TRUE(notice.text.starts_with("### Background Task Failed: Build it\n- Status: Failure\n")) << notice.text;
  EXPECT_NE(notice.text.find("- Summary: It ran past 300 s. (timeout) [ended by signal 9 (SIGKILL)]"),
            std::string::npos)
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
  EXPECT_NE(response.find("look_at(task_id=\"task_1\", path=\"result\")"), std::string::npos);
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
            "- Output Path: background_output(batch_id=\"batch_1\")\n"
            "- Summary: 3 tasks: 2 completed, 1 failed.");
  EXPECT_EQ(json::parse(notice.data).at("counts").at("failed"), 1);
  EXPECT_EQ(json::parse(notice.data).at("output_path"), "/api/batches/batch_1/results");
  EXPECT_EQ(notice.kind, NoticeKind::batch_ended);

  counts.by_state[std::to_underlying(TaskState::failed)] = 0;
  EXPECT_NE(batch_notice(ended(TaskState::completed), counts, NoticeId("n"), noon).text.find("Success"),
            std::string::npos);
  counts.by_state[std::to_underlying(TaskState::resumed)] = 1;
  EXPECT_EQ(counts.working(), 1);
}

TEST(MatchNotice, HasTheLineAndHowManyWereNotTold) {
  Task task = ended(TaskState::running);
  task.started_at = noon;
  task.completed_at = {};
  const Notice notice = match_notice(task, "/error/i", "Error: no space left", 3, NoticeId("ntc_4"), noon + 61'000);
  EXPECT_EQ(notice.text,
            "### Background Task Match: Build it\n"
            "- Status: Running\n"
            "- Duration: 1 m 1 s\n"
            "- Output Path: look_at(task_id=\"task_1\", path=\"transcript\")\n"
            "- Summary: The output matches \"/error/i\" (and 3 lines before it did): Error: no space left\n"
            "- Task: task_1");
  EXPECT_EQ(notice.kind, NoticeKind::match);
  EXPECT_EQ(json::parse(notice.data).at("line"), "Error: no space left");
  EXPECT_EQ(json::parse(notice.data).at("more"), 3);
}

TEST(ProgressNotice, SaysHowFarItIs) {
  Task task = ended(TaskState::running);
  task.launch.kind = TaskKind::command;
  task.started_at = noon;
  task.completed_at = {};
  task.progress.output_lines = 12;
  task.progress.output_bytes = 340;
  task.progress.last_update = noon + 55'000;
  const Notice notice = progress_notice(task, NoticeId("ntc_5"), noon + 60'000);
  EXPECT_EQ(notice.text,
            "### Background Task Progress: Build it\n"
            "- Status: Running\n"
            "- Duration: 1 m 0 s\n"
            "- Output Path: look_at(task_id=\"task_1\", path=\"log\")\n"
            "- Summary: 12 lines of output so far, 340 bytes; the last sign of life was 5.0 s ago.\n"
            "- Task: task_1");
  EXPECT_EQ(notice.kind, NoticeKind::progress);
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

// The sentences of the seed documents that are about a task's state, each by name.
#include <gtest/gtest.h>

#include "task/decide.h"
#include "task/decide_check.h"

namespace errand {
namespace {

constexpr Time start{1'763'200'000'000};
using Outcome = input::TurnEnded::Outcome;

Launch launch() {
  Launch launch{.agent_id = "demo", .description = "Read the docs", .prompt = "Read the docs and sum them up"};
  launch.parent_session_id = SessionId("ses_parent");
  launch.parent_message_id = MessageId("msg_parent");
  launch.batch_id = BatchId("batch_1");
  return launch;
}

// A task and the time, moved on by inputs that must be accepted.
struct Life {
  Time now = start;
  Step last = create(launch(), TaskId("task_1"), SessionId("ses_1"), MessageId("msg_1"), start);
  Task task = last.after;

  const Step& then(const Input& input) {
    now = now + 1'000;
    Result<Step> step = decide(task, input, now);
    EXPECT_TRUE(step) << describe(task) << " <- " << describe(input) << ": " << (step ? "" : step.error().message);
    if (step) {
      last = std::move(*step);
      task = last.after;
    }
    return last;
  }
  Error refused(const Input& input) {
    Result<Step> step = decide(task, input, now);
    EXPECT_FALSE(step) << describe(task) << " <- " << describe(input);
    return step ? Error{} : step.error();
  }
  void run() {
    then(input::Start{});
    for (const MessageId& id : messages_to_give(task, false)) then(input::Taken{task.run, id});
  }
  void complete(const std::string& result) {
    then(input::TurnEnded{.run = task.run, .outcome = Outcome::completed, .result = result});
  }
};

TEST(Seed000, LaunchBackgroundTask_RecordsItsParentForTraceability) {
  const Life life;
  EXPECT_EQ(life.task.id, TaskId("task_1"));
  EXPECT_EQ(life.task.launch.parent_session_id, SessionId("ses_parent"));
  EXPECT_EQ(life.task.launch.parent_message_id, MessageId("msg_parent"));
  EXPECT_EQ(life.task.title, "Read the docs");
  EXPECT_TRUE(has_event(life.last, EventType::task_created));
}

TEST(Seed000, LaunchBackgroundTask_IsRunningOnceItHasASlot) {
  Life life;
  EXPECT_EQ(life.task.state, TaskState::pending);
  life.then(input::Start{});
  EXPECT_EQ(life.task.state, TaskState::running);
  EXPECT_EQ(life.task.started_at, life.now);
}

TEST(Seed000, TrackTaskCompletion_StatusChangesAndTheTimeIsRecorded) {
  Life life;
  life.run();
  life.complete("the summary");
  EXPECT_EQ(life.task.state, TaskState::completed);
  EXPECT_EQ(life.task.completed_at, life.now);
}

TEST(Seed000, TrackTaskCompletion_TheResultIsStoredForLaterRetrieval) {
  Life life;
  life.run();
  life.complete("the summary");
  EXPECT_EQ(life.task.result, "the summary");
}

TEST(Seed000, HandleTaskErrors_StatusAndDetailsArePreservedForDebugging) {
  Life life;
  life.run();
  const TaskError error{"agent_error", "The model refused.", R"({"http_status":529})"};
  life.then(input::TurnEnded{.run = 1, .outcome = Outcome::failed, .error = error});
  EXPECT_EQ(life.task.state, TaskState::failed);
  EXPECT_EQ(life.task.error, error);
  EXPECT_EQ(life.task.reason, "agent_error");
  EXPECT_EQ(life.task.completed_at, life.now);
}

TEST(Seed000, CancelRunningTasks_StatusChangesAtOnceAndTheWorkIsEnded) {
  Life life;
  life.run();
  const Step& step = life.then(input::Cancel{"user"});
  EXPECT_EQ(life.task.state, TaskState::cancelled);
  EXPECT_TRUE(life.task.stopping);
  const auto* stop = find_effect<effect::Stop>(step);
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->run, 1);
}

TEST(Seed000, RetrieveCompletedTaskResults_MarksTheFirstReading) {
  Life life;
  life.run();
  life.complete("the summary");
  life.then(input::Retrieved{});
  const Time first = life.now;
  EXPECT_EQ(life.task.retrieved_at, first);
  EXPECT_TRUE(life.then(input::Retrieved{}).unchanged);
  EXPECT_EQ(life.task.retrieved_at, first);
}

TEST(Seed000, RetrieveCompletedTaskResults_ARunningTaskIsNotMarked) {
  Life life;
  life.run();
  EXPECT_TRUE(life.then(input::Retrieved{}).unchanged);
  EXPECT_FALSE(life.task.retrieved_at);
}

TEST(Seed000, HandleExpiredResults_RetentionCountsFromTheRest) {
  Life life;
  life.task.launch.retention_ms = 60'000;
  life.run();
  EXPECT_FALSE(life.task.expires_at);
  life.complete("the summary");
  EXPECT_EQ(life.task.expires_at, life.now + 60'000);
}

TEST(Seed000, MonitorTaskProgress_LastUpdateShowsThatItIsActive) {
  Life life;
  life.run();
  life.then(input::Activity{1});
  EXPECT_EQ(life.task.progress.last_update, life.now);
}

TEST(Seed000, GroupRelatedTasks_TheBatchIdIsKept) {
  const Life life;
  EXPECT_EQ(life.task.launch.batch_id, BatchId("batch_1"));
}

TEST(Seed001, SendMessageToRunningTask_ReachesTheAgentInThatTurn) {
  Life life;
  life.run();
  const Step& step = life.then(input::Prompt{MessageId("msg_2")});
  const auto* send = find_effect<effect::Send>(step);
  ASSERT_NE(send, nullptr);
  EXPECT_EQ(send->message, MessageId("msg_2"));
  EXPECT_EQ(life.task.state, TaskState::running);
  EXPECT_EQ(life.task.turn, 1);
}

TEST(Seed001, IfCompleted_NewMessagesResumeIt) {
  Life life;
  life.run();
  life.complete("the summary");
  life.then(input::Prompt{MessageId("msg_2")});
  EXPECT_EQ(life.task.state, TaskState::resumed);
  EXPECT_EQ(messages_to_give(life.task, false), std::vector{MessageId("msg_2")});
}

TEST(Seed001, DeleteTask_CancelsIfRunning) {
  Life life;
  life.run();
  const Result<Step> step = decide(life.task, input::Remove{}, life.now);
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->removed);
  EXPECT_NE(find_effect<effect::Stop>(*step), nullptr);
}

TEST(Seed001, CancelIsOnlyForTasksAtWork) {
  Life life;
  life.run();
  life.complete("done");
  const Error error = life.refused(input::Cancel{"user"});
  EXPECT_EQ(error.code, Code::conflict);
  EXPECT_NE(error.message.find("completed"), std::string::npos);
}

TEST(Seed002, ExceedingTheTimeout_TerminatesTheTask) {
  Life life;
  life.run();
  const Step& step = life.then(input::Deadline{1, input::Deadline::Which::timeout, "It ran longer than its 300 s."});
  EXPECT_EQ(life.task.state, TaskState::failed);
  EXPECT_EQ(life.task.reason, "timeout");
  EXPECT_NE(find_effect<effect::Stop>(step), nullptr);
}

TEST(Seed002, DetectHungProcesses_ReportsFailure) {
  Life life;
  life.run();
  life.then(input::Deadline{1, input::Deadline::Which::idle, "Silent for 300 s."});
  EXPECT_EQ(life.task.state, TaskState::failed);
  EXPECT_EQ(life.task.reason, "hung");
}

TEST(Seed002, DetectHungProcesses_AttemptsRecoveryWhereTheTaskSaysSo) {
  Life life;
  life.task.launch.on_hang = OnHang::restart;
  life.run();
  life.then(input::Deadline{1, input::Deadline::Which::idle, "Silent for 300 s."});
  EXPECT_EQ(life.task.state, TaskState::running);
  EXPECT_TRUE(life.task.stopping);
  const Step& again = life.then(input::TurnEnded{.run = 1, .outcome = Outcome::stopped});
  EXPECT_NE(find_effect<effect::Open>(again), nullptr);
  EXPECT_EQ(life.task.run, 2);
  EXPECT_EQ(messages_to_give(life.task, false), std::vector{MessageId("msg_1")});
}

TEST(Seed002, RetrieveStatusCodes_ExitCodeAndSignalAreStored) {
  Life life;
  life.run();
  const TaskError error{"exit", "It exited with 3.", {}};
  life.then(input::TurnEnded{.run = 1, .outcome = Outcome::failed, .error = error, .exit_code = 3});
  EXPECT_EQ(life.task.exit_code, 3);
  EXPECT_FALSE(life.task.signal);
}

TEST(Seed003, ResumeCompletedTask_ContinuesInItsOwnSession) {
  Life life;
  life.run();
  life.complete("first answer");
  const SessionId session = life.task.session_id;
  life.then(input::Prompt{MessageId("msg_2")});
  EXPECT_EQ(life.task.state, TaskState::resumed);
  EXPECT_EQ(life.task.session_id, session);
  EXPECT_EQ(life.task.resume_count, 1);
  EXPECT_EQ(life.task.turn, 2);
}

TEST(Seed003, ResumeCompletionNotification_OneForTheTurnAndCompletedAgain) {
  Life life;
  life.run();
  life.complete("first answer");
  EXPECT_TRUE(life.last.turn_ended);
  life.then(input::Prompt{MessageId("msg_2")});
  EXPECT_FALSE(life.last.turn_ended);
  life.run();
  life.complete("second answer");
  EXPECT_TRUE(life.last.turn_ended);
  EXPECT_EQ(life.task.state, TaskState::completed);
  EXPECT_EQ(life.task.result, "second answer");
}

TEST(Seed003, RejectResumeOfNonCompletedTask_FailedAndCancelledNameRetry) {
  for (const bool cancel : {true, false}) {
    Life life;
    life.run();
    if (cancel) {
      life.then(input::Cancel{"user"});
    } else {
      life.then(input::Deadline{1, input::Deadline::Which::timeout, "too long"});
    }
    const Error error = life.refused(input::Prompt{MessageId("msg_2")});
    EXPECT_EQ(error.code, Code::conflict);
    EXPECT_NE(error.message.find("retry"), std::string::npos) << error.message;
  }
}

// The tools refuse a second resume by the state (R5.3): `resumed` at once is what they see.
TEST(Seed003, RejectConcurrentResume_TheStatusIsResumedAtOnceEvenWithoutASlot) {
  Life life;
  life.run();
  life.complete("first answer");
  life.then(input::Prompt{MessageId("msg_2")});
  EXPECT_EQ(life.task.state, TaskState::resumed);
  EXPECT_EQ(life.task.phase, TurnPhase::queued);
}

TEST(Seed004, LaunchForkedBackgroundTask_IsMarked) {
  Launch forked = launch();
  forked.fork = true;
  EXPECT_TRUE(create(forked, TaskId("task_1"), SessionId("ses_1"), MessageId("msg_1"), start).after.is_forked);
  EXPECT_FALSE(create(launch(), TaskId("task_1"), SessionId("ses_1"), MessageId("msg_1"), start).after.is_forked);
}

}  // namespace
}  // namespace errand

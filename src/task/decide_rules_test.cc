// The rules of the specification that `decide` keeps, each by its number.
#include <gtest/gtest.h>

#include "task/decide.h"
#include "task/decide_check.h"

namespace errand {
namespace {

constexpr Time start{1'763'200'000'000};
using Outcome = input::TurnEnded::Outcome;
using When = WaitingMessage::When;
using Which = input::Deadline::Which;

Task made(Launch launch = {.agent_id = "demo", .prompt = "do it"}) {
  return create(std::move(launch), TaskId("task_1"), SessionId("ses_1"), MessageId("msg_1"), start).after;
}

Step step(const Task& task, const Input& input, Time now = start + 1'000) {
  Result<Step> result = decide(task, input, now);
  EXPECT_TRUE(result) << describe(task) << " <- " << describe(input) << (result ? "" : result.error().message);
  return result ? std::move(*result) : Step{.after = task};
}

Task after(const Task& task, const Input& input, Time now = start + 1'000) { return step(task, input, now).after; }

Error refusal(const Task& task, const Input& input) {
  const Result<Step> result = decide(task, input, start);
  EXPECT_FALSE(result) << describe(task) << " <- " << describe(input);
  return result ? Error{} : result.error();
}

// At work, with all that it was given taken.
Task running(Launch launch = {.agent_id = "demo", .prompt = "do it"}) {
  Task task = after(made(std::move(launch)), input::Start{});
  return after(task, input::Taken{task.run, MessageId("msg_1")});
}

Task ended(const Task& task, Outcome outcome) {
  return after(task, input::TurnEnded{.run = task.run, .outcome = outcome, .result = "said"});
}

Task completed() { return ended(running(), Outcome::completed); }
Task failed() { return ended(running(), Outcome::failed); }

Ask question(const char* id, AskKind kind = AskKind::answer) {
  return {.request_id = id, .kind = kind, .text = "Which one?", .options = {"a", "b"}};
}

// --- The fence (P4, design "Runs").

TEST(DecideFence, LateExitOfAnOldRunChangesNothing) {
  Task task = failed();
  task = after(after(task, input::Retry{}), input::Start{});
  ASSERT_EQ(task.run, 2);
  EXPECT_TRUE(step(task, input::TurnEnded{.run = 1, .outcome = Outcome::completed, .result = "late"}).unchanged);
  EXPECT_TRUE(step(task, input::Lost{1, "late"}).unchanged);
  EXPECT_TRUE(step(task, input::Deadline{1, Which::timeout, "late"}).unchanged);
  EXPECT_TRUE(step(task, input::Asked{1, question("req_1")}).unchanged);
}

TEST(DecideFence, ASecondEndOfTheSameRunChangesNothing) {
  const Task task = completed();
  EXPECT_TRUE(step(task, input::TurnEnded{.run = task.run, .outcome = Outcome::failed}).unchanged);
}

// --- R1: lifecycle.

TEST(R1_3, LaunchIsPendingAndInLineAtOnce) {
  const Task task = made();
  EXPECT_EQ(task.state, TaskState::pending);
  EXPECT_EQ(task.phase, TurnPhase::queued);
  EXPECT_EQ(task.queued_at, start);
  EXPECT_EQ(task.run, 0);
}

TEST(R1_4, TimesOfALifeAreRecorded) {
  Task task = after(made(), input::Start{}, start + 10);
  EXPECT_EQ(task.created_at, start);
  EXPECT_EQ(task.started_at, start + 10);
  EXPECT_FALSE(task.completed_at);
  task = after(task, input::Taken{1, MessageId("msg_1")}, start + 20);
  task = after(task, input::TurnEnded{.run = 1}, start + 30);
  EXPECT_EQ(task.completed_at, start + 30);
  EXPECT_EQ(task.updated_at, start + 30);
}

TEST(R1_5, AFailureWithoutWordsStillHasCodeAndMessage) {
  const Task task = after(running(), input::TurnEnded{.run = 1, .outcome = Outcome::failed});
  EXPECT_EQ(task.reason, "agent_error");
  EXPECT_FALSE(task.error->message.empty());
}

TEST(R1_6, CancelOfAPendingTaskEndsAtOnce) {
  const Step cancelled = step(made(), input::Cancel{"user"});
  EXPECT_EQ(cancelled.after.state, TaskState::cancelled);
  EXPECT_EQ(cancelled.after.reason, "cancelled_by_user");
  EXPECT_FALSE(cancelled.after.stopping);
  EXPECT_TRUE(has_event(cancelled, EventType::end));
  EXPECT_TRUE(cancelled.effects.empty());
}

TEST(R1_6, NothingSaidAfterACancelMakesItCompleted) {
  const Task cancelled = after(running(), input::Cancel{"user"});
  const Step gone =
      step(cancelled, input::TurnEnded{.run = 1, .outcome = Outcome::completed, .result = "done after all"});
  EXPECT_EQ(gone.after.state, TaskState::cancelled);
  EXPECT_FALSE(gone.after.stopping);
  EXPECT_TRUE(has_event(gone, EventType::end));
}

TEST(R1_6, EndIsToldOnlyWhenTheProcessesAreGone) {
  const Step cancelled = step(running(), input::Cancel{"user"});
  EXPECT_FALSE(has_event(cancelled, EventType::end));
  EXPECT_TRUE(
      has_event(step(cancelled.after, input::TurnEnded{.run = 1, .outcome = Outcome::stopped}), EventType::end));
}

TEST(R1_6, CancelKeepsWhatWasProduced) {
  Task task = after(completed(), input::Prompt{MessageId("msg_2")});
  task = after(after(task, input::Start{}), input::Cancel{"user"});
  EXPECT_EQ(task.result, "said");
}

TEST(R1_6, WhatAStoppedRunHadPrintedIsKept) {
  const input::TurnEnded stopped{.run = 1,
                                 .outcome = Outcome::stopped,
                                 .result = "half of it",
                                 .error = TaskError{"stopped", "Stopped.", R"({"signal":15,"stderr_tail":"oh\n"})"}};
  const Task cancelled = after(after(running(), input::Cancel{"user"}), stopped);
  EXPECT_EQ(cancelled.state, TaskState::cancelled);
  EXPECT_EQ(cancelled.result, "half of it");
  EXPECT_FALSE(cancelled.error);
  // R1.5: and why it failed stays what it was, with what is needed to look into it.
  const Task hung = after(after(running(), input::Deadline{1, Which::idle, "Silent."}), stopped);
  EXPECT_EQ(hung.result, "half of it");
  ASSERT_TRUE(hung.error);
  EXPECT_EQ(hung.error->code, "hung");
  EXPECT_EQ(hung.error->message, "Silent.");
  EXPECT_EQ(hung.error->details, stopped.error->details);
}

TEST(R1_6, CancellingWhatHasEndedSaysSoAndChangesNothing) {
  for (const Task& task : {completed(), failed(), after(made(), input::Cancel{"user"})}) {
    const Error error = refusal(task, input::Cancel{"user"});
    EXPECT_EQ(error.code, Code::conflict);
    EXPECT_NE(error.message.find(name(task.state)), std::string::npos) << error.message;
  }
}

TEST(R1_6, CancelWorksWhileAnInterruptOrARestartStopsTheTurn) {
  const Task interrupted = after(running(), input::Prompt{MessageId("msg_2"), When::interrupt});
  const Task cancelled = after(interrupted, input::Cancel{"user"});
  EXPECT_EQ(cancelled.state, TaskState::cancelled);
  const Step gone = step(cancelled, input::TurnEnded{.run = 1, .outcome = Outcome::stopped});
  EXPECT_EQ(gone.after.state, TaskState::cancelled);
  EXPECT_EQ(find_effect<effect::Open>(gone), nullptr);
}

TEST(R1_7, ASlotIsHeldFromTheStartUntilTheProcessesAreGone) {
  EXPECT_FALSE(holds_slot(made()));
  EXPECT_TRUE(holds_slot(running()));
  const Task cancelled = after(running(), input::Cancel{"user"});
  EXPECT_TRUE(holds_slot(cancelled));
  EXPECT_FALSE(holds_slot(after(cancelled, input::TurnEnded{.run = 1, .outcome = Outcome::stopped})));
  EXPECT_FALSE(holds_slot(completed()));
  EXPECT_FALSE(holds_slot(after(completed(), input::Prompt{MessageId("msg_2")})));
}

TEST(R1_8, RemovingAPendingTaskStopsNothing) {
  const Step gone = step(made(), input::Remove{});
  EXPECT_TRUE(gone.removed);
  EXPECT_TRUE(gone.effects.empty());
}

TEST(R1_9, RetryIsANewAttemptOnTheSameId) {
  const Task task = failed();
  const Step again = step(task, input::Retry{MessageId("msg_2")});
  EXPECT_EQ(again.after.id, task.id);
  EXPECT_EQ(again.after.state, TaskState::pending);
  EXPECT_EQ(again.after.attempt, 2);
  EXPECT_EQ(again.after.turn, 2);
  EXPECT_FALSE(again.after.error);
  EXPECT_FALSE(again.after.result);
  EXPECT_FALSE(again.after.started_at);
  EXPECT_EQ(messages_to_give(again.after, false), (std::vector{MessageId("msg_1"), MessageId("msg_2")}));
  EXPECT_EQ(after(again.after, input::Start{}).run, 2);
  EXPECT_EQ(runs_of(again.after, 1), (RunRange{1, 1}));
}

TEST(R1_9, OnlyFailedAndCancelledCanBeRetried) {
  for (const Task& task : {made(), running(), completed()})
    EXPECT_EQ(refusal(task, input::Retry{}).code, Code::conflict) << describe(task);
  EXPECT_EQ(after(after(made(), input::Cancel{"user"}), input::Retry{}).state, TaskState::pending);
}

// A restart after a hang is a run of the same attempt.
TEST(R1_9, AnAttemptKnowsItsRuns) {
  Task task;
  task.attempt = 1;
  EXPECT_EQ(runs_of(task, 1), std::nullopt);  // Nothing was begun.
  task.run = 2;                               // Restarted once.
  EXPECT_EQ(runs_of(task, 1), (RunRange{1, 2}));
  EXPECT_EQ(runs_of(task, 2), std::nullopt);
  task.attempt = 2;  // Retried, and waits.
  task.progress.attempt_ends = {2};
  EXPECT_EQ(runs_of(task, 1), (RunRange{1, 2}));
  EXPECT_EQ(runs_of(task, 2), std::nullopt);
  task.run = 3;
  EXPECT_EQ(runs_of(task, 2), (RunRange{3, 3}));
  task.attempt = 4;  // The third was cancelled before it began.
  task.progress.attempt_ends = {2, 3, 3};
  task.run = 5;
  EXPECT_EQ(runs_of(task, 1), (RunRange{1, 2}));
  EXPECT_EQ(runs_of(task, 2), (RunRange{3, 3}));
  EXPECT_EQ(runs_of(task, 3), std::nullopt);
  EXPECT_EQ(runs_of(task, 4), (RunRange{4, 5}));
  EXPECT_EQ(runs_of(task, 0), std::nullopt);
  task.progress.attempt_ends = {3};  // Too many attempts: the oldest are not known any more.
  EXPECT_EQ(runs_of(task, 2), std::nullopt);
  EXPECT_EQ(runs_of(task, 4), (RunRange{4, 5}));
}

// The next attempt must not run beside what is left of the last one.
TEST(R1_9, RetryWaitsForTheProcessesOfTheLastAttempt) {
  const Task cancelled = after(running(), input::Cancel{"user"});
  EXPECT_EQ(refusal(cancelled, input::Retry{}).code, Code::conflict);
  const Task gone = after(cancelled, input::TurnEnded{.run = 1, .outcome = Outcome::stopped});
  EXPECT_EQ(after(gone, input::Retry{}).state, TaskState::pending);
}

TEST(R1_10, ATaskThatAsksHoldsNoSlot) {
  const Task asking = after(running(), input::Asked{1, question("req_1")});
  EXPECT_FALSE(holds_slot(asking));
  EXPECT_TRUE(holds_slot(after(asking, input::Answered{"req_1", "answer", "a", "user"})));
}

TEST(R1_10, TheIdleClockStandsStillWhileItWaits) {
  const Task asking = after(running(), input::Asked{1, question("req_1")});
  EXPECT_TRUE(step(asking, input::Deadline{1, Which::idle, "silent"}).unchanged);
  EXPECT_TRUE(step(asking, input::Deadline{1, Which::idle_warning, "silent"}).unchanged);
}

// --- R2.2: after a crash.

TEST(R2_2, WhatCannotGoOnIsFailedAsInterrupted) {
  const Step lost = step(running(), input::Lost{1, "The server was restarted and the agent cannot go on."});
  EXPECT_EQ(lost.after.state, TaskState::failed);
  EXPECT_EQ(lost.after.reason, "interrupted");
  EXPECT_TRUE(lost.turn_ended);
  EXPECT_TRUE(has_event(lost, EventType::end));
}

TEST(R2_2, ACancelOutlivesACrash) {
  const Step lost = step(after(running(), input::Cancel{"user"}), input::Lost{1, "gone"});
  EXPECT_EQ(lost.after.state, TaskState::cancelled);
  EXPECT_FALSE(lost.after.stopping);
  EXPECT_TRUE(lost.turn_ended) << "its parent was not told before the crash";
}

TEST(R2_2, AnInterruptingMessageOutlivesACrash) {
  const Task interrupted = after(running(), input::Prompt{MessageId("msg_2"), When::interrupt});
  const Step lost = step(interrupted, input::Lost{1, "gone"});
  EXPECT_EQ(lost.after.run, 2);
  EXPECT_EQ(messages_to_give(lost.after, false), std::vector{MessageId("msg_2")});
}

TEST(R2_2, AReattachedTurnIsNotGivenWhatWaitsForTheNext) {
  Task task = after(running(), input::Prompt{MessageId("msg_2"), When::queue});
  task = after(task, input::Prompt{MessageId("msg_3"), When::steer});
  EXPECT_EQ(messages_to_give(task, true), std::vector{MessageId("msg_3")});
}

// Found by the simulator (seed 136): a message that waited for the next turn was not given to it after a crash.
TEST(R2_2, AReattachedTurnIsGivenAllThatItBeganWith) {
  Task task = after(running(), input::Prompt{MessageId("msg_2"), When::queue});
  task = after(ended(task, Outcome::completed), input::Start{});
  EXPECT_EQ(messages_to_give(task, true), std::vector{MessageId("msg_2")});
}

// --- R3.1.

TEST(R3_1, AResumedTasksResultIsUnreadAgain) {
  Task task = after(completed(), input::Retrieved{});
  ASSERT_TRUE(task.retrieved_at);
  EXPECT_FALSE(after(task, input::Prompt{MessageId("msg_2")}).retrieved_at);
}

TEST(R3_1, ReadingIsNoChangeOfTheTask) {
  const Task task = completed();
  EXPECT_EQ(after(task, input::Retrieved{}, start + 99'000).updated_at, task.updated_at);
}

TEST(R3_4, ClearNeverTouchesATaskAtWork) {
  for (const Task& task : {made(), running(), after(completed(), input::Prompt{MessageId("msg_2")})})
    EXPECT_EQ(refusal(task, input::Remove{.only_at_rest = true}).code, Code::conflict) << describe(task);
  EXPECT_TRUE(step(completed(), input::Remove{.only_at_rest = true}).removed);
}

// --- R4: hangs, timeouts, asks.

TEST(R4_2, HalfOfTheIdleLimitIsAWarning) {
  const Step warned = step(running(), input::Deadline{1, Which::idle_warning, "Silent for 150 s."});
  EXPECT_TRUE(has_event(warned, EventType::task_warning));
  EXPECT_EQ(warned.after.state, TaskState::running);
}

TEST(R4_2, RestartIsBounded) {
  Task task = running({.agent_id = "demo", .prompt = "do it", .on_hang = OnHang::restart});
  for (int i = 0; i < max_restarts_default; ++i) {
    const Step hung = step(task, input::Deadline{task.run, Which::idle, "silent"});
    EXPECT_TRUE(has_event(hung, EventType::task_warning));
    task = after(hung.after, input::TurnEnded{.run = task.run, .outcome = Outcome::stopped});
    EXPECT_EQ(task.state, TaskState::running);
    EXPECT_EQ(task.turn, 1);
  }
  task = after(task, input::Deadline{task.run, Which::idle, "silent"});
  EXPECT_EQ(task.state, TaskState::failed);
  EXPECT_EQ(task.reason, "hung");
  EXPECT_TRUE(task.error->message.contains("begun again 3 times")) << task.error->message;
}

TEST(R4_2, TheLaunchSaysHowOftenATurnIsBegunAgain) {
  Task task = running({.agent_id = "demo", .prompt = "do it", .on_hang = OnHang::restart, .max_restarts = 1});
  const Step hung = step(task, input::Deadline{task.run, Which::idle, "Silent."});
  EXPECT_TRUE(hung.events.front().data.contains("restart 1 of 1")) << hung.events.front().data;
  task = after(hung.after, input::TurnEnded{.run = task.run, .outcome = Outcome::stopped});
  EXPECT_EQ(task.state, TaskState::running);
  EXPECT_EQ(after(task, input::Deadline{task.run, Which::idle, "Silent."}).reason, "hung");
}

TEST(R4_3, TimeoutEndsTheTaskAlsoWhileItAsks) {
  const Task asking = after(running(), input::Asked{1, question("req_1")});
  const Step timed_out = step(asking, input::Deadline{1, Which::timeout, "over 300 s"});
  EXPECT_EQ(timed_out.after.reason, "timeout");
  EXPECT_TRUE(timed_out.after.asks.empty());
  EXPECT_TRUE(has_event(timed_out, EventType::ask_answered)) << "whoever was asked is told that nobody waits";
}

TEST(R4_6, AQuestionPutsTheTaskInWaitingAndAnAnswerGoesToTheAgent) {
  const Step asked = step(running(), input::Asked{1, question("req_1")});
  EXPECT_TRUE(asked.asked);
  EXPECT_TRUE(has_event(asked, EventType::ask_created));
  ASSERT_NE(open_ask(asked.after), nullptr);
  const Step answered = step(asked.after, input::Answered{"req_1", "answer", "the first", "user"});
  EXPECT_EQ(open_ask(answered.after), nullptr);
  const auto* answer = find_effect<effect::Answer>(answered);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->request_id, "req_1");
  EXPECT_EQ(answer->message, "the first");
}

TEST(R4_6, PolicyAnswersPermissionsButNeverQuestions) {
  for (const Permission rule : {Permission::allow, Permission::deny}) {
    Launch launch{.agent_id = "demo", .prompt = "do it"};
    launch.permission = rule;
    const Task task = running(launch);
    const Step permission = step(task, input::Asked{1, question("req_1", AskKind::permission)});
    EXPECT_FALSE(permission.asked);
    EXPECT_EQ(open_ask(permission.after), nullptr);
    const auto* answer = find_effect<effect::Answer>(permission);
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->decision, name(rule));
    EXPECT_TRUE(step(task, input::Asked{1, question("req_2")}).asked);
  }
}

TEST(R4_6, AskedAgainAfterARestartTheSameAnswerIsGiven) {
  Task task = after(running(), input::Asked{1, question("req_1")});
  task = after(task, input::Answered{"req_1", "answer", "the first", "user"});
  const Step again = step(task, input::Asked{1, question("req_1")});
  EXPECT_TRUE(again.unchanged);
  const auto* answer = find_effect<effect::Answer>(again);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->message, "the first");
}

TEST(R4_6, AWrongAnswerIsRefusedWithWhatIsAllowed) {
  Task task = after(running(), input::Asked{1, question("req_p", AskKind::permission)});
  task = after(task, input::Asked{1, question("req_q")});
  EXPECT_EQ(refusal(task, input::Answered{"req_p", "answer", "yes", "user"}).code, Code::invalid_argument);
  EXPECT_EQ(refusal(task, input::Answered{"req_q", "allow", {}, "user"}).code, Code::invalid_argument);
  EXPECT_EQ(refusal(task, input::Answered{"req_x", "allow", {}, "user"}).code, Code::not_found);
  task = after(task, input::Answered{"req_p", "deny", {}, "user"});
  EXPECT_EQ(refusal(task, input::Answered{"req_p", "allow", {}, "user"}).code, Code::not_found) << "answered already";
}

TEST(R4_6, EveryOpenQuestionMustBeAnsweredBeforeItHoldsASlotAgain) {
  Task task = after(running(), input::Asked{1, question("req_1")});
  task = after(task, input::Asked{1, question("req_2")});
  task = after(task, input::Answered{"req_1", "answer", "a", "user"});
  EXPECT_FALSE(holds_slot(task));
  EXPECT_TRUE(holds_slot(after(task, input::Answered{"req_2", "answer", "b", "user"})));
}

// --- R5: chat.

TEST(R5_1, APendingTaskGetsItsMessagesWithTheFirstTurnInOrder) {
  Task task = after(made(), input::Prompt{MessageId("msg_2"), When::queue});
  task = after(task, input::Prompt{MessageId("msg_3"), When::interrupt});
  task = after(task, input::Start{});
  EXPECT_EQ(messages_to_give(task, false), (std::vector{MessageId("msg_1"), MessageId("msg_2"), MessageId("msg_3")}));
}

TEST(R5_1, AMessageIsTakenOnce) {
  const Task task = after(after(made(), input::Start{}), input::Taken{1, MessageId("msg_1")});
  EXPECT_TRUE(step(task, input::Taken{1, MessageId("msg_1")}).unchanged);
  EXPECT_TRUE(messages_to_give(task, true).empty());
}

TEST(R5_1, AQueuedMessageBecomesTheNextTurn) {
  Task task = after(running(), input::Prompt{MessageId("msg_2"), When::queue});
  const Step next = step(task, input::TurnEnded{.run = 1, .outcome = Outcome::completed, .result = "first"});
  EXPECT_TRUE(next.turn_ended) << "the first turn's answer is still owed to the parent";
  EXPECT_EQ(next.after.state, TaskState::resumed);
  EXPECT_EQ(next.after.phase, TurnPhase::queued);
  EXPECT_EQ(next.after.turn, 2);
  EXPECT_EQ(next.after.result, "first");
  EXPECT_FALSE(has_event(next, EventType::end));
}

TEST(R5_1, ASteeredMessageThatTheAgentDidNotTakeInTimeBecomesTheNextTurn) {
  const Task task = after(running(), input::Prompt{MessageId("msg_2"), When::steer});
  const Task next = ended(task, Outcome::completed);
  EXPECT_EQ(next.state, TaskState::resumed);
  EXPECT_EQ(messages_to_give(next, false), std::vector{MessageId("msg_2")});
}

TEST(R5_1, AnInterruptStopsTheTurnAndTheNextFollowsInItsSlot) {
  const Step stopped = step(running(), input::Prompt{MessageId("msg_2"), When::interrupt});
  EXPECT_NE(find_effect<effect::Stop>(stopped), nullptr);
  EXPECT_EQ(stopped.after.state, TaskState::running);
  const Step next = step(stopped.after, input::TurnEnded{.run = 1, .outcome = Outcome::stopped});
  EXPECT_NE(find_effect<effect::Open>(next), nullptr);
  EXPECT_EQ(next.after.turn, 2);
  EXPECT_EQ(messages_to_give(next.after, false), std::vector{MessageId("msg_2")});
}

TEST(R5_1, AFailedTurnKeepsItsMessagesForTheRetry) {
  Task task = after(running(), input::Prompt{MessageId("msg_2"), When::queue});
  task = after(ended(task, Outcome::failed), input::Retry{});
  EXPECT_EQ(messages_to_give(task, false), (std::vector{MessageId("msg_1"), MessageId("msg_2")}));
}

TEST(R5_2, AMessageToACompletedTaskResumesIt) {
  const Task task = completed();
  const Task resumed = after(task, input::Prompt{MessageId("msg_2")});
  EXPECT_EQ(resumed.state, TaskState::resumed);
  EXPECT_EQ(resumed.result, "said") << "the earlier result stays until there is a new one";
  EXPECT_FALSE(resumed.completed_at);
  EXPECT_TRUE(resumed.reason.empty());
}

TEST(R5_3, ResumeCountGoesUpWithEachResume) {
  Task task = completed();
  for (int i = 1; i <= 3; ++i) {
    task = after(task, input::Prompt{MessageId("msg_n")});
    EXPECT_EQ(task.resume_count, i);
    task = after(task, input::Start{});
    task = after(task, input::Taken{task.run, MessageId("msg_n")});
    task = ended(task, Outcome::completed);
    EXPECT_EQ(task.state, TaskState::completed);
  }
}

TEST(R5_5, EveryTurnThatEndsOwesOneNotice) {
  EXPECT_TRUE(step(running(), input::TurnEnded{.run = 1}).turn_ended);
  EXPECT_TRUE(step(running(), input::TurnEnded{.run = 1, .outcome = Outcome::failed}).turn_ended);
  EXPECT_TRUE(step(made(), input::Cancel{"user"}).turn_ended);
}

TEST(R5_5, ATurnThatIsStoppedIsToldOfWhenNothingOfItIsLeft) {
  const std::vector<Input> stops = {input::Cancel{"user"}, input::Deadline{1, Which::timeout, "too long"},
                                    input::Deadline{1, Which::idle, "silent"},
                                    input::Overrun{1, {"budget", "It used too much.", {}}}};
  for (const Input& stop : stops) {
    const Step stopped = step(running(), stop);
    EXPECT_FALSE(stopped.turn_ended);
    const Step gone =
        step(stopped.after, input::TurnEnded{.run = 1, .outcome = Outcome::stopped, .result = "the last lines"});
    EXPECT_TRUE(gone.turn_ended);
    EXPECT_EQ(gone.after.result, "the last lines");
  }
}

TEST(R5_5, WhatIsBeingStoppedDoesNotExpireBeforeItsNoticeIsMade) {
  Task task = running();
  task.launch.retention_ms = 1'000;
  const Task stopping = after(task, input::Cancel{"user"});
  EXPECT_FALSE(stopping.expires_at);
  const Task gone = after(stopping, input::TurnEnded{.run = 1, .outcome = Outcome::stopped});
  EXPECT_EQ(gone.expires_at, gone.completed_at + 1'000);
}

// --- Times and rests that must not leak into the next turn.

TEST(Decide, AStopFromOutsideErrandIsAFailureNotACompletion) {
  const Task task = ended(running(), Outcome::stopped);
  EXPECT_EQ(task.state, TaskState::failed);
  EXPECT_EQ(task.reason, "interrupted");
}

TEST(Decide, RetentionStartsAnewWithEachRest) {
  Task task = running({.agent_id = "demo", .prompt = "do it", .retention_ms = 1'000});
  task = after(task, input::TurnEnded{.run = 1, .outcome = Outcome::failed}, start + 5'000);
  EXPECT_EQ(task.expires_at, start + 6'000);
  task = after(task, input::Retry{}, start + 5'500);
  EXPECT_FALSE(task.expires_at);
}

// --- bounds

MessageId numbered(size_t i) { return MessageId("msg_n" + std::to_string(i)); }

TEST(Bounds, MessagesPastTheBoundAreRefusedUntilSomeAreTaken) {
  Task task = running();
  for (size_t i = 0; i < waiting_max; ++i) task = after(task, input::Prompt{numbered(i), When::steer});
  const Error full = refusal(task, input::Prompt{MessageId("msg_more"), When::steer});
  EXPECT_EQ(full.code, Code::exhausted);
  EXPECT_EQ(full.reason, too_many_messages);
  task = after(task, input::Taken{task.run, numbered(0)});
  task = after(task, input::Prompt{MessageId("msg_more"), When::steer});
  EXPECT_EQ(task.waiting.back().id, MessageId("msg_more"));
}

TEST(Bounds, AThousandThatTheTurnTookAreKeptForARetry) {
  Task task = running();
  for (size_t i = 0; i < 2 * waiting_max; ++i) {
    task = after(task, input::Prompt{numbered(i), When::steer});
    task = after(task, input::Taken{task.run, numbered(i)});
  }
  EXPECT_LE(task.waiting.size(), waiting_max + 1);
  EXPECT_EQ(task.waiting.back().id, numbered(2 * waiting_max - 1)) << "the newest are kept";
}

TEST(Bounds, ANoticeThatFindsNoRoomWaitsForTheNextTurnAndAMessageStillPasses) {
  Task task = running();
  for (size_t i = 0; i < waiting_max; ++i)
    task = after(task, input::Noticed{NoticeId("ntc_" + std::to_string(i)), numbered(i), false});
  EXPECT_TRUE(step(task, input::Noticed{NoticeId("ntc_more"), MessageId("msg_more"), false}).unchanged);
  EXPECT_EQ(after(task, input::Prompt{MessageId("msg_of_a_person"), When::steer}).waiting.size(),
            task.waiting.size() + 1);
}

TEST(Bounds, TheNewestAnswersOfATurnAreKept) {
  Task task = running();
  const auto id = [](size_t i) { return "ask_" + std::to_string(i); };
  for (size_t i = 0; i < 3 * answered_max; ++i) {
    task = after(task, input::Asked{task.run, {.request_id = id(i), .kind = AskKind::answer, .text = "?"}});
    if (i != 5) task = after(task, input::Answered{.request_id = id(i), .decision = "answer", .message = "yes"});
  }
  EXPECT_LE(task.asks.size(), answered_max + 1);
  EXPECT_EQ(open_ask(task)->request_id, id(5)) << "an open one stays";
  EXPECT_EQ(task.asks.back().request_id, id(3 * answered_max - 1));
}

// --- Records (R15).

TEST(DecideEdit, ChangesTheRecordInEveryStateAndNothingElse) {
  const Task cancelled = after(running(), input::Cancel{"user"});
  for (const Task& task : {made(), running(), completed(), failed(), cancelled}) {
    const Step edited =
        step(task, input::Edit{.title = "  The flaky test\nand more", .labels = {{"team", "core"}}, .pinned = true});
    EXPECT_EQ(edited.after.title, "The flaky test");
    EXPECT_TRUE(edited.after.renamed);
    EXPECT_TRUE(edited.after.pinned);
    EXPECT_FALSE(edited.after.archived);
    EXPECT_EQ(edited.after.launch.labels, (StringMap{{"team", "core"}}));
    EXPECT_EQ(edited.after.state, task.state);
    EXPECT_EQ(edited.after.phase, task.phase);
    EXPECT_TRUE(edited.effects.empty());
    EXPECT_TRUE(has_event(edited, EventType::task_status));
    // The same again changes nothing, and is not told.
    EXPECT_TRUE(step(edited.after, input::Edit{.title = "The flaky test", .pinned = true}).unchanged);
    const Task back = after(edited.after, input::Edit{.title = task.title, .labels = {{"team", std::nullopt}}});
    EXPECT_FALSE(back.renamed);
    EXPECT_TRUE(back.launch.labels.empty());
    EXPECT_TRUE(after(back, input::Edit{.title = std::nullopt, .archived = true}).archived);
  }
}

TEST(DecideEdit, RefusesATitleThatCannotBeSeenAndTooManyLabels) {
  EXPECT_EQ(refusal(made(), input::Edit{.title = " \n\u200b"}).code, Code::invalid_argument);
  input::Edit many{.title = std::nullopt};
  for (size_t i = 0; i <= labels_max; ++i) many.labels.emplace("label" + std::to_string(i), "x");
  EXPECT_EQ(refusal(made(), many).reason, "too_many_labels");
}

TEST(Band, SaysWhatNeedsSomebodyFirst) {
  Task asks = after(running(), input::Asked{1, question("req_1")});
  asks.pinned = true;
  EXPECT_EQ(band_of(asks), Band::asks);
  EXPECT_EQ(band_of(failed()), Band::unseen);
  EXPECT_EQ(band_of(after(failed(), input::Retrieved{})), Band::rest);
  EXPECT_EQ(band_of(running()), Band::running);
  EXPECT_EQ(band_of(after(running(), input::Waits{1, {WaitKind::quota, "It waits.", Time{}}})), Band::waits);
  EXPECT_EQ(band_of(made()), Band::pending);
  EXPECT_EQ(band_of(completed()), Band::rest);
  Task pinned = completed();
  pinned.pinned = true;
  EXPECT_EQ(band_of(pinned), Band::pinned);
}

}  // namespace
}  // namespace errand

#include "notify/notification.h"

#include <gtest/gtest.h>

#include "task/json.h"

namespace errand::notify {
namespace {

const Time told_at{1'700'000'000'000};

Task task_in(TaskState state) {
  Task task;
  task.id = TaskId("task_1");
  task.state = state;
  task.title = "Fix the parser";
  task.launch.agent_id = "builtin";
  task.launch.batch_id = BatchId("batch_1");
  return task;
}

Event ended(TaskState state) {
  Event event = end_event(state, told_at);
  event.pos = 7;
  return event;
}

Target everything(Content content = Content::text) {
  return {.on = needs_a_person().add(Occasion::completed).add(Occasion::cancelled), .content = content};
}

Ask question(std::string id, std::string text = "May I?") {
  return {.request_id = std::move(id), .kind = AskKind::permission, .text = std::move(text)};
}

TEST(NotificationOf, AnEndTellsHowItEnded) {
  Task task = task_in(TaskState::failed);
  task.error = TaskError{.code = "timeout", .message = "It ran for 5 m.", .details = "{}"};
  const std::optional<Notification> told = notification_of(ended(TaskState::failed), task, everything());
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, (Notification{.pos = 7,
                                 .at = told_at,
                                 .occasion = Occasion::failed,
                                 .task_id = task.id,
                                 .kind = "agent",
                                 .status = "failed",
                                 .reason = "timeout",
                                 .title = "Fix the parser",
                                 .agent = "builtin",
                                 .batch_id = "batch_1",
                                 .text = "It ran for 5 m."}));
  task = task_in(TaskState::completed);
  task.result = "All green.";
  EXPECT_EQ(notification_of(ended(TaskState::completed), task, everything())->text, "All green.");
  EXPECT_EQ(notification_of(ended(TaskState::cancelled), task_in(TaskState::cancelled), everything())->status,
            "cancelled");
}

TEST(NotificationOf, LeavesOutWhatItsTargetMayNotHave) {
  Task task = task_in(TaskState::failed);
  task.error = TaskError{.code = "exit", .message = "secret", .details = {}};
  const Notification titled = *notification_of(ended(TaskState::failed), task, everything(Content::title));
  EXPECT_EQ(titled.title, "Fix the parser");
  EXPECT_EQ(titled.text, "");
  const Notification bare = *notification_of(ended(TaskState::failed), task, everything(Content::none));
  EXPECT_EQ(bare, (Notification{.pos = 7,
                                .at = told_at,
                                .occasion = Occasion::failed,
                                .task_id = task.id,
                                .kind = "agent",
                                .status = "failed",
                                .reason = "exit"}));
}

TEST(NotificationOf, OnlyWhatTheTargetWants) {
  const Target usual;
  EXPECT_TRUE(notification_of(ended(TaskState::failed), task_in(TaskState::failed), usual));
  EXPECT_FALSE(notification_of(ended(TaskState::completed), task_in(TaskState::completed), usual));
  EXPECT_FALSE(notification_of(task_event(EventType::task_status, task_in(TaskState::failed), told_at),
                               task_in(TaskState::failed), everything()))
      << "an end is told once";
}

TEST(NotificationOf, ATaskOfAnotherSessionReportsThereUnlessItAsks) {
  Task child = task_in(TaskState::failed);
  child.launch.parent_session_id = SessionId("ses_parent");
  Target target;
  EXPECT_FALSE(notification_of(ended(TaskState::failed), child, target));
  target.subtasks = true;
  EXPECT_TRUE(notification_of(ended(TaskState::failed), child, target));
  target.subtasks = false;
  child.state = TaskState::running;
  child.asks = {question("req_1")};
  EXPECT_TRUE(notification_of(ask_created_event(child.asks[0], "/", told_at), child, target));
}

TEST(NotificationOf, AQuestionIsToldWhileItIsOpen) {
  Task task = task_in(TaskState::running);
  task.asks = {question("req_1", "Run `make`?"), question("req \"2\"", "And this?")};
  const Event first = ask_created_event(task.asks[0], "/", told_at),
              second = ask_created_event(task.asks[1], "/", told_at);
  const std::optional<Notification> told = notification_of(second, task, everything());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->request_id, "req \"2\"");
  EXPECT_EQ(told->question, "permission");
  EXPECT_EQ(told->status, "running");
  EXPECT_EQ(told->text, "And this?");
  task.asks[0].decision = "allow";
  EXPECT_FALSE(notification_of(first, task, everything())) << "a rule answered it, or somebody did";
  task.asks.clear();
  EXPECT_FALSE(notification_of(second, task, everything())) << "its turn is over";
}

TEST(NotificationOf, ATaskThatWasStartedAgainTellsNothingOfItsNewTurn) {
  Task again = task_in(TaskState::running);
  again.result = "of the next turn";
  EXPECT_EQ(notification_of(ended(TaskState::completed), again, everything())->text, "");
  EXPECT_EQ(notification_of(ended(TaskState::failed), again, everything())->reason, "");
}

TEST(NotificationOf, HostileTextsAreHarmlessAndBounded) {
  Task task = task_in(TaskState::completed);
  task.title =
      "a\x1b]0;owned\x07"
      "b\u202ec";
  task.result = "\x1b[31mred\x1b[0m\r\n" + std::string(100'000, 'x');
  const Notification told = *notification_of(ended(TaskState::completed), task, everything());
  EXPECT_EQ(told.title, "ab\\u202ec");
  EXPECT_TRUE(told.text.starts_with("red\nxxx")) << told.text.substr(0, 20);
  EXPECT_LE(told.text.size(), text_characters_max + 3);
  EXPECT_TRUE(told.text.ends_with("x…"));
}

}  // namespace
}  // namespace errand::notify

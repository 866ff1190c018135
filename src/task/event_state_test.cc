#include "task/event_state.h"

#include <gtest/gtest.h>

#include "task/json.h"

namespace errand {
namespace {

constexpr TaskState states[] = {TaskState::pending,   TaskState::running, TaskState::resumed,
                                TaskState::completed, TaskState::failed,  TaskState::cancelled};

// What the writers write is what is read, whatever the task's own texts say.
TEST(StateTold, IsTheStateOfTheTaskAndNotItsTexts) {
  for (const TaskState state : states) {
    Task task;
    task.id = TaskId("task_1");
    task.state = state;
    task.title = R"("status":"running")";
    for (const EventType type : {EventType::task_created, EventType::task_status})
      EXPECT_EQ(state_told(task_event(type, task, Time{1})), state) << name(state);
    EXPECT_EQ(state_told(end_event(state, Time{1})), state) << name(state);
  }
}

TEST(StateTold, OtherEventsTellNone) {
  EXPECT_EQ(state_told({.type = EventType::output, .data = R"({"status":"running"})"}), std::nullopt);
  EXPECT_EQ(state_told({.type = EventType::task_status, .data = "{}"}), std::nullopt);
}

}  // namespace
}  // namespace errand

// A notification: what a person is told about a task, elsewhere. (A notice is what a parent session is owed:
// task/notice.h.) It has no more of the task in it than its target may have, from the moment that it is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "notify/target.h"
#include "task/event.h"
#include "task/task.h"

namespace errand::notify {

inline constexpr size_t text_characters_max = 700;

struct Notification {
  std::string id;   // "ntf_...": the same at every try.
  int64_t pos = 0;  // Of the event that it tells.
  Time at;          // When that happened.
  Occasion occasion = Occasion::test;
  TaskId task_id;    // Empty: of no task (a test).
  std::string kind;  // agent, command.
  std::string status;
  std::string reason;      // Of a failure: its code.
  std::string request_id;  // Of a question,
  std::string question;    // and its kind: permission, answer.
  // As far as the target's `content` allows; without control and hidden characters.
  std::string title, agent, batch_id, text;
  bool operator==(const Notification&) const = default;
};

// What a target is told of an event of this task, which was read after it. Nothing where the target does not want it,
// or where a question has been answered meanwhile (as most are at once, by a rule).
std::optional<Notification> notification_of(const Event& event, const Task& task, const Target& target);

// Is this event (ask.created, ask.answered) about that question?
bool is_about(const Event& event, std::string_view request_id);

Notification test_notification(Time now);

// "Needs your permission", "Failed", ...
std::string headline(const Notification& notification);

}  // namespace errand::notify

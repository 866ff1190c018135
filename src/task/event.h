// Events: the numbered, durable facts of a task's life. What a stream shows is events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace errand {

// Spelled on the wire as in spec section 13 ("task.created", ...): see name().
enum class EventType : uint8_t {
  task_created,
  task_status,
  task_progress,
  task_warning,
  task_match,
  message_created,
  message_delta,
  message_completed,
  tool_started,
  tool_completed,
  output,
  ask_created,
  ask_answered,
  notice_created,
  notice_taken,
  end,
};
inline constexpr int event_type_count = 16;
std::string_view name(EventType type);
std::optional<EventType> parse_event_type(std::string_view text);

// `data` is the wire's own JSON object, made once when the event is made: the store keeps it and every reader gets it
// as it is. The one exception is `output`, whose stored data names a range of the log
// ({"stream","run","offset","length"}); its text is put in when it is framed (engine/frame.h).
struct Event {
  TaskId task_id;
  int64_t seq = 0;  // In its task, from 1, without gaps. Set when the commit is put together.
  int64_t pos = 0;  // Store-wide, in commit order, never reused. Set by the store.
  EventType type = EventType::task_status;
  Time at;
  std::string data;
  bool operator==(const Event&) const = default;
};

}  // namespace errand

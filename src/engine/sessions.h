// The engine's face for parent sessions: whoever launches tasks and is owed notices of them. Calls and answers as in
// tasks.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "engine/task_view.h"
#include "task/message.h"
#include "task/notice.h"

namespace errand {

// A small piece of state that a session keeps across turns (R8.6). It goes with its session.
struct StatePiece {
  std::string key;
  std::string value;
  Time updated_at;
  bool operator==(const StatePiece&) const = default;
};
inline constexpr size_t state_pieces_max = 100;          // Of one session.
inline constexpr size_t state_key_bytes_max = 100;       // Of one key,
inline constexpr size_t state_value_bytes_max = 16'384;  // of one value,
inline constexpr size_t state_bytes_max = 262'144;       // and of all that one session keeps.

class Sessions {
 public:
  virtual ~Sessions() = default;

  // Stores it where it is not there yet, and answers what is stored. Empty id: a new one.
  virtual void open_session(Session session, Reply<Session> reply) = 0;
  // R3.5: its tasks are removed, then the session. Answers how many tasks went. Where one cannot go the session stays,
  // and the call can be repeated. not_found, reason `session_ended` where it ended before; conflict for a task's own
  // session.
  virtual void end_session(SessionId id, Reply<int64_t> reply) = 0;
  // Those after `after` that nobody took; the earlier ones are marked taken first. Waits for one where there is none
  // and block_ms > 0; an empty list where the time is up.
  virtual void notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) = 0;
  // Marks one as taken, and answers it. One that was taken before is no error.
  virtual void take_notice(SessionId session, NoticeId id, Reply<Notice> reply) = 0;
  // What the session keeps, by key. Of a session that keeps nothing, or is not known: nothing.
  virtual void session_state(SessionId id, Reply<std::vector<StatePiece>> reply) = 0;
  // Keeps (or, without a value, drops) one piece; a session that is not known yet is made. Errors: too_large over the
  // bounds above, not_found where there is nothing to drop.
  virtual void keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) = 0;
};

}  // namespace errand

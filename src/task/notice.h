// Notices: messages that errand owes a parent session (R5.5). A notice is stored in the same commit as what it reports,
// and kept until it is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"
#include "task/task.h"

namespace errand {

enum class NoticeKind : uint8_t { turn_ended, batch_ended, ask, match, progress };
std::string_view name(NoticeKind kind);
std::optional<NoticeKind> parse_notice_kind(std::string_view text);

struct Notice {
  NoticeId id;
  SessionId session_id;  // The parent's; empty where there is none ("recorded only").
  int64_t seq = 0;       // In its parent session, from 1: what `after` counts. Set by the store; 0 without a parent.
  TaskId task_id;
  int turn = 0;
  NoticeKind kind = NoticeKind::turn_ended;
  std::string text;  // Seed 002's form, for agents and people.
  std::string data;  // The same as a JSON object.
  Time created_at;
  Time taken_at;
  bool operator==(const Notice&) const = default;
};

// Seed 002's summary of a turn that ended: heading, status, duration, output path, summary with exit code or signal,
// artifacts; then the full response (of a command its last lines, and how much there is beside them) up to R3.7's cap.
// Its text is for agents: no terminal escapes in it. `output_path` is the log's path, or empty.
Notice turn_notice(const Task& task, NoticeId id, std::string_view output_path, Time now);

// Counts by state of one batch.
struct BatchCounts {
  int64_t by_state[task_state_count] = {};
  int64_t total() const;
  int64_t working() const;  // At work.
  bool operator==(const BatchCounts&) const = default;
};
Notice batch_notice(const Task& last, const BatchCounts& counts, NoticeId id, Time now);
// The progress of a task whose launch set progress_every_s.
Notice progress_notice(const Task& task, NoticeId id, Time now);
// A line of output that matches the launch's notify_on; `more` lines matched before it and were not reported.
Notice match_notice(const Task& task, std::string_view pattern, std::string_view line, int64_t more, NoticeId id,
                    Time now);
Notice ask_notice(const Task& task, const Ask& ask, NoticeId id, Time now);

inline constexpr size_t result_cap = 16'000;  // R3.7, in characters.
// Head and tail of a text that is over `cap` characters, with the size and a hint how to read the rest.
std::string bounded(std::string_view text, size_t cap, std::string_view how_to_read_on);

}  // namespace errand

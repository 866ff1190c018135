// Reading a log for one reply: a range of it, its last lines, what a search finds. Blocking; on a reader thread.
#pragma once

#include <cstdint>
#include <string>

#include "api/query.h"
#include "base/time.h"
#include "driver/driver.h"
#include "task/task.h"

namespace errand::net {

// Which log is meant.
struct LogSource {
  TaskId task;
  const Driver* driver = nullptr;
  int run = 0;       // 0: nothing was started yet.
  RunRange runs;     // All of its attempt.
  bool last = true;  // Nothing was named: the task's last run, whichever that will be.
};

// The log of the run that was named, or of the last run of an attempt. not_found, reason `no_log`, where there is none.
Result<LogSource> find_log(const Task& task, const Driver* driver, const api::LogQuery& query);

struct LogPage {
  std::string text;
  int64_t next = 0;     // Where to go on.
  int64_t size = 0;     // All that was printed so far.
  int64_t cut = 0;      // Bytes in what was read that are no longer there,
  int64_t damaged = 0;  // and how many of them are damaged on the disk.
  bool more = false;    // It stopped before the end.
};

inline constexpr Millis log_patience_ms = 3'000;  // For one search; then it answers with what it has.

Result<LogPage> read_log_page(const LogSource& source, const api::LogQuery& query, Clock& clock);

}  // namespace errand::net

#include "base/log.h"

#include <atomic>
#include <string>
#include <unistd.h>

#include "base/time.h"

namespace errand {
namespace {
std::atomic<LogLevel> lowest_level{LogLevel::info};

std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}
}  // namespace

void set_log_level(LogLevel lowest) { lowest_level.store(lowest, std::memory_order_relaxed); }
bool log_enabled(LogLevel level) { return level >= lowest_level.load(std::memory_order_relaxed); }

void log_line(LogLevel level, std::string_view area, std::string_view text) {
  if (!log_enabled(level)) return;
  SystemClock clock;
  std::string line = format_time(clock.wall());
  line.append(" ").append(name(level)).append(" ").append(area).append(": ");
  // One event, one line: what came from outside cannot forge another.
  for (char c : text) line.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
  line.push_back('\n');
  // One write, so that lines of several threads do not mix. A log that cannot be written is no reason to stop.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace errand

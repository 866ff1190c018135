// The server's log: one line an event on standard error, `time level area: text key=value`. Never a token, an
// environment value, a prompt or a process's output.
#pragma once

#include <cstdint>
#include <string_view>

namespace errand {

enum class LogLevel : uint8_t { debug, info, warning, error };

void set_log_level(LogLevel lowest);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view area, std::string_view text);

inline void log_debug(std::string_view area, std::string_view text) {
  if (log_enabled(LogLevel::debug)) log_line(LogLevel::debug, area, text);
}
inline void log_info(std::string_view area, std::string_view text) { log_line(LogLevel::info, area, text); }
inline void log_warning(std::string_view area, std::string_view text) { log_line(LogLevel::warning, area, text); }
inline void log_error(std::string_view area, std::string_view text) { log_line(LogLevel::error, area, text); }

}  // namespace errand

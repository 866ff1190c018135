// A task's log or conversation on the whole screen of `errand top`, live.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/escape_filter.h"
#include "cli/context.h"
#include "cli/terminal.h"
#include "cli/transcript.h"
#include "cli/wire.h"

namespace errand::cli {

// The last lines of a text that comes in pieces, harmless. Pure.
class LogText {
 public:
  static constexpr size_t lines_max = 5'000;

  void add(const Span& span);
  // In lines that fit.
  const std::vector<std::string>& wrapped(int columns);

 private:
  void line_ends();

  EscapeFilter filter_{EscapeFilter::Colours::drop, EscapeFilter::Hidden::show};
  std::deque<std::string> lines_;
  std::string last_;  // Has no newline yet.
  std::vector<std::string> wrapped_;
  int columns_ = 0;  // Of wrapped_; 0: it is stale.
};

enum class LogEnd : uint8_t { back, quit };
// Until a key leaves it.
Result<LogEnd> show_log(Context& context, Terminal& terminal, const TaskInfo& task);

}  // namespace errand::cli

#include "cli/programs_text.h"

#include <fmt/format.h>

#include "cli/artifact_info.h"
#include "cli/resolve.h"
#include "cli/wire.h"

namespace errand::cli {

std::string programs_text(std::string_view health) {
  const std::string programs = member(health, "programs");
  if (programs.empty()) return {};
  const int64_t running = number(member(programs, "running")), waiting = number(member(programs, "waiting"));
  const int64_t most = number(member(programs, "max_memory_bytes"));
  if (running + waiting + most == 0) return {};
  std::string text = running == 1 ? "1 program at work uses " : fmt::format("{} programs at work use ", running);
  text += size_text(number(member(programs, "memory_bytes")));
  if (waiting > 0)
    text += fmt::format(", {} for a further turn with {}", waiting == 1 ? "1 waits" : fmt::format("{} wait", waiting),
                        size_text(number(member(programs, "waiting_memory_bytes"))));
  if (most > 0) text += fmt::format(" (max_memory {})", size_text(most));
  return text;
}

}  // namespace errand::cli

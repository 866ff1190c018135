#include "cli/painter.h"

#include <fmt/format.h>

namespace errand::cli {

std::string paint(const Frame& before, const Frame& now) {
  const bool all = before.lines.size() != now.lines.size();
  std::string lines;
  if (all) lines += "\x1b[0m\x1b[2J";
  for (size_t i = 0; i < now.lines.size(); ++i)
    // Cleared first: behind a line that fills its row, clearing would take its last character.
    if (all || before.lines[i] != now.lines[i]) lines += fmt::format("\x1b[{};1H\x1b[2K{}", i + 1, now.lines[i]);
  if (lines.empty() && before.cursor_row == now.cursor_row && before.cursor_column == now.cursor_column) return {};
  const std::string cursor = now.cursor_row < 0
                                 ? std::string()
                                 : fmt::format("\x1b[{};{}H\x1b[?25h", now.cursor_row + 1, now.cursor_column + 1);
  // Shown at once where the terminal can (mode 2026); others ignore it.
  return "\x1b[?2026h\x1b[?25l" + lines + cursor + "\x1b[?2026l";
}

}  // namespace errand::cli

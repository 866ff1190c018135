#include "cli/input_lines.h"

#include <cerrno>
#include <poll.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace errand::cli {
namespace {

constexpr size_t line_max = 1 << 20;  // A longer one comes in pieces.
constexpr size_t lines_max = 1'000;   // Read ahead: what is behind stays in the pipe.

}  // namespace

void InputLines::read() {
  while (!ended_ && lines_.size() < lines_max) {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 0) <= 0) return;
    char piece[16'384];
    const ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      ended_ = true;
      if (!unfinished_.empty()) lines_.push_back(std::exchange(unfinished_, {}));
      return;
    }
    for (const char c : std::string_view(piece, static_cast<size_t>(got))) {
      if (c != '\n') unfinished_ += c;
      if (c == '\n' || unfinished_.size() >= line_max) lines_.push_back(std::exchange(unfinished_, {}));
    }
  }
}

std::optional<std::string> InputLines::next() {
  if (lines_.empty()) read();
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace errand::cli

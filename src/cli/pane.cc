#include "cli/pane.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "cli/table.h"
#include "cli/width.h"
#include "cli/wrap.h"

namespace errand::cli {
namespace {

constexpr std::string_view prompt = "› ";
constexpr size_t tail_max = 1 << 16;  // A line without an end that is longer is written as it is.

struct Size {
  int columns = 80, rows = 24;
};

Size size_now() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd room = {STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return;
    }
  }
}

int shown_width(std::string_view line) { return width_of(without_escapes(line, EscapeFilter::Colours::drop)); }

}  // namespace

Pane::Pane(bool colours) : colours_(colours) { redraw(); }

Pane::~Pane() {
  put(erased());
  if (!unfinished_.empty()) {
    for (const std::string& line : unfinished_) put(line + "\n");
  } else if (!tail_.empty()) {
    put(tail_ + "\n");
  }
}

// Takes what stands below the text off the screen. Where the window became narrower its lines have been broken.
std::string Pane::erased() const {
  if (widths_.empty()) return {};
  const int columns = std::max(1, size_now().columns);
  int up = cursor_ / columns;
  for (size_t i = 0; i + 1 < widths_.size(); ++i) up += std::max(0, widths_[i] - 1) / columns + 1;
  return fmt::format("\r{}\x1b[J", up > 0 ? fmt::format("\x1b[{}A", up) : "");
}

std::string Pane::drawn() {
  const Size size = size_now();
  const int columns = size.columns - 1;  // Some terminals break a line that fills its row.
  std::vector<std::string> lines = unfinished_;
  if (lines.empty() && !tail_.empty()) lines = wrap(without_escapes(tail_, EscapeFilter::Colours::drop), columns);
  // The end of what does not fit.
  const auto room = static_cast<size_t>(std::max(0, size.rows - 3));
  if (lines.size() > room) lines.erase(lines.begin(), lines.end() - static_cast<long>(room));
  std::string rule = "── " + fit(status_, std::max(1, columns - 6)) + " ";
  for (int width = width_of(rule); width < columns; ++width) rule += "─";
  lines.push_back(styled(rule, "2", colours_));
  const LineEditor::Shown shown = line_.shown(columns - width_of(prompt));
  lines.push_back(styled(prompt, "1", colours_) + shown.text);

  std::string out;
  widths_.clear();
  for (const std::string& line : lines) {
    out.append(widths_.empty() ? "" : "\r\n").append(line);
    widths_.push_back(shown_width(line));
  }
  cursor_ = width_of(prompt) + shown.cursor;
  columns_ = size.columns;
  return out + fmt::format("\r\x1b[{}C", cursor_);
}

void Pane::redraw() {
  const std::string before = erased();
  put("\x1b[?2026h" + before + drawn() + "\x1b[?2026l");
}

void Pane::print(std::string_view text) {
  const std::string before = erased();
  unfinished_.clear();
  tail_ += text;
  const size_t end = tail_.size() > tail_max ? tail_.size() : tail_.rfind('\n') + 1;
  std::string whole = tail_.substr(0, end);
  tail_.erase(0, end);
  if (!whole.empty() && !whole.ends_with('\n')) whole += '\n';
  put("\x1b[?2026h" + before + whole + drawn() + "\x1b[?2026l");
}

void Pane::set_unfinished(std::vector<std::string> lines) {
  if (lines == unfinished_) return;
  unfinished_ = std::move(lines);
  redraw();
}

void Pane::set_status(std::string status) {
  if (status == status_) return;
  status_ = std::move(status);
  redraw();
}

// From nothing: after a stop somebody else has written here.
void Pane::type_anew() {
  widths_.clear();
  redraw();
}

void Pane::read_keys() {
  const Terminal::Changed changed = terminal_.changed();
  bool dirty = changed == Terminal::Changed::size;
  if (changed == Terminal::Changed::everything) type_anew();
  for (const Key& key : terminal_.keys()) {
    const bool control = key.kind == Key::Kind::control;
    if (control && key.character == U'd' && line_.empty()) {
      left_ = true;
      return;
    }
    if (control && key.character == U'l') {
      put("\x1b[2J\x1b[H");
      type_anew();
      continue;
    }
    switch (line_.take(key)) {
      case LineEditor::Did::nothing:
        break;
      case LineEditor::Did::left:
        line_.clear();
        dirty = true;
        break;
      case LineEditor::Did::edited:
        dirty = true;
        break;
      case LineEditor::Did::entered:
        lines_.push_back(line_.finish());
        dirty = true;
        break;
    }
  }
  if (dirty) redraw();
}

std::optional<std::string> Pane::next() {
  if (lines_.empty() && !left_) read_keys();
  if (lines_.empty()) return std::nullopt;
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  if (trim(line).empty()) return line;
  // What an agent is just saying goes on below it.
  std::vector<std::string> unfinished = std::move(unfinished_);
  std::string tail = std::move(tail_);
  tail_.clear();
  std::string echo;
  for (const std::string_view one : split(line, '\n'))
    echo +=
        styled("> " + without_escapes(one, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show), "1", colours_) +
        "\n";
  print(echo);
  unfinished_ = std::move(unfinished);
  tail_ = std::move(tail);
  redraw();
  return line;
}

}  // namespace errand::cli

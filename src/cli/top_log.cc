#include "cli/top_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/connection.h"
#include "cli/interrupt.h"
#include "cli/painter.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/task_text.h"
#include "cli/top_layout.h"
#include "cli/whole_output.h"
#include "cli/wrap.h"

namespace errand::cli {
namespace {

constexpr size_t line_max = 4'096;  // Bytes; a longer line goes on in the next one.
constexpr Millis frame_ms = 50;     // Between two pictures that no key asked for.

class LogView {
 public:
  LogView(Context& context, Terminal& terminal, const TaskInfo& task)
      : context_(context), terminal_(terminal), task_(task) {}

  Result<LogEnd> run() {
    StreamCalls calls;
    calls.wake_fd = terminal_.wake_fd();
    calls.event = [&](const SseEvent& event) {
      take(event);
      return !left_;
    };
    calls.tick = [&] {
      step();
      calls.tick_ms = dirty_ ? frame_ms : 1'000;
      return !left_;
    };
    calls.lost = [&](bool lost) {
      lost_ = lost;
      dirty_ = true;
    };
    const Result<StreamEnd> end = context_.client.stream(task_path(task_.id, "/stream"), "", calls);
    if (!end) return std::unexpected(end.error());
    ended_ = *end == StreamEnd::ended || *end == StreamEnd::nothing;
    dirty_ = true;
    // Nothing more comes; it is still looked at.
    for (drawn_ = {}; !left_ && !Interrupt::happened(); terminal_.wait(1'000)) step();
    return quit_ || Interrupt::happened() ? LogEnd::quit : LogEnd::back;
  }

 private:
  void take(const SseEvent& event) {
    Result<EventInfo> info = parse_event(event.data);
    if (!info) return;
    info->type = event.type;
    if (info->task) {
      const std::string kind = task_.kind;
      task_ = *info->task;
      task_.kind = kind;
    }
    with_whole_output(context_, task_.id, *info, [&](const EventInfo& whole) {
      for (const Span& span : transcript_.take(whole)) text_.add(span);
    });
    dirty_ = true;
  }

  void step() {
    bool now = false;
    for (const Key& key : terminal_.keys()) now = on_key(key) || now;
    if (terminal_.ended()) left_ = quit_ = true;
    if (terminal_.changed() != Terminal::Changed::nothing) {
      frame_ = {};
      now = true;
    }
    if (left_ || !(now || (dirty_ && steady_now() - drawn_ >= frame_ms))) return;
    draw();
  }

  bool on_key(const Key& key) {
    const int page = std::max(1, context_.screen.height() - 3);
    const char32_t c = key.kind == Key::Kind::character ? key.character : 0;
    if (key.kind == Key::Kind::escape || c == U'q' || c == U'l' || key.kind == Key::Kind::left) {
      left_ = true;
    } else if (key.kind == Key::Kind::control && key.character == U'd') {
      left_ = quit_ = true;
    } else if (key.kind == Key::Kind::up || c == U'k') {
      move(-1);
    } else if (key.kind == Key::Kind::down || c == U'j' || key.kind == Key::Kind::enter) {
      move(1);
    } else if (key.kind == Key::Kind::page_up || c == U'b') {
      move(-page);
    } else if (key.kind == Key::Kind::page_down || c == U' ') {
      move(page);
    } else if (key.kind == Key::Kind::home || c == U'g') {
      move(INT32_MIN);
    } else if (key.kind == Key::Kind::end || c == U'G') {
      move(INT32_MAX);
    }
    return true;
  }

  int64_t last_top(const std::vector<std::string>& lines) const {
    return std::max<int64_t>(0, std::ssize(lines) - (context_.screen.height() - 2));
  }

  void move(int64_t steps) {
    const int64_t last = last_top(text_.wrapped(context_.screen.width()));
    top_ = std::clamp<int64_t>((follow_ ? last : top_) + steps, 0, last);
    follow_ = top_ == last;
  }

  void draw() {
    const Screen& screen = context_.screen;
    const TopLook look{screen.width(), screen.height(), screen.colours(), {}};
    const std::vector<std::string>& lines = text_.wrapped(look.width);
    const int64_t last = last_top(lines);
    top_ = follow_ ? last : std::min(top_, last);
    const auto from = static_cast<size_t>(top_);
    const size_t to = std::min(lines.size(), from + static_cast<size_t>(std::max(0, look.height - 2)));
    const std::string head =
        fmt::format(" {}  {}  {}", short_id(task_.id), status_text(task_), shown_line(task_.title));
    const std::string foot = fmt::format("{}  ↑↓ Page Up Page Down g G move  q goes back",
                                         lost_      ? "waiting for the server to come back"
                                         : !follow_ ? fmt::format("line {} of {}", to, lines.size())
                                         : ended_   ? "the end"
                                                    : "live");
    const Frame frame =
        draw_text(head, {lines.begin() + static_cast<long>(from), lines.begin() + static_cast<long>(to)}, foot, look);
    screen.out_bytes(paint(frame_, frame));
    frame_ = frame;
    drawn_ = steady_now();
    dirty_ = false;
  }

  Context& context_;
  Terminal& terminal_;
  TaskInfo task_;
  Transcript transcript_;
  LogText text_;
  Frame frame_;  // What stands on the screen.
  int64_t top_ = 0;
  Time drawn_;
  bool follow_ = true, dirty_ = true, left_ = false, quit_ = false, lost_ = false, ended_ = false;
};

}  // namespace

void LogText::line_ends() {
  lines_.push_back(std::exchange(last_, {}));
  if (lines_.size() > lines_max) lines_.pop_front();
}

void LogText::add(const Span& span) {
  for (const char c : filter_.feed(span.text)) {
    if (c == '\n' || (last_.size() >= line_max && (c & 0xC0) != 0x80)) line_ends();
    if (c == '\t') last_ += "  ";
    if (c != '\n' && c != '\t') last_ += c;
  }
  columns_ = 0;
}

const std::vector<std::string>& LogText::wrapped(int columns) {
  if (columns_ == columns) return wrapped_;
  columns_ = columns;
  wrapped_.clear();
  for (const std::string& line : lines_) std::ranges::move(wrap(line, columns), std::back_inserter(wrapped_));
  if (!last_.empty()) std::ranges::move(wrap(last_, columns), std::back_inserter(wrapped_));
  return wrapped_;
}

Result<LogEnd> show_log(Context& context, Terminal& terminal, const TaskInfo& task) {
  return LogView(context, terminal, task).run();
}

}  // namespace errand::cli

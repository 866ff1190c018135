#include "cli/ring.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"

namespace errand::cli {
namespace {

constexpr size_t characters_max = 200;
constexpr size_t told_max = 1'000;

// One line without controls; of OSC 777 a ';' is the end of a field.
std::string harmless(std::string_view text) {
  std::string line(first_characters(shown_line(text), characters_max));
  std::ranges::replace(line, ';', ',');
  return line;
}

}  // namespace

RingStyle ring_style(const std::function<const char*(const char*)>& get) {
  const auto is = [&](const char* name, std::string_view value) {
    const char* const found = get(name);
    return found != nullptr && value == found;
  };
  const auto has = [&](const char* name) {
    const char* const found = get(name);
    return found != nullptr && *found != 0;
  };
  if (is("ERRAND_NOTIFY", "off") || !has("TERM") || is("TERM", "dumb")) return {};
  RingStyle style{.ring = Ring::bell, .tmux = has("TMUX")};
  if (is("ERRAND_NOTIFY", "bell")) return style;
  const std::string_view term = get("TERM");
  if (has("KITTY_WINDOW_ID") || term == "xterm-kitty") {
    style.ring = Ring::osc99;
  } else if (is("TERM_PROGRAM", "iTerm.app") || is("LC_TERMINAL", "iTerm2")) {
    style.ring = Ring::osc9;
  } else if (style.tmux || has("VTE_VERSION") || has("KONSOLE_VERSION") || is("TERM_PROGRAM", "WezTerm") ||
             is("TERM_PROGRAM", "ghostty") || term.starts_with("foot") || term.starts_with("rxvt-unicode")) {
    style.ring = Ring::osc777;
  }
  return style;
}

std::string ring_bytes(const RingStyle& style, std::string_view title, std::string_view body) {
  const std::string head = harmless(title), rest = harmless(body);
  std::string sequence;
  switch (style.ring) {
    case Ring::none:
      return {};
    case Ring::bell:
      return "\a";
    case Ring::osc777:
      sequence = fmt::format("\x1b]777;notify;{};{}\a", head, rest);
      break;
    case Ring::osc9:
      // Behind our name: a text that begins with a number would be an order to other terminals.
      sequence = fmt::format("\x1b]9;errand: {}: {}\a", head, rest);
      break;
    case Ring::osc99:
      sequence = fmt::format("\x1b]99;i=errand:d=0;{}\x1b\\\x1b]99;i=errand:d=1:p=body;{}\x1b\\", head, rest);
      break;
  }
  if (!style.tmux) return sequence;
  std::string through = "\x1bPtmux;";
  for (const char c : sequence) through.append(c == '\x1b' ? 2 : 1, c);
  return through + "\x1b\\\a";
}

std::string news_of(const TaskInfo& task) {
  if (task.waiting_for && !task.waiting_for->request_id.empty())
    return task.waiting_for->kind == "permission" ? "Needs your permission" : "Asks you";
  if (task.stopping || !task.parent_session_id.empty()) return {};
  if (task.status == "completed") return "Completed";
  return task.status == "failed" ? "Failed" : "";
}

bool needs_person(const TaskInfo& task) {
  return !news_of(task).empty() &&
         (task.status == "failed" || (task.waiting_for && !task.waiting_for->request_id.empty()));
}

bool ToldNews::is_new(const TaskInfo& task) {
  const std::string news = news_of(task);
  std::string key =
      fmt::format("{} {} {} {}", task.turn, task.attempt, news, task.waiting_for ? task.waiting_for->request_id : "");
  std::string& known = told_[task.id];
  if (known == key) return false;
  known = std::move(key);
  // The oldest ids are the smallest.
  if (told_.size() > told_max) told_.erase(told_.begin());
  return !news.empty();
}

void ring(std::string_view title, std::string_view body) {
  const int fd = ::isatty(STDERR_FILENO) != 0 ? STDERR_FILENO : ::isatty(STDOUT_FILENO) != 0 ? STDOUT_FILENO : -1;
  if (fd < 0 || title.empty()) return;
  const std::string bytes = ring_bytes(ring_style([](const char* name) { return std::getenv(name); }), title, body);
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(fd, left.data(), left.size());
    if (written <= 0) return;
    left.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace errand::cli

#include "cli/screen.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/ioctl.h>

#include "base/hidden.h"
#include "base/json_out.h"
#include "cli/pane.h"

namespace errand::cli {

namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

// https://no-color.org and CLICOLOR_FORCE; what the command line says wins over both.
bool wants_colours(ColourWish wish, bool terminal) {
  if (wish != ColourWish::automatic) return wish == ColourWish::always;
  if (is_set("NO_COLOR")) return false;
  if (const char* force = std::getenv("CLICOLOR_FORCE"); force && *force && std::strcmp(force, "0") != 0) return true;
  const char* term = std::getenv("TERM");
  return terminal && !(term && std::strcmp(term, "dumb") == 0);
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      pollfd room = {fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (n < 0 && errno == EPIPE && fd == STDOUT_FILENO) {
      _exit(128 + 13);
    } else if (n < 0 && errno != EINTR) {
      if (fd == STDOUT_FILENO) _exit(code(Exit::failed));  // Somebody relies on this output: a full disk is no success.
      return;
    }
  }
}

int terminal_size(unsigned short winsize::* member, const char* variable, int otherwise) {
  winsize size = {};
  for (int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.*member > 0) return size.*member;
  int value = 0;
  const char* text = std::getenv(variable);
  if (text && std::from_chars(text, text + std::strlen(text), value).ec == std::errc() && value > 0) return value;
  return otherwise;
}

}  // namespace

Screen::Screen(const ScreenOptions& options)
    : json_(options.json),
      quiet_(options.quiet),
      out_terminal_(::isatty(STDOUT_FILENO) == 1),
      err_terminal_(::isatty(STDERR_FILENO) == 1),
      out_colours_(wants_colours(options.colour, out_terminal_)),
      err_colours_(wants_colours(options.colour, err_terminal_)) {}

int Screen::width() const { return terminal_size(&winsize::ws_col, "COLUMNS", 80); }
int Screen::height() const { return terminal_size(&winsize::ws_row, "LINES", 24); }

void Screen::out_bytes(std::string_view bytes) const { pane_ ? pane_->print(bytes) : write_all(STDOUT_FILENO, bytes); }
void Screen::err_bytes(std::string_view bytes) const {
  pane_&& err_terminal_ ? pane_->print(bytes) : write_all(STDERR_FILENO, bytes);
}

void Screen::out(std::string_view text) const {
  if (!out_terminal_) return out_bytes(text);
  out_bytes(json_ ? revealed_json(text) : revealed(text));
}
void Screen::err(std::string_view text) const {
  if (!err_terminal_) return err_bytes(text);
  err_bytes(json_ ? revealed_json(text) : revealed(text));
}

void Screen::out_line(std::string_view text) const { out(std::string(text) + "\n"); }

void Screen::out_task_text(std::string_view text) const {
  if (!out_terminal_) return out_bytes(text);
  out_bytes(without_escapes(text, filter_colours(), EscapeFilter::Hidden::show));
}

void Screen::say(std::string_view sentence) const {
  if (!quiet_) err(error_line(sentence));
}

int Screen::fail(const Error& error) const { return fail(error, exit_of(error.code)); }

int Screen::fail(const Error& error, Exit as) const {
  const int exit = code(as);
  if (json_) {
    std::string text;
    JsonOut json(text);
    json.object().key("error").object();
    json.field("code", error.reason.empty() ? name(error.code) : std::string_view(error.reason));
    json.field("message", error.message).field("exit_code", exit).end().end();
    err(text + "\n");
  } else {
    // The message may quote what a task or a stranger's server said.
    err(error_line(err_terminal_ ? without_escapes(error.message, EscapeFilter::Colours::drop) : error.message));
  }
  return exit;
}

std::string error_line(std::string_view message) { return std::string("errand: ").append(message).append("\n"); }

}  // namespace errand::cli

// Where the CLI writes: data to standard output, everything else to standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/escape_filter.h"
#include "base/result.h"
#include "cli/exit_code.h"

namespace errand::cli {

enum class ColourWish : uint8_t { automatic, always, never };

struct ScreenOptions {
  ColourWish colour = ColourWish::automatic;
  bool json = false;
  bool quiet = false;
};

class Pane;

class Screen {
 public:
  // Looks at the terminal and at NO_COLOR, CLICOLOR_FORCE, TERM and COLUMNS.
  explicit Screen(const ScreenOptions& options);

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  bool out_is_terminal() const { return out_terminal_; }
  bool err_is_terminal() const { return err_terminal_; }
  bool colours() const { return out_colours_; }
  bool err_colours() const { return err_colours_; }
  int width() const;   // Of the terminal; 80 where there is none.
  int height() const;  // 24 where there is none.

  // While one is set, everything for the terminal goes through it. Not owned.
  void set_pane(Pane* pane) { pane_ = pane; }
  Pane* pane() const { return pane_; }

  // What a person reads: on a terminal, hidden characters are shown as escapes, whoever wrote them (in JSON as JSON's
  // own). A reader that has gone (`| head`) ends the process quietly, as SIGPIPE would.
  void out(std::string_view text) const;
  void err(std::string_view text) const;
  // As it is: bytes that were asked for as they are, and what an EscapeFilter gave.
  void out_bytes(std::string_view bytes) const;
  void err_bytes(std::string_view bytes) const;
  void out_line(std::string_view text) const;
  // What a task produced: filtered where it goes to a terminal, as it is in a pipe. Whole texts; see EscapeFilter for
  // pieces.
  void out_task_text(std::string_view text) const;
  // For people only: "errand: …" on standard error, not with -q.
  void say(std::string_view sentence) const;
  // "errand: …" on standard error, or as JSON with --json: {"error":{"code","message","exit_code"}}. Returns the exit
  // code.
  int fail(const Error& error) const;
  // The same, with another exit code than the error's own.
  int fail(const Error& error, Exit exit) const;

  EscapeFilter::Colours filter_colours() const {
    return out_colours_ ? EscapeFilter::Colours::keep : EscapeFilter::Colours::drop;
  }

 private:
  bool json_, quiet_;
  bool out_terminal_, err_terminal_;
  bool out_colours_, err_colours_;
  Pane* pane_ = nullptr;
};

// "errand: " and the message; the same on every path.
std::string error_line(std::string_view message);

}  // namespace errand::cli

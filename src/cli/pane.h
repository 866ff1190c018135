// A conversation on a terminal: text scrolls by above, as it always does; below it stands a line that is typed, which
// no text overwrites.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line_editor.h"
#include "cli/terminal.h"

namespace errand::cli {

class Pane {
 public:
  explicit Pane(bool colours);
  // Takes the line off the terminal; what was written stays.
  ~Pane();
  Pane(const Pane&) = delete;
  Pane& operator=(const Pane&) = delete;

  // Text that is harmless, with colours; a line without its newline stands above the input and goes on with the next
  // piece.
  void print(std::string_view text);
  // Instead of such a line: some that will be written anew. They fit.
  void set_unfinished(std::vector<std::string> lines);
  // Beside the line: what the task does. One line, harmless.
  void set_status(std::string status);
  // For the history of the input.
  void remember(std::string text) { line_.remember(std::move(text)); }

  int wake_fd() const { return terminal_.wake_fd(); }
  // A line that was typed; it stands in the text already. None: nothing yet. Also draws what is to be drawn.
  std::optional<std::string> next();
  bool ended() const { return (left_ || terminal_.ended()) && lines_.empty(); }

 private:
  void read_keys();
  std::string erased() const;
  std::string drawn();
  void redraw();
  void type_anew();

  Terminal terminal_{Terminal::Mode::line};
  const bool colours_;
  LineEditor line_;
  std::deque<std::string> lines_;
  std::string tail_;                     // The end of the text, without a newline.
  std::vector<std::string> unfinished_;  // In its stead.
  std::string status_;
  std::vector<int> widths_;  // Of the lines that stand below the text; the last is the input's.
  int cursor_ = 0;           // The cursor's column in that one.
  int columns_ = 0;          // Of the terminal when they were drawn.
  bool left_ = false;
};

}  // namespace errand::cli

// A line that is typed: its text, its cursor, what was typed before. Pure.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "cli/keys.h"

namespace errand::cli {

class LineEditor {
 public:
  enum class Did : uint8_t { nothing, edited, entered, left };  // left: Escape.
  // Letters, paste, the arrows and the keys of readline: Ctrl-A E B F D H K U W, Up and Down through the history.
  Did take(const Key& key);

  std::string text() const;
  bool empty() const { return text_.empty(); }
  void clear();
  void set(std::string_view text);
  // The text, which is cleared and remembered.
  std::string finish();
  void remember(std::string text);

  // The part of the line that fits in `columns`, harmless for a terminal (a newline is ⏎), and where its cursor stands.
  struct Shown {
    std::string text;
    int cursor = 0;
  };
  Shown shown(int columns) const;

 private:
  void insert(std::string_view text);
  void back_to(size_t at);
  void recall(bool earlier);

  std::u32string text_;
  size_t cursor_ = 0;
  std::deque<std::string> history_;
  size_t recalled_ = 0;  // How far back; 0: the line itself.
  std::string draft_;    // The line that was being typed when the history was asked.
};

}  // namespace errand::cli

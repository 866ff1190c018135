#include "cli/line_editor.h"

#include <utility>

#include "base/hidden.h"
#include "base/text.h"
#include "cli/width.h"

namespace errand::cli {
namespace {

constexpr size_t text_max = 1 << 20;  // Characters.
constexpr size_t history_max = 200;   // Lines.

// One character as it is shown.
std::string cell(char32_t c) {
  if (c == U'\n') return "⏎";
  if (c == U'\t') return " ";
  std::string out;
  append_character(out, c);
  return is_hidden(c) ? revealed(out) : out;
}

}  // namespace

std::string LineEditor::text() const {
  std::string out;
  for (const char32_t c : text_) append_character(out, c);
  return out;
}

void LineEditor::clear() {
  text_.clear();
  cursor_ = recalled_ = 0;
  draft_.clear();
}

void LineEditor::set(std::string_view text) {
  text_.clear();
  cursor_ = 0;
  insert(text);
}

std::string LineEditor::finish() {
  std::string line = text();
  clear();
  remember(line);
  return line;
}

void LineEditor::remember(std::string text) {
  if (trim(text).empty() || (!history_.empty() && history_.back() == text)) return;
  history_.push_back(std::move(text));
  if (history_.size() > history_max) history_.pop_front();
}

void LineEditor::insert(std::string_view text) {
  std::u32string added;
  bool after_cr = false;
  while (!text.empty() && text_.size() + added.size() < text_max) {
    const char32_t c = take_character(text);
    const bool newline = c == U'\n' || c == U'\r';
    if (newline && !(c == U'\n' && after_cr)) added += U'\n';
    after_cr = c == U'\r';
    if (!newline && (c == U'\t' || (c >= 0x20 && c != 0x7F && (c < 0x80 || c >= 0xA0)))) added += c;
  }
  text_.insert(cursor_, added);
  cursor_ += added.size();
}

void LineEditor::back_to(size_t at) {
  text_.erase(at, cursor_ - at);
  cursor_ = at;
}

void LineEditor::recall(bool earlier) {
  if (earlier ? recalled_ >= history_.size() : recalled_ == 0) return;
  if (recalled_ == 0) draft_ = text();
  recalled_ += earlier ? 1 : -1;
  set(recalled_ == 0 ? draft_ : std::string(history_[history_.size() - recalled_]));
}

LineEditor::Did LineEditor::take(const Key& key) {
  size_t word = cursor_;
  switch (key.kind) {
    case Key::Kind::enter:
      return Did::entered;
    case Key::Kind::escape:
      return Did::left;
    case Key::Kind::character: {
      std::string one;
      append_character(one, key.character);
      insert(one);
      break;
    }
    case Key::Kind::paste:
      insert(key.text);
      break;
    case Key::Kind::backspace:
      if (cursor_ > 0) back_to(cursor_ - 1);
      break;
    case Key::Kind::remove:
      if (cursor_ < text_.size()) text_.erase(cursor_, 1);
      break;
    case Key::Kind::left:
      cursor_ -= cursor_ > 0;
      break;
    case Key::Kind::right:
      cursor_ += cursor_ < text_.size();
      break;
    case Key::Kind::home:
      cursor_ = 0;
      break;
    case Key::Kind::end:
      cursor_ = text_.size();
      break;
    case Key::Kind::up:
      recall(true);
      break;
    case Key::Kind::down:
      recall(false);
      break;
    case Key::Kind::control:
      switch (key.character) {
        case U'a':
          cursor_ = 0;
          break;
        case U'e':
          cursor_ = text_.size();
          break;
        case U'b':
          cursor_ -= cursor_ > 0;
          break;
        case U'f':
          cursor_ += cursor_ < text_.size();
          break;
        case U'd':
          if (cursor_ < text_.size()) text_.erase(cursor_, 1);
          break;
        case U'k':
          text_.resize(cursor_);
          break;
        case U'u':
          back_to(0);
          break;
        case U'w':
          while (word > 0 && text_[word - 1] == U' ') --word;
          while (word > 0 && text_[word - 1] != U' ') --word;
          back_to(word);
          break;
        case U'p':
          recall(true);
          break;
        case U'n':
          recall(false);
          break;
        default:
          return Did::nothing;
      }
      break;
    default:
      return Did::nothing;
  }
  return Did::edited;
}

LineEditor::Shown LineEditor::shown(int columns) const {
  // As much as fits before the cursor, then as much as fits behind it; a column stays free for the cursor itself.
  size_t from = cursor_;
  int before = 0;
  while (from > 0) {
    const int width = width_of(cell(text_[from - 1]));
    if (before + width > columns - 1) break;
    before += width;
    --from;
  }
  Shown shown;
  int width = 0;
  for (size_t at = from; at < text_.size(); ++at) {
    const std::string one = cell(text_[at]);
    width += width_of(one);
    if (width > columns - 1 && at >= cursor_) break;
    shown.text += one;
  }
  shown.cursor = before;
  return shown;
}

}  // namespace errand::cli

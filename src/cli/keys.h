// What a terminal sends while it is raw, as keys. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

struct Key {
  enum class Kind : uint8_t {
    character,  // `character` was typed.
    paste,      // `text` was pasted: it is text, whatever it says, and never a command.
    control,    // Ctrl and the letter in `character`.
    enter,
    escape,
    tab,
    backspace,
    remove,  // The key "Delete".
    up,
    down,
    left,
    right,
    home,
    end,
    page_up,
    page_down,
    other,  // Known to be a key, and used for nothing.
  };
  Kind kind = Kind::other;
  char32_t character = 0;
  std::string text;
  bool operator==(const Key&) const = default;
};

// Bytes go in as they come, cut anywhere; keys come out.
class KeyParser {
 public:
  std::vector<Key> feed(std::string_view bytes);
  // Something was begun that may have been a key of its own: Escape, or the first byte of an arrow.
  bool unfinished() const { return !held_.empty() && !pasting_; }
  // Nothing more has come: what was begun is what it is.
  std::vector<Key> settle();

 private:
  bool take(std::vector<Key>& out);

  std::string held_;
  std::string pasted_;
  bool pasting_ = false;
};

}  // namespace errand::cli

// Characters that are in a text and not on the screen, or that turn round what is: they make a name look like another
// one.
#pragma once

#include <string>
#include <string_view>

namespace errand {

// Direction marks and overrides, zero-width characters and joiners, byte order marks, line and paragraph separators,
// fillers, tags. Not variation selectors, which belong to the character before them.
bool is_hidden(char32_t character);

// Shows hidden characters as escapes (\u202e, \U000e0041), for one stream of characters. What writing needs stays:
//  - a joiner between two letters of a script that joins (Arabic, Syriac, Mongolian, those of India and its
//  neighbours),
//  - a zero-width joiner between two emoji,
//  - one variation selector behind a character.
class Revealer {
 public:
  void put(char32_t character, std::string& out);
  // Before anything else is written, and at the end: a joiner was held back until its second neighbour is known.
  void flush(std::string& out);

 private:
  char32_t before_ = 0;  // The last character, without its variation selector.
  char32_t held_ = 0;
  bool selected_ = false;  // It has its variation selector.
};

// The whole of a text. Leaves everything else as it is: escape sequences and controls are for EscapeFilter.
std::string revealed(std::string_view text);
// The same inside of JSON: it stays JSON, and means the same.
std::string revealed_json(std::string_view json);

// Nothing of it can be seen: it is empty, blank (in any script) or hidden.
bool is_invisible(std::string_view text);

}  // namespace errand

// What a task printed is not trusted with the terminal: an escape sequence can retitle the window, write the clipboard
// (OSC 52), hide what stands there or answer in the user's name. Only colours (SGR) pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hidden.h"

namespace errand {

// A filter for one stream of text that comes in pieces; an escape sequence or a character may be cut anywhere.
//  - SGR sequences (ESC [ digits and ; : m) pass where `colours` are kept; every other sequence (CSI, OSC, DCS, APC,
//  PM,
//    SOS, two-character ones; also introduced by C1 controls) vanishes with its payload. A newline ends a sequence, so
//    that one without an end cannot hide all that follows.
//  - Newline and tab pass; CR LF is a newline and so is a CR alone (a progress bar becomes lines: it must not be able
//  to
//    write over what stands before it). Other controls vanish.
//  - What is not UTF-8 becomes U+FFFD.
//  - Hidden characters (base/hidden.h) become visible escapes where they are to be shown: on a terminal. Programs and
//    agents are given them as they are.
class EscapeFilter {
 public:
  enum class Colours : uint8_t { keep, drop };
  enum class Hidden : uint8_t { keep, show };
  explicit EscapeFilter(Colours colours, Hidden hidden = Hidden::keep) : colours_(colours), hidden_(hidden) {}

  void feed(std::string_view piece, std::string& out);
  std::string feed(std::string_view piece) {
    std::string out;
    feed(piece, out);
    return out;
  }
  // At the end of the text: what was held back as the beginning of a character or as a joiner, and a reset where a
  // colour is still on.
  std::string finish();

 private:
  enum class State : uint8_t { ground, after_cr, escape, escape_intermediate, csi, string, string_escape };
  void take(char32_t character, std::string& out);
  void ground(char32_t character, std::string& out);
  void put(char32_t character, std::string& out);

  Colours colours_;
  Hidden hidden_;
  Revealer revealer_;
  State state_ = State::ground;
  std::string partial_;     // The first bytes of a character.
  std::string parameters_;  // Of a CSI sequence that may be a colour.
  bool may_be_colour_ = false;
  bool coloured_ = false;
};

// The whole of a text at once.
std::string without_escapes(std::string_view text, EscapeFilter::Colours colours,
                            EscapeFilter::Hidden hidden = EscapeFilter::Hidden::keep);
// For one cell of a table or one line: no escapes, no controls, no direction overrides; runs of white space become one
// space.
std::string one_line(std::string_view text);
// The same for a person to look at: what is hidden in it is shown as escapes.
std::string shown_line(std::string_view text);

}  // namespace errand

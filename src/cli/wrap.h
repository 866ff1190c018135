// Text in lines that fit: broken at spaces, and inside of a word that is longer than a line. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

// A piece of a line in one style (SGR parameters, or none). The text has no escapes, controls or newlines.
struct Run {
  std::string text;
  std::string_view style;
  bool operator==(const Run&) const = default;
};

using Runs = std::vector<Run>;

// At least one line, each at most `columns` wide. The space at which a line was broken is gone.
std::vector<Runs> wrap(const Runs& runs, int columns);
// The same of text without styles; each newline begins a line.
std::vector<std::string> wrap(std::string_view text, int columns);

// A help text whose lines fit: what does not goes on below the column in which its description begins.
std::string fit_help(std::string_view text, int columns);

// With its styles where `colours` are on, else the text alone.
std::string to_text(const Runs& runs, bool colours);

}  // namespace errand::cli

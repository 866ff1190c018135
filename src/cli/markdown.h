// Markdown for a terminal, as it comes: headings, lists, quotes, code, tables, emphasis and links, in lines that fit.
// Pure. What is not understood stays as it was written; without colours so do the marks, since nothing would stand for
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/escape_filter.h"
#include "cli/wrap.h"

namespace errand::cli {

class Markdown {
 public:
  explicit Markdown(bool colours) : colours_(colours) {}

  // Text in pieces, cut anywhere; not filtered. Answers the lines that are whole, each ended by a newline.
  std::string feed(std::string_view piece, int width);
  // At the end, or before something else is written: what was kept back.
  std::string finish(int width);
  // What is not whole yet, as it looks so far, in lines that fit.
  std::vector<std::string> unfinished(int width) const;
  bool pending() const { return !line_.empty() || !table_.empty(); }

 private:
  void take_line(std::string_view line, int width, std::string& out);
  void flush_table(int width, std::string& out);
  std::vector<std::string> render(std::string_view line, int width) const;
  std::vector<std::string> hanging(const Runs& first, std::string_view text, int width) const;

  const bool colours_;
  EscapeFilter filter_{EscapeFilter::Colours::drop, EscapeFilter::Hidden::show};
  std::string line_;                // Has no newline yet.
  std::string fence_;               // In a block of code: what ends it.
  std::vector<std::string> table_;  // Rows that are kept back until their widths are known.
};

// Emphasis, code and links of one line.
Runs inline_runs(std::string_view text);

}  // namespace errand::cli

#include "cli/wrap.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/table.h"
#include "cli/width.h"

namespace errand::cli {
namespace {

struct Letter {
  std::string text;
  std::string_view style;
  int width = 0;
  bool space = false;
};

void append(Runs& line, const Letter& cell) {
  if (line.empty() || line.back().style != cell.style) line.push_back({{}, cell.style});
  line.back().text += cell.text;
}

}  // namespace

std::vector<Runs> wrap(const Runs& runs, int columns) {
  columns = std::max(columns, 2);
  std::vector<Letter> cells;
  for (const Run& run : runs) {
    std::string_view rest = run.text;
    while (!rest.empty()) {
      const std::string_view before = rest;
      const char32_t c = take_character(rest);
      cells.push_back({std::string(before.substr(0, before.size() - rest.size())), run.style, width_of(c), c == U' '});
    }
  }
  std::vector<Runs> lines;
  for (size_t from = 0; from < cells.size() || lines.empty();) {
    int width = 0;
    size_t to = from, space = cells.size();
    while (to < cells.size() && width + cells[to].width <= columns) {
      width += cells[to].width;
      if (cells[to].space) space = to;
      ++to;
    }
    size_t next = to;
    if (to < cells.size()) {
      if (cells[to].space) {
        next = to + 1;
      } else if (space < to && space > from) {
        to = space;
        next = space + 1;
      }
    }
    Runs line;
    for (size_t i = from; i < to; ++i) append(line, cells[i]);
    lines.push_back(std::move(line));
    from = next;
  }
  return lines;
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> out;
  for (const std::string_view line : split(text, '\n'))
    for (const Runs& one : wrap(Runs{{std::string(line), {}}}, columns)) out.push_back(to_text(one, false));
  return out;
}

std::string to_text(const Runs& runs, bool colours) {
  std::string out;
  for (const Run& run : runs) out += styled(run.text, run.style, colours);
  return out;
}

std::string fit_help(std::string_view text, int columns) {
  std::string out;
  const auto wide = static_cast<size_t>(std::max(columns, 40));
  for (const std::string_view line : split(text, '\n')) {
    if (!out.empty() || line.data() != text.data()) out += '\n';
    if (line.size() <= wide) {
      out += line;
      continue;
    }
    // The description begins behind the first two spaces that follow a word.
    const size_t word = std::min(line.find_first_not_of(' '), line.size());
    size_t begin = std::min(line.find_first_not_of(' ', line.find("  ", word)), line.size());
    if (begin > wide / 2) begin = word;
    out += line.substr(0, begin);
    bool first = true;
    for (const std::string& part : wrap(line.substr(begin), static_cast<int>(wide - begin))) {
      if (!std::exchange(first, false)) out.append("\n").append(begin, ' ');
      out += part;
    }
  }
  return out;
}

}  // namespace errand::cli

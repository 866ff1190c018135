// Tables for a terminal: columns as wide as they need, the flexible ones cut with "…" until the table fits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

struct Column {
  std::string header;
  int min = 0;         // Columns with a minimum are flexible: the widest is cut first, down to this.
  bool right = false;  // Flush right.
};

struct Cell {
  std::string text;        // Any text: it is made one line here.
  std::string_view style;  // SGR parameters ("32", "1;31"), or empty.
};

struct TableLook {
  int width = 80;  // Of the terminal.
  bool colours = false;
  bool header = true;
};

// One line a row, each ended by a newline and without trailing spaces. Every row has as many cells as there are
// columns.
std::string render_table(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows,
                         const TableLook& look);

// The same for programs: cells joined by tabs, no header, whole texts.
std::string render_tabs(const std::vector<std::vector<Cell>>& rows);

// `text` in the style, where colours are on and there is one.
std::string styled(std::string_view text, std::string_view style, bool colours);

}  // namespace errand::cli

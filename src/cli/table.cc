#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "base/escape_filter.h"
#include "cli/width.h"

namespace errand::cli {

namespace {

constexpr int gap = 2;

// Takes columns off the widest flexible column, one at a time, until all fits or nothing can give.
void shrink(std::vector<int>& widths, const std::vector<Column>& columns, int room) {
  int total = std::accumulate(widths.begin(), widths.end(), 0);
  while (total > room) {
    size_t widest = columns.size();
    for (size_t i = 0; i < columns.size(); ++i) {
      bool gives = columns[i].min > 0 && widths[i] > columns[i].min;
      if (gives && (widest == columns.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == columns.size()) return;
    --widths[widest];
    --total;
  }
}

void append_row(std::string& out, const std::vector<std::string>& texts, const std::vector<std::string_view>& styles,
                const std::vector<int>& widths, const std::vector<Column>& columns, bool colours) {
  std::string line;
  int column = 0;  // Where the line stands, and where the next cell begins: blanks are written only before text.
  int next = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string text = fit(texts[i], widths[i]);
    int width = width_of(text);
    int begin = columns[i].right ? next + widths[i] - width : next;
    if (!text.empty()) {
      line.append(static_cast<size_t>(begin - column), ' ').append(styled(text, styles[i], colours));
      column = begin + width;
    }
    next += widths[i] + gap;
  }
  out.append(line).append("\n");
}

}  // namespace

std::string styled(std::string_view text, std::string_view style, bool colours) {
  if (!colours || style.empty()) return std::string(text);
  return std::string("\x1b[").append(style).append("m").append(text).append("\x1b[0m");
}

std::string render_table(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows,
                         const TableLook& look) {
  std::vector<int> widths;
  std::vector<std::vector<std::string>> texts(rows.size());
  for (size_t r = 0; r < rows.size(); ++r)
    for (const Cell& cell : rows[r]) texts[r].push_back(shown_line(cell.text));
  for (size_t i = 0; i < columns.size(); ++i) {
    int width = look.header ? width_of(columns[i].header) : 0;
    for (const auto& row : texts) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  shrink(widths, columns, look.width - gap * (static_cast<int>(columns.size()) - 1));

  std::string out;
  if (look.header) {
    std::vector<std::string> headers;
    headers.reserve(columns.size());
    for (const Column& column : columns) headers.push_back(column.header);
    append_row(out, headers, std::vector<std::string_view>(columns.size(), "2"), widths, columns, look.colours);
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::string_view> styles;
    for (const Cell& cell : rows[r]) styles.push_back(cell.style);
    append_row(out, texts[r], styles, widths, columns, look.colours);
  }
  return out;
}

std::string render_tabs(const std::vector<std::vector<Cell>>& rows) {
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) out.append(i ? "\t" : "").append(shown_line(row[i].text));
    out += '\n';
  }
  return out;
}

}  // namespace errand::cli

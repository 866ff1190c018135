#include "cli/markdown.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cli/table.h"
#include "cli/width.h"

namespace errand::cli {
namespace {

constexpr size_t line_max = 10'000;  // Bytes: a longer line is shown as it is, so that nobody's text costs much.
constexpr size_t table_max = 500;    // Rows that are kept back.
constexpr int depth_max = 4;         // Of emphasis in emphasis.

constexpr unsigned bold = 1, italic = 2, struck = 4;
constexpr std::string_view styles[8] = {"", "1", "3", "1;3", "9", "1;9", "3;9", "1;3;9"};
constexpr std::string_view code_style = "36", quiet_style = "2", link_style = "4";

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

void add(Runs& out, std::string_view text, std::string_view style) {
  if (text.empty()) return;
  if (out.empty() || out.back().style != style) out.push_back({{}, style});
  out.back().text += text;
}

struct Mark {
  std::string_view text;
  unsigned flag;
};
constexpr Mark marks[] = {{"***", bold | italic}, {"**", bold},  {"__", bold},
                          {"~~", struck},         {"*", italic}, {"_", italic}};

// Where the mark that opens at `at` closes; npos where it opens nothing.
size_t closing(std::string_view text, size_t at, const Mark& mark) {
  const size_t from = at + mark.text.size();
  const bool underscore = mark.text.front() == '_';
  if (from >= text.size() || text[from] == ' ' || text[from] == mark.text.front()) return std::string_view::npos;
  if (underscore && at > 0 && is_word(text[at - 1])) return std::string_view::npos;
  for (size_t end = text.find(mark.text, from + 1); end != std::string_view::npos;
       end = text.find(mark.text, end + 1)) {
    const size_t after = end + mark.text.size();
    if (text[end - 1] == ' ') continue;
    if (mark.text.size() == 1 && after < text.size() && text[after] == mark.text.front()) {
      ++end;  // A double mark is another one.
      continue;
    }
    if (underscore && after < text.size() && is_word(text[after])) continue;
    return end;
  }
  return std::string_view::npos;
}

void parse(Runs& out, std::string_view text, unsigned flags, int depth) {
  const std::string_view plain = styles[flags];
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\\' && at + 1 < text.size() && std::string_view("\\`*_~[]()#+-.!|<>{}").contains(text[at + 1])) {
      add(out, text.substr(at + 1, 1), plain);
      at += 2;
      continue;
    }
    if (c == '`') {
      const size_t ticks = std::min(text.find_first_not_of('`', at), text.size()) - at;
      const size_t end = text.find(text.substr(at, ticks), at + ticks);
      if (end != std::string_view::npos) {
        add(out, text.substr(at + ticks, end - at - ticks), code_style);
        at = end + ticks;
        continue;
      }
      add(out, text.substr(at, ticks), plain);
      at += ticks;
      continue;
    }
    if (c == '[') {
      const size_t close = text.find("](", at);
      const size_t end = close == std::string_view::npos ? close : text.find(')', close);
      if (end != std::string_view::npos && text.find('[', at + 1) > close) {
        const std::string_view label = text.substr(at + 1, close - at - 1);
        const std::string_view url = text.substr(close + 2, end - close - 2);
        add(out, label, link_style);
        if (url != label) add(out, " (" + std::string(url) + ")", quiet_style);
        at = end + 1;
        continue;
      }
    }
    const Mark* found = nullptr;
    size_t end = std::string_view::npos;
    if (depth < depth_max && (c == '*' || c == '_' || c == '~'))
      for (const Mark& mark : marks)
        if (!found && text.substr(at).starts_with(mark.text) &&
            (end = closing(text, at, mark)) != std::string_view::npos)
          found = &mark;
    if (found) {
      const size_t from = at + found->text.size();
      parse(out, text.substr(from, end - from), flags | found->flag, depth + 1);
      at = end + found->text.size();
      continue;
    }
    size_t next = text.find_first_of("\\`[*_~", at + 1);
    next = std::min(next, text.size());
    add(out, text.substr(at, next - at), plain);
    at = next;
  }
}

size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// "- ", "* ", "+ ", "1. ", "12) ": how long it is; 0 where it is none.
size_t item_mark(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const std::string_view after = text.substr(digits);
  const bool marked = digits > 0 ? after.starts_with(". ") || after.starts_with(") ")
                                 : after.starts_with("- ") || after.starts_with("* ") || after.starts_with("+ ");
  return marked ? digits + 2 : 0;
}

bool is_rule(std::string_view text) {
  std::string bare(text);
  std::erase(bare, ' ');
  return bare.size() >= 3 && std::string_view("-*_").contains(bare[0]) &&
         bare.find_first_not_of(bare[0]) == std::string::npos;
}

std::vector<std::string_view> cells_of(std::string_view row) {
  row = trim(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  if (row.ends_with('|')) row.remove_suffix(1);
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(row, '|')) cells.push_back(trim(cell));
  return cells;
}

bool is_separator(std::string_view row) {
  return row.find('-') != std::string_view::npos && row.find_first_not_of("|-: ") == std::string_view::npos;
}

int width_of_runs(const Runs& runs) {
  int width = 0;
  for (const Run& run : runs) width += width_of(std::string_view(run.text));
  return width;
}

void put(std::string& out, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out.append(line).append("\n");
}

}  // namespace

Runs inline_runs(std::string_view text) {
  Runs out;
  parse(out, text, 0, 0);
  return out;
}

// `first` and then the text, whose further lines stand below its first.
std::vector<std::string> Markdown::hanging(const Runs& first, std::string_view text, int width) const {
  const int indent = std::min(width_of_runs(first), width / 2);
  const Runs runs = colours_ ? inline_runs(text) : Runs{{std::string(text), {}}};
  std::vector<std::string> lines;
  for (const Runs& line : wrap(runs, width - indent)) {
    const std::string before = lines.empty() ? to_text(first, colours_) : std::string(static_cast<size_t>(indent), ' ');
    lines.push_back(before + to_text(line, colours_));
  }
  return lines;
}

std::vector<std::string> Markdown::render(std::string_view line, int width) const {
  if (!fence_.empty() && colours_) {
    std::vector<std::string> lines;
    for (const std::string& part : wrap(line, width - 2))
      lines.push_back(styled("│ ", quiet_style, true) + styled(part, part.empty() ? "" : code_style, true));
    return lines;
  }
  if (!fence_.empty() || line.size() > line_max) return wrap(line, width);
  const size_t indent = std::min<size_t>(indent_of(line), static_cast<size_t>(width / 3));
  const std::string spaces(indent, ' ');
  const std::string_view text = trim(line);
  if (text.empty()) return {""};
  if (is_rule(text)) {
    std::string rule;
    for (int i = 0; i < std::min(width, 40); ++i) rule += "─";
    return {styled(rule, quiet_style, colours_)};
  }
  if (const size_t level = text.find_first_not_of('#');
      level > 0 && level <= 6 && text.substr(level).starts_with(' ')) {
    if (!colours_) return wrap(text, width);
    std::vector<std::string> lines;
    for (Runs& part : wrap(inline_runs(trim(text.substr(level))), width)) {
      for (Run& run : part)
        if (run.style != code_style) run.style = level == 1 ? "1;4" : "1";
      lines.push_back(to_text(part, true));
    }
    return lines;
  }
  if (text.starts_with('>')) return hanging({{spaces + "│ ", quiet_style}}, trim(text.substr(1)), width);
  if (const size_t mark = item_mark(text); mark > 0) {
    const std::string_view rest = trim(text.substr(mark));
    if (text.front() >= '0' && text.front() <= '9')
      return hanging({{spaces + std::string(text.substr(0, mark)), {}}}, rest, width);
    if (rest.starts_with("[ ] ")) return hanging({{spaces + "☐ ", {}}}, rest.substr(4), width);
    if (rest.starts_with("[x] ")) return hanging({{spaces + "☑ ", {}}}, rest.substr(4), width);
    return hanging({{spaces + "• ", {}}}, rest, width);
  }
  return hanging({{spaces, {}}}, text, width);
}

void Markdown::flush_table(int width, std::string& out) {
  std::vector<std::string> rows = std::move(table_);
  table_.clear();
  if (rows.empty()) return;
  std::vector<int> widths;
  std::vector<std::vector<Runs>> cells;
  for (const std::string& row : rows) {
    std::vector<Runs>& line = cells.emplace_back();
    if (is_separator(row)) continue;
    for (const std::string_view cell : cells_of(row))
      line.push_back(colours_ ? inline_runs(cell) : Runs{{std::string(cell), {}}});
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width_of_runs(line[i]));
  }
  int total = 0;
  for (const int one : widths) total += one + 3;
  // One row alone is no table; and one that does not fit is not made to.
  if (rows.size() < 2 || !is_separator(rows[1]) || total - 3 > width) {
    for (const std::string& row : rows) put(out, wrap(row, width));
    return;
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < widths.size(); ++i) {
      const bool rule = cells[r].empty();
      Runs cell = !rule && i < cells[r].size() ? cells[r][i] : Runs{};
      if (r == 0)
        for (Run& run : cell) run.style = "1";
      if (i) line += styled(rule ? "─┼─" : " │ ", quiet_style, colours_);
      std::string bar;
      for (int k = 0; rule && k < widths[i]; ++k) bar += "─";
      line += rule ? styled(bar, quiet_style, colours_) : to_text(cell, colours_);
      if (!rule && i + 1 < widths.size()) line.append(static_cast<size_t>(widths[i] - width_of_runs(cell)), ' ');
    }
    out.append(line).append("\n");
  }
}

void Markdown::take_line(std::string_view line, int width, std::string& out) {
  const std::string_view text = trim(line);
  if (!fence_.empty()) {
    const bool ends = text.starts_with(fence_) && text.find_first_not_of(fence_[0]) == std::string_view::npos;
    if (!ends || !colours_) put(out, render(line, width));
    if (ends) fence_.clear();
    return;
  }
  if (text.starts_with('|') && table_.size() < table_max && line.size() <= line_max) {
    table_.emplace_back(line);
    return;
  }
  flush_table(width, out);
  if (text.starts_with("```") || text.starts_with("~~~")) {
    if (!colours_) put(out, render(line, width));
    fence_ = text.substr(0, std::min(text.find_first_not_of(text[0]), text.size()));
    return;
  }
  put(out, render(line, width));
}

std::string Markdown::feed(std::string_view piece, int width) {
  std::string out;
  for (const char c : filter_.feed(piece)) {
    if (c == '\t') line_ += "    ";
    if (c != '\n' && c != '\t') line_ += c;
    if (c == '\n') take_line(std::exchange(line_, {}), width, out);
  }
  return out;
}

std::string Markdown::finish(int width) {
  std::string out;
  for (const char c : filter_.finish())
    if (c != '\n') line_ += c;
  if (!line_.empty()) take_line(std::exchange(line_, {}), width, out);
  flush_table(width, out);
  fence_.clear();
  return out;
}

std::vector<std::string> Markdown::unfinished(int width) const {
  std::vector<std::string> lines;
  for (const std::string& row : table_) std::ranges::move(wrap(row, width), std::back_inserter(lines));
  if (!line_.empty()) std::ranges::move(render(line_, width), std::back_inserter(lines));
  return lines;
}

}  // namespace errand::cli

#include "driver/builtin/skills/skill_head.h"

#include <algorithm>

#include "base/escape_filter.h"
#include "base/text.h"

namespace errand::builtin {
namespace {

std::unexpected<Error> wrong(const char* why) { return fail(Code::invalid_argument, why, "skill"); }

// Takes a line off the front, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

// A value that stands on the line of its key.
std::string plain_value(std::string_view value) {
  value = trim(value);
  const bool single = value.size() >= 2 && value.starts_with('\'') && value.ends_with('\'');
  const bool twice = value.size() >= 2 && value.starts_with('"') && value.ends_with('"');
  if (!single && !twice) return std::string(value.substr(0, value.find(" #")));
  value = value.substr(1, value.size() - 2);
  std::string out;
  for (size_t i = 0; i < value.size(); ++i) {
    if (single && value[i] == '\'' && i + 1 < value.size() && value[i + 1] == '\'') ++i;
    if (twice && value[i] == '\\' && i + 1 < value.size()) {
      ++i;
      out += value[i] == 'n' || value[i] == 't' ? ' ' : value[i];
      continue;
    }
    out += value[i];
  }
  return out;
}

bool opens_block(std::string_view value) {
  value = trim(value);
  return value.size() <= 3 && (value.starts_with('|') || value.starts_with('>'));
}

}  // namespace

bool is_skill_name(std::string_view name) {
  return !name.empty() && name.size() <= skill_name_max && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

Result<SkillHead> parse_skill_head(std::string_view text) {
  const std::string_view whole = text;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string_view rest = text.substr(0, skill_head_bytes_max);
  if (take_line(rest) != "---") return wrong("It has no head: its first line must be \"---\".");
  SkillHead head;
  std::string* open = nullptr;  // The value that indented lines belong to.
  bool ended = false;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line == "---" || line == "...") {
      ended = true;
      break;
    }
    if (indented(line) || line.empty()) {
      if (open && !trim(line).empty()) *open += (open->empty() ? "" : " ") + std::string(trim(line));
      continue;
    }
    open = nullptr;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = line.substr(colon + 1);
    std::string* const into = key == "name" ? &head.name : key == "description" ? &head.description : nullptr;
    if (!into) continue;
    *into = opens_block(value) ? std::string() : plain_value(value);
    open = into;
  }
  if (!ended) return wrong("Its head has no end: a line \"---\" is missing.");
  head.body = static_cast<size_t>(rest.data() - whole.data());
  head.name = trim(head.name);
  if (!head.name.empty() && !is_skill_name(head.name))
    return wrong("Its name must have letters, digits, \"-\", \"_\" and \".\" alone, at most 64 of them.");
  head.description = one_line(head.description);
  head.description = first_characters(head.description, skill_description_max);
  if (head.description.empty()) return wrong("Its head has no description.");
  return head;
}

}  // namespace errand::builtin

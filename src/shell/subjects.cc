#include "shell/subjects.h"

#include <algorithm>

#include <openssl/sha.h>

#include "base/encode.h"
#include "base/text.h"
#include "shell/parse.h"

namespace errand::shell {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string plain(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, is_control, ' ');
  return out;
}

std::string shown(const Word& word) {
  if (word.known) return plain(word.text);
  const std::string name = word.expansion.empty() ? std::string("$(...)") : "${" + plain(word.expansion) + "}";
  return name + plain(word.text);
}

// A value with a blank in it must not look like a value and a command: `CI='1 npm test' rm x` runs rm.
std::string set(std::string_view assignment) {
  if (assignment.find_first_of(" '\t\n") == std::string_view::npos) return plain(assignment);
  const size_t value = assignment.find('=') + 1;
  std::string out = plain(assignment.substr(0, value)) + "'";
  for (const char c : plain(assignment.substr(value))) out += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return out + "'";
}

// A program's name with a blank in it must not look like a program and its first word.
bool odd_name(std::string_view name) {
  return name.empty() || std::ranges::any_of(name, [](char c) { return c == ' ' || c == '>' || is_control(c); });
}

// Which text it is, where it is too long for a line: 128 bits, of a hash for which nobody finds a second text.
std::string digest(std::string_view text) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes);
  return to_hex({reinterpret_cast<const char*>(bytes), 16});
}

// Streams that are no files.
bool is_stream(std::string_view target) {
  return target == "/dev/null" || target == "/dev/stdout" || target == "/dev/stderr";
}

// What gives a later word another meaning.
bool redefines(std::string_view name) { return name == "alias" || name == "function"; }

}  // namespace

std::optional<std::vector<std::string>> subjects(std::string_view script) {
  const Result<Script> parsed = parse(script);
  if (!parsed || !parsed->functions.empty()) return std::nullopt;
  std::vector<std::string> lines;
  size_t bytes = 0;
  const auto add = [&](std::string line) {
    bytes += line.size();
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    return lines.size() <= subjects_max && bytes <= subject_bytes_max;
  };
  for (const Command& command : parsed->commands) {
    std::string line;
    for (const std::string& assignment : command.assignments) line += set(assignment) + " ";
    for (size_t i = 0; i < command.words.size(); ++i) {
      const Word& word = command.words[i];
      if (i == 0 && (!word.known || odd_name(word.text) || redefines(word.text))) return std::nullopt;
      line += shown(word) + " ";
    }
    while (line.ends_with(' ')) line.pop_back();
    // Who has allowed `python3 << one script` has not allowed another.
    if (!line.empty() && command.input == Command::From::here) line += " << " + digest(command.here);
    if (!line.empty() && command.input == Command::From::file) line += " < " + shown(command.source);
    if (!line.empty() && !add(std::move(line))) return std::nullopt;
  }
  for (const Word& target : parsed->writes) {
    if (target.known && is_stream(target.text)) continue;
    if (!add("> " + shown(target))) return std::nullopt;
  }
  if (lines.empty()) return std::nullopt;
  return lines;
}

std::string subject_of(std::string_view script) {
  constexpr size_t unread_max = 1'000;
  std::string text;
  if (const auto lines = subjects(script)) {
    for (const std::string& line : *lines) text += (text.empty() ? "" : "\n") + line;
    return text;
  }
  const std::string_view whole = trim(script), first = first_line(whole);
  const std::string_view begin = first.substr(0, utf8_prefix(first, unread_max));
  const bool all = begin == whole && std::ranges::none_of(whole, is_control);
  return "? " + plain(begin) + (all ? "" : " … " + digest(script));
}

}  // namespace errand::shell

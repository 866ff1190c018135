#include "files/glob.h"

#include "base/text.h"
#include "files/beneath.h"

namespace errand::files {
namespace {

constexpr size_t parts_max = 60;

// Does `c` belong to the set at the front of `pattern`, which begins behind its '['? Sets `pattern` behind the ']'. A
// set without an end is an ordinary '['.
bool in_set(std::string_view& pattern, char c, bool& found) {
  std::string_view rest = pattern;
  const bool negated = rest.starts_with('!') || rest.starts_with('^');
  if (negated) rest.remove_prefix(1);
  const auto byte = [](char x) { return static_cast<unsigned char>(x); };
  bool hit = false;
  for (bool first = true; !rest.empty(); first = false) {
    if (rest.front() == ']' && !first) {
      pattern = rest.substr(1);
      found = hit != negated;
      return true;
    }
    const char low = rest.front();
    const bool span = rest.size() >= 3 && rest[1] == '-' && rest[2] != ']';
    const char high = span ? rest[2] : low;
    hit = hit || (byte(c) >= byte(low) && byte(c) <= byte(high));
    rest.remove_prefix(span ? 3 : 1);
  }
  return false;
}

// One step of one name: what follows in the pattern where it takes `c`, or nothing.
bool takes(std::string_view& pattern, char c) {
  const char want = pattern.front();
  std::string_view rest = pattern.substr(1);
  if (want == '?') {
    pattern = rest;
    return true;
  }
  if (bool found = false; want == '[' && in_set(rest, c, found)) {
    pattern = rest;
    return found;
  }
  if (want == '\\' && !rest.empty()) {
    if (rest.front() != c) return false;
    pattern = rest.substr(1);
    return true;
  }
  pattern = rest;
  return want == c;
}

// Of several stars only the last is ever gone back to: no pattern takes longer than its length times the name's.
bool name_matches(std::string_view pattern, std::string_view name, Dots dots) {
  if (dots == Dots::named && name.starts_with('.') && !pattern.starts_with('.')) return false;
  std::string_view star_pattern, star_name;
  bool star = false;
  for (;;) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      star = true;
      star_pattern = pattern;
      star_name = name;
      continue;
    }
    if (name.empty() && pattern.empty()) return true;
    std::string_view after = pattern;
    if (!name.empty() && !pattern.empty() && takes(after, name.front())) {
      pattern = after;
      name.remove_prefix(1);
      continue;
    }
    if (!star || star_name.empty()) return false;
    star_name.remove_prefix(1);
    pattern = star_pattern;
    name = star_name;
  }
}

}  // namespace

Result<Glob> Glob::parse(std::string_view pattern, Dots dots) {
  std::string whole(pattern);
  if (whole.ends_with('/')) whole += "**";
  const Result<std::string> clean = clean_path(whole);
  if (!clean) return std::unexpected(clean.error());
  Glob glob;
  glob.dots_ = dots;
  for (const std::string_view part : split(*clean, '/')) {
    if (part == "**" && !glob.parts_.empty() && glob.parts_.back() == "**") continue;
    glob.parts_.emplace_back(part);
  }
  if (glob.parts_.size() > parts_max)
    return fail(Code::invalid_argument, "The pattern has more than 60 parts; make it shorter.", "bad_path");
  return glob;
}

Glob::States Glob::skip(States states) const {
  for (size_t i = 0; i < parts_.size(); ++i)
    if ((states >> i & 1) != 0 && parts_[i] == "**") states |= 1ULL << (i + 1);
  return states;
}

Glob::States Glob::step(States states, std::string_view name) const {
  States next = 0;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if ((states >> i & 1) == 0) continue;
    if (parts_[i] == "**") {
      if (dots_ == Dots::any || !name.starts_with('.')) next |= 1ULL << i;
    } else if (name_matches(parts_[i], name, dots_)) {
      next |= 1ULL << (i + 1);
    }
  }
  return skip(next);
}

bool Glob::matches(std::string_view path) const {
  States states = start();
  for (const std::string_view name : split(path, '/')) states = step(states, name);
  return accepts(states);
}

}  // namespace errand::files

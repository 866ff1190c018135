#include "task/permission.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace errand {
namespace {

// A call whose subject begins with "?" is one that nobody could read: it may be what a rule denies.
constexpr std::string_view unread = "? ";

bool means(const PermissionRule& rule, std::string_view tool, std::string_view subject) {
  return matches_pattern(rule.tool, tool) && (rule.pattern.empty() || matches_pattern(rule.pattern, subject));
}

// "src/*" is what is below src, and "src/../x" is not; nor is "src/.git/config", which says what git runs.
bool leaves(std::string_view path) {
  return std::ranges::any_of(split(path, '/'), [](std::string_view name) { return name == ".." || name == ".git"; });
}

// `exactly`: nothing but this very line counts.
bool is_granted(const std::vector<PermissionRule>& granted, std::string_view tool, std::string_view line,
                bool exactly) {
  return std::ranges::any_of(granted, [&](const PermissionRule& rule) {
    if (!means(rule, tool, line)) return false;
    const bool exact = !rule.pattern.empty() && rule.pattern == exact_pattern(line);
    return exact || (!exactly && !(rule.pattern.ends_with("/*") && leaves(line)));
  });
}

Decision decided_line(const PermissionBound& bound, std::string_view tool, std::string_view line) {
  bool may_be_denied = false;
  Decision decision{bound.otherwise, false};
  for (const PermissionRule& rule : bound.rules) {
    if (means(rule, tool, line)) {
      decision = {rule.decision, true};
      break;
    }
    if (line.starts_with(unread) && rule.decision == Permission::deny && matches_pattern(rule.tool, tool))
      may_be_denied = true;
  }
  if (may_be_denied && decision.permission == Permission::allow) decision = {Permission::ask, true};
  if (decision.permission == Permission::ask && is_granted(bound.granted, tool, line, may_be_denied))
    return {Permission::allow, true};
  return decision;
}

// A subject may have several lines (of a script one for each command): all of it is allowed where every line is, and
// denied where one is. A pattern with a line break is for the whole: what a person has allowed for good.
Decision decided_by(const PermissionBound& bound, std::string_view tool, std::string_view subject) {
  if (!subject.contains('\n')) return decided_line(bound, tool, subject);
  for (const PermissionRule& rule : bound.rules)
    if (rule.pattern.contains('\n') && means(rule, tool, subject)) return {rule.decision, true};
  Decision all{Permission::allow, false};
  for (const std::string_view line : split(subject, '\n')) {
    const Decision one = decided_line(bound, tool, line);
    const Permission both = stricter(all.permission, one.permission);
    if (both != all.permission || one.permission == both)
      all.by_rule = one.by_rule || (both == all.permission && all.by_rule);
    all.permission = both;
  }
  if (all.permission == Permission::ask && is_granted(bound.granted, tool, subject, true))
    return {Permission::allow, true};
  return all;
}

// What stands in the pattern at `at`: a character, an escaped one, or the star.
struct Item {
  bool star = false;
  char character = 0;
  size_t length = 1;
};

Item item_at(std::string_view pattern, size_t at) {
  if (pattern[at] == '*') return {.star = true};
  if (pattern[at] == '\\' && at + 1 < pattern.size()) return {.character = pattern[at + 1], .length = 2};
  return {.character = pattern[at]};
}

PermissionBound own_bound(const Task& task) {
  return {task.launch.permission_rules, task.launch.permission.value_or(Permission::ask), task.granted};
}

}  // namespace

// Linear in the text for each star, with one place to go back to: no pattern makes it take long.
bool matches_pattern(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    const bool left = p < pattern.size();
    const Item item = left ? item_at(pattern, p) : Item{};
    if (left && item.star) {
      star = ++p;
      star_text = t;
    } else if (left && item.character == text[t]) {
      p += item.length;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string exact_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (c == '*' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

const PermissionRule* matching_rule(const std::vector<PermissionRule>& rules, std::string_view tool,
                                    std::string_view subject) {
  for (const PermissionRule& rule : rules)
    if (matches_pattern(rule.tool, tool) && (rule.pattern.empty() || matches_pattern(rule.pattern, subject)))
      return &rule;
  return nullptr;
}

Permission stricter(Permission one, Permission other) {
  if (one == Permission::deny || other == Permission::deny) return Permission::deny;
  return one == Permission::ask || other == Permission::ask ? Permission::ask : Permission::allow;
}

Decision permission_for(const Task& task, std::string_view tool, std::string_view subject) {
  Decision decision = decided_by(own_bound(task), tool, subject);
  for (PermissionBound bound : task.launch.bounds) {
    // What a person granted to this task is more than any parent's "ask", and less than its "deny".
    bound.granted.insert(bound.granted.end(), task.granted.begin(), task.granted.end());
    const Decision parent = decided_by(bound, tool, subject);
    const Permission both = stricter(decision.permission, parent.permission);
    if (both != decision.permission) {
      decision = {both, parent.by_rule};
    } else if (parent.permission == both) {
      decision.by_rule = decision.by_rule || parent.by_rule;
    }
  }
  return decision;
}

std::vector<PermissionBound> bounds_for_children(const Task& task) {
  std::vector<PermissionBound> bounds = task.launch.bounds;
  PermissionBound own = own_bound(task);
  // Whoever may do everything binds nobody.
  if (!own.rules.empty() || !own.granted.empty() || own.otherwise != Permission::allow)
    bounds.push_back(std::move(own));
  return bounds;
}

void mark_launched_by_agent(Launch& launch) { launch.bounds = {PermissionBound{}}; }

bool launched_by_agent(const Launch& launch) { return !launch.bounds.empty(); }

}  // namespace errand

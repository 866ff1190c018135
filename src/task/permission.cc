#include "task/permission.h"

#include <utility>

#include "base/text.h"

namespace errand {
namespace {

// A call whose subject begins with "?" is one that nobody could read: it may be what a rule denies.
constexpr std::string_view unread = "? ";

bool means(const PermissionRule& rule, std::string_view tool, std::string_view subject) {
  return matches_pattern(rule.tool, tool) && (rule.pattern.empty() || matches_pattern(rule.pattern, subject));
}

Decision decided_line(const PermissionBound& bound, std::string_view tool, std::string_view line) {
  bool may_be_denied = false;
  const auto as_far_as_known = [&](Permission permission, bool by_rule) {
    return may_be_denied && permission == Permission::allow ? Decision{Permission::ask, true}
                                                            : Decision{permission, by_rule};
  };
  for (const PermissionRule& rule : bound.rules) {
    if (means(rule, tool, line)) return as_far_as_known(rule.decision, true);
    if (line.starts_with(unread) && rule.decision == Permission::deny && matches_pattern(rule.tool, tool))
      may_be_denied = true;
  }
  return as_far_as_known(bound.otherwise, false);
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
  PermissionBound own{task.granted, task.launch.permission.value_or(Permission::ask)};
  own.rules.insert(own.rules.end(), task.launch.permission_rules.begin(), task.launch.permission_rules.end());
  return own;
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
  // A person said "always" of this very call: that is more than any parent's "ask", and less than its "deny".
  const bool granted = matching_rule(task.granted, tool, subject) != nullptr;
  for (const PermissionBound& bound : task.launch.bounds) {
    const Decision parent = decided_by(bound, tool, subject);
    if (granted && parent.permission != Permission::deny) continue;
    const Permission both = stricter(decision.permission, parent.permission);
    if (both != decision.permission) decision = {both, parent.by_rule};
  }
  return decision;
}

std::vector<PermissionBound> bounds_for_children(const Task& task) {
  std::vector<PermissionBound> bounds = task.launch.bounds;
  PermissionBound own = own_bound(task);
  // Whoever may do everything binds nobody.
  if (!own.rules.empty() || own.otherwise != Permission::allow) bounds.push_back(std::move(own));
  return bounds;
}

void mark_launched_by_agent(Launch& launch) { launch.bounds = {PermissionBound{}}; }

bool launched_by_agent(const Launch& launch) { return !launch.bounds.empty(); }

}  // namespace errand

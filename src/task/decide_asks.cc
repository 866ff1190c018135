// Questions and permissions (R4.6).
#include <algorithm>

#include <fmt/format.h>

#include "task/move.h"
#include "task/permission.h"

namespace errand::moves {
namespace {

// How far an answer may go: `call` is what "always" has always meant.
Result<std::vector<PermissionRule>> granted_by(const Ask& ask, const input::Answered& input) {
  const AnswerScope scope =
      input.decision == "allow_always" && input.scope == AnswerScope::once ? AnswerScope::call : input.scope;
  if (!input.pattern.empty() && scope != AnswerScope::pattern && scope != AnswerScope::agent)
    return fail(Code::invalid_argument, "`pattern` goes with scope `pattern` or `agent`.");
  if (scope == AnswerScope::once) return std::vector<PermissionRule>();
  if (input.decision == "deny")
    return fail(Code::invalid_argument, "`deny` is for this once: `scope` goes with `allow`.");
  if (scope == AnswerScope::task) return std::vector<PermissionRule>{{"*", "", Permission::allow}};
  if (ask.tool.empty()) return std::vector<PermissionRule>();
  if (scope == AnswerScope::pattern || !input.pattern.empty()) {
    const std::vector<ProposedPattern> proposed = proposed_patterns(ask.tool, ask.subject);
    if (std::ranges::find(proposed, input.pattern, &ProposedPattern::pattern) == proposed.end()) {
      std::string known;
      for (const ProposedPattern& one : proposed) known += (known.empty() ? "`" : ", `") + one.pattern + "`";
      return fail(Code::invalid_argument, known.empty()
                                              ? "This request offers no patterns: answer once, or for this call."
                                              : "`pattern` must be one that the request offers: " + known + ".");
    }
  }
  return rules_for(ask.tool, ask.subject, input.pattern);
}

}  // namespace

Result<Step> on(const Task& task, const input::Asked& input, Time now) {
  if (fenced(task, input.run) || !at_work(task.state) || task.stopping) return unchanged(task);
  for (const Ask& known : task.asks)
    if (known.request_id == input.ask.request_id) {
      // Asked again, after a restart: an answer that was given is given once more.
      Step again = unchanged(task);
      if (!known.decision.empty())
        again.effects.push_back(effect::Answer{known.request_id, known.decision, known.reply});
      return again;
    }
  const Decision rule = permission_for(task, input.ask.tool, input.ask.subject);
  // A command that only reads: neither asked nor told, where no rule is about it (R14.3).
  if (input.ask.kind == AskKind::permission && input.ask.reads && rule.permission == Permission::ask && !rule.by_rule) {
    Step reads = unchanged(task);
    reads.effects.push_back(effect::Answer{input.ask.request_id, "allow", {}});
    return reads;
  }
  Move move(task, now);
  std::vector<Ask>& asks = move.task().asks;
  auto answered =
      static_cast<size_t>(std::ranges::count_if(asks, [](const Ask& known) { return !known.decision.empty(); }));
  std::erase_if(asks, [&](const Ask& known) {
    if (known.decision.empty() || answered < answered_max) return false;
    --answered;
    return true;
  });
  Ask& ask = asks.emplace_back(input.ask);
  // Whichever agent asks: what can be answered is said, in the words that an answer takes.
  if (ask.kind == AskKind::permission) ask.options = {"allow", "allow_always", "deny"};
  move.event(ask_created_event(ask, folder_of(task), now));
  if (ask.kind == AskKind::permission && rule.permission != Permission::ask) {
    ask.decision = rule.permission == Permission::allow ? "allow" : "deny";
    ask.until = Time{};
    ask.diff.clear();
    move.event(ask_answered_event(ask, rule.by_rule ? "rule" : "policy", now));
    move.effect(effect::Answer{ask.request_id, ask.decision, {}});
    return std::move(move).done();
  }
  move.asked();
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::Answered& input, Time now) {
  const auto ask = std::ranges::find(task.asks, input.request_id, &Ask::request_id);
  if (ask == task.asks.end() || !ask->decision.empty())
    return fail(Code::not_found, fmt::format("The task has no open question \"{}\"; it was answered, or never asked.",
                                             input.request_id));
  const bool decides = input.decision == "allow" || input.decision == "allow_always" || input.decision == "deny";
  if (ask->kind == AskKind::permission && !decides)
    return fail(Code::invalid_argument, "This is a permission request: decide allow, allow_always or deny.");
  if (ask->kind == AskKind::answer && input.decision != "answer")
    return fail(Code::invalid_argument, "This is a question: give an answer, not a decision.");
  Result<std::vector<PermissionRule>> granted = granted_by(*ask, input);
  if (!granted) return std::unexpected(granted.error());
  Move move(task, now);
  Ask& answered = *std::ranges::find(move.task().asks, input.request_id, &Ask::request_id);
  answered.decision = input.decision;
  answered.reply = input.message;
  move.task().progress.last_update = now;
  answered.diff.clear();
  if (task.granted.size() + granted->size() <= granted_max)
    move.task().granted.insert(move.task().granted.end(), granted->begin(), granted->end());
  move.event(ask_answered_event(answered, input.by, now,
                                input.scope == AnswerScope::once ? std::string_view() : name(input.scope)));
  move.effect(effect::Answer{input.request_id, input.decision, input.message});
  move.status();
  return std::move(move).done();
}

Result<Step> on(const Task& task, const input::AskDue& input, Time now) {
  const auto due = std::ranges::find(task.asks, input.request_id, &Ask::request_id);
  if (due == task.asks.end() || !due->decision.empty() || !due->until || due->until > now) return unchanged(task);
  Move move(task, now);
  Ask& denied = *std::ranges::find(move.task().asks, input.request_id, &Ask::request_id);
  denied.decision = "deny";
  denied.reply = fmt::format("Nobody answered within {}.", format_duration(denied.until - denied.at));
  move.task().progress.last_update = now;
  denied.diff.clear();
  move.event(ask_answered_event(denied, "timeout", now));
  move.effect(effect::Answer{denied.request_id, denied.decision, denied.reply});
  move.status();
  return std::move(move).done();
}

}  // namespace errand::moves

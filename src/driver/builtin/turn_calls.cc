// The turn's tools: which calls run when, who is asked, and how each is settled.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/builtin_turn.h"
#include "driver/builtin/conversation.h"
#include "driver/builtin/question.h"

namespace errand::builtin {
namespace {

constexpr int parallel_max = 8;

ToolOutcome wrong(std::string text) { return {.output = std::move(text), .is_error = true}; }

}  // namespace

void BuiltinTurn::run_calls(Next next) {
  calling_ = next.message;
  calls_.clear();
  for (Part& part : next.calls) {
    Call& call = calls_.emplace_back();
    call.tool = tools_->find(part.name);
    call.part = std::move(part);
  }
  go_on_calls();
}

// Calls that only read run side by side where all of the answer's do; otherwise one after the other, in their order.
void BuiltinTurn::go_on_calls() {
  if (over_) return;
  doing_ = Doing::calling;
  if (std::ranges::all_of(calls_, &Call::stored)) {
    calls_.clear();
    return advance();
  }
  const bool reads = std::ranges::all_of(calls_, [](const Call& call) { return call.tool && call.tool->read_only(); });
  auto running = std::ranges::count_if(calls_, [](const Call& call) { return call.started && !call.stored; });
  for (size_t i = 0; i < calls_.size(); ++i) {
    Call& call = calls_[i];
    if (call.started) continue;
    if (running >= (reads ? parallel_max : 1)) return;
    if (!plan(call)) return;
    // Somebody is asked for one call at a time.
    if (call.plan->kind == Plan::Kind::permission && running > 0) return;
    call.started = true;
    if (call.plan->call.need.ask) call.permitted = call.plan->call.need.subject;
    ++running;
    const std::string id = call.part.call_id;
    switch (call.plan->kind) {
      case Plan::Kind::settle:
        settle(id, std::move(call.plan->outcome));
        break;
      case Plan::Kind::question:
      case Plan::Kind::permission:
        ask_for(call);
        return;
      case Plan::Kind::run:
        start_call(id, call.plan->again);
        break;
    }
    if (over_) return;
  }
}

// True: it has a plan. False: its arguments are being read, which takes time and looks at files; it goes on with that.
bool BuiltinTurn::plan(Call& call) {
  if (call.plan) return true;
  if (std::exchange(call.planning, true)) return false;
  const auto settled = [&](ToolOutcome outcome) {
    call.plan = Plan{.kind = Plan::Kind::settle, .outcome = std::move(outcome)};
    return true;
  };
  const bool question = call.part.name == question_tool && asks_allowed(*agent_);
  // Begun under a server that died.
  const bool begun = mark_.begun.contains(call.part.call_id);
  if (is_broken_input(call.part.input))
    return settled(
        wrong("The arguments of this call are not a JSON object (an answer that is cut at the output limit "
              "ends in the middle of one). Make the call again, with shorter arguments where they were long."));
  if (call.tool == nullptr && !question) {
    std::string names;
    for (const model::ToolSpec& spec : specs_) names += (names.empty() ? "" : ", ") + spec.name;
    return settled(wrong(
        fmt::format("There is no tool \"{}\" here. There are: {}.", first_characters(call.part.name, 100), names)));
  }
  if (!question && begun && !call.tool->survives()) return settled(wrong(std::string(unknown_end)));
  ToolContext context = context_of(call);
  context.again = begun;
  in_background(
      [tool = question ? nullptr : call.tool, context = std::move(context),
       input = std::move(call.part.input)]() mutable { return read_call(tool.get(), context, std::move(input)); },
      [this, id = call.part.call_id](Plan plan) {
        find_call(id)->plan = std::move(plan);
        go_on_calls();
      });
  return false;
}

// In the background. Without a tool it is a question.
BuiltinTurn::Plan BuiltinTurn::read_call(const Tool* tool, const ToolContext& context, std::string input) {
  if (tool == nullptr) {
    Result<Question> question = parse_question(input);
    if (!question) return {.kind = Plan::Kind::settle, .outcome = wrong(question.error().message)};
    Plan plan{.kind = Plan::Kind::question, .options = std::move(question->options)};
    plan.call.need.text = std::move(question->text);
    return plan;
  }
  Result<Tool::Prepared> call = tool->prepare(context, std::move(input));
  if (!call) return {.kind = Plan::Kind::settle, .outcome = wrong(call.error().message)};
  const bool ask = call->need.ask && !context.again;
  return {.kind = ask ? Plan::Kind::permission : Plan::Kind::run, .again = context.again, .call = std::move(*call)};
}

// A question that was asked before the server died is not asked again; its answer may be there already.
void BuiltinTurn::ask_for(Call& call) {
  call.asked = true;
  const std::string id = call.part.call_id;
  if (const auto given = early_.extract(id)) return answer(id, given.mapped().decision, given.mapped().message);
  const auto known = std::ranges::find(task_->asks, id, &errand::Ask::request_id);
  if (known != task_->asks.end()) {
    if (!known->decision.empty()) answer(id, known->decision, known->reply);
    return;
  }
  const Tool::Need& need = call.plan->call.need;
  report::Asks asks{.request_id = id, .text = need.text};
  if (call.plan->kind == Plan::Kind::question) {
    asks.kind = AskKind::answer;
    asks.options = std::move(call.plan->options);
  } else {
    asks.kind = AskKind::permission;
    asks.tool = need.tool.empty() ? call.part.name : need.tool;
    asks.subject = need.subject;
    asks.work_dir = need.work_dir;
    asks.diff = need.diff;
    asks.reads = need.reads;
  }
  report({std::move(asks)});
}

void BuiltinTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (over_) return;
  Call* const call = find_call(request_id);
  if (call == nullptr || !call->started) {
    // Asked under a server that died, and answered before this one has come to it.
    const bool known = std::ranges::find(task_->asks, request_id, &errand::Ask::request_id) != task_->asks.end();
    if (known) early_.insert_or_assign(request_id, Early{decision, message});
    return;
  }
  if (!std::exchange(call->asked, false)) return;
  if (decision == "answer") return settle(request_id, {.output = message});
  if (call->part.name == question_tool && call->tool == nullptr)
    return settle(request_id, wrong(message.empty() ? "Nobody answers; decide by yourself and say what you decided."
                                                    : fmt::format("There is no answer: {}", message)));
  if (decision == "allow" || decision == "allow_always") return start_call(request_id, false);
  settle(request_id,
         wrong(fmt::format("Denied{}. The call was not run. Do not try to get the same by another way; go on "
                           "without it, or say what you would need.",
                           message.empty() ? "" : fmt::format(", with these words: {}", message))));
}

// What may have effects is marked as begun, durably, before it begins.
void BuiltinTurn::start_call(const std::string& call_id, bool again) {
  Call* const call = find_call(call_id);
  const std::optional<std::string>& children = call->plan->call.children;
  if (call->tool->read_only() && !children) return run_now(call_id, again);
  if (!call->tool->read_only()) mark_.begun.insert(call_id);
  std::vector<Report> reports;
  if (children) {
    reports.emplace_back(report::Waits{WaitKind::children, *children, {}});
  } else {
    reports.emplace_back(report::Alive{});
  }
  report(std::move(reports));
  sink_.when_stored([this, call_id, again] { run_now(call_id, again); });
}

void BuiltinTurn::run_now(const std::string& call_id, bool again) {
  Call* const call = over_ ? nullptr : find_call(call_id);
  if (call == nullptr) return;
  ToolContext context = context_of(*call);
  context.again = again;
  context.permitted = call->permitted;
  call->began = shared_.parts.clock.steady();
  call->run = call->plan->call.run(std::move(context),
                                   [this, call_id](ToolOutcome outcome) { settle(call_id, std::move(outcome)); });
}

// Its result is stored before anything follows from it.
void BuiltinTurn::settle(const std::string& call_id, ToolOutcome outcome) {
  Call* const call = find_call(call_id);
  if (call == nullptr || std::exchange(call->done, true)) return;
  if (over_) return one_gone();  // It was stopped.
  if (outcome.interrupted && outcome.output.empty()) outcome.output = unknown_end;
  mark_.begun.erase(call_id);
  const Millis ms = call->began ? shared_.parts.clock.steady() - call->began : 0;
  std::vector<Report> reports;
  const auto waits = [](const Call& some) { return some.run && some.plan->call.children; };
  const bool others_wait = std::ranges::any_of(calls_, [&](const Call& other) { return waits(other) && !other.done; });
  if (waits(*call) && !others_wait) reports.emplace_back(report::GoesOn{});
  reports.emplace_back(report::ToolCompleted{call_id, outcome.output, outcome.is_error || outcome.interrupted, ms});
  if (Message* const message = message_of(calling_)) {
    message->parts.push_back({.type = PartType::tool_result,
                              .text = std::move(outcome.output),
                              .call_id = call_id,
                              .is_error = outcome.is_error || outcome.interrupted,
                              .ms = ms});
    if (std::ranges::all_of(calls_, &Call::done)) {
      message->completed_at = shared_.parts.clock.wall();
      reports.emplace_back(report::MessageEnded{});
    }
  }
  report(std::move(reports));
  sink_.when_stored([this, call_id] {
    Call* const settled = over_ ? nullptr : find_call(call_id);
    if (settled == nullptr) return;
    settled->stored = true;
    if (settled->run) settled->run->stored();
    settled->run.reset();
    go_on_calls();
  });
}

BuiltinTurn::Call* BuiltinTurn::find_call(const std::string& call_id) {
  const auto found = std::ranges::find_if(calls_, [&](const Call& call) { return call.part.call_id == call_id; });
  return found == calls_.end() ? nullptr : &*found;
}

ToolContext BuiltinTurn::context_of(const Call& call) const {
  return {.task = task_, .agent = agent_, .message = calling_, .call_id = call.part.call_id, .roots = roots_};
}

}  // namespace errand::builtin

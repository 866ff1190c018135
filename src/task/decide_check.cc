#include "task/decide_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace errand {
namespace {

using Outcome = input::TurnEnded::Outcome;

// The fields that no input may ever change, but for those that people edit.
bool fixed_fields_differ(const Task& a, Task b, const Input& input) {
  if (std::holds_alternative<input::Edit>(input)) {
    b.launch.labels = a.launch.labels;
    b.title = a.title;
    b.renamed = a.renamed;
    b.pinned = a.pinned;
    b.archived = a.archived;
  }
  return a.id != b.id || a.launch != b.launch || a.title != b.title || a.session_id != b.session_id ||
         a.created_at != b.created_at || a.is_forked != b.is_forked || a.pinned != b.pinned ||
         a.archived != b.archived || a.renamed != b.renamed;
}

// An edit is told, and touches nothing of the work.
std::string broken_edit(const Task& before, const Input& input, const Step& step) {
  if (!std::holds_alternative<input::Edit>(input)) return {};
  if (!step.effects.empty() || step.turn_ended || step.asked || step.removed)
    return "an edit has no effect on the work";
  if (step.unchanged) return {};
  if (before.state != step.after.state || before.phase != step.after.phase || before.run != step.after.run)
    return "an edit changes no state";
  return has_event(step, EventType::task_status) ? std::string{} : "an edit is told";
}

// The table of moves in decide.h, as code of its own: which states may follow.
bool legal_move(TaskState from, TaskState to, const Input& input) {
  if (from == to) return true;
  const bool ends = std::holds_alternative<input::TurnEnded>(input);
  const bool cuts = std::holds_alternative<input::Deadline>(input) || std::holds_alternative<input::Lost>(input) ||
                    std::holds_alternative<input::Overrun>(input);
  switch (from) {
    case TaskState::pending:
      return (to == TaskState::running && std::holds_alternative<input::Start>(input)) ||
             (to == TaskState::cancelled && std::holds_alternative<input::Cancel>(input));
    case TaskState::running:
    case TaskState::resumed:
      if (to == TaskState::cancelled) return std::holds_alternative<input::Cancel>(input);
      if (to == TaskState::completed) return ends;
      if (to == TaskState::failed) return ends || cuts;
      return to == TaskState::resumed && ends;
    case TaskState::completed:
      if (const auto* noticed = std::get_if<input::Noticed>(&input)) return to == TaskState::resumed && noticed->wake;
      return to == TaskState::resumed && std::holds_alternative<input::Prompt>(input);
    case TaskState::failed:
    case TaskState::cancelled:
      return to == TaskState::pending && std::holds_alternative<input::Retry>(input);
  }
  return false;
}

// The run that an input names; nothing for those that name none.
std::optional<int> named_run(const Input& input) {
  return std::visit(
      [](const auto& in) -> std::optional<int> {
        if constexpr (requires { in.run; }) return in.run;
        return std::nullopt;
      },
      input);
}

bool fully_at_rest(const Task& task) { return !at_work(task.state) && task.phase == TurnPhase::ended; }

// Promises of decide.h that are about more than one task value can show to assert_task.
std::string broken_promise_of_step(const Task& before, const Step& step) {
  const Task& after = step.after;
  if (after.state == TaskState::pending && (after.result || after.exit_code || after.signal))
    return "a pending task has no result of this attempt";
  if (after.state == TaskState::completed && !after.result) return "a completed task has a result";
  if (after.run < before.run || after.run > before.run + 1) return "the run number goes up one by one";
  if (after.turn < before.turn || after.turn > before.turn + 1) return "the turn number goes up one by one";
  if (after.attempt < before.attempt || after.attempt > before.attempt + 1) return "attempts go up one by one";
  if (after.resume_count < before.resume_count) return "resume_count never goes down";
  return {};
}

std::string broken_effect(const Task& before, const Step& step) {
  const Task& after = step.after;
  const bool opens = find_effect<effect::Open>(step) != nullptr;
  if (opens != (after.run != before.run)) return "a run is opened exactly where its number is new";
  for (const Effect& effect : step.effects) {
    if (const auto* stop = std::get_if<effect::Stop>(&effect)) {
      if (before.phase != TurnPhase::working || stop->run != before.run) return "only the run at work is stopped";
      if (!after.stopping && !step.removed) return "what is stopped is stopping";
    }
    if (std::holds_alternative<effect::Send>(effect) && (before.phase != TurnPhase::working || before.stopping))
      return "a message is sent only to a turn that goes on";
  }
  return {};
}

std::string broken_event(const Task& before, const Step& step, Time now) {
  const Task& after = step.after;
  for (const Event& event : step.events) {
    if (event.at != now) return "an event says when it was decided";
    if (event.data.empty() || event.data.front() != '{') return "an event's data is a JSON object";
  }
  if (before.state != after.state && !has_event(step, EventType::task_status)) return "a change of state is an event";
  if (before.stopping != after.stopping && !has_event(step, EventType::task_status))
    return "a change of `stopping` is an event";
  if (before.isolation != after.isolation && !has_event(step, EventType::task_status))
    return "a change of `isolation` is an event";
  if (before.wait != after.wait && !has_event(step, EventType::task_status)) return "a change of `wait` is an event";
  const auto ends = std::ranges::count(step.events, EventType::end, &Event::type);
  const bool came_to_rest = fully_at_rest(after) && !fully_at_rest(before);
  if (ends != (came_to_rest ? 1 : 0)) return "`end` is told once, when a task rests and its processes are gone";
  if (came_to_rest && step.events.back().type != EventType::end) return "`end` is the last event";
  return {};
}

// R5.1: nothing that was sent is forgotten before an agent took it.
std::string broken_waiting(const Task& before, const Input& input, const Step& step) {
  std::vector<MessageId> then, now;
  const auto* taken = std::get_if<input::Taken>(&input);
  for (const WaitingMessage& message : before.waiting)
    if (!message.taken && !(taken && taken->message == message.id)) then.push_back(message.id);
  for (const WaitingMessage& message : step.after.waiting)
    if (!message.taken) now.push_back(message.id);
  // A retry and a restart give taken ones again: then `now` has more of them, in the same order.
  size_t found = 0;
  for (const MessageId& id : now)
    if (found < then.size() && then[found] == id) ++found;
  return found == then.size() ? std::string{} : "an untaken message stays, in its order";
}

}  // namespace

bool has_event(const Step& step, EventType type) {
  return std::ranges::find(step.events, type, &Event::type) != step.events.end();
}

std::string broken_rule(const Task& before, const Input& input, const Result<Step>& result, Time now) {
  if (!result) {
    const Code code = result.error().code;
    if (code != Code::conflict && code != Code::not_found && code != Code::invalid_argument)
      return "a refusal is conflict, not_found or invalid_argument";
    return result.error().message.ends_with('.') ? std::string{} : "a refusal says why, in a sentence";
  }
  const Step& step = *result;
  const std::optional<int> run = named_run(input);
  const bool fenced = run && (*run != before.run || before.phase != TurnPhase::working);
  if (fenced && !step.unchanged) return "an input that names another run changes nothing";
  if (step.unchanged) {
    if (step.after != before || !step.events.empty() || step.turn_ended || step.asked || step.removed)
      return "unchanged means that nothing changed";
    for (const Effect& effect : step.effects)
      if (!std::holds_alternative<effect::Answer>(effect) || fenced) return "only an answer is given again";
    return {};
  }
  if (step.removed) {
    const bool stops = find_effect<effect::Stop>(step) != nullptr;
    return stops == (before.phase == TurnPhase::working) ? std::string{} : "removing ends what is at work";
  }
  if (fixed_fields_differ(before, step.after, input)) return "what was fixed at launch stays";
  if (std::string broken = broken_edit(before, input, step); !broken.empty()) return broken;
  if (!legal_move(before.state, step.after.state, input)) return "the table has no such move";
  if (step.asked && (step.after.asks.empty() || step.after.asks.size() != before.asks.size() + 1))
    return "`asked` announces a new question";
  for (const std::string& broken :
       {broken_promise(step.after), broken_promise_of_step(before, step), broken_effect(before, step),
        broken_event(before, step, now), broken_waiting(before, input, step)})
    if (!broken.empty()) return broken;
  return {};
}

LifeCheck::LifeCheck(const Step& created) { ended_ = has_event(created, EventType::end); }

void LifeCheck::gave(const std::vector<MessageId>& messages, std::string& broken) {
  for (const MessageId& id : messages)
    if (!given_to_this_run_.insert(id).second) broken = "a run is given a message once";
}

std::string LifeCheck::broken_rule(const Task& before, const Input& input, const Step& step) {
  std::string broken;
  if (step.unchanged || step.removed) return broken;
  const Task& after = step.after;
  if (find_effect<effect::Open>(step)) {
    given_to_this_run_.clear();
    gave(messages_to_give(after, false), broken);
  }
  if (const auto* send = find_effect<effect::Send>(step)) gave({send->message}, broken);

  if (step.turn_ended && !ended_turns_.insert(before.turn).second) return "a turn ends once";
  if (after.turn != before.turn) {
    const bool cut = before.interrupting && !step.turn_ended;
    if (cut) cut_turns_.insert(before.turn);
    if (!cut && !ended_turns_.contains(before.turn)) return "a turn follows one that has ended or was cut";
  }
  if (fully_at_rest(after) != (!at_work(after.state) && ended_turns_.contains(after.turn)))
    return "the turn of a task has ended when it rests and nothing of it is left";
  if (after.phase == TurnPhase::queued && ended_turns_.contains(after.turn)) return "a turn in line has not ended";

  // That a notice was taken, the record edited, or what became of its changes, is told whenever it happens; all else
  // after `end` begins a new turn.
  if (std::holds_alternative<input::NoticeTaken>(input) || std::holds_alternative<input::Isolated>(input) ||
      std::holds_alternative<input::Edit>(input))
    return broken;
  if (ended_ && !step.events.empty() && !std::holds_alternative<input::Prompt>(input) &&
      !std::holds_alternative<input::Noticed>(input) && !std::holds_alternative<input::Retry>(input))
    return "after `end` only a message, a notice that wakes or a retry begins anew";
  if (!step.events.empty()) ended_ = step.events.back().type == EventType::end;
  return broken;
}

std::string describe(const Task& task) {
  return fmt::format("{}/{}{}{} turn={} attempt={} run={} restarts={} asks={} waiting={}", name(task.state),
                     name(task.phase), task.stopping ? "/stopping" : "", task.interrupting ? "/interrupting" : "",
                     task.turn, task.attempt, task.run, task.restarts, task.asks.size(), task.waiting.size());
}

std::string describe(const Input& input) {
  static constexpr const char* names[] = {"Start",     "Activity",    "Taken", "TurnEnded", "Cancel",   "Deadline",
                                          "Prompt",    "Retry",       "Lost",  "Asked",     "Answered", "AskDue",
                                          "Retrieved", "ProgressDue", "Waits", "GoesOn",    "Overrun",  "Noticed",
                                          "Isolated",  "NoticeTaken", "Edit",  "Remove"};
  static_assert(std::size(names) == std::variant_size_v<Input>);
  std::string text = names[input.index()];
  if (const auto run = named_run(input)) text += fmt::format(" run={}", *run);
  if (const auto* end = std::get_if<input::TurnEnded>(&input))
    text += fmt::format(" outcome={}", static_cast<int>(end->outcome));
  if (const auto* deadline = std::get_if<input::Deadline>(&input))
    text += fmt::format(" which={}", static_cast<int>(deadline->which));
  if (const auto* prompt = std::get_if<input::Prompt>(&input)) text += fmt::format(" when={}", name(prompt->when));
  return text;
}

std::vector<Input> all_inputs(const Task& task, int serial) {
  std::vector<Input> out;
  out.push_back(input::Start{});
  for (const int run : {task.run, task.run - 1, task.run + 1, 0, -7, 1'000'000}) {
    out.push_back(input::Activity{run});
    out.push_back(input::Taken{run, MessageId("msg_never_sent")});
    for (const WaitingMessage& message : task.waiting) out.push_back(input::Taken{run, message.id});
    for (const Outcome outcome : {Outcome::completed, Outcome::failed, Outcome::stopped}) {
      out.push_back(input::TurnEnded{.run = run, .outcome = outcome});
      out.push_back(input::TurnEnded{.run = run,
                                     .outcome = outcome,
                                     .result = "what it said",
                                     .error = TaskError{"agent_error", "It failed.", R"({"stack":"..."})"},
                                     .exit_code = 3,
                                     .signal = 9});
    }
    for (const auto which :
         {input::Deadline::Which::timeout, input::Deadline::Which::idle_warning, input::Deadline::Which::idle})
      out.push_back(input::Deadline{run, which, "seen for a long time"});
    out.push_back(input::Lost{run, "The server was restarted."});
    out.push_back(input::ProgressDue{run});
    for (const WaitKind kind : {WaitKind::quota, WaitKind::children})
      out.push_back(input::Waits{run, {kind, "It waits.", Time{}}});
    out.push_back(input::GoesOn{run});
    out.push_back(input::Overrun{run, {"budget", "It used all its tokens.", {}}});
    for (const AskKind kind : {AskKind::permission, AskKind::answer})
      out.push_back(input::Asked{
          run,
          {.request_id = fmt::format("req_{}", serial), .kind = kind, .text = "May I?", .options = {"yes", "no"}}});
    if (!task.asks.empty()) out.push_back(input::Asked{run, task.asks.front()});
  }
  for (const char* by : {"user", "parent", "session_ended", ""}) out.push_back(input::Cancel{by});
  for (const auto when : {WaitingMessage::When::steer, WaitingMessage::When::queue, WaitingMessage::When::interrupt})
    out.push_back(input::Prompt{MessageId(fmt::format("msg_{}", serial)), when});
  out.push_back(input::Retry{});
  out.push_back(input::Retry{MessageId(fmt::format("msg_{}", serial))});
  for (const char* decision : {"allow", "allow_always", "deny", "answer", "", "nonsense"}) {
    out.push_back(input::Answered{"req_never_asked", decision, "text", "user"});
    for (const Ask& ask : task.asks) out.push_back(input::Answered{ask.request_id, decision, "text", "user"});
  }
  for (const Ask& ask : task.asks) out.push_back(input::AskDue{ask.request_id});
  out.push_back(input::AskDue{"req_never_asked"});
  out.push_back(input::Retrieved{});
  for (const bool wake : {false, true})
    out.push_back(
        input::Noticed{NoticeId(fmt::format("ntc_{}", serial)), MessageId(fmt::format("msg_n{}", serial)), wake});
  for (const WaitingMessage& message : task.waiting)
    if (message.notice) out.push_back(input::Noticed{message.notice, message.id, true});
  out.push_back(input::Isolated{});
  for (const char* state : {"preparing", "merged"})
    out.push_back(input::Isolated{Isolation{.kind = "worktree", .state = state, .path = "/wt"}});
  out.push_back(input::NoticeTaken{NoticeId("ntc_1")});
  out.push_back(input::Edit{});
  out.push_back(input::Edit{.title = fmt::format("Title {}", serial)});
  out.push_back(input::Edit{.title = " \n "});
  out.push_back(input::Edit{.title = std::nullopt, .labels = {{"sort", fmt::format("{}", serial)}, {"gone", {}}}});
  out.push_back(input::Edit{.title = std::nullopt, .labels = {{"sort", std::nullopt}}});
  for (const bool on : {false, true})
    out.push_back(input::Edit{.title = std::nullopt, .labels = {}, .pinned = on, .archived = !on});
  out.push_back(input::Remove{});
  out.push_back(input::Remove{.only_at_rest = true});
  return out;
}

}  // namespace errand

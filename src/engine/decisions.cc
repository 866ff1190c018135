// Deciding: everything that waits for a task is decided on its durable state and put into one commit.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine_impl.h"

namespace errand {
namespace {

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a.
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

// Of the messages that wait for one task: they are in memory while its turn is at work.
constexpr size_t waiting_bytes_max = 16 << 20;

}  // namespace

// Decides everything that waits. False: nothing has changed.
bool EngineImpl::decide_all(const LivePtr& live, Prepared& prepared) {
  Task after = *live->task;
  prepared.recorder = live->recorder;
  Recording out;
  bool changed = false;
  const Time now = wall();
  std::optional<size_t> waiting;  // Bytes of the messages that wait.
  for (const Action& action : prepared.actions) {
    if (std::holds_alternative<input::Prompt>(action.input)) {
      if (!waiting) waiting = weight(live->messages);
      for (const Message& message : action.messages) *waiting += weight(message);
      if (*waiting > waiting_bytes_max && !live->messages.empty()) {
        for (const Message& message : action.messages) *waiting -= weight(message);
        prepared.refused.push_back(Error{
            Code::exhausted,
            fmt::format("The messages of this turn hold {} MiB already; send more when the turn has ended, or put "
                        "what is long into a file and name that.",
                        waiting_bytes_max >> 20),
            too_many_messages});
        continue;
      }
    }
    if (prepared.commit.remove) {
      prepared.refused.push_back(Error{Code::not_found, "The task was removed.", "deleted"});
      continue;
    }
    Result<Step> step = decide(after, action.input, now);
    if (!step) {
      prepared.refused.push_back(step.error());
      continue;
    }
    prepared.refused.emplace_back();
    if (step->removed) {
      prepared.commit.remove = action.gone;
      std::ranges::move(step->effects, std::back_inserter(prepared.effects));
      changed = true;
      continue;
    }
    if (std::holds_alternative<input::Activity>(action.input)) {
      if (step->unchanged) continue;  // Fenced.
      if (action.take_up) {
        prepared.recorder.close(out, now);
        changed = true;
        continue;
      }
      after = std::move(step->after);
      decide_reports(*live, action, after, prepared, out, changed);
      after.checkpoint = action.checkpoint;
      changed = true;
      continue;
    }
    for (const Message& message : action.messages) {
      // A notice that it has already, or does not take now, is not put into the conversation (again).
      const auto of = [&](const Task& task) {
        return std::ranges::count(task.waiting, message.id, &WaitingMessage::id);
      };
      if (std::holds_alternative<input::Noticed>(action.input) && of(step->after) == of(after)) continue;
      live->messages.insert_or_assign(message.id, message);
      Message stored = message;
      stored.turn = step->after.turn;
      prepared.recorder.add_message(std::move(stored), out, now);
    }
    std::ranges::copy(action.taken, std::back_inserter(prepared.commit.taken));
    const bool unchanged = step->unchanged;
    add_step(std::move(*step), after, prepared, out, changed);
    if (std::holds_alternative<input::ProgressDue>(action.input) && !unchanged)
      add_notice(progress_notice(after, ids_.notice(), now), prepared, out);
  }
  if (changed) finish(prepared, std::move(after), std::move(out));
  return changed;
}

void EngineImpl::decide_reports(Live& live, const Action& action, Task& after, Prepared& prepared, Recording& out,
                                bool& changed) {
  const Time now = wall();
  for (const Report& report : action.reports) {
    // After a cancel only what is true of the processes counts.
    if (!at_work(after.state) && !std::holds_alternative<report::Output>(report) &&
        !std::holds_alternative<report::Resources>(report))
      continue;
    if (const auto* taken = std::get_if<report::Taken>(&report)) {
      Result<Step> step = decide(after, input::Taken{after.run, taken->message}, now);
      if (!step || step->unchanged) continue;
      for (const WaitingMessage& message : step->after.waiting)
        if (message.id == taken->message && message.notice) {
          prepared.commit.taken.push_back(message.notice);
          prepared.own_taken.push_back(message.notice);
        }
      const auto body = live.messages.find(taken->message);
      if (body != live.messages.end()) prepared.recorder.take_message(body->second, out, now);
      add_step(std::move(*step), after, prepared, out, changed);
    } else if (const auto* asks = std::get_if<report::Asks>(&report)) {
      Ask ask{.request_id = asks->request_id,
              .kind = asks->kind,
              .text = asks->text,
              .options = asks->options,
              .at = now,
              .tool = asks->tool,
              .subject = asks->subject,
              .until = settings_.ask_timeout_ms > 0 ? now + settings_.ask_timeout_ms : Time{}};
      Result<Step> step = decide(after, input::Asked{after.run, std::move(ask)}, now);
      if (step) add_step(std::move(*step), after, prepared, out, changed);
    } else if (const auto* waits = std::get_if<report::Waits>(&report)) {
      Result<Step> step = decide(after, input::Waits{after.run, {waits->kind, waits->text, waits->until}}, now);
      if (step) add_step(std::move(*step), after, prepared, out, changed);
    } else if (std::holds_alternative<report::GoesOn>(report)) {
      Result<Step> step = decide(after, input::GoesOn{after.run}, now);
      if (step) add_step(std::move(*step), after, prepared, out, changed);
    } else if (const auto* session = std::get_if<report::AgentSession>(&report)) {
      after.driver_session = session->id;
    } else if (const auto* match = std::get_if<report::Match>(&report)) {
      prepared.recorder.flush(out, now);
      out.events.push_back(match_event(match->pattern, match->line, match->more, now));
      add_notice(match_notice(after, match->pattern, match->line, match->more, ids_.notice(), now), prepared, out);
    } else {
      prepared.recorder.record(report, after, ids_, out, now);
      watch_calls(report, after, prepared, out, changed);
    }
  }
  // What a command uses is in its record as it moves. It is an event only while somebody watches: a stored one every
  // few seconds of every task would be most of the database, and tell nobody anything.
  const bool sample = action.reports.size() == 1 && std::holds_alternative<report::Resources>(action.reports.front());
  if (sample && at_work(after.state) && feeds_.is_read(live.id)) out.events.push_back(progress_event(after, now));
}

// R4.4: the same call again and again, with the same result, is a loop: it is warned of, and then ended.
void EngineImpl::watch_calls(const Report& report, Task& after, Prepared& prepared, Recording& out, bool& changed) {
  if (settings_.loop_max <= 0) return;
  Repeat& repeat = after.repeat;
  if (const auto* done = std::get_if<report::ToolCompleted>(&report)) {
    const uint64_t result = hash_of(done->output) | 1;  // Never 0.
    if (repeat.result != 0 && repeat.result != result) repeat.count = std::min(repeat.count, 1);
    repeat.result = result;
    return;
  }
  const auto* call = std::get_if<report::ToolStarted>(&report);
  if (call == nullptr) return;
  const uint64_t hash = hash_of(call->name + '\n' + call->input);
  if (repeat.call != hash) repeat = {.call = hash};
  repeat.count += 1;
  const Time now = wall();
  if (repeat.count == settings_.loop_warn && repeat.count < settings_.loop_max)
    out.events.push_back(warning_event("loop",
                                       fmt::format("It has called {} {} times in a row with the same input and the "
                                                   "same result; after {} times it is ended.",
                                                   call->name, repeat.count, settings_.loop_max),
                                       now));
  if (repeat.count < settings_.loop_max) return;
  TaskError error{"loop",
                  fmt::format("It called {} {} times in a row with the same input and the same result, and was ended; "
                              "retry with a message that says what to do instead.",
                              call->name, repeat.count),
                  {}};
  if (Result<Step> step = decide(after, input::Overrun{after.run, std::move(error)}, now))
    add_step(std::move(*step), after, prepared, out, changed);
}

// Takes one step over: its events after what was recorded before it, its notices, its effects.
void EngineImpl::add_step(Step step, Task& after, Prepared& prepared, Recording& out, bool& changed) {
  std::ranges::move(step.effects, std::back_inserter(prepared.effects));
  if (step.unchanged) return;
  changed = true;
  const Time now = wall();
  const bool over = step.turn_ended || !at_work(step.after.state) || step.after.run != after.run ||
                    step.after.phase != TurnPhase::working;
  if (over && after.phase == TurnPhase::working)
    prepared.recorder.close(out, now);
  else
    prepared.recorder.flush(out, now);
  const BatchPlace from = BatchPlace::of(after);
  const BatchPlace to = BatchPlace::of(step.after);
  after = std::move(step.after);
  std::ranges::move(step.events, std::back_inserter(out.events));
  if (from != to) {
    batches_.move(prepared.batch_moves, after.launch.batch_id, from, to);
    batches_.note_failure(after);
  }
  if (step.asked) add_notice(ask_notice(after, after.asks.back(), ids_.notice(), now), prepared, out);
  if (step.turn_ended) tell_turn(after, prepared, out);
  if (from.works() && !to.works()) tell_batch(after, prepared, out);
}

void EngineImpl::tell_turn(const Task& after, Prepared& prepared, Recording& out) {
  const Time now = wall();
  Driver* const driver = driver_of(after);
  const std::string path = driver != nullptr && after.run > 0 ? driver->log_path(after.id, after.run) : std::string();
  if (at_work(after.state)) {
    // It completed, and a message that waited makes the next turn: the notice is about the one that ended.
    Task told = after;
    told.state = TaskState::completed;
    told.reason = "finished";
    told.turn -= 1;
    told.completed_at = now;
    add_notice(turn_notice(told, ids_.notice(), path, now), prepared, out);
    return;
  }
  add_notice(turn_notice(after, ids_.notice(), path, now), prepared, out);
}

// A batch is whole when the last of it is over, and has told of itself. One that is deleted before it is over tells
// nothing.
void EngineImpl::tell_batch(const Task& after, Prepared& prepared, Recording& out) {
  const std::optional<bool> whole = batches_.is_whole(after.launch.batch_id, prepared.batch_moves);
  if (!whole) prepared.undecided = true;
  if (whole == true) add_notice(batches_.whole_notice(after, ids_.notice(), wall()), prepared, out);
}

void EngineImpl::add_notice(Notice notice, Prepared& prepared, Recording& out) {
  Event event = notice_event(EventType::notice_created, notice.id, notice.created_at);
  // `end` stays the last.
  const bool ends = !out.events.empty() && out.events.back().type == EventType::end;
  out.events.insert(out.events.end() - (ends ? 1 : 0), std::move(event));
  if (notice.session_id) prepared.told.push_back(notice.session_id);
  prepared.commit.notices.push_back(std::move(notice));
}

// Puts the commit together.
void EngineImpl::finish(Prepared& prepared, Task&& after, Recording&& out) {
  const Time now = wall();
  prepared.recorder.flush(out, now);
  Commit& commit = prepared.commit;
  commit.now = now;
  commit.task_id = after.id;
  commit.before_version = after.version;
  if (commit.remove) {
    batches_.move(prepared.batch_moves, after.launch.batch_id, BatchPlace::of(after), {});
    commit.notices.clear();
    prepared.told.clear();
    return;
  }
  after.version += 1;
  for (Event& event : out.events) {
    event.task_id = after.id;
    event.seq = ++after.last_seq;
  }
  commit.events = std::move(out.events);
  std::ranges::move(out.messages, std::back_inserter(commit.messages));
  commit.sync_first = std::move(out.sync_first);
  prepared.texts = std::move(out.texts);
  prepared.after = std::make_shared<const Task>(std::move(after));
  commit.after = prepared.after;
}

}  // namespace errand

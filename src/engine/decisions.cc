#include "engine/decisions.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"

namespace errand {
namespace {

// Of the messages that wait for one task: they are in memory while its turn is at work.
constexpr size_t waiting_bytes_max = 16 << 20;

}  // namespace

bool Decisions::decide_all(Live& live, Prepared& prepared) {
  prepared.recorder = live.recorder;
  Draft draft{.prepared = prepared, .after = *live.task, .out = {}, .now = shared_.wall()};
  std::optional<size_t> waiting;  // Bytes of the messages that wait.
  for (const Action& action : prepared.actions) {
    if (std::optional<Error> full = check_room(live, action, waiting)) {
      prepared.refused.push_back(std::move(full));
      continue;
    }
    if (prepared.commit.remove) {
      prepared.refused.push_back(Error{Code::not_found, "The task was removed.", "deleted"});
      continue;
    }
    Result<Step> step = decide(draft.after, action.input, draft.now);
    if (!step) {
      prepared.refused.push_back(step.error());
      continue;
    }
    prepared.refused.emplace_back();
    if (step->removed) {
      prepared.commit.remove = action.gone;
      std::ranges::move(step->effects, std::back_inserter(prepared.effects));
      draft.changed = true;
      continue;
    }
    if (std::holds_alternative<input::Activity>(action.input)) {
      if (step->unchanged) continue;  // Fenced.
      draft.changed = true;
      if (action.take_up) {
        prepared.recorder.close(draft.out, draft.now);
        continue;
      }
      draft.after = std::move(step->after);
      add_reports(live, action, draft);
      draft.after.checkpoint = action.checkpoint;
      continue;
    }
    for (const Message& message : action.messages) {
      // A notice that it has already, or does not take now, is not put into the conversation (again).
      const auto of = [&](const Task& task) {
        return std::ranges::count(task.waiting, message.id, &WaitingMessage::id);
      };
      if (std::holds_alternative<input::Noticed>(action.input) && of(step->after) == of(draft.after)) continue;
      live.messages.insert_or_assign(message.id, message);
      Message stored = message;
      stored.turn = step->after.turn;
      prepared.recorder.add_message(std::move(stored), draft.out, draft.now);
    }
    std::ranges::copy(action.taken, std::back_inserter(prepared.commit.taken));
    if (std::holds_alternative<input::Edit>(action.input) && !step->unchanged) prepared.commit.edited = true;
    const bool unchanged = step->unchanged;
    add_step(std::move(*step), draft);
    if (std::holds_alternative<input::ProgressDue>(action.input) && !unchanged)
      add_notice(progress_notice(draft.after, shared_.ids.notice(), draft.now), draft);
  }
  if (draft.changed) finish(prepared, std::move(draft.after), std::move(draft.out));
  return draft.changed;
}

// The first message of a turn is always taken, however long it is.
std::optional<Error> Decisions::check_room(const Live& live, const Action& action,
                                           std::optional<size_t>& waiting) const {
  if (!std::holds_alternative<input::Prompt>(action.input)) return std::nullopt;
  if (!waiting) waiting = weight(live.messages);
  size_t more = 0;
  for (const Message& message : action.messages) more += weight(message);
  if (*waiting + more > waiting_bytes_max && !live.messages.empty())
    return Error{
        Code::exhausted,
        fmt::format("The messages of this turn already hold {} MiB. Send more when the turn has ended, or put long "
                    "text into a file and name it.",
                    waiting_bytes_max >> 20),
        too_many_messages};
  *waiting += more;
  return std::nullopt;
}

void Decisions::add_reports(Live& live, const Action& action, Draft& draft) {
  for (const Report& report : action.reports) {
    // After a cancel only what is true of the processes counts.
    if (!at_work(draft.after.state) && !std::holds_alternative<report::Output>(report) &&
        !std::holds_alternative<report::Resources>(report) && !std::holds_alternative<report::Isolated>(report))
      continue;
    add_report(live, report, draft);
  }
  // What a command uses is in its record as it moves. It is an event only while somebody watches: a stored one every
  // few seconds of every task would be most of the database, and tell nobody anything.
  const bool sample = action.reports.size() == 1 && std::holds_alternative<report::Resources>(action.reports.front());
  if (sample && at_work(draft.after.state) && feeds_.is_read(live.id))
    draft.out.events.push_back(progress_event(draft.after, draft.now));
}

void Decisions::add_report(Live& live, const Report& report, Draft& draft) {
  Prepared& prepared = draft.prepared;
  const int run = draft.after.run;
  if (const auto* taken = std::get_if<report::Taken>(&report)) {
    Result<Step> step = decide(draft.after, input::Taken{run, taken->message}, draft.now);
    if (!step || step->unchanged) return;
    for (const WaitingMessage& message : step->after.waiting)
      if (message.id == taken->message && message.notice) {
        prepared.commit.taken.push_back(message.notice);
        prepared.own_taken.push_back(message.notice);
      }
    const auto body = live.messages.find(taken->message);
    if (body != live.messages.end()) prepared.recorder.take_message(body->second, draft.out, draft.now);
    add_step(std::move(*step), draft);
  } else if (const auto* asks = std::get_if<report::Asks>(&report)) {
    const Millis patience = shared_.settings.ask_timeout_ms;
    Ask ask{.request_id = asks->request_id,
            .kind = asks->kind,
            .text = asks->text,
            .options = asks->options,
            .at = draft.now,
            .tool = asks->tool,
            .subject = asks->subject,
            .until = patience > 0 ? draft.now + patience : Time{},
            .work_dir = asks->work_dir,
            .diff = std::string(std::string_view(asks->diff).substr(0, utf8_prefix(asks->diff, diff_bytes_max))),
            .reads = asks->reads};
    add_decided(input::Asked{run, std::move(ask)}, draft);
  } else if (const auto* waits = std::get_if<report::Waits>(&report)) {
    add_decided(input::Waits{run, {waits->kind, waits->text, waits->until}}, draft);
  } else if (std::holds_alternative<report::GoesOn>(report)) {
    add_decided(input::GoesOn{run}, draft);
  } else if (const auto* isolated = std::get_if<report::Isolated>(&report)) {
    add_decided(input::Isolated{isolated->isolation}, draft);
  } else if (const auto* session = std::get_if<report::AgentSession>(&report)) {
    draft.after.driver_session = session->id;
  } else if (const auto* match = std::get_if<report::Match>(&report)) {
    prepared.recorder.flush(draft.out, draft.now);
    draft.out.events.push_back(match_event(match->pattern, match->line, match->more, draft.now));
    add_notice(match_notice(draft.after, match->pattern, match->line, match->more, shared_.ids.notice(), draft.now),
               draft);
  } else {
    prepared.recorder.record(report, draft.after, shared_.ids, draft.out, draft.now);
    watch_calls(report, draft);
  }
}

// What decide refuses here changes nothing: the task has moved on since it was reported.
void Decisions::add_decided(const Input& input, Draft& draft) {
  if (Result<Step> step = decide(draft.after, input, draft.now)) add_step(std::move(*step), draft);
}

// R4.4: the same call again and again, with the same result, is a loop: it is warned of, and then ended.
void Decisions::watch_calls(const Report& report, Draft& draft) {
  const int most = shared_.settings.loop_max;
  if (most <= 0) return;
  Repeat& repeat = draft.after.repeat;
  if (const auto* done = std::get_if<report::ToolCompleted>(&report)) {
    const uint64_t result = fnv_hash(done->output) | 1;  // Never 0.
    if (repeat.result != 0 && repeat.result != result) repeat.count = std::min(repeat.count, 1);
    repeat.result = result;
    return;
  }
  const auto* call = std::get_if<report::ToolStarted>(&report);
  if (call == nullptr) return;
  const uint64_t hash = fnv_hash(call->name + '\n' + call->input);
  if (repeat.call != hash) repeat = {.call = hash};
  repeat.count += 1;
  if (repeat.count == shared_.settings.loop_warn && repeat.count < most)
    draft.out.events.push_back(
        warning_event("loop",
                      fmt::format("It has called {} {} times in a row with the same input and the "
                                  "same result; after {} times it is ended.",
                                  call->name, repeat.count, most),
                      draft.now));
  if (repeat.count < most) return;
  TaskError error{"loop",
                  fmt::format("It called {} {} times in a row with the same input and the same result, and was ended; "
                              "retry with a message that says what to do instead.",
                              call->name, repeat.count),
                  {}};
  add_decided(input::Overrun{draft.after.run, std::move(error)}, draft);
}

// Takes one step over: its events after what was recorded before it, its notices, its effects.
void Decisions::add_step(Step step, Draft& draft) {
  Prepared& prepared = draft.prepared;
  std::ranges::move(step.effects, std::back_inserter(prepared.effects));
  if (step.unchanged) return;
  draft.changed = true;
  const bool over = step.turn_ended || !at_work(step.after.state) || step.after.run != draft.after.run ||
                    step.after.phase != TurnPhase::working;
  if (over && draft.after.phase == TurnPhase::working)
    prepared.recorder.close(draft.out, draft.now);
  else
    prepared.recorder.flush(draft.out, draft.now);
  const BatchPlace from = BatchPlace::of(draft.after);
  const BatchPlace to = BatchPlace::of(step.after);
  const bool begins = step.after.run != draft.after.run;
  draft.after = std::move(step.after);
  if (begins) draft.after.checkpoint = agents_.first_mark(draft.after);
  std::ranges::move(step.events, std::back_inserter(draft.out.events));
  if (from != to) {
    batches_.move(prepared.batch_moves, draft.after.launch.batch_id, from, to);
    batches_.note_failure(draft.after);
  }
  if (step.asked) add_notice(ask_notice(draft.after, draft.after.asks.back(), shared_.ids.notice(), draft.now), draft);
  if (step.turn_ended) tell_turn(draft);
  if (from.works() && !to.works()) tell_batch(draft);
}

void Decisions::tell_turn(Draft& draft) {
  const Task& after = draft.after;
  Driver* const driver = agents_.driver_of(after);
  const std::string path = driver != nullptr && after.run > 0 ? driver->log_path(after.id, after.run) : std::string();
  if (at_work(after.state)) {
    // It completed, and a message that waited makes the next turn: the notice is about the one that ended.
    Task told = after;
    told.state = TaskState::completed;
    told.reason = "finished";
    told.turn -= 1;
    told.completed_at = draft.now;
    add_notice(turn_notice(told, shared_.ids.notice(), path, draft.now), draft);
    return;
  }
  add_notice(turn_notice(after, shared_.ids.notice(), path, draft.now), draft);
}

// A batch is whole when the last of it is over, and has told of itself. One that is deleted before it is over tells
// nothing.
void Decisions::tell_batch(Draft& draft) {
  const std::optional<bool> whole = batches_.is_whole(draft.after.launch.batch_id, draft.prepared.batch_moves);
  if (!whole) draft.prepared.undecided = true;
  if (whole == true) add_notice(batches_.whole_notice(draft.after, shared_.ids.notice(), draft.now), draft);
}

void Decisions::add_notice(Notice notice, Draft& draft) {
  std::vector<Event>& events = draft.out.events;
  Event event = notice_event(EventType::notice_created, notice.id, notice.created_at);
  // `end` stays the last.
  const bool ends = !events.empty() && events.back().type == EventType::end;
  events.insert(events.end() - (ends ? 1 : 0), std::move(event));
  if (notice.session_id) draft.prepared.told.push_back(notice.session_id);
  draft.prepared.commit.notices.push_back(std::move(notice));
}

void Decisions::finish(Prepared& prepared, Task&& after, Recording&& out) {
  const Time now = shared_.wall();
  prepared.recorder.flush(out, now);
  Commit& commit = prepared.commit;
  commit.now = now;
  commit.task_id = after.id;
  commit.before_version = after.version;
  commit.usage = std::move(out.usage);
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

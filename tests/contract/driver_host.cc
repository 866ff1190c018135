#include "tests/contract/driver_host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "task/json_in.h"

namespace errand::test {

// --- Transcript

Transcript::MessageSeen* Transcript::open_message() {
  return seen_.empty() || seen_.back().ended ? nullptr : &seen_.back();
}

std::string Transcript::add_text(int part, const std::string& kind, const std::string& text) {
  MessageSeen* message = open_message();
  if (!message) return "text of no message";
  if (!is_utf8(text)) return "text that is not UTF-8";
  if (text.empty()) return "empty text";
  const int last = static_cast<int>(message->parts.size()) - 1;
  if (part == last + 1) {
    message->parts.push_back({kind, text, {}});
    return {};
  }
  if (part != last) return fmt::format("part {} after part {}", part, last);
  if (message->parts.back().kind != kind) return "a part that changes its kind";
  message->parts.back().text += text;
  return {};
}

std::string Transcript::add(const Report& any) {
  if (std::holds_alternative<report::MessageBegan>(any)) {
    if (const MessageSeen* open = open_message()) {
      const bool calls = std::ranges::any_of(open->parts, [](const PartSeen& part) { return part.kind == "tool"; });
      if (calls || !std::exchange(may_begin_anew, false)) return "a message inside a message";
      seen_.pop_back();
      --messages;
    }
    seen_.emplace_back();
    ++messages;
    return {};
  }
  if (const auto* text = std::get_if<report::Text>(&any))
    return add_text(text->part, text->reasoning ? "reasoning" : "text", text->text);
  if (const auto* call = std::get_if<report::ToolStarted>(&any)) {
    MessageSeen* message = open_message();
    if (!message) return "a call in no message";
    if (call->part != static_cast<int>(message->parts.size())) return "a call's part out of order";
    if (!calls_.insert(call->call_id).second) return "a call id twice";
    message->parts.push_back({"tool", call->name + " " + call->input, call->call_id});
    ++tool_calls;
    return {};
  }
  if (const auto* result = std::get_if<report::ToolCompleted>(&any)) {
    if (!calls_.contains(result->call_id)) return "the result of no call";
    const std::string text = fmt::format("{}{}", result->is_error ? "error: " : "", result->output);
    return results_.emplace(result->call_id, text).second ? "" : "a second result of a call";
  }
  if (std::holds_alternative<report::MessageEnded>(any)) {
    if (!open_message()) return "the end of no message";
    seen_.back().ended = true;
    return {};
  }
  if (const auto* output = std::get_if<report::Output>(&any)) {
    if (output->stream != "stdout" && output->stream != "stderr") return "output of an unknown stream";
    if (output->length <= 0) return "output of no length";
    if (output->offset < output_next_[output->stream]) return "output twice, or out of order";
    if (!output->log) return "output without its log";
    if (!is_utf8(output->text)) return "output that is not UTF-8";
    if (output->text.size() > output_text_max) return "output text over its bound";
    output_next_[output->stream] = output->offset + output->length;
    output_[output->stream] += output->text;
    lines += output->lines;
    outputs.push_back(*output);
    return {};
  }
  if (const auto* used = std::get_if<report::Used>(&any)) {
    usage.input_tokens += used->usage.input_tokens;
    usage.output_tokens += used->usage.output_tokens;
    usage.cost_usd += used->usage.cost_usd;
    return {};
  }
  if (const auto* totals = std::get_if<report::Resources>(&any)) {
    if (totals->cpu_s < resources.cpu_s) return "less CPU time than before";
    resources = *totals;
    return {};
  }
  if (const auto* warning = std::get_if<report::Warning>(&any)) {
    warnings.push_back(*warning);
    return is_utf8(warning->text) ? "" : "a warning that is not UTF-8";
  }
  if (const auto* session = std::get_if<report::AgentSession>(&any)) {
    agent_session = session->id;
    return {};
  }
  if (const auto* message = std::get_if<report::Taken>(&any))
    return taken.insert(message->message).second ? "" : "a message taken twice";
  if (const auto* ask = std::get_if<report::Asks>(&any)) {
    if (std::ranges::any_of(asks, [&](const auto& a) { return a.request_id == ask->request_id; }))
      return "a question's id twice";
    asks.push_back(*ask);
    return {};
  }
  if (const auto* opaque_part = std::get_if<report::Opaque>(&any)) {
    MessageSeen* const message = open_message();
    if (!message) return "opaque data of no message";
    ++opaque;
    const int parts = static_cast<int>(message->parts.size());
    if (opaque_part->part > parts) return "opaque data of a part that is not there";
    if (opaque_part->part == parts) message->parts.push_back({"reasoning", {}, {}});
    return {};
  }
  if (const auto* message = std::get_if<report::SystemMessage>(&any)) {
    if (open_message()) return "a system message inside a message";
    system.push_back(*message);
    return {};
  }
  if (const auto* waits = std::get_if<report::Waits>(&any)) {
    wait = Wait{waits->kind, waits->text, waits->until};
    return {};
  }
  if (std::holds_alternative<report::GoesOn>(any)) {
    wait.reset();
    return {};
  }
  ++alive;
  return {};
}

std::string Transcript::said() const {
  std::string out;
  for (const MessageSeen& message : seen_)
    for (const PartSeen& part : message.parts)
      if (part.kind == "text") out += part.text;
  return out;
}

std::string Transcript::text() const {
  std::string out;
  for (const MessageSeen& message : seen_) {
    out += fmt::format("message{}\n", message.ended ? "" : " (open)");
    for (const PartSeen& part : message.parts) {
      out += fmt::format("  {}: {}\n", part.kind, part.text);
      if (const auto result = results_.find(part.call_id); result != results_.end())
        out += fmt::format("  = {}\n", result->second);
    }
  }
  for (const auto& [stream, bytes] : output_) out += fmt::format("{}: {}\n", stream, bytes);
  for (const auto& ask : asks) out += fmt::format("asks: {}\n", ask.text);
  for (const auto& warning : warnings) out += fmt::format("warning: {}\n", warning.code);
  out += fmt::format("lines {} tokens {} {} cost {}\n", lines, usage.input_tokens, usage.output_tokens, usage.cost_usd);
  return out;
}

// --- Host

Host::Host(DriverWorld& world, Launch launch, TaskId id) : world_(world) {
  task_.id = std::move(id);
  task_.session_id = SessionId("ses_00000000000000000000000001");
  task_.launch = std::move(launch);
  task_.run = 0;
  agent.id = agent.name = task_.launch.agent_id;
  world_.configure(agent);
  if (task_.launch.kind == TaskKind::agent) prompt(task_.launch.prompt);
}

Host::~Host() = default;

MessageId Host::prompt(const std::string& text) { return add_message({.type = PartType::text, .text = text}); }

MessageId Host::notice(const std::string& text, const std::string& name) {
  return add_message({.type = PartType::notice, .text = text, .name = name});
}

void Host::carry(const std::string& asked, const std::string& answered) {
  for (const auto& [role, text] : {std::pair(Role::assistant, answered), std::pair(Role::user, asked)}) {
    Message message;
    message.id = MessageId(fmt::format("msg_carried{:019}", messages_.size() + 1));
    message.session_id = task_.session_id;
    message.role = role;
    message.turn = 0;
    message.completed_at = clock_.wall();
    message.parts.push_back({.type = PartType::text, .text = text});
    messages_.insert(messages_.begin(), std::move(message));
  }
}

MessageId Host::add_message(Part part) {
  Message message;
  message.id = MessageId(fmt::format("msg_{:026}", messages_.size() + 1));
  message.session_id = task_.session_id;
  message.turn = task_.turn;
  message.parts.push_back(std::move(part));
  Recording recording;
  recorder_.add_message(message, recording, clock_.wall());
  keep(recording);
  return message.id;
}

// As a store does: of an open message only what is in no event is stored, and its parts are read from its events.
void Host::keep(Recording& recording) {
  const auto is_open = [](const Message& message) { return message.role == Role::assistant && !message.completed_at; };
  for (const Message& message : recording.messages)
    if (std::ranges::find(messages_, message.id, &Message::id) == messages_.end()) {
      messages_.push_back(message);
      if (is_open(message)) messages_.back().parts.clear();
    }
  if (const auto open = std::ranges::find_if(messages_, is_open); open != messages_.end())
    for (const Event& event : recording.events) apply_event(*open, event);
  for (Message& message : recording.messages) {
    Message& known = *std::ranges::find(messages_, message.id, &Message::id);
    if (!is_open(message)) {
      known = std::move(message);
      continue;
    }
    for (size_t i = 0; i < std::min(known.parts.size(), message.parts.size()); ++i)
      known.parts[i].opaque = message.parts[i].opaque;
  }
}

Status Host::send(const std::string& text, MessageId* id) {
  const MessageId sent = prompt(text);
  if (id) *id = sent;
  return resend(sent);
}

Status Host::resend(const MessageId& id) { return turn_->send(*std::ranges::find(messages_, id, &Message::id)); }

Status Host::open() {
  task_.run += 1;
  task_.checkpoint = world_.driver().first_mark();
  task_.asks.clear();
  outcome_.reset();
  when_stored_.clear();  // Of the turn before, which is over.
  ended_ = 0;
  closed_ = false;
  return open_turn(false);
}

Status Host::open_turn(bool reattach) {
  TurnRequest request;
  request.task = std::make_shared<const Task>(task_);
  request.reattach = reattach;
  request.agent = std::make_shared<const Agent>(agent);
  for (const Message& message : messages_) {
    const bool untaken = message.role == Role::user && (!message.completed_at || again_.contains(message.id));
    (untaken ? request.messages : request.history).push_back(message);
  }
  again_.clear();
  Result<std::unique_ptr<Turn>> turn = world_.driver().open(std::move(request), *this);
  if (!turn) return std::unexpected(turn.error());
  turn_ = *std::move(turn);
  return {};
}

Status Host::crash_and_reopen() {
  close();
  world_.restart();
  // Only what was stored counts; how the old server heard it end does not.
  outcome_.reset();
  ended_ = 0;
  closed_ = false;
  store_max_ = INT_MAX;
  lost_ = false;
  if (!world_.driver().capabilities().keeps_message) {
    transcript_.cut();
    Recording recording;
    recorder_.close(recording, clock_.wall());
    keep(recording);
  } else {
    transcript_.may_begin_anew = true;
  }
  return open_turn(true);
}

void Host::report(std::vector<Report> reports, std::string checkpoint) {
  if (ended_ > 0) broken_ += "a report after the end\n";
  if (closed_) broken_ += "a report of a turn that is gone\n";
  if (reports.empty()) broken_ += "an empty report\n";
  if (std::ranges::any_of(reports, [](const Report& any) { return std::holds_alternative<report::Output>(any); }))
    world_.heard_output();
  if (static_cast<int>(stored_.size()) >= store_max_) {
    lost_ = true;
    return;
  }
  if (!room_) ++pushed_;
  store(reports);
  stored_.push_back(std::move(reports));
  task_.checkpoint = checkpoint;
  checkpoints_.push_back(std::move(checkpoint));
  room_ = !slow && !stuck;
}

void Host::store(const std::vector<Report>& reports) {
  for (const Report& any : reports) {
    if (const std::string wrong = transcript_.add(any); !wrong.empty()) broken_ += wrong + "\n";
    Recording recording;
    clock_.advance(1);
    recorder_.record(any, task_, ids_, recording, clock_.wall());
    recorder_.flush(recording, clock_.wall());
    keep(recording);
    if (const auto* taken = std::get_if<report::Taken>(&any)) {
      const auto message = std::ranges::find(messages_, taken->message, &Message::id);
      if (message == messages_.end()) {
        broken_ += "took a message that nobody sent\n";
      } else {
        message->completed_at = clock_.wall();
      }
    }
    if (const auto* session = std::get_if<report::AgentSession>(&any)) task_.driver_session = session->id;
    if (const auto* ask = std::get_if<report::Asks>(&any))
      task_.asks.push_back(
          {.request_id = ask->request_id, .kind = ask->kind, .text = ask->text, .options = ask->options});
  }
}

void Host::ended(Outcome outcome) {
  if (++ended_ > 1) broken_ += "ended twice\n";
  if (closed_) broken_ += "an end of a turn that is gone\n";
  outcome_ = std::move(outcome);
}

// As the engine does: the answer is stored first, and given outside the driver's own calls.
void Host::answer_asks() {
  if (!turn_ || ended_ > 0 || closed_) return;
  for (size_t i = 0; i < task_.asks.size(); ++i) {
    Ask& ask = task_.asks[i];
    const bool question = ask.kind == AskKind::answer;
    if (!ask.decision.empty() || (question ? reply : decision).empty()) continue;
    ask.decision = question ? "answer" : decision;
    ask.reply = question ? reply : "";
    turn_->answer(std::string(ask.request_id), std::string(ask.decision), std::string(ask.reply));
  }
}

void Host::call_stored() {
  if (!stuck) room_ = true;
  if (room_)
    if (Work then = std::exchange(when_room_, nullptr); then && turn_ && ended_ == 0 && !closed_ && !lost_) then();
  for (Work& then : std::exchange(when_stored_, {}))
    if (turn_ && ended_ == 0 && !closed_ && !lost_) then();
}

bool Host::step_until(const std::function<bool()>& done) {
  return world_.run_until([&] {
    // What is called may report, ask and wait again.
    do {
      if (done()) return true;
      call_stored();
      answer_asks();
    } while (!when_stored_.empty() && !lost_);
    return done();
  });
}

bool Host::run_turn(int dies_at) {
  const int last = reports() + dies_at - 1;
  if (dies_at > 0) store_only(last);
  if (!open()) return false;
  if (dies_at > 0 && (!run_until_reports(last) || !crash_and_reopen())) return false;
  return run_until_ended();
}

bool Host::run_until_ended() {
  return step_until([&] { return ended_ > 0; });
}

bool Host::run_until_reports(int count) {
  return step_until([&] { return reports() >= count || ended_ > 0; });
}

}  // namespace errand::test

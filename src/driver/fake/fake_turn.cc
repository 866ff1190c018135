#include "driver/fake/fake_turn.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::fake {
namespace {

// Reports of one call are one commit: enough of them to be fast, few enough that a flood leaves room for others.
constexpr size_t batch_max = 64;
// An answer is kept in every later checkpoint.
constexpr size_t answer_max = 1024;

}  // namespace

FakeTurn::FakeTurn(Timers& timers, Sink& sink, Setup setup, const TurnRequest& request, Place place)
    : sink_(sink),
      script_(std::move(setup.script)),
      misbehaviour_(setup.misbehaviour),
      stop_ms_(setup.stop_ms),
      run_(request.task->run),
      asked_(request.task->asks),
      place_(std::move(place)),
      live_(std::move(setup.live)),
      timer_(timers) {
  // What waits in the conversation may still be sent; what was taken may not come twice.
  for (const Message& message : request.history)
    if (message.completed_at) seen_.insert(message.id);
  ++*live_;
}

FakeTurn::~FakeTurn() {
  if (!over_) --*live_;
}

void FakeTurn::begin(const TurnRequest& request, bool taken_up) {
  if (misbehaviour_.silent) return;
  if (misbehaviour_.lost && request.reattach) return end({Outcome::Kind::lost, {}, {}, {}, {}});
  if (misbehaviour_.end_in_open)
    return end({Outcome::Kind::failed, {}, TaskError{"agent_error", "It failed at once.", {}}, {}, {}});
  for (const Message& message : request.messages) {
    seen_.insert(message.id);
    if (taken_up) {
      messages_.push_back(message);
    } else {
      batch_.emplace_back(report::Taken{message.id});
    }
  }
  advance();
}

// Does steps until one wants to wait. All that was made until then is reported in one call, with the place behind it.
void FakeTurn::advance() {
  Pause pause;
  while (pause.kind == Pause::Kind::none && !outcome_) {
    if (batch_.size() >= batch_max) {
      pause = after(0);
      break;
    }
    if (at_boundary()) take_messages();
    pause = run_step();
  }
  flush();
  if (outcome_) return end(*std::exchange(outcome_, {}));
  if (pause.kind == Pause::Kind::timed) timer_.set(pause.ms, [this] { advance(); });
}

FakeTurn::Pause FakeTurn::run_step() {
  if (place_.step >= std::ssize(script_.steps())) return run(step::Finish{});
  return std::visit([this](const auto& step) { return run(step); }, script_.steps()[static_cast<size_t>(place_.step)]);
}

FakeTurn::Pause FakeTurn::run(const step::Say& say) {
  open_message();
  const std::string text = fill_in(say.text, place_.answers);
  const std::string_view rest =
      std::string_view(text).substr(std::min<size_t>(text.size(), static_cast<size_t>(place_.sub)));
  size_t size = say.chunk == 0 ? rest.size() : utf8_prefix(rest, say.chunk);
  if (size == 0) size = first_characters(rest, 1).size();  // A chunk is one character at least.
  if (size > 0) batch_.emplace_back(report::Text{place_.part, say.reasoning, std::string(rest.substr(0, size))});
  place_.sub += static_cast<int64_t>(size);
  if (size < rest.size()) return say.every_ms > 0 ? after(say.every_ms) : none();
  if (!say.reasoning) place_.said = place_.step;
  if (!say.opaque.empty()) batch_.emplace_back(report::Opaque{place_.part, say.opaque});
  if (!text.empty()) ++place_.part;
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Repeat& repeat) {
  if (place_.sub < repeat.count) {
    open_message();
    ++place_.sub;
    batch_.emplace_back(report::Text{place_.part, false, fill_in(repeat.text, {{"n", std::to_string(place_.sub)}})});
    // The last one is waited for too: `count` times `every_ms` is how long the step takes.
    return repeat.every_ms > 0 ? after(repeat.every_ms) : none();
  }
  if (repeat.count > 0) ++place_.part;
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Tool& tool) {
  std::string call_id = fmt::format("call_{}_{}", run_, place_.step);
  if (place_.sub == 0) {
    open_message();
    batch_.emplace_back(report::ToolStarted{place_.part++, std::move(call_id), tool.name,
                                            fill_in(tool.input, place_.answers), tool.summary});
    place_.sub = 1;
    return tool.ms > 0 ? after(tool.ms) : none();
  }
  open_message();
  batch_.emplace_back(
      report::ToolCompleted{std::move(call_id), fill_in(tool.output, place_.answers), tool.is_error, tool.ms});
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Asking& asking) {
  if (place_.sub == 1) {
    // Asked before the server was restarted: the answer may have come since.
    const auto asked = std::ranges::find(asked_, ask_id(), &Ask::request_id);
    if (asked != asked_.end()) {
      if (asked->decision.empty()) return called();
      take_answer(asking, asked->decision, asked->reply);
      return none();
    }
  }
  ++place_.asks;
  place_.sub = 1;
  batch_.emplace_back(report::Asks{ask_id(), asking.kind, fill_in(asking.text, place_.answers), asking.options,
                                   asking.tool, asking.subject});
  return called();
}

void FakeTurn::take_answer(const step::Asking& asking, const std::string& decision, const std::string& reply) {
  const std::string text = to_utf8(asking.kind == AskKind::answer && decision == "answer" ? reply : decision);
  place_.answers[asking.slot] = text.substr(0, utf8_prefix(text, answer_max));
  next_step();
}

FakeTurn::Pause FakeTurn::run(const step::Check& check) {
  const auto answer = place_.answers.find(check.slot);
  const bool equal = answer != place_.answers.end() && answer->second == check.value;
  if (equal != check.equal) place_.step += check.skip;
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Wait& wait) {
  silent_ = wait.silent && !waited_;
  if (waited_) {
    next_step();
    return none();
  }
  if (wait.ms < 0) return called();
  waited_ = true;
  return after(wait.ms);
}

FakeTurn::Pause FakeTurn::run(const step::Blocked& blocked) {
  if (waited_) {
    batch_.emplace_back(report::GoesOn{});
    next_step();
    return none();
  }
  // Also where it is taken up again: whoever takes it up does not know yet that it still waits.
  batch_.emplace_back(report::Waits{blocked.kind, blocked.text, blocked.until});
  waited_ = true;
  place_.sub = 1;
  return after(blocked.ms);
}

FakeTurn::Pause FakeTurn::run(const step::System& system) {
  close_message();
  batch_.emplace_back(report::SystemMessage{{}, {{.type = PartType::text, .text = system.text}}});
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Use& use) {
  batch_.emplace_back(
      report::Used{.usage = use.usage, .source = use.usage.cost_usd > 0 ? PriceSource::agent : PriceSource::unknown});
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::Warn& warn) {
  batch_.emplace_back(report::Warning{warn.code, warn.text});
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::AgentSession& session) {
  batch_.emplace_back(report::AgentSession{session.id});
  next_step();
  return none();
}

FakeTurn::Pause FakeTurn::run(const step::EndMessage&) {
  close_message();
  next_step();
  return none();
}

// The open message stays open: it was cut, and the engine says so.
FakeTurn::Pause FakeTurn::run(const step::Fail& failure) {
  outcome_ = Outcome{Outcome::Kind::failed, {}, failure.error, {}, {}};
  return called();
}

FakeTurn::Pause FakeTurn::run(const step::Finish& finish) {
  close_message();
  std::string result = finish.result ? fill_in(*finish.result, place_.answers) : said_last();
  outcome_ = Outcome{Outcome::Kind::completed, std::move(result), {}, {}, {}};
  return called();
}

// Where a message can be put into the conversation: between two steps, and between two rounds of a long one.
bool FakeTurn::at_boundary() const {
  if (messages_.empty()) return false;
  if (place_.sub == 0) return !waited_;
  if (place_.step >= std::ssize(script_.steps())) return false;
  const auto* repeat = std::get_if<step::Repeat>(&script_.steps()[static_cast<size_t>(place_.step)]);
  return repeat && place_.sub < repeat->count;
}

void FakeTurn::take_messages() {
  open_message();
  if (place_.sub > 0) ++place_.part;  // The text of the running step goes on in a part of its own.
  for (; !messages_.empty(); messages_.pop_front()) {
    const Message& message = messages_.front();
    std::string text = text_of(message);
    if (text.empty() && !message.parts.empty()) text = message.parts.front().text;
    batch_.emplace_back(report::Taken{message.id});
    batch_.emplace_back(report::Text{place_.part++, false,
                                     fmt::format("You said: {}\n", first_characters(to_utf8(first_line(text)), 200))});
  }
}

void FakeTurn::open_message() {
  if (std::exchange(place_.open, true)) return;
  place_.part = 0;
  batch_.emplace_back(report::MessageBegan{});
}

void FakeTurn::close_message() {
  if (std::exchange(place_.open, false)) batch_.emplace_back(report::MessageEnded{});
}

void FakeTurn::next_step() {
  ++place_.step;
  place_.sub = 0;
  waited_ = false;
}

std::string FakeTurn::said_last() const {
  if (place_.said < 0 || place_.said >= std::ssize(script_.steps())) return {};
  const auto* say = std::get_if<step::Say>(&script_.steps()[static_cast<size_t>(place_.said)]);
  return say ? fill_in(say->text, place_.answers) : std::string();
}

std::string FakeTurn::ask_id() const { return fmt::format("ask_{}_{}", run_, place_.asks); }

void FakeTurn::flush() {
  if (batch_.empty()) return;
  sink_.report(std::exchange(batch_, {}), encode_place(place_));
  if (misbehaviour_.garbage) misreport();
}

void FakeTurn::end(Outcome outcome) {
  timer_.cancel();
  over_ = true;
  --*live_;
  const bool completed = outcome.kind == Outcome::Kind::completed;
  sink_.ended(std::move(outcome));
  if (misbehaviour_.late_report) sink_.report({report::Text{0, false, "And another thing."}}, encode_place(place_));
  if (misbehaviour_.end_twice)
    sink_.ended(completed ? Outcome{Outcome::Kind::failed, {}, TaskError{"agent_error", "It ended again.", {}}, {}, {}}
                          : Outcome{Outcome::Kind::completed, "It ended again.", {}, {}, {}});
}

void FakeTurn::misreport() {
  std::vector<Report> reports;
  reports.emplace_back(report::ToolCompleted{"call_of_nobody", "?", false, 0});
  reports.emplace_back(report::Taken{MessageId("msg_of_nobody")});
  if (!place_.open) reports.emplace_back(report::Text{7, false, "Text of no message."});
  sink_.report(std::move(reports), encode_place(place_));
}

Status FakeTurn::send(const Message& message) {
  if (over_ || stopping_)
    return errand::fail(Code::conflict, "The turn has ended; the message waits for the next one.");
  if (!seen_.insert(message.id).second || misbehaviour_.drop_messages || misbehaviour_.silent) return {};
  messages_.push_back(message);
  return {};
}

void FakeTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (over_ || stopping_ || misbehaviour_.ignore_answers || place_.step >= std::ssize(script_.steps())) return;
  const auto* asking = std::get_if<step::Asking>(&script_.steps()[static_cast<size_t>(place_.step)]);
  if (!asking || place_.sub != 1 || request_id != ask_id()) return;
  take_answer(*asking, decision, message);
  advance();
}

bool FakeTurn::lift_quota() {
  const auto at = static_cast<size_t>(place_.step);
  const auto* const blocked = at < script_.steps().size() ? std::get_if<step::Blocked>(&script_.steps()[at]) : nullptr;
  if (over_ || stopping_ || !waited_ || blocked == nullptr || blocked->kind != WaitKind::quota || blocked->by_itself)
    return false;
  timer_.cancel();
  advance();
  return true;
}

void FakeTurn::stop() {
  if (over_ || misbehaviour_.talk_after_stop) return;
  if (std::exchange(stopping_, true)) return;
  timer_.cancel();
  if (misbehaviour_.ignore_stop) return;
  if (stop_ms_ == 0) return end({Outcome::Kind::stopped, {}, {}, {}, {}});
  timer_.set(stop_ms_, [this] { end({Outcome::Kind::stopped, {}, {}, {}, {}}); });
}

void FakeTurn::probe() {
  if (!over_ && !silent_ && !stopping_ && !misbehaviour_.silent) sink_.report({report::Alive{}}, encode_place(place_));
}

void FakeTurn::drop() {
  if (std::exchange(over_, true)) return;
  --*live_;
  timer_.cancel();
}

}  // namespace errand::fake

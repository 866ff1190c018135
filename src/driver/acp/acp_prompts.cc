// Prompts, one after the other; what an agent does without one; and the wait for a usage limit.
#include <algorithm>

#include "base/text.h"
#include "driver/acp/acp_turn.h"
#include "driver/acp/limit.h"
#include "driver/agent_driver.h"
#include "fork/transcript.h"

namespace errand::acp {

namespace {

constexpr Millis quiet_ms = 10'000;  // Without a word, an agent that began by itself has ended.
constexpr Millis unknown_wait_ms = 60'000, unknown_wait_max_ms = 900'000;  // Where nobody says when the limit ends.
constexpr Millis sleep_max_ms = 3'600'000;                                 // A clock may be set: it is looked at again.
constexpr const char* go_on_text = "The usage limit is over. Go on where you stopped.";
constexpr size_t asked_again_max = 32 * 1024;  // Of what is asked once more behind it.

}  // namespace

// What stands before the first prompt of a new session: the agent's own instructions, and the conversation where there
// is one (a fork's; that of a session which is gone).
std::vector<std::string> AcpTurn::prelude() {
  std::vector<std::string> texts;
  if (!std::exchange(state_.is_new, false)) return texts;
  if (!request_.agent->prompt.empty()) texts.push_back(request_.agent->prompt);
  std::vector<Message> before;
  std::ranges::copy_if(request_.history, std::back_inserter(before),
                       [&](const Message& message) { return !known_.contains(message.id); });
  if (before.empty()) return texts;
  // A fork's was cut when it was launched.
  if (!request_.task->launch.fork || !request_.task->driver_session.empty())
    if (Result<fork::Prepared> cut = fork::prepare(before, {}, {}, options_.fork_limits()))
      before = std::move(cut->messages);
  texts.push_back(fork::transcript(before));
  return texts;
}

void AcpTurn::prompt(const std::string& otherwise) {
  state_.phase = Phase::prompting;
  state_.by_itself = false;
  quiet_.cancel();
  be_patient();
  Frame frame;
  std::vector<std::string> texts = prelude();
  if (!waiting_.empty()) prompted_.clear();
  for (const Message& message : waiting_) {
    texts.push_back(words_of(message));
    prompted_ += (prompted_.empty() ? "" : "\n\n") + texts.back();
    frame.messages.push_back(message.id);
    told_ = told_ || !is_note(message);
  }
  waiting_.clear();
  state_.failing = false;
  if (texts.empty()) texts.emplace_back(otherwise);
  state_.request = ++state_.last_request;
  put(prompt_line(state_.request, state_.session, texts), std::move(frame));
}

void AcpTurn::prompt_answered(const Incoming& in, std::vector<Report>& out) {
  pause_.cancel();
  state_.translator.close(out);
  state_.asks.clear();
  if (in.kind == Incoming::Kind::error) {
    if (stopping_) return finish({.kind = Outcome::Kind::stopped}, out);
    if (wait_for_limit(in.error, out)) return;
    return finish(outcome_of(in.error, state_.agent, command_text()), out);
  }
  const Stopped stopped = parse_stopped(in.body);
  // An agent that says what its session costs does so apart from the tokens: these are paid for with that.
  if (stopped.usage != Usage{})
    out.emplace_back(
        report::Used{.usage = stopped.usage,
                     .source = state_.translator.cost_usd() > 0 ? PriceSource::agent : PriceSource::unknown});
  if (stopping_) return finish({.kind = Outcome::Kind::stopped}, out);
  if (!waiting_.empty()) return prompt();
  if (state_.failing) {
    const RpcError failed{-32603, std::string(trim(state_.translator.said())), {}};
    if (wait_for_limit(failed, out)) return;
    return finish(outcome_of(failed, state_.agent, command_text()), out);
  }
  state_.backoff_ms = 0;
  finish(outcome_of(stopped, state_.translator.said()), out);
}

// ---- Without a prompt (driver/program/beginning.h)

void AcpTurn::listen(std::vector<Report>& out) {
  std::erase_if(waiting_, [&](const Message& message) {
    if (!program::is_beginning(message)) return false;
    out.emplace_back(report::Taken{message.id});
    return true;
  });
  if (!waiting_.empty()) {
    if (state_.translator.is_settled()) state_.translator.close(out);
    return choose_or_prompt();
  }
  state_.phase = Phase::prompting;
  state_.by_itself = true;
  be_patient();
  wait_for_quiet();
}

// Nobody says that it has ended.
void AcpTurn::wait_for_quiet() {
  quiet_.set(quiet_ms, [this] {
    if (!state_.asks.empty() || !state_.serving.empty() || !state_.terminals.empty() || !state_.translator.is_settled())
      return wait_for_quiet();
    std::vector<Report> out;
    finish(outcome_of(Stopped{.reason = "end_turn", .usage = {}}, state_.translator.said()), out);
    tell(std::move(out));
    can_keep() ? hand_over() : leave();
  });
}

// ---- The usage limit (R4.5)

bool AcpTurn::wait_for_limit(const RpcError& error, std::vector<Report>& out) {
  const Time now = parts_.clock.wall();
  const std::optional<Limit> limit = limit_in(error, now);
  if (!limit) return false;
  Time until = limit->until;
  if (!until) {
    state_.backoff_ms = std::clamp<Millis>(state_.backoff_ms * 2, unknown_wait_ms, unknown_wait_max_ms);
    until = now + state_.backoff_ms;
  }
  state_.until = std::min(until, now + quota_wait_max_ms);
  out.emplace_back(report::Waits{WaitKind::quota, std::string(first_line(error.message)), state_.until});
  sleep();
  return true;
}

void AcpTurn::sleep() {
  const Millis left = std::clamp<Millis>(state_.until - parts_.clock.wall(), 0, sleep_max_ms);
  limit_timer_.set(left, [this] { state_.until > parts_.clock.wall() ? sleep() : go_on(); });
}

void AcpTurn::go_on() {
  if (over_ || stopping_ || !state_.until) return;
  limit_timer_.cancel();
  state_.until = {};
  // Not every agent keeps a prompt that it could not answer.
  const auto asked = std::find_if(request_.history.rbegin(), request_.history.rend(),
                                  [](const Message& message) { return message.role == Role::user; });
  std::string text = go_on_text;
  if (prompted_.empty() && asked != request_.history.rend()) prompted_ = words_of(*asked);
  if (!prompted_.empty())
    text += "\n\nYou were asked:\n" + prompted_.substr(0, utf8_prefix(prompted_, asked_again_max));
  prompt(text);
  tell({report::GoesOn{}});
}

bool AcpTurn::lift_quota() {
  if (over_ || stopping_ || !state_.until) return false;
  // It is just being taken up: its wait is over then.
  if (!started_) state_.until = parts_.clock.wall();
  if (started_) go_on();
  return true;
}

}  // namespace errand::acp

// The turn's talk with its model: answers, failures, limits, compaction.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "driver/builtin/builtin_turn.h"
#include "driver/builtin/conversation.h"
#include "driver/builtin/question.h"

namespace errand::builtin {
namespace {

constexpr int cuts_max = 3;
constexpr Millis cut_wait_ms = 1'000;                                      // Doubled with each.
constexpr Millis unknown_wait_ms = 60'000, unknown_wait_max_ms = 900'000;  // Where nobody says when the limit ends.
constexpr Millis quota_sleep_max_ms = 3'600'000;                           // A clock may be set: it is looked at again.
constexpr int64_t summary_output_tokens = 4'000;

constexpr std::string_view continue_text =
    "Your last message was cut at the output limit. Go on exactly where it stopped, without repeating anything.";

std::string details_of(const model::Failure& failure) {
  std::string text;
  JsonOut(text)
      .object()
      .field("kind", model::name(failure.kind))
      .field("http_status", failure.status)
      .field("retryable", failure.retryable)
      .end();
  return text;
}

// Code and what to do, by what went wrong.
struct Verdict {
  std::string_view code;
  std::string_view advice;
};
Verdict verdict(model::Failure::Kind kind) {
  using Kind = model::Failure::Kind;
  switch (kind) {
    case Kind::auth:
      return {"model_auth", "Set the key that this model wants, start the server again and retry the task."};
    case Kind::overloaded:
      return {"model_overloaded", "All tries were used up; retry the task later."};
    case Kind::network:
      return {"model_unreachable", "Look at the address and the network, then retry the task."};
    case Kind::cut:
      return {"model_error", "Its answer was cut again and again; retry the task later."};
    case Kind::context_too_long:
      return {"context_too_long",
              "Nothing is left to shorten; start a new task, or use a model with a larger context."};
    default:
      return {"model_error", "The same request would be refused again; look at the model's name and the settings."};
  }
}

std::string said(const model::Answer& answer) {
  std::string text;
  for (const model::Block& block : answer.blocks)
    if (block.type == model::Block::Type::text) text += block.text;
  return std::string(trim(text));
}

int64_t results_estimate(const Message& message) {
  int64_t tokens = 0;
  for (const Part& part : message.parts)
    if (part.type == PartType::tool_result) tokens += estimate(part.text);
  return tokens;
}

using ToolsByName = std::map<std::string, std::shared_ptr<const Tool>, std::less<>>;

std::string summary_of(const ToolsByName& tools, const report::ToolStarted& call) {
  if (call.name == question_tool) {
    const Result<Question> question = parse_question(call.input);
    return question ? std::string(first_line(question->text)) : std::string();
  }
  const auto tool = tools.find(call.name);
  return tool == tools.end() || is_broken_input(call.input) ? std::string() : tool->second->summary(call.input);
}

}  // namespace

void BuiltinTurn::ask_model() {
  doing_ = Doing::asking;
  asked_at_ = shared_.parts.clock.steady();
  heard_ = false;
  writer_.emplace(shared_.ids.message());
  model::Request request{.model = choice_.model,
                         .system = system_,
                         .conversation = conversation(messages_),
                         .tools = specs_,
                         .effort = choice_.effort,
                         .cache_key = task_->session_id.value,
                         .info = choice_.info};
  ask_ = shared_.parts.models.ask(choice_.endpoint, std::move(request), *this);
}

void BuiltinTurn::block_began(size_t index, const model::Block& block) {
  heard_ = true;
  if (doing_ == Doing::asking) report(writer_->began(index, block));
}

void BuiltinTurn::text(size_t index, std::string_view text) {
  heard_ = true;
  if (doing_ != Doing::asking) return;
  report(writer_->text(index, text));
  if (over_ || sink_.has_room()) return;
  // The disk is slower than the model: the answer waits at its server, and not in our memory.
  ask_->hold();
  sink_.when_room([this] {
    if (ask_) ask_->go_on();
  });
}

void BuiltinTurn::input(size_t /*index*/, std::string_view /*text*/) { heard_ = true; }

void BuiltinTurn::retrying(int attempt, Millis wait, const model::Failure& failure) {
  heard_ = true;
  report({report::Warning{
      "model_retry", fmt::format("{} Try {} follows in {}.", failure.message, attempt + 1, format_duration(wait))}});
}

void BuiltinTurn::answered(model::Answer answer) {
  const std::unique_ptr<model::Ask> done = std::move(ask_);
  report::Used used = used_by(answer);
  if (!answer.use_known) {
    used.usage.input_tokens = estimate(conversation(messages_)) + estimate(system_);
    used.usage.output_tokens = estimate(said(answer));
  }
  if (doing_ == Doing::summing) {
    report({std::move(used)});
    return summed_up(std::move(answer));
  }
  cuts_ = compactions_ = 0;
  quota_backoff_ = {};
  std::set<std::string> calls;
  for (const Message& message : messages_)
    for (const Part& part : message.parts)
      if (part.type == PartType::tool_call) calls.insert(part.call_id);
  AnswerWriter::Whole whole = writer_->finish(answer, calls);
  writer_.reset();
  if (!whole.calls) return take_answer(answer, std::move(whole), std::move(used));
  // Each call has a line for people; its arguments may be long, and are read elsewhere.
  doing_ = Doing::storing;
  ToolsByName tools;
  for (const auto& tool : tools_->list()) tools.emplace(tool->spec().name, tool);
  in_background(
      [tools = std::move(tools), whole = std::move(whole)]() mutable {
        for (Report& report : whole.reports)
          if (auto* const call = std::get_if<report::ToolStarted>(&report)) call->summary = summary_of(tools, *call);
        return std::move(whole);
      },
      [this, answer = std::move(answer), used = std::move(used)](AnswerWriter::Whole summed) mutable {
        take_answer(answer, std::move(summed), std::move(used));
      });
}

namespace {
// Who is paid: "api.anthropic.com", "127.0.0.1:11434".
std::string host_of(std::string_view url) {
  if (const size_t scheme = url.find("://"); scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find('/'));
  if (const size_t user = url.rfind('@'); user != std::string_view::npos) url.remove_prefix(user + 1);
  return std::string(url.substr(0, 200));
}
}  // namespace

// What the call used, and what it cost where that is known (R15.3).
report::Used BuiltinTurn::used_by(const model::Answer& answer) const {
  report::Used used;
  used.usage = {.input_tokens = answer.use.context(),
                .output_tokens = answer.use.output,
                .cost_usd = answer.cost_usd,
                .cache_read_tokens = answer.use.cache_read,
                .cache_write_tokens = answer.use.cache_write};
  switch (answer.cost_from) {
    case model::CostFrom::unknown:
      break;
    case model::CostFrom::provider:
      used.source = PriceSource::provider;
      break;
    case model::CostFrom::table:
      used.source = PriceSource::table;
      used.priced_at = model::prices_date;
      break;
    case model::CostFrom::setting:
      used.source = PriceSource::setting;
      break;
  }
  used.provider = host_of(choice_.endpoint.base_url);
  used.model = choice_.model;
  return used;
}

void BuiltinTurn::take_answer(const model::Answer& answer, AnswerWriter::Whole whole, report::Used used) {
  std::vector<Report> reports = std::move(whole.reports);
  if (answer.stop == model::Stop::refusal) {
    // Left open: a server that dies here asks again.
    if (!whole.calls) reports.pop_back();
    reports.emplace_back(std::move(used));
    report(std::move(reports));
    const std::string words = said(answer);
    return fail_turn("refused", words.empty() ? "The model refused to answer and gave no reason; put the task "
                                                "differently, or give it to another model."
                                              : "The model refused: " + words);
  }
  Message message = std::move(whole.message);
  message.session_id = task_->session_id;
  message.turn = task_->turn;
  message.created_at = shared_.parts.clock.wall();
  if (!whole.calls) message.completed_at = message.created_at;
  messages_.push_back(std::move(message));
  context_tokens_ = answer.use_known ? answer.use.context() + answer.use.output : 0;
  context_messages_ = messages_.size();
  reports.emplace_back(std::move(used));
  if (answer.stop == model::Stop::length && !whole.calls) {
    if (notes_of(messages_, limits(), continue_name) == 0) {
      note(continue_name, std::string(continue_text), reports);
    } else {
      reports.emplace_back(report::Warning{
          "length", "The answer was cut at the model's output limit twice; what it says may not be all."});
    }
  }
  store_then(std::move(reports), [this] { advance(); });
}

void BuiltinTurn::failed(model::Failure failure) {
  using Kind = model::Failure::Kind;
  const std::unique_ptr<model::Ask> done = std::move(ask_);
  if (failure.kind == Kind::quota) return wait_for_quota(failure.message, failure.retry_at);
  if (failure.kind == Kind::cut && cuts_ < cuts_max) {
    const Millis wait = cut_wait_ms << cuts_++;
    report({report::Warning{"model_retry", fmt::format("{} It is asked again.", failure.message)}});
    const bool summing = doing_ == Doing::summing;
    doing_ = Doing::waiting;
    return timer_.set(wait, [this, summing] { summing ? compact(harder_) : ask_model(); });
  }
  if (failure.kind == Kind::context_too_long) {
    if (doing_ == Doing::summing && !harder_) return compact(true);
    if (doing_ != Doing::summing && compactions_ < 2) return compact(compactions_ > 0);
  }
  const Verdict why = verdict(failure.kind);
  fail_turn(std::string(why.code), fmt::format("{} {}", failure.message, why.advice), details_of(failure));
}

// R4.5: no failure. All tasks on the account wait until the limit is over, or until nobody is left who met it.
void BuiltinTurn::wait_for_quota(const std::string& text, Time until) {
  const Time now = shared_.parts.clock.wall();
  if (until <= now) {
    const Millis wait = std::clamp<Millis>(quota_backoff_.ms * 2, unknown_wait_ms, unknown_wait_max_ms);
    quota_backoff_ = {wait};
    until = now + wait;
  }
  until = std::min(until, now + quota_wait_max_ms);
  shared_.usage_limits.met(account_of(choice_.endpoint), *this, until);
  report({report::Waits{WaitKind::quota, text, until}});
  sleep_until(until);
}

// Somebody met it: another task, or this one before the server was restarted.
void BuiltinTurn::follow_limit(Time until) {
  shared_.usage_limits.follow(account_of(choice_.endpoint), *this);
  std::string text = std::exchange(limit_text_, {});
  if (text.empty()) text = "Another task met the account's usage limit.";
  report({report::Waits{WaitKind::quota, std::move(text), until}});
  sleep_until(until);
}

void BuiltinTurn::sleep_until(Time until) {
  doing_ = Doing::waiting;
  limited_ = true;
  timer_.set(std::min(until - shared_.parts.clock.wall(), quota_sleep_max_ms), [this] { go_on_after_quota(); });
}

void BuiltinTurn::go_on_after_quota() {
  const Time until = shared_.usage_limits.until(account_of(choice_.endpoint));
  if (until > shared_.parts.clock.wall()) return sleep_until(until);
  shared_.usage_limits.leave(account_of(choice_.endpoint), *this, false);
  limit_gone();
}

void BuiltinTurn::limit_gone() {
  if (over_ || !std::exchange(limited_, false)) return;
  timer_.cancel();
  store_then({report::GoesOn{}}, [this] { to_model(); });
}

// By the provider's count of what it had last, and an estimate of what came since.
bool BuiltinTurn::too_long() const {
  int64_t tokens = context_tokens_;
  if (tokens == 0) {
    tokens = estimate(conversation(messages_)) + estimate(system_);
    for (const model::ToolSpec& spec : specs_) tokens += estimate(spec.description) + estimate(spec.input_schema);
  } else {
    if (context_messages_ > 0) tokens += results_estimate(messages_[context_messages_ - 1]);
    for (size_t i = context_messages_; i < messages_.size(); ++i) tokens += estimate(messages_[i]);
  }
  return tokens > compact_above(choice_.info.context_tokens, choice_.info.output_tokens);
}

void BuiltinTurn::compact(bool harder) {
  const int64_t context = choice_.info.context_tokens;
  cut_ = choose_cut(messages_, harder ? 0 : context / 5);
  if (cut_.kept <= cut_.first && !harder) {
    harder = true;
    cut_ = choose_cut(messages_, 0);
  }
  if (cut_.kept <= cut_.first) return fail_turn("context_too_long", "The conversation is longer than the model takes.");
  harder_ = harder;
  ++compactions_;
  doing_ = Doing::summing;
  asked_at_ = shared_.parts.clock.steady();
  heard_ = false;
  model::Request request = summary_request(messages_, cut_, (harder ? context / 3 : context * 2 / 3));
  request.model = choice_.model;
  request.max_output_tokens = std::min(summary_output_tokens, choice_.info.output_tokens);
  request.cache_key = task_->session_id.value + "-summary";
  request.info = choice_.info;
  ask_ = shared_.parts.models.ask(choice_.endpoint, std::move(request), *this);
}

void BuiltinTurn::summed_up(model::Answer answer) {
  const std::string summary = said(answer);
  if (summary.empty()) {
    if (!harder_) return compact(true);
    return fail_turn(
        "context_too_long",
        "The conversation is longer than the model takes, and it gave no summary of it; start a new task.");
  }
  cuts_ = 0;
  context_tokens_ = 0;
  std::vector<Report> reports;
  add_system_message(compaction_parts(summary, messages_, cut_), reports);
  store_then(std::move(reports), [this] { to_model(); });
}

}  // namespace errand::builtin

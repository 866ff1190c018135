#include "driver/acp/translate.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::acp {

namespace {

constexpr size_t done_max = 32;
constexpr size_t said_max = 1 << 20;           // Of the result of a turn.
constexpr size_t output_max = 1 << 20;         // Of a call, where it comes in pieces.
constexpr size_t marked_output_max = 8 << 10;  // Of what a running call has printed, in the mark.
constexpr std::string_view interrupted = "[The call was interrupted.]";
constexpr std::string_view denied = "[Permission was denied.]";

bool is_over(const ToolCall& call) { return call.status == "completed" || call.status == "failed"; }

void merge(ToolCall& into, const ToolCall& more) {
  const auto newer = [](std::string& field, const std::string& text) {
    if (!text.empty()) field = text;
  };
  newer(into.title, more.title);
  newer(into.name, more.name);
  newer(into.kind, more.kind);
  newer(into.status, more.status);
  newer(into.input, more.input);
  if (more.output) into.output = more.output;
  if (!more.more_output.empty()) {
    std::string& all = into.output ? *into.output : into.output.emplace();
    if (all.size() < output_max) all += more.more_output;
  }
  if (!more.diffs.empty()) into.diffs = more.diffs;
  if (!more.locations.empty()) into.locations = more.locations;
}

std::string result_of(const ToolCall& call) {
  std::string text = call.output.value_or("");
  for (const Diff& diff : call.diffs) text += (text.empty() ? "" : "\n") + diff_text(diff);
  return text;
}

}  // namespace

bool Translator::is_settled() const {
  return std::ranges::all_of(calls_, [](const Call& call) { return call.state >= Call::State::denied; });
}

bool Translator::has_unbegun() const {
  return std::ranges::any_of(calls_, [](const Call& call) { return call.state == Call::State::named; });
}

void Translator::begin_message(std::vector<Report>& out) {
  if (open_) return;
  open_ = true;
  next_ = 0;
  text_part_ = -1;
  said_.clear();
  out.emplace_back(report::MessageBegan{});
}

void Translator::begin_call(Call& call, std::vector<Report>& out) {
  if (call.state != Call::State::named) return;
  begin_message(out);
  call.state = Call::State::begun;
  CallView view = view_of(call.seen);
  text_part_ = -1;
  out.emplace_back(report::ToolStarted{.part = next_++,
                                       .call_id = call.seen.id,
                                       .name = std::move(view.name),
                                       .input = std::move(view.input),
                                       .summary = std::move(view.summary)});
}

void Translator::end_call(Call& call, std::vector<Report>& out) {
  begin_call(call, out);
  call.state = Call::State::done;
  out.emplace_back(report::ToolCompleted{
      .call_id = call.seen.id, .output = result_of(call.seen), .is_error = call.seen.status == "failed"});
}

void Translator::begin_all(std::vector<Report>& out) {
  for (Call& call : calls_) begin_call(call, out);
}

void Translator::take_text(const Update& update, std::vector<Report>& out) {
  if (update.text.empty()) return;
  begin_all(out);
  const bool another = !update.message_id.empty() && !message_id_.empty() && update.message_id != message_id_;
  const bool behind_calls = !calls_.empty() && (update.message_id.empty() || message_id_.empty());
  if (open_ && (another || behind_calls) && is_settled()) close(out);
  begin_message(out);
  if (!update.message_id.empty()) message_id_ = update.message_id;
  const bool thinks = update.type == Update::Type::thought;
  if (text_part_ < 0 || thinks_ != thinks) {
    text_part_ = next_++;
    // Several texts of one message are told apart as in a message's text.
    if (!thinks && !said_.empty()) said_ += "\n\n";
  }
  thinks_ = thinks;
  if (!thinks && said_.size() < said_max) said_ += update.text;
  out.emplace_back(report::Text{.part = text_part_, .reasoning = thinks, .text = update.text});
}

void Translator::take_call(const ToolCall& call, bool asked, std::vector<Report>& out) {
  if (call.id.empty() || std::ranges::find(done_, call.id) != done_.end()) return;
  auto found = std::ranges::find(calls_, call.id, [](const Call& known) { return known.seen.id; });
  if (found == calls_.end()) {
    // A further step: what came before has its results.
    if (!calls_.empty() && is_settled()) close(out);
    calls_.push_back({.seen = {.id = call.id}});
    found = calls_.end() - 1;
  } else if (found->state == Call::State::done) {
    return;
  }
  merge(found->seen, call);
  if (is_over(found->seen)) return end_call(*found, out);
  if (asked || found->seen.status == "in_progress") begin_call(*found, out);
  out.emplace_back(report::Alive{});
}

// A plan is shown as the call of a tool that keeps one: that is what agents make it of.
void Translator::take_plan(const std::vector<PlanEntry>& plan, std::vector<Report>& out) {
  std::string input;
  JsonOut json(input);
  json.object().key("todos").array();
  for (const PlanEntry& entry : plan) json.object().field("content", entry.text).field("status", entry.status).end();
  json.end().end();
  if (plan.empty() || input == plan_) return;
  plan_ = input;
  const auto now = std::ranges::find(plan, "in_progress", &PlanEntry::status);
  begin_all(out);
  begin_message(out);
  text_part_ = -1;
  const std::string id = "plan_" + std::to_string(++plans_);
  out.emplace_back(
      report::ToolStarted{.part = next_++,
                          .call_id = id,
                          .name = "todo_write",
                          .input = input,
                          .summary = now == plan.end() ? std::string() : std::string(first_line(now->text))});
  out.emplace_back(report::ToolCompleted{.call_id = id, .output = {}});
}

void Translator::take(const Update& update, std::vector<Report>& out) {
  switch (update.type) {
    case Update::Type::text:
    case Update::Type::thought:
      return take_text(update, out);
    case Update::Type::call:
      return take_call(update.call, false, out);
    case Update::Type::plan:
      return take_plan(update.plan, out);
    case Update::Type::usage:
      if (!update.cost_usd) return;
      // It is said of the whole session. Where it is less than before, the agent counts anew.
      if (const double more = *update.cost_usd - (*update.cost_usd < cost_usd_ ? 0 : cost_usd_); more > 0)
        out.emplace_back(report::Used{.usage = {.cost_usd = more}, .source = PriceSource::agent});
      cost_usd_ = *update.cost_usd;
      return;
    case Update::Type::notice:
      if (!update.text.empty()) out.emplace_back(report::Warning{"notice", update.text});
      return;
    case Update::Type::user_text:
    case Update::Type::health:
    case Update::Type::other:
      return;
  }
}

void Translator::take_asked(const ToolCall& call, std::vector<Report>& out) { take_call(call, true, out); }

void Translator::take_denied(std::string_view call_id) {
  for (Call& call : calls_)
    if (call.seen.id == call_id && call.state == Call::State::begun) call.state = Call::State::denied;
}

void Translator::close(std::vector<Report>& out) {
  begin_all(out);
  for (Call& call : calls_) {
    if (call.state == Call::State::begun || call.state == Call::State::denied)
      out.emplace_back(
          report::ToolCompleted{.call_id = call.seen.id,
                                .output = std::string(call.state == Call::State::denied ? denied : interrupted),
                                .is_error = true});
    done_.push_back(std::move(call.seen.id));
    if (done_.size() > done_max) done_.pop_front();
  }
  calls_.clear();
  message_id_.clear();
  if (std::exchange(open_, false)) out.emplace_back(report::MessageEnded{});
}

// [open, message id, next, text part, thinks, plan, plans, cost, [[state, id, title, name, kind, input, output]...],
// [id...]]. Of what a running call has printed the end of it stands for all: agents say it again with the result.
std::string Translator::mark() const {
  std::string text;
  JsonOut out(text);
  out.array().value(open_).value(message_id_).value(next_).value(text_part_).value(thinks_).value(plan_);
  out.value(plans_).value(cost_usd_).array();
  for (const Call& call : calls_) {
    const std::string_view printed = call.seen.output ? std::string_view(*call.seen.output) : "";
    out.array().value(static_cast<int>(call.state)).value(call.seen.id).value(call.seen.title);
    // What has begun was reported with its arguments.
    const bool named = call.state == Call::State::named;
    out.value(call.seen.name).value(call.seen.kind).value(named ? call.seen.input : "");
    out.value(printed.substr(printed.size() - utf8_suffix(printed, marked_output_max))).end();
  }
  out.end().array();
  for (const std::string& id : done_) out.value(id);
  out.end().end();
  return text;
}

Translator Translator::from(std::string_view mark) {
  namespace json = boost::json;
  boost::system::error_code error;
  const json::value value = json::parse(mark, error);
  const json::array* all = error ? nullptr : value.if_array();
  if (!all || all->size() != 10) return Translator();
  const json::array& list = *all;
  if (!list[0].is_bool() || !list[1].is_string() || !list[2].is_int64() || !list[3].is_int64() || !list[4].is_bool() ||
      !list[5].is_string() || !list[6].is_int64() || !list[7].is_number() || !list[8].is_array() || !list[9].is_array())
    return Translator();
  Translator out(list[7].to_number<double>());
  out.open_ = list[0].get_bool();
  out.message_id_ = list[1].get_string();
  out.next_ = static_cast<int>(std::clamp<int64_t>(list[2].get_int64(), 0, 1 << 30));
  out.text_part_ = static_cast<int>(std::clamp<int64_t>(list[3].get_int64(), -1, out.next_ - 1));
  out.thinks_ = list[4].get_bool();
  out.plan_ = list[5].get_string();
  out.plans_ = static_cast<int>(std::clamp<int64_t>(list[6].get_int64(), 0, 1 << 30));
  for (const json::value& item : list[8].get_array()) {
    const json::array* one = item.if_array();
    if (!one || one->size() != 7 || !(*one)[0].is_int64()) return Translator();
    if (!std::all_of(one->begin() + 1, one->end(), [](const json::value& field) { return field.is_string(); }))
      return Translator();
    const auto field = [&](size_t i) { return std::string((*one)[i].get_string()); };
    Call call{.seen = {.id = field(1), .title = field(2), .name = field(3), .kind = field(4), .input = field(5)},
              .state = static_cast<Call::State>(std::clamp<int64_t>((*one)[0].get_int64(), 0, 3))};
    if (!field(6).empty()) call.seen.output = field(6);
    // A call that has begun or is done is part of an open message.
    if (call.state != Call::State::named && !out.open_) return Translator();
    out.calls_.push_back(std::move(call));
  }
  for (const json::value& id : list[9].get_array())
    if (id.is_string()) out.done_.emplace_back(id.get_string());
  return out;
}

}  // namespace errand::acp

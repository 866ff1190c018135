#include "driver/builtin/builtin_turn.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/conversation.h"
#include "driver/builtin/prompt.h"
#include "driver/builtin/question.h"

namespace errand::builtin {
namespace {

constexpr std::string_view nudge_text =
    "Your last message had no text. Your last message is the result of the task: say what was done and what came of "
    "it.";
constexpr std::string_view retry_text =
    "The turn before ended before it was done (it failed or was stopped) and is tried again. Go on from where it "
    "stands.";

std::string read_file(const std::string& folder, const char* name) {
  std::error_code error;
  const Result<files::Root> root = files::Root::open(std::filesystem::canonical(folder, error).string());
  if (!root) return {};
  const Result<files::File> file = root->open_file(name);
  if (!file) return {};
  std::string bytes(static_cast<size_t>(std::clamp<int64_t>(file->size, 0, instructions_max + 1)), '\0');
  const int64_t read = files::read_at(*file, 0, bytes.data(), bytes.size());
  bytes.resize(static_cast<size_t>(std::max<int64_t>(read, 0)));
  return to_utf8(bytes);
}

}  // namespace

BuiltinTurn::BuiltinTurn(Shared& shared, Sink& sink, TurnRequest request, ModelChoice choice)
    : shared_(shared),
      sink_(sink),
      task_(std::move(request.task)),
      agent_(std::move(request.agent)),
      reattach_(request.reattach),
      choice_(std::move(choice)),
      timer_(shared.parts.timers) {
  roots_.push_back(task_->launch.work_dir);
  std::ranges::copy(task_->launch.add_dirs, std::back_inserter(roots_));
  messages_ = std::move(request.history);
  // What it has taken is remembered until the turn is over: the first of these is where it began.
  const auto taken = [this](const Message& message) {
    const auto waiting = std::ranges::find(task_->waiting, message.id, &WaitingMessage::id);
    return waiting != task_->waiting.end() && waiting->taken;
  };
  const auto began = std::ranges::find_if(messages_, taken);
  if (began != messages_.end() || !reattach_) first_ = static_cast<size_t>(began - messages_.begin());
  if (reattach_) mark_ = decode_mark(task_->checkpoint);
  for (Message& message : request.messages) {
    seen_.insert(message.id);
    pending_.push_back(std::move(message));
  }
}

// Calls before their tools: a server of MCP is left as it is where a call of it is under way.
BuiltinTurn::~BuiltinTurn() {
  shared_.usage_limits.leave(account_of(choice_.endpoint), *this, false);
  calls_.clear();
}

// Tools, AGENTS.md and the model's name are found out side by side.
void BuiltinTurn::begin() {
  tools_ = shared_.parts.tools.open(task_, agent_);
  preparing_ = 3;
  const auto done = [this] {
    if (--preparing_ == 0) prepared();
  };
  tools_->prepare([this, done](std::vector<std::string> warnings) {
    if (over_) return;
    std::vector<Report> reports;
    reports.reserve(warnings.size());
    for (std::string& warning : warnings) reports.emplace_back(report::Warning{"tools", std::move(warning)});
    report(std::move(reports));
    done();
  });
  in_background([folder = task_->launch.work_dir] { return read_file(folder, "AGENTS.md"); },
                [this, done](std::string text) {
                  instructions_ = std::move(text);
                  done();
                });
  if (!choice_.model.empty()) return done();
  shared_.finder.find(choice_.endpoint, [this, here = alive_.watch(), done](Result<std::string> model) {
    if (here.gone() || over_) return;
    Result<ModelChoice> named = model ? ModelDirectory::named(choice_, *model) : std::unexpected(model.error());
    if (!named) return fail_turn("model_error", named.error().message);
    choice_ = std::move(*named);
    done();
  });
}

void BuiltinTurn::prepared() {
  system_ = system_prompt({.agent_prompt = agent_->prompt,
                           .today = shared_.parts.clock.wall(),
                           .work_dir = task_->launch.work_dir,
                           .add_dirs = task_->launch.add_dirs,
                           .instructions = std::exchange(instructions_, {}),
                           .skills = tools_->skills_text()});
  for (const auto& tool : tools_->list()) specs_.push_back(tool->spec());
  if (asks_allowed(*agent_)) specs_.push_back(question_spec());
  std::vector<Report> reports;
  // A usage limit holds on: it is waited for, and nobody is asked. Any other wait is said anew.
  const Time now = shared_.parts.clock.wall();
  const bool limited = !lifted_ && task_->wait && task_->wait->kind == WaitKind::quota && task_->wait->until > now;
  if (limited) {
    limit_text_ = task_->wait->text;
    shared_.usage_limits.met(account_of(choice_.endpoint), *this,
                             std::min(task_->wait->until, now + quota_wait_max_ms));
  } else if (task_->wait) {
    reports.emplace_back(report::GoesOn{});
  }
  // A limit that nobody can hold is said, once a turn (R4.4).
  if (const model::ModelInfo& info = choice_.info; task_->launch.budget.cost_usd > 0 && !reattach_ && !info.priced())
    reports.emplace_back(report::Warning{
        "no_price",
        fmt::format("The price of {} is not known: the budget's cost_usd holds only where the provider says "
                    "what a call costs. Set input_usd and output_usd of the model, or a budget of tokens.",
                    choice_.model)});
  // A turn that is tried again is given its messages once more: they stand where they stood.
  const bool again = std::ranges::any_of(pending_, [](const Message& message) { return bool(message.completed_at); });
  if (again) {
    std::erase_if(pending_, [&](Message& message) {
      if (!message.completed_at) return false;
      reports.emplace_back(report::Taken{message.id});
      messages_.push_back(std::move(message));
      return true;
    });
    messages_ = in_order_of_taking(std::move(messages_));
    first_ = messages_.size();
    if (pending_.empty() && !messages_.empty() && messages_.back().role == Role::assistant)
      note(retry_name, std::string(retry_text), reports);
  }
  store_then(std::move(reports), [this] { advance(); });
}

void BuiltinTurn::advance() {
  if (over_) return;
  Next next = next_step(messages_, !pending_.empty(), limits());
  switch (next.kind) {
    case Next::Kind::ask:
      return to_model();
    case Next::Kind::tools:
      return run_calls(std::move(next));
    case Next::Kind::nudge: {
      std::vector<Report> reports;
      note(nudge_name, std::string(nudge_text), reports);
      return store_then(std::move(reports), [this] { advance(); });
    }
    case Next::Kind::end:
      return end({.kind = Outcome::Kind::completed, .result = std::move(next.result)});
    case Next::Kind::fail:
      return fail_turn(std::move(next.error.code), std::move(next.error.message), std::move(next.error.details));
  }
}

// The next step is an answer: what waits joins the conversation first.
void BuiltinTurn::to_model() {
  std::vector<Report> reports;
  take_pending(reports);
  store_then(std::move(reports), [this] {
    if (over_) return;
    const Time until = shared_.usage_limits.until(account_of(choice_.endpoint));
    if (until > shared_.parts.clock.wall()) return follow_limit(until);
    if (too_long() && compactions_ < 2) return compact(compactions_ > 0);
    ask_model();
  });
}

void BuiltinTurn::take_pending(std::vector<Report>& reports) {
  const Time now = shared_.parts.clock.wall();
  for (; !pending_.empty(); pending_.pop_front()) {
    Message& message = pending_.front();
    message.completed_at = now;
    message.turn = task_->turn;
    reports.emplace_back(report::Taken{message.id});
    messages_.push_back(std::move(message));
  }
}

// A system message of the loop's own: what it tells the model is in the transcript.
void BuiltinTurn::note(std::string_view name, std::string text, std::vector<Report>& reports) {
  add_system_message({{.type = PartType::notice, .text = std::move(text), .name = std::string(name)}}, reports);
}

void BuiltinTurn::add_system_message(std::vector<Part> parts, std::vector<Report>& reports) {
  Message message;
  message.id = shared_.ids.message();
  message.session_id = task_->session_id;
  message.role = Role::system;
  message.turn = task_->turn;
  message.created_at = message.completed_at = shared_.parts.clock.wall();
  message.parts = std::move(parts);
  reports.emplace_back(report::SystemMessage{message.id, message.parts});
  messages_.push_back(std::move(message));
}

void BuiltinTurn::report(std::vector<Report> reports) {
  if (!over_ && !reports.empty()) sink_.report(std::move(reports), encode_mark(mark_));
}

// Nothing to store is stored already: all before it was waited for.
void BuiltinTurn::store_then(std::vector<Report> reports, Work then) {
  if (over_) return;
  if (reports.empty()) return then();
  doing_ = Doing::storing;
  report(std::move(reports));
  sink_.when_stored(std::move(then));
}

void BuiltinTurn::fail_turn(std::string code, std::string message, std::string details) {
  Outcome outcome{.kind = Outcome::Kind::failed};
  outcome.error = TaskError{std::move(code), std::move(message), std::move(details)};
  end(std::move(outcome));
}

// The end is told when nothing of the turn is left: neither a call that still runs nor a server of its tools.
void BuiltinTurn::end(Outcome outcome) {
  if (std::exchange(over_, true)) return;
  shared_.usage_limits.leave(account_of(choice_.endpoint), *this, true);
  outcome_ = std::move(outcome);
  timer_.cancel();
  ask_.reset();
  to_go_ = 1;
  for (Call& call : calls_) {
    if (!call.run || call.done) continue;
    if (call.run->stop()) {
      ++to_go_;
    } else {
      call.run.reset();
    }
  }
  if (!tools_) return one_gone();
  tools_->close([this] { one_gone(); });
}

void BuiltinTurn::one_gone() {
  if (--to_go_ > 0 || !outcome_) return;
  if (!shared_.parts.files) return tell_end();
  shared_.parts.files->gather(task_, [this, here = alive_.watch()](Result<ArtifactList> list) {
    if (here.gone() || !outcome_) return;
    if (list) {
      outcome_->artifacts = summarize(*list);
    } else {
      sink_.report(
          {report::Warning{"artifacts_failed", "The artifacts could not be gathered: " + list.error().message}},
          encode_mark(mark_));
    }
    tell_end();
  });
}

void BuiltinTurn::tell_end() { sink_.ended(*std::exchange(outcome_, std::nullopt)); }

StepLimits BuiltinTurn::limits() const {
  return {
      .turn = task_->turn, .first = first_, .max_steps = agent_->max_steps > 0 ? agent_->max_steps : max_steps_default};
}

Message* BuiltinTurn::message_of(const MessageId& id) {
  const auto found = std::ranges::find(messages_, id, &Message::id);
  return found == messages_.end() ? nullptr : &*found;
}

Status BuiltinTurn::send(const Message& message) {
  if (over_) return fail(Code::conflict, "The turn is over; the message starts a new one.");
  if (seen_.insert(message.id).second) pending_.push_back(message);
  return {};
}

bool BuiltinTurn::lift_quota() {
  if (over_) return false;
  if (doing_ == Doing::preparing) lifted_ = true;
  quota_backoff_ = {};
  shared_.usage_limits.clear(account_of(choice_.endpoint));
  return true;
}

void BuiltinTurn::stop() { end({.kind = Outcome::Kind::stopped}); }

void BuiltinTurn::drop() {
  over_ = true;
  shared_.usage_limits.leave(account_of(choice_.endpoint), *this, false);
  outcome_.reset();
  timer_.cancel();
  ask_.reset();
  for (Call& call : calls_)
    if (call.run) call.run->drop();
  if (tools_) tools_->drop();
}

// Several calls may run side by side: one that is seen to work is heard of.
bool BuiltinTurn::unseen() const {
  return doing_ == Doing::calling &&
         std::ranges::any_of(calls_, [](const Call& call) { return call.run && !call.done && call.run->unseen(); });
}

void BuiltinTurn::probe() {
  if (over_) return;
  if (doing_ == Doing::calling) {
    for (Call& call : calls_)
      if (call.run && !call.done)
        call.run->probe([this, here = alive_.watch()](bool works, std::string seen) {
          if (here.gone() || over_) return;
          if (works) return report({report::Alive{}});
          if (!seen.empty()) report({report::Still{std::move(seen)}});
        });
    return;
  }
  if (doing_ != Doing::asking && doing_ != Doing::summing) return report({report::Alive{}});
  if (std::exchange(heard_, false) || !sink_.has_room()) return report({report::Alive{}});
  report({report::Still{fmt::format("it has waited for the model's answer for {}",
                                    format_duration(shared_.parts.clock.steady() - asked_at_))}});
}

}  // namespace errand::builtin

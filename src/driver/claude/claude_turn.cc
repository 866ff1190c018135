#include "driver/claude/claude_turn.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/escape_filter.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "driver/agent_driver.h"
#include "driver/claude/outcome.h"
#include "driver/run/spawn.h"
#include "fork/transcript.h"
#include "shell/reads.h"
#include "shell/subjects.h"

namespace errand::claude {
namespace {

constexpr Millis interrupt_ms = 5'000;  // From the interrupt to the end of the process.
constexpr Millis idle_ms = 5'000;       // Behind a result nothing more is said of messages.
constexpr Millis settle_ms = 1'500;     // Its last helper has ended: it may go on by itself.
constexpr Millis exit_ms = 10'000;      // From the end of its input to its own.
constexpr Millis put_again_ms = 500;
constexpr Millis unknown_wait_ms = 60'000, unknown_wait_max_ms = 900'000;  // Where nobody says when the limit ends.
constexpr Millis sleep_max_ms = 3'600'000;                                 // A clock may be set: it is looked at again.
constexpr int64_t login_tries = 2;                                         // It tries ten times, for minutes.
constexpr size_t ask_text_max = 4'000;
constexpr const char* go_on_text = "The usage limit is over. Go on where you stopped.";

std::string make_uuid(Random& random) {
  const uint64_t high = random.next(), low = random.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xfff,
                     0x8000 | ((low >> 48) & 0x3fff), low & 0xffff'ffff'ffff);
}

}  // namespace

ClaudeTurn::ClaudeTurn(const Options& options, const Parts& parts, program::Holder& holder, TurnRequest request,
                       Sink& sink, Beginning beginning)
    : options_(options),
      parts_(parts),
      request_(std::move(request)),
      sink_(sink),
      holder_(holder),
      beginning_(std::move(beginning)),
      files_(parts.files, parts.engine),
      stopping_timer_(parts.timers),
      idle_timer_(parts.timers),
      settle_timer_(parts.timers),
      limit_timer_(parts.timers),
      again_timer_(parts.timers),
      run_(beginning_.spawn.run),
      session_(request_.task->driver_session) {
  if (request_.reattach) {
    restore(request_.task->checkpoint);
    cpu_s_ = request_.task->progress.cpu_s;
    for (const Ask& ask : request_.task->asks)
      if (!ask.decision.empty()) answers_[ask.request_id] = {ask.decision, ask.reply};
  } else if (beginning_.kept) {
    kept_ = true;
    run_ = beginning_.kept->run;
    next_ = beginning_.kept->next;
    cpu_from_ = beginning_.kept->cpu_s;
    lifecycle_ = true;  // See can_keep().
    if (beginning_.kept->began) begun_ = beginning_.kept->begun + 1;
  }
  for (const Message& message : request_.messages)
    if (known_.insert(message.id).second) waiting_.push_back(message);
}

void ClaudeTurn::begin() {
  child_ = holder_.child(*request_.task, run_, *this);
  // One that another turn has started is there, or is gone.
  if (!has_own_program()) return child_->attach(next_);
  prepare();
}

void ClaudeTurn::prepare() {
  preparing_ = true;
  files_.run(
      [data_dir = options_.command.data_dir, task = request_.task->id, servers = beginning_.servers] {
        run::Options where;
        where.data_dir = data_dir;
        Result<std::string> folder = run::make_artifact_folder(where, task);
        if (!folder || servers.path.empty()) return folder;
        ::mkdir((data_dir + "/claude").c_str(), 0700);
        if (const int failed = replace_file(servers.path, servers.bytes, 0600, Durability::process); failed != 0)
          folder = fail(Code::internal, fmt::format("The file {} cannot be written: {}.", servers.path,
                                                    std::generic_category().message(failed)));
        return folder;
      },
      [this](const Result<std::string>& folder) {
        if (over_ || !std::exchange(preparing_, false)) return;
        if (folder && request_.reattach) return child_->attach(next_, beginning_.spawn);
        if (folder) return child_->spawn(beginning_.spawn);
        over_ = true;
        sink_.ended({.kind = Outcome::Kind::failed, .error = TaskError{"spawn_failed", folder.error().message, {}}});
      });
}

void ClaudeTurn::report(std::vector<Report> reports) {
  if (over_) return;
  if (reports.empty()) reports.emplace_back(report::Alive{});
  sink_.report(std::move(reports), checkpoint());
}

// ---- What it is told

void ClaudeTurn::started(int64_t taken) {
  // The program of the turn before has gone meanwhile: ended() follows, and starts another one.
  if (kept_ && taken == lines::all_taken) return;
  kept_ = false;
  running_ = true;
  if (stopping_) return child_->stop();
  // Put, and never taken: it is put once more.
  std::erase_if(sent_, [taken](const Sent& sent) { return sent.number > taken; });
  // An answer that it has is not given again.
  std::erase_if(sent_,
                [this](const Sent& sent) { return sent.kind == Sent::Kind::answer && asks_.erase(sent.key) > 0; });
  for (const Sent& sent : sent_)
    if (sent.kind == Sent::Kind::message)
      std::erase_if(waiting_, [&](const Message& message) { return message.id.value == sent.key; });
  if (until_) {
    report({report::Waits{WaitKind::quota, "Claude Code waits for the usage limit of its account.", until_}});
    sleep();
  } else if (request_.reattach) {
    report({report::GoesOn{}});
  }
  for (const auto& [request_id, answer] : std::map(answers_))
    if (asks_.contains(request_id)) give(request_id);
  take_beginnings();
  put_waiting();
  close_where_done();
}

// It has begun by itself: nobody needs to tell it so.
void ClaudeTurn::take_beginnings() {
  if (begun_ == 0) return;
  std::vector<Report> out;
  std::erase_if(waiting_, [&](const Message& message) {
    if (!program::is_beginning(message)) return false;
    out.emplace_back(report::Taken{message.id});
    return true;
  });
  if (!out.empty()) report(std::move(out));
}

// Claude Code keeps it from then on.
std::string ClaudeTurn::preamble() const {
  if (!request_.task->launch.fork || !session_.empty() || !sent_.empty()) return {};
  std::vector<Message> carried;
  std::ranges::copy_if(request_.history, std::back_inserter(carried),
                       [](const Message& before) { return before.turn == 0; });
  return carried.empty() ? std::string() : fork::transcript(carried);
}

void ClaudeTurn::put_waiting() {
  if (over_ || stopping_ || closing_ || !running_ || until_) return;
  while (!waiting_.empty() && !again_timer_.pending()) {
    const size_t before = sent_.size();
    const std::string told = preamble();
    const std::string uuid = make_uuid(parts_.random);
    if (!told.empty()) {
      put({.kind = Sent::Kind::note, .key = {}, .uuid = uuid}, user_line(told, uuid, false));
      if (sent_.size() == before) return;
      continue;
    }
    const Message message = waiting_.front();
    // A notice before a message is not answered by itself. One that comes while the program works is read at its next
    // step, and one that is all there is has begun this turn.
    const bool asks = !is_note(message) || working_ || waiting_.size() == 1;
    put({.kind = Sent::Kind::message, .key = message.id.value, .uuid = uuid}, user_line(words_of(message), uuid, asks));
    if (sent_.size() == before) return;
    told_ = told_ || !is_note(message);
    waiting_.pop_front();
  }
}

// Its number is on disk before it goes out.
void ClaudeTurn::put(Sent sent, std::string line) {
  const Result<int64_t> number = child_->put(std::move(line));
  if (!number) {
    if (number.error().code == Code::exhausted) again_timer_.set(put_again_ms, [this] { put_waiting(); });
    return;
  }
  sent.number = *number;
  sent_.push_back(std::move(sent));
  report({report::Alive{}});
  sink_.when_stored([this, number = *number] {
    if (!over_) child_->let_go(number);
  });
}

Status ClaudeTurn::send(const Message& message) {
  if (over_ || stopping_ || closing_) return fail(Code::conflict, "The turn is over.");
  if (!known_.insert(message.id).second) return {};
  waiting_.push_back(message);
  if (running_) take_beginnings();
  put_waiting();
  return {};
}

void ClaudeTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (over_) return;
  answers_[request_id] = {decision, message};
  if (running_ && asks_.contains(request_id)) give(request_id);
}

void ClaudeTurn::give(const std::string& request_id) {
  if (std::ranges::find(sent_, request_id, &Sent::key) != sent_.end()) return;
  const auto& [decision, message] = answers_[request_id];
  const std::string& question = asks_[request_id];
  std::string line;
  if (!question.empty())
    line = answers_line(request_id, question, message);
  else if (decision == "deny")
    line = deny_line(request_id, message.empty() ? "Denied. Go on without it." : message);
  else
    line = allow_line(request_id);
  put({.kind = Sent::Kind::answer, .key = request_id, .uuid = {}}, std::move(line));
}

// ---- What it says

void ClaudeTurn::lines(std::span<const lines::Line> lines) {
  // The last words of a program that has gone while it waited are no part of this turn, which gets another one.
  if (over_ || kept_) return;
  alive_ = true;
  std::vector<Report> out;
  for (const lines::Line& line : lines) {
    take(parse_line(line.text), out);
    next_ = line.next;
  }
  time_calls(out);
  report(std::move(out));
  sink_.when_stored([this, next = next_] {
    if (!over_) child_->release(next);
  });
  if (!sink_.has_room()) {
    child_->hold();
    sink_.when_room([this] {
      if (!over_) child_->go_on();
    });
  }
  close_where_done();
}

// Nobody else says how long a call took. Of one that began before this server did, it is not known.
void ClaudeTurn::time_calls(std::vector<Report>& reports) {
  const Time now = parts_.clock.steady();
  for (Report& report : reports) {
    if (const auto* began = std::get_if<report::ToolStarted>(&report)) calls_[began->call_id] = now;
    auto* const done = std::get_if<report::ToolCompleted>(&report);
    if (const auto call = done ? calls_.find(done->call_id) : calls_.end(); call != calls_.end()) {
      done->ms = now - call->second;
      calls_.erase(call);
    }
  }
}

void ClaudeTurn::take(const Event& event, std::vector<Report>& out) {
  if (!event.session_id.empty() && !event.inner && event.session_id != session_) {
    session_ = event.session_id;
    out.emplace_back(report::AgentSession{session_});
  }
  switch (event.type) {
    case Event::Type::init:
      child_->is_ready(event.version);
      working_ = true;
      idle_timer_.cancel();
      settle_timer_.cancel();
      break;
    case Event::Type::lifecycle:
      take_lifecycle(event, out);
      break;
    case Event::Type::asks:
      ask(event, out);
      break;
    case Event::Type::unasked:
      asks_.erase(event.request_id);
      break;
    case Event::Type::requests:
      if (!child_->write(unsupported_line(event.request_id)))
        out.emplace_back(report::Warning{"agent_request", "A request of Claude Code could not be answered."});
      break;
    case Event::Type::retry:
      take_retry(event, out);
      break;
    case Event::Type::background:
      if (background_ > 0 && event.count == 0) settle_timer_.set(settle_ms, [this] { close_where_done(); });
      background_ = event.count;
      shells_ = event.shells;
      break;
    case Event::Type::limit:
      if (event.rejected) resets_ = event.resets;
      break;
    case Event::Type::result:
      take_result(event, out);
      break;
    default:
      if (!event.inner && (event.type == Event::Type::message_start || event.type == Event::Type::assistant))
        take_first(out);
      translator_.take(event, out);
  }
}

void ClaudeTurn::take_message(Sent& sent, std::vector<Report>& out) {
  if (std::exchange(sent.taken, true)) return;
  if (sent.kind != Sent::Kind::message) return;
  translator_.settle(out);
  out.emplace_back(report::Taken{MessageId(sent.key)});
}

void ClaudeTurn::take_lifecycle(const Event& event, std::vector<Report>& out) {
  lifecycle_ = true;
  const auto sent = std::ranges::find(sent_, event.uuid, &Sent::uuid);
  if (event.uuid.empty() || sent == sent_.end()) return;
  const bool finished = event.state == "completed" || event.state == "cancelled";
  if (event.state == "started") working_ = true;
  if (event.state == "started" || finished) take_message(*sent, out);
  if (finished) sent_.erase(sent);
}

// The program has the answer: it is not given again.
void ClaudeTurn::taken(int64_t number) {
  const auto sent = std::ranges::find(sent_, number, &Sent::number);
  if (sent == sent_.end() || sent->kind != Sent::Kind::answer) return;
  asks_.erase(sent->key);
  answers_.erase(sent->key);
  sent_.erase(sent);
}

void ClaudeTurn::take_first(std::vector<Report>& out) {
  if (lifecycle_) return;
  working_ = true;
  if (std::ranges::any_of(sent_, &Sent::taken)) return;
  const auto sent = std::ranges::find_if(sent_, [](const Sent& one) { return one.kind != Sent::Kind::answer; });
  if (sent != sent_.end()) take_message(*sent, out);
}

void ClaudeTurn::take_retry(const Event& event, std::vector<Report>& out) {
  if (event.error == "authentication_failed" && event.attempt >= login_tries && !refused_) {
    refused_ = login_required(fmt::format("The API answered {}.", event.status));
    return child_->stop();
  }
  out.emplace_back(report::Warning{"retry", fmt::format("Attempt {}: {}{}", event.attempt, one_line(event.error),
                                                        event.status > 0 ? fmt::format(" ({})", event.status) : "")});
}

void ClaudeTurn::take_result(const Event& event, std::vector<Report>& out) {
  // It has taken a note, and has asked nobody: that is no answer.
  if (event.idle && !event.is_error && event.text.empty()) {
    working_ = false;
    return;
  }
  take_first(out);
  translator_.take(event, out);
  Usage used = event.used;
  // An older program says what the whole conversation has cost; this task's part of it is known.
  if (!event.has_used) {
    const double before = last_ ? last_->total_cost : request_.task->progress.usage.cost_usd;
    used.cost_usd = std::max(0.0, event.total_cost - before);
  }
  const auto tell = [&](const Usage& usage, const std::string& model) {
    if (usage == Usage{}) return;
    out.emplace_back(report::Used{.usage = usage,
                                  .source = usage.cost_usd > 0 ? PriceSource::agent : PriceSource::unknown,
                                  .provider = "anthropic",
                                  .model = model});
  };
  for (const Event::ModelUsed& model : event.models) tell(model.used, model.model);
  if (event.models.empty()) tell(used, {});
  working_ = false;
  last_ = event;
  if (!lifecycle_) finish_taken();
  if (stopping_) return child_->stop();
  if (is_usage_limit(event)) return wait_for_limit(event.text, out);
  backoff_ms_ = 0;
  idle_timer_.set(idle_ms, [this] {
    finish_taken();
    close_where_done();
  });
}

void ClaudeTurn::finish_taken() {
  std::erase_if(sent_, [](const Sent& sent) { return sent.taken; });
}

void ClaudeTurn::ask(const Event& event, std::vector<Report>& out) {
  const Block& call = event.blocks.front();
  if (asks_.contains(event.request_id)) return;
  report::Asks asks{.request_id = event.request_id};
  std::string& question = asks_[event.request_id];
  if (call.name == "AskUserQuestion") {
    Question read = read_question(call.input);
    question = call.input;
    asks.text = std::move(read.text);
    asks.options = std::move(read.options);
  } else {
    asks.kind = AskKind::permission;
    asks.tool = rule_name(call.name);
    asks.subject = subject_of(call.input);
    asks.text = fmt::format("Claude Code asks to use {}: {}", call.name, asks.subject);
    if (asks.tool == "bash") {
      const std::string command = command_of(call.input);
      asks.subject = shell::subject_of(command);
      asks.work_dir = request_.task->launch.work_dir;
      asks.reads = shell::only_reads(command, asks.work_dir);
    }
    asks.diff = change_of(call.input);
  }
  if (asks.text.size() > ask_text_max) asks.text = asks.text.substr(0, utf8_prefix(asks.text, ask_text_max)) + "…";
  out.emplace_back(std::move(asks));
}

// ---- The usage limit (R4.5)

void ClaudeTurn::wait_for_limit(const std::string& text, std::vector<Report>& out) {
  const Time now = parts_.clock.wall();
  Time until = resets_ ? resets_ : reset_time(text);
  if (!until || until <= now) {
    backoff_ms_ = std::clamp<Millis>(backoff_ms_ * 2, unknown_wait_ms, unknown_wait_max_ms);
    until = now + backoff_ms_;
  }
  until_ = std::min(until, now + quota_wait_max_ms);
  resets_ = {};
  out.emplace_back(report::Waits{WaitKind::quota, one_line(text), until_});
  sleep();
}

void ClaudeTurn::sleep() {
  const Millis left = std::clamp<Millis>(until_ - parts_.clock.wall(), 0, sleep_max_ms);
  limit_timer_.set(left, [this] { until_ > parts_.clock.wall() ? sleep() : go_on(); });
}

void ClaudeTurn::go_on() {
  if (over_ || stopping_ || !until_) return;
  limit_timer_.cancel();
  until_ = {};
  last_.reset();
  report({report::GoesOn{}});
  if (!waiting_.empty()) return put_waiting();
  const std::string uuid = make_uuid(parts_.random);
  put({.kind = Sent::Kind::go_on, .key = {}, .uuid = uuid}, user_line(go_on_text, uuid));
}

bool ClaudeTurn::lift_quota() {
  if (over_ || stopping_ || !until_) return false;
  // It is just being taken up: its wait is over then.
  if (!running_) until_ = parts_.clock.wall();
  if (running_) go_on();
  return true;
}

// ---- Its end

// A result is not the end: messages may wait, and helpers of its own may make it go on by itself.
void ClaudeTurn::close_where_done() {
  if (over_ || closing_ || stopping_ || !running_ || working_ || !last_ || until_ || settle_timer_.pending()) return;
  if (!waiting_.empty() || background_ > 0) return;
  // Behind a result nothing comes for those that it has not begun, once it had time to say so.
  const bool said = !idle_timer_.pending();
  if (!sent_.empty() && !said) return;
  closing_ = true;
  idle_timer_.cancel();
  if (can_keep()) return hand_over();
  child_->close_input();
  stopping_timer_.set(exit_ms, [this] { child_->stop(); });
}

bool ClaudeTurn::can_keep() const {
  // A limit of the processor's time is each run's own. What it begins by itself in the moment before the next turn must
  // not pass for the answer to that one's message: so it has to say which message it works at.
  return holder_.keeps() && lifecycle_ && sent_.empty() && asks_.empty() && request_.task->launch.limits.cpu_s <= 0 &&
         outcome_of(*last_).kind == Outcome::Kind::completed;
}

// The turn is over, and its program waits for the next one.
void ClaudeTurn::hand_over() {
  std::vector<Report> last;
  translator_.close(last);
  if (!last.empty()) report(std::move(last));
  Outcome how = outcome_of(*last_);
  over_ = true;
  cancel_timers();
  child_.reset();
  holder_.keep(*request_.task, {.run = run_,
                                .next = next_,
                                .key = beginning_.key,
                                .state = {},
                                .cpu_s = cpu_from_ + cpu_s_,
                                .busy = shells_ > 0,
                                .begun = told_ ? 0 : begun_});
  sink_.ended(std::move(how));
}

void ClaudeTurn::stop() {
  if (over_ || std::exchange(stopping_, true)) return;
  if (preparing_) {
    over_ = true;
    cancel_timers();
    return sink_.ended({.kind = Outcome::Kind::stopped});
  }
  if (!running_ || !working_ || until_) return child_->stop();
  // It ends its tools itself, and writes down how far it came.
  if (!child_->write(interrupt_line("stop"))) return child_->stop();
  stopping_timer_.set(interrupt_ms, [this] { child_->stop(); });
}

void ClaudeTurn::drop() {
  if (std::exchange(over_, true)) return;
  cancel_timers();
  files_.clear();
  if (child_) child_->drop();
}

void ClaudeTurn::cancel_timers() {
  for (Timer* timer : {&stopping_timer_, &idle_timer_, &settle_timer_, &limit_timer_, &again_timer_}) timer->cancel();
}

Outcome ClaudeTurn::outcome(const lines::End& end) const {
  if (stopping_) return {.kind = Outcome::Kind::stopped};
  if (refused_) return *refused_;
  if (last_ && !working_ && !until_) return outcome_of(*last_);
  return outcome_of(end);
}

void ClaudeTurn::ended(const lines::End& end) {
  if (over_) return;
  if (std::exchange(kept_, false) && !stopping_) {
    run_ = beginning_.spawn.run;
    next_ = 0;
    cpu_from_ = 0;
    lifecycle_ = false;
    begun_ = 0;
    child_ = holder_.child(*request_.task, run_, *this);
    return prepare();
  }
  std::vector<Report> last;
  if (std::exchange(until_, {})) last.emplace_back(report::GoesOn{});
  translator_.close(last);
  if (end.how == lines::End::How::ended && end.run.how != process::RunEnd::How::lost) {
    cpu_s_ = std::max(cpu_s_, end.run.cpu_s - cpu_from_);
    last.emplace_back(report::Resources{cpu_s_, end.run.max_memory_bytes, false});
  }
  Outcome how = outcome(end);
  report(std::move(last));
  over_ = true;
  cancel_timers();
  sink_.ended(std::move(how));
}

void ClaudeTurn::used(const process::RunUsage& usage) {
  if (over_ || usage.cpu_s - cpu_from_ <= cpu_s_) return;
  cpu_s_ = usage.cpu_s - cpu_from_;
  report({report::Resources{cpu_s_, usage.memory_bytes, false}});
}

// The program itself never sleeps quite, so what it uses says nothing; but it says something every half minute while a
// tool is at work.
void ClaudeTurn::probe() {
  if (over_ || until_) return;
  if (std::exchange(alive_, false)) return report({report::Alive{}});
  report({report::Still{"Claude Code says nothing"}});
}

}  // namespace errand::claude

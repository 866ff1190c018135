#include "driver/watched/watched_turn.h"

#include <utility>

#include "base/beside.h"
#include "base/log.h"

namespace errand::watched {
namespace {

constexpr Millis look_ms = 1'000;

// Work that is left out where its owner is gone.
template <class F>
auto guarded(const Alive& alive, F work) {
  return [here = alive.watch(), work = std::move(work)](auto&&... values) mutable {
    if (!here.gone()) work(std::forward<decltype(values)>(values)...);
  };
}

Outcome failed_with(TaskError error) {
  Outcome failed{.kind = Outcome::Kind::failed};
  failed.error = std::move(error);
  return failed;
}

// As what runs in the work tree knows it.
std::shared_ptr<Task> in_its_folder(const Task& task, const std::optional<Isolation>& isolation) {
  auto moved = std::make_shared<Task>(task);
  moved->isolation = isolation;
  moved->launch.work_dir = folder_of(*moved);
  return moved;
}

}  // namespace

WatchedTurn::WatchedTurn(Driver& inner, const WatchParts& parts, Watch watch, TurnRequest request, Sink& sink)
    : inner_(inner),
      parts_(parts),
      watch_(watch),
      request_(std::move(request)),
      sink_(sink),
      isolate_(request_.task->launch.isolate == Isolate::worktree),
      run_(request_.task->run),
      reattach_(request_.reattach),
      mark_(request_.task->checkpoint),
      isolation_(request_.task->isolation),
      patience_(parts.timers) {
  parts_.orders.begin_turn(request_.task->id);
}

WatchedTurn::~WatchedTurn() {
  // One that is over may be destroyed when the task's next turn is at work already.
  if (state_ != State::over) parts_.orders.end_turn(request_.task->id);
}

void WatchedTurn::start() {
  const bool prepared = isolation_ && isolation_->state != "preparing" && !isolation_->work_dir.empty();
  // The real turn is opened only when it is stored that the work tree is ready: it cannot have begun.
  if (isolate_ && !prepared) {
    const bool made = reattach_ && isolation_ && !isolation_->work_dir.empty();
    reattach_ = false;
    const auto anew = [this] {
      set_up_.reset();
      const bool clone = request_.task->launch.sandbox != Sandbox::off;
      isolated(Isolation{.kind = clone ? "clone" : "worktree", .state = "preparing", .path = {}});
      begin();
    };
    if (!made || request_.task->launch.isolate_setup.empty()) return anew();
    // Its set-up command may be at work there.
    set_up_ = make_set_up();
    return set_up_->take_up(guarded(alive_, anew));
  }
  // A start snapshot that is taken now would have what the turn did before the server went.
  if (reattach_)
    return parts_.orders.hear(request_.task->id, key("begin"), guarded(alive_, [this](Result<ChangesAnswer> heard) {
                                if (heard) return begun(std::move(heard));
                                watched_ = true;
                                open_inner();
                              }));
  if (isolate_ || watch_ == Watch::folders) return begin();
  look_then_begin();
}

// A folder that does not answer is not waited for: the turn begins without a snapshot.
void WatchedTurn::look_then_begin() {
  patience_.set(look_ms, [this] {
    if (state_ != State::preparing) return;
    stopping_ ? over({.kind = Outcome::Kind::stopped}) : open_inner();
  });
  run_then(parts_.folders, parts_.engine, alive_.watch(), parts_.orders.look_at(request_.task->launch.work_dir),
           [this](bool is_repository) {
             if (state_ != State::preparing || !patience_.pending()) return;
             patience_.cancel();
             if (stopping_) return over({.kind = Outcome::Kind::stopped});
             is_repository ? begin() : open_inner();
           });
}

void WatchedTurn::begin() {
  parts_.orders.carry_out(*request_.task, "begin", key("begin"),
                          guarded(alive_, [this](Result<ChangesAnswer> answer) { begun(std::move(answer)); }));
}

void WatchedTurn::begun(Result<ChangesAnswer> answer) {
  if (state_ != State::preparing) return;
  // What may have begun before is opened, to be stopped.
  if (stopping_) return reattach_ ? open_inner() : unprepare({.kind = Outcome::Kind::stopped});
  const std::optional<Error> error =
      !answer ? std::optional(answer.error()) : (answer->refused ? answer->refused : std::nullopt);
  if (isolate_ && (error || !answer->isolation)) {
    Outcome failed = failed_with({"isolation", error ? error->message : "The task's own work tree was not made.", {}});
    const bool halfway = !answer || (answer->isolation && answer->isolation->state == "preparing");
    if (halfway && !reattach_) return unprepare(std::move(failed));
    if (answer) isolated(answer->isolation);
    return over(std::move(failed));
  }
  watched_ = !error && answer->reply.contains("\"watched\":true");
  if (!isolate_) {
    if (error) log_warning("changes", "no start snapshot of " + request_.task->id.value + ": " + error->message);
    return open_inner();
  }
  // A turn that was at work when the server went is behind its set-up.
  if (!reattach_ && answer->reply.contains("\"set_up\":true")) {
    answer->isolation->state = "preparing";
    isolated(std::move(answer->isolation));
    return when_isolated(&WatchedTurn::set_up);
  }
  isolated(std::move(answer->isolation));
  when_isolated(&WatchedTurn::open_inner);
}

void WatchedTurn::when_isolated(void (WatchedTurn::*then)()) {
  storing_ = true;
  sink_.when_stored(guarded(alive_, [this, then] {
    if (std::exchange(storing_, false)) (this->*then)();
  }));
}

std::unique_ptr<SetUp> WatchedTurn::make_set_up() {
  return std::make_unique<SetUp>(SetUpParts{.supervisor = parts_.supervisor,
                                            .folders = parts_.folders,
                                            .engine = parts_.engine,
                                            .options = parts_.options,
                                            .open_journal = parts_.orders.open_journal()},
                                 in_its_folder(*request_.task, isolation_),
                                 [this](std::optional<TaskError> error) { was_set_up(std::move(error)); });
}

void WatchedTurn::set_up() {
  set_up_ = make_set_up();
  set_up_->start();
}

void WatchedTurn::was_set_up(std::optional<TaskError> error) {
  const std::unique_ptr<SetUp> done = std::move(set_up_);  // It calls this.
  if (state_ != State::preparing) return;
  if (stopping_) return unprepare({.kind = Outcome::Kind::stopped});
  if (error) return unprepare(failed_with(std::move(*error)));
  parts_.orders.carry_out(*request_.task, "ready", key("ready"), guarded(alive_, [this](Result<ChangesAnswer> answer) {
    if (state_ != State::preparing) return;
    if (stopping_) return unprepare({.kind = Outcome::Kind::stopped});
    const std::optional<Error> refused = !answer ? std::optional(answer.error()) : answer->refused;
    if (refused) return unprepare(failed_with({"isolation", refused->message, {}}));
    isolated(std::move(answer->isolation));
    when_isolated(&WatchedTurn::open_inner);
  }));
}

// What is whole stays for a retry.
void WatchedTurn::unprepare(Outcome outcome) {
  if (!isolate_) return over(std::move(outcome));
  parts_.orders.carry_out(
      *request_.task, "settle", key("settle"),
      guarded(alive_, [this, outcome = std::move(outcome)](const Result<ChangesAnswer>& settled) mutable {
        if (state_ != State::preparing) return;
        if (settled) isolated(settled->isolation);
        over(std::move(outcome));
      }));
}

void WatchedTurn::open_inner() {
  state_ = State::working;
  patience_.cancel();
  TurnRequest request = std::move(request_);
  request_.task = request.task;  // Its id is still asked for.
  request.reattach = reattach_;
  if (isolate_) {
    auto moved = in_its_folder(*request.task, isolation_);
    moved->checkpoint = mark_;
    request.task = std::move(moved);
  }
  Result<std::unique_ptr<Turn>> turn = inner_.open(std::move(request), *this);
  if (!turn) {
    return ended(failed_with({"spawn_failed", turn.error().message, {}}));
  }
  turn_ = std::move(*turn);
  if (state_ == State::working && stopping_) return turn_->stop();
  for (const Answer& given : std::exchange(answers_, {}))
    if (state_ == State::working) turn_->answer(given.request_id, given.decision, given.message);
  if (state_ == State::working && lifted_) turn_->lift_quota();
}

Status WatchedTurn::send(const Message& message) {
  if (state_ == State::working && turn_) return turn_->send(message);
  // It is given with those that the turn begins with; behind its end it makes the next one.
  if (state_ != State::preparing || stopping_) return fail(Code::conflict, "The turn is over.");
  for (const Message& known : request_.messages)
    if (known.id == message.id) return {};
  request_.messages.push_back(message);
  return {};
}

void WatchedTurn::answer(const std::string& request_id, const std::string& decision, const std::string& message) {
  if (turn_) return turn_->answer(request_id, decision, message);
  if (state_ == State::preparing) answers_.push_back({request_id, decision, message});
}

bool WatchedTurn::lift_quota() {
  if (turn_) return turn_->lift_quota();
  if (state_ != State::preparing || stopping_) return false;
  lifted_ = true;
  return true;
}

void WatchedTurn::stop() {
  stopping_ = true;
  if (state_ == State::working && turn_) return turn_->stop();
  if (state_ != State::preparing) return;
  // Of a task that was removed nothing is stored any more: nobody would call.
  if (std::exchange(storing_, false)) return reattach_ ? open_inner() : unprepare({.kind = Outcome::Kind::stopped});
  if (set_up_) return set_up_->stop();
  parts_.orders.stop(request_.task->id, key("begin"));
}

void WatchedTurn::drop() {
  if (state_ == State::preparing && set_up_) set_up_->stop();
  if (state_ == State::preparing) parts_.orders.stop(request_.task->id, key("begin"));
  if (state_ == State::working && turn_) turn_->drop();
  if (std::exchange(state_, State::over) != State::over) parts_.orders.end_turn(request_.task->id);
}

void WatchedTurn::probe() {
  if (state_ == State::working && turn_) return turn_->probe();
  // The supervisor holds the deadline of an order.
  if (state_ == State::preparing || state_ == State::finishing) sink_.report({report::Alive{}}, mark_);
}

void WatchedTurn::report(std::vector<Report> reports, std::string checkpoint) {
  mark_ = checkpoint;
  sink_.report(std::move(reports), std::move(checkpoint));
}

void WatchedTurn::ended(Outcome outcome) {
  if (state_ != State::working) return;
  state_ = State::finishing;
  outcome_ = std::move(outcome);
  if (!isolate_ && !watched_) return over(std::move(outcome_));
  parts_.orders.carry_out(*request_.task, "finish", key("finish"),
                          guarded(alive_, [this](const Result<ChangesAnswer>& answer) { finished(answer); }));
}

void WatchedTurn::finished(const Result<ChangesAnswer>& answer) {
  if (state_ != State::finishing) return;
  const std::optional<Error> error = !answer ? std::optional(answer.error()) : answer->refused;
  if (answer && answer->isolation) isolated(answer->isolation);
  if (error && error->reason != "no_changes")
    sink_.report({report::Warning{"changes", "What it changed could not be kept: " + error->message}}, mark_);
  over(std::move(outcome_));
}

void WatchedTurn::isolated(std::optional<Isolation> isolation) {
  isolation_ = isolation;
  sink_.report({report::Isolated{std::move(isolation)}}, mark_);
}

void WatchedTurn::over(Outcome outcome) {
  state_ = State::over;
  parts_.orders.end_turn(request_.task->id);
  sink_.ended(std::move(outcome));
}

}  // namespace errand::watched

#include "tests/simulation/watched_driver.h"

#include <fmt/format.h>

namespace errand::sim {
namespace {

// The turn is open until it says that it has ended; or until it is destroyed, whichever comes first.
class WatchedSink final : public Sink {
 public:
  WatchedSink(TurnWatch& watch, Sink& outer, TaskId task, int run)
      : watch_(watch), outer_(outer), task_(std::move(task)), run_(run) {}
  void report(std::vector<Report> reports, std::string checkpoint) override {
    outer_.report(std::move(reports), std::move(checkpoint));
  }
  void when_stored(Work then) override { outer_.when_stored(std::move(then)); }
  bool has_room() const override { return outer_.has_room(); }
  void when_room(Work then) override { outer_.when_room(std::move(then)); }
  void ended(Outcome outcome) override {
    close();
    outer_.ended(std::move(outcome));
  }
  void close() {
    if (!std::exchange(closed_, true)) watch_.closed(task_, run_);
  }

 private:
  TurnWatch& watch_;
  Sink& outer_;
  const TaskId task_;
  const int run_;
  bool closed_ = false;
};

class WatchedTurn final : public Turn {
 public:
  WatchedTurn(std::unique_ptr<WatchedSink> sink, std::unique_ptr<Turn> inner)
      : sink_(std::move(sink)), inner_(std::move(inner)) {}
  ~WatchedTurn() override {
    inner_.reset();
    sink_->close();
  }
  Status send(const Message& message) override { return inner_->send(message); }
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override {
    inner_->answer(request_id, decision, message);
  }
  bool lift_quota() override { return inner_->lift_quota(); }
  void stop() override { inner_->stop(); }
  void probe() override { inner_->probe(); }
  bool unseen() const override { return inner_->unseen(); }
  void drop() override { inner_->drop(); }

 private:
  std::unique_ptr<WatchedSink> sink_;
  std::unique_ptr<Turn> inner_;
};

// It has ended before it was opened.
class LostTurn final : public Turn {
 public:
  Status send(const Message&) override { return fail(Code::conflict, "It has ended."); }
  void answer(const std::string&, const std::string&, const std::string&) override {}
  void stop() override {}
  void drop() override {}
};

class WatchedDriver final : public Driver {
 public:
  WatchedDriver(Driver& inner, TurnWatch& watch) : inner_(inner), watch_(watch) {}
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Status check(const Launch& launch) const override { return inner_.check(launch); }
  // There is always something to look at: a server may die meanwhile.
  Look look(const Launch&) const override {
    return [] { return Status(); };
  }
  std::string first_mark() const override { return watch_.boot(); }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    const TaskId task = request.task->id;
    const int run = request.task->run;
    bool begins = !request.reattach;
    // Nothing was reported of it: whether it had begun says its folder.
    if (const std::string mark = request.task->checkpoint; mark.starts_with("boot=")) {
      auto bare = std::make_shared<Task>(*request.task);
      bare->checkpoint.clear();
      request.task = std::move(bare);
      if (request.reattach && !watch_.has_folder(task, run)) {
        if (mark != watch_.boot()) {
          sink.ended({.kind = Outcome::Kind::lost});
          return std::make_unique<LostTurn>();
        }
        begins = true;
      }
    }
    watch_.opened(task, run, !begins);
    auto watched = std::make_unique<WatchedSink>(watch_, sink, task, run);
    Result<std::unique_ptr<Turn>> turn = inner_.open(std::move(request), *watched);
    if (!turn) {
      watched->close();
      return turn;
    }
    return std::make_unique<WatchedTurn>(std::move(watched), std::move(*turn));
  }
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    inner_.known_runs(std::move(done));
  }
  void end_run(const TaskId& task, int run) override { inner_.end_run(task, run); }
  void forget(const TaskId& task) override { inner_.forget(task); }
  void server_leaves(bool at_work) override { inner_.server_leaves(at_work); }
  std::string log_path(const TaskId& task, int run) const override { return inner_.log_path(task, run); }

 private:
  Driver& inner_;
  TurnWatch& watch_;
};

}  // namespace

void TurnWatch::opened(const TaskId& task, int run, bool reattach) {
  if (!reattach && !ever_.insert({task, run}).second)
    verdict_.broken(fmt::format("run {} of {} was begun twice", run, task.value));
  folders_.emplace(task, run);
  if (!open_.emplace(task, run).second)
    verdict_.broken(fmt::format("run {} of {} was opened while another turn of it is open", run, task.value));
}

void TurnWatch::power_cut(SeededRandom& random, bool same_boot) {
  std::erase_if(folders_, [&](const auto&) { return random.one_in(2); });
  if (!same_boot) ++boot_;
}

void TurnWatch::closed(const TaskId& task, int run) {
  const auto open = open_.find(task);
  if (open != open_.end() && open->second == run) open_.erase(open);
}

std::unique_ptr<Driver> watch_driver(Driver& inner, TurnWatch& watch) {
  return std::make_unique<WatchedDriver>(inner, watch);
}

}  // namespace errand::sim

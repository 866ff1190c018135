// A driver whose turns do nothing by themselves: the test says what they report, and reads what was done to them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.h"

namespace errand {

struct HandDriver final : Driver {
  struct HandTurn final : Turn {
    explicit HandTurn(HandDriver& of) : driver(of) { ++driver.open_turns; }
    ~HandTurn() override { --driver.open_turns; }
    Status send(const Message& message) override {
      driver.sent.push_back(message.id);
      return {};
    }
    void answer(const std::string&, const std::string&, const std::string&) override {}
    void stop() override {
      ++driver.stops;
      if (driver.answers_stop) driver.sink->ended({.kind = Outcome::Kind::stopped});
    }
    void drop() override { ++driver.drops; }
    HandDriver& driver;
  };

  Capabilities capabilities() const override { return can; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& to) override {
    for (const Message& message : request.messages) to.report({report::Taken{message.id}}, request.task->checkpoint);
    requests.push_back(std::move(request));
    sink = &to;
    if (refuses) return fail(Code::unavailable, "There is no such program.");
    return std::make_unique<HandTurn>(*this);
  }
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override { done(known); }
  void end_run(const TaskId& task, int run) override { ended_runs.emplace(task, run); }
  void forget(const TaskId& task) override { forgotten.insert(task); }

  // --- what it is like
  Capabilities can{.message_while_running = true, .resume = true, .reattach = true};
  bool refuses = false, answers_stop = true;
  std::vector<KnownRun> known;
  // --- what was done
  Sink* sink = nullptr;  // Of the last turn.
  std::vector<TurnRequest> requests;
  std::vector<MessageId> sent;
  int open_turns = 0, stops = 0, drops = 0;
  std::set<std::pair<TaskId, int>> ended_runs;
  std::set<TaskId> forgotten;
};

}  // namespace errand

// What the tests of commands share: a driver over a supervisor in the process, and an ear for what its turns report.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "driver/command/command_driver.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::command {

struct Ear : Sink {
  std::vector<std::vector<Report>> calls;
  std::vector<std::string> checkpoints;
  std::vector<Outcome> outcomes;

  void report(std::vector<Report> batch, std::string checkpoint) override {
    EXPECT_TRUE(outcomes.empty()) << "a report after the end";
    calls.push_back(std::move(batch));
    checkpoints.push_back(std::move(checkpoint));
  }
  void when_stored(Work) override {}  // Nothing here is ever durable.
  bool room = true;
  Work waits;
  bool has_room() const override { return room; }
  void when_room(Work then) override { waits = std::move(then); }
  void make_room() {
    room = true;
    if (Work then = std::exchange(waits, nullptr)) then();
  }
  void ended(Outcome outcome) override { outcomes.push_back(std::move(outcome)); }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const auto& batch : calls)
      for (const Report& any : batch)
        if (const T* one = std::get_if<T>(&any)) out.push_back(*one);
    return out;
  }
  std::string text() const {
    std::string out;
    for (const auto& output : all<report::Output>()) out += output.text;
    return out;
  }
};

struct Posted : Executor {
  std::vector<Work> works;
  void post(Work work) override { works.push_back(std::move(work)); }
};

struct CommandDriverTest : testing::Test {
  TestFolder folder;
  const std::string& data_dir = folder.path();
  ManualClock clock;
  TimerQueue timers{clock};
  test::FakeSupervisor supervisor{timers};
  Posted background;
  run::Options options;
  std::unique_ptr<Driver> driver;
  Ear ear;
  Task task;
  const std::string run = "task_1.3";

  CommandDriverTest() {
    task.id = TaskId("task_1");
    task.session_id = SessionId("ses_1");
    task.run = 3;
    task.launch.kind = TaskKind::command;
    task.launch.command = "work";
    task.launch.work_dir = data_dir;
    options = {.data_dir = data_dir,
               .environment = {"PATH=/bin", "API_KEY=secret"},
               .open_journal = [this](const std::string& name) { return supervisor.journal(name); }};
    make_driver();
  }
  void make_driver() { driver = make_command_driver(options, {supervisor, timers, background}); }

  std::unique_ptr<Turn> open(bool reattach = false, std::vector<Message> messages = {}) {
    auto turn = driver->open(
        {.task = std::make_shared<Task>(task), .messages = std::move(messages), .history = {}, .reattach = reattach},
        ear);
    EXPECT_TRUE(turn) << turn.error().message;
    pass(0);
    return *std::move(turn);
  }
  void pass(Millis ms) {
    const Time end = clock.steady() + ms;
    while (timers.next_due() && timers.next_due() <= end) {
      clock.advance(std::max<Millis>(timers.next_due() - clock.steady(), 0));
      timers.run_due();
    }
    clock.advance(end - clock.steady());
  }
  const Outcome& outcome() {
    EXPECT_EQ(ear.outcomes.size(), 1u);
    return ear.outcomes.at(0);
  }
  // What the engine asks before it stores the launch.
  Status checked() const {
    const Status checked = driver->check(task.launch);
    return checked ? driver->look(task.launch)() : checked;
  }
  Error refused() {
    const Status status = checked();
    EXPECT_FALSE(status);
    return status ? Error{} : status.error();
  }
};

}  // namespace errand::command

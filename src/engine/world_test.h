// A small world for engine tests: everything on one hand-turned clock, nothing on disk.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "base/hand_executor.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "store/faulty.h"
#include "store/memory/memory_store.h"

namespace errand {

struct World {
  explicit World(EngineSettings with = {}, std::map<std::string, Driver*> more = {})
      : settings(std::move(with)), more_drivers(std::move(more)) {
    settings.default_work_dir = "/tmp";
    start();
  }

  void start() {
    store = make_faulty(open_memory_store(disk, loop), loop,
                        {.commit = [this](const auto&) { return std::exchange(commit_fault, Fault::none); },
                         .read = [this] { return read_fault ? read_fault() : std::optional<Error>(); }});
    timers = std::make_unique<TimerQueue>(clock);
    demo = fake::make_demo_driver(*timers);
    // Two agents that do what `scripts` says for a prompt: one goes on in the message that was open when the server
    // died, as a process would; the turns of the other live in the server.
    const auto script = [this](const fake::Prompt& prompt) {
      const auto known = scripts.find(prompt.text);
      return known == scripts.end() ? fake::Script().say("Done.") : known->second;
    };
    scripted = std::make_unique<fake::FakeDriver>(*timers, fake::FakeOptions{.script = script});
    fake::FakeOptions inside{.script = script, .stop_ms = stop_ms};
    inside.capabilities.keeps_message = false;
    in_server = std::make_unique<fake::FakeDriver>(*timers, std::move(inside));
    std::map<std::string, Driver*> drivers = more_drivers;
    drivers.insert({{"demo", demo.get()}, {"script", scripted.get()}, {"in_server", in_server.get()}});
    std::vector<Agent> agents;
    for (const auto& [name, driver] : drivers) agents.push_back({.id = name, .name = name, .driver = name});
    engine = make_engine({.store = *store,
                          .loop = loop,
                          .readers = readers,
                          .clock = clock,
                          .random = random,
                          .drivers = std::move(drivers),
                          .agents = std::move(agents),
                          .wake_at = {},
                          .faults = {},
                          .pinned = pinned},
                         settings);
    bool ready = false;
    engine->recover([&](Result<void> recovered) { ready = recovered.has_value(); });
    settle();
    EXPECT_TRUE(ready);
  }

  // As kill -9: what is in memory is gone, what was stored stays.
  void crash() {
    engine.reset();
    demo.reset();
    scripted.reset();
    in_server.reset();
    timers.reset();
    store.reset();
    loop = HandExecutor();
    readers = HandExecutor();
    start();
  }

  void settle() {
    while (loop.run_one() || readers.run_one()) {
    }
  }

  void advance(Millis span, Millis step = 10) {
    for (Millis done = 0; done < span; done += step) {
      clock.advance(step);
      timers->run_due();
      engine->tick();
      settle();
    }
  }

  template <class T, class Call>
  Result<T> ask(Call call) {
    std::optional<Result<T>> answer;
    call(Reply<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    settle();
    if (!answer) return fail(Code::internal, "no answer");
    return *answer;
  }

  Task launch(std::string prompt, std::function<void(Launch&)> more = {}) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = std::move(prompt);
    if (more) more(launch);
    Result<TaskView> made =
        ask<TaskView>([&](auto reply) { engine->tasks().launch(launch, {}, {}, std::move(reply)); });
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? made->task : Task{};
  }
  Task get(const TaskId& id) {
    Result<Task> task = store->get(id);
    EXPECT_TRUE(task) << (task ? "" : task.error().message);
    return task ? *task : Task{};
  }
  // Why it failed; of one that did not, nothing.
  TaskError error(const TaskId& id) {
    const Task task = get(id);
    EXPECT_TRUE(task.error) << "it is " << name(task.state);
    return task.error.value_or(TaskError{});
  }
  Task run_script(std::string prompt, fake::Script script, std::function<void(Launch&)> more = {}) {
    scripts[prompt] = std::move(script);
    return launch(prompt, [&](Launch& launch) {
      launch.agent_id = "script";
      if (more) more(launch);
    });
  }
  std::vector<Message> messages(const TaskId& id) { return store->messages(get(id).session_id, 0, 0, 500)->messages; }
  bool has_event(const TaskId& id, EventType type, std::string_view words = {}) {
    for (const Event& event : *store->events_after(id, 0, 10'000))
      if (event.type == type && event.data.find(words) != std::string::npos) return true;
    return false;
  }
  bool run_until(const std::function<bool()>& done, Millis most = 60'000) {
    for (Millis spent = 0; spent < most && !done(); spent += 10) advance(10);
    return done();
  }
  bool run_to_rest(const TaskId& id) {
    return run_until([&] { return !at_work(get(id).state); });
  }
  std::vector<std::string> event_names(const TaskId& id) {
    std::vector<std::string> names;
    for (const Event& event : *store->events_after(id, 0, 10'000)) names.emplace_back(name(event.type));
    return names;
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop, readers;
  std::shared_ptr<MemoryDisk> disk = make_memory_disk();
  EngineSettings settings;
  std::map<std::string, Driver*> more_drivers;  // An agent of the same name for each.
  std::vector<std::string> pinned;
  Millis stop_ms = 0;                // How long a turn of the agent `in_server` takes to stop, from the next start on.
  Fault commit_fault = Fault::none;  // Of the next group of commits.
  std::function<std::optional<Error>()> read_fault;  // What the store answers instead of a read.
  std::unique_ptr<Store> store;
  std::unique_ptr<TimerQueue> timers;
  std::map<std::string, fake::Script> scripts;  // By prompt.
  std::unique_ptr<fake::FakeDriver> demo, scripted, in_server;
  std::unique_ptr<Engine> engine;
};

}  // namespace errand

// A small world for engine tests: everything on one hand-turned clock, nothing on disk.
#pragma once

#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "store/memory/memory_store.h"

namespace errand {

// Runs what is posted when it is told to.
class HandExecutor final : public Executor {
 public:
  void post(Work work) override { queue_.push_back(std::move(work)); }
  bool run_one() {
    if (queue_.empty()) return false;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    work();
    return true;
  }

 private:
  std::deque<Work> queue_;
};

struct World {
  explicit World(EngineSettings with = {}) : settings(std::move(with)) {
    settings.default_work_dir = "/tmp";
    start();
  }

  void start() {
    store = open_memory_store(disk, loop);
    timers = std::make_unique<TimerQueue>(clock);
    demo = fake::make_demo_driver(*timers);
    engine = make_engine({.store = *store,
                          .loop = loop,
                          .readers = readers,
                          .clock = clock,
                          .random = random,
                          .drivers = {{"demo", demo.get()}},
                          .agents = {{.id = "demo", .name = "demo", .driver = "demo"}}},
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
    call(Reply<T>([&](Result<T> result) { answer = std::move(result); }));
    settle();
    if (!answer) return fail(Code::internal, "no answer");
    return *answer;
  }

  Task launch(std::string prompt, std::function<void(Launch&)> more = {}) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = std::move(prompt);
    if (more) more(launch);
    Result<TaskView> made = ask<TaskView>([&](auto reply) { engine->launch(launch, {}, {}, std::move(reply)); });
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? made->task : Task{};
  }
  Task get(const TaskId& id) {
    Result<Task> task = store->get(id);
    EXPECT_TRUE(task) << (task ? "" : task.error().message);
    return task ? *task : Task{};
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
  std::unique_ptr<Store> store;
  std::unique_ptr<TimerQueue> timers;
  std::unique_ptr<fake::FakeDriver> demo;
  std::unique_ptr<Engine> engine;
};

}  // namespace errand

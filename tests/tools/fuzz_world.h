// A world for fuzzers: an engine in memory with four tasks of the session ses_a, on one hand-turned clock. It is used
// for some hundred calls and then thrown away, so that what they leave stays small.
#pragma once

#include <memory>
#include <string>

#include "base/hand_executor.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "store/memory/memory_store.h"
#include "tools/toolbox.h"

namespace errand::tools {

struct FuzzWorld {
  FuzzWorld() {
    engine->recover([](Result<void>) {});
    loop.run();
    for (const char* prompt : {"noop", "fail", "permission", "long 30"}) {
      Launch launch;
      launch.agent_id = "demo";
      launch.prompt = prompt;
      launch.parent_session_id = SessionId("ses_a");
      launch.batch_id = BatchId("batch_a");
      engine->tasks().launch(std::move(launch), {}, {}, [this](const Result<TaskView>& view) {
        if (view) task = view->task.id.value;
      });
    }
    pass(200);
  }
  void pass(Millis span) {
    loop.run();
    clock.advance(span);
    timers.run_due();
    engine->tick();
    loop.run();
  }

  ManualClock clock;
  SeededRandom random{1};
  HandExecutor loop;
  std::unique_ptr<Store> store = open_memory_store(make_memory_disk(), loop);
  TimerQueue timers{clock};
  std::unique_ptr<fake::FakeDriver> demo = fake::make_demo_driver(timers);
  std::unique_ptr<Engine> engine = make_engine({.store = *store,
                                                .loop = loop,
                                                .readers = loop,
                                                .clock = clock,
                                                .random = random,
                                                .drivers = {{"demo", demo.get()}, {"command", demo.get()}},
                                                .agents = {{.id = "command", .name = "command", .driver = "command"},
                                                           {.id = "demo", .name = "demo", .driver = "demo"}}},
                                               {.default_work_dir = "/"});
  Toolbox toolbox{{.engine = *engine, .store = *store, .loop = loop, .readers = loop, .clock = clock}};
  std::string task;  // The last of them.
  int calls = 0;
};

// The world for the next call.
template <class World>
World& next_world() {
  static std::unique_ptr<World> world;
  if (!world || ++world->calls > 200) world = std::make_unique<World>();
  return *world;
}

}  // namespace errand::tools

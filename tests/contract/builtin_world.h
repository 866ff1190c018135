// The built-in agent with a scripted model and scripted tools.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "driver/builtin/builtin_driver.h"
#include "driver/builtin/scripted_test.h"
#include "tests/contract/timed_world.h"

namespace errand::test {

class BuiltinWorld : public TimedWorld {
 public:
  BuiltinWorld() { restart(); }

  Driver& driver() override { return *driver_; }
  // With the tools of `deeds`.
  void restart() final {
    driver_.reset();
    tools = std::make_unique<builtin::test::ScriptedTools>(timers, clock, ground, background);
    for (const auto& [name, deed] : deeds) tools->add(name, deed);
    driver_ = builtin::make_builtin_driver(*builtin::ModelDirectory::make({setup}, {}), {.models = models,
                                                                                         .tools = *tools,
                                                                                         .timers = timers,
                                                                                         .clock = clock,
                                                                                         .random = random_,
                                                                                         .loop = loop_,
                                                                                         .background = background});
  }
  int left_behind() override { return models.live() + tools->live() + ground.alive(clock.steady()); }
  Launch speaks() override { return launch("speaks"); }
  Launch goes_on() override { return launch("goes_on"); }
  Launch fails() override { return launch("fails"); }
  static Launch launch(std::string prompt) { return agent_launch("builtin", std::move(prompt)); }

  builtin::ModelSetup setup{.base_url = "http://127.0.0.1:1", .model = "m", .options = {{"context_tokens", "100000"}}};
  std::map<std::string, builtin::test::Deed> deeds;
  builtin::test::Ground ground;
  builtin::test::ScriptedModels models{timers};
  builtin::test::InlineExecutor background{timers};
  std::unique_ptr<builtin::test::ScriptedTools> tools;

 private:
  SeededRandom random_{7};
  builtin::test::InlineExecutor loop_{timers};
  std::unique_ptr<Driver> driver_;
};

}  // namespace errand::test

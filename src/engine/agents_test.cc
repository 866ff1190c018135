#include "engine/agents.h"

#include <gtest/gtest.h>

#include "driver/fake/demo.h"
#include "engine/engine.h"

namespace errand {
namespace {

struct Demo {
  ManualClock clock;
  TimerQueue timers{clock};
  std::unique_ptr<fake::FakeDriver> demo = fake::make_demo_driver(timers);
};

TEST(Agents, AreFoundByTheirIdBeforeTheirName) {
  const Demo with;
  Agents agents({{"demo", with.demo.get()}}, {{.id = "agent_1", .name = "demo", .driver = "demo"},
                                              {.id = "demo", .name = "other", .driver = "demo"}});
  EXPECT_EQ(agents.find("demo")->name, "other");
  EXPECT_EQ(agents.find("other")->id, "demo");
  EXPECT_EQ(agents.find("nobody"), nullptr);
  Task task;
  task.launch.agent_id = "agent_1";
  EXPECT_EQ(agents.driver_of(task), with.demo.get());
  task.launch.agent_id = "nobody";
  EXPECT_EQ(agents.driver_of(task), nullptr);
}

TEST(Agents, HaveNamesOfTheirOwnAndDriversThatAreHere) {
  const Demo with;
  Agents agents({{"demo", with.demo.get()}, {"command", with.demo.get()}},
                {{.id = "demo", .name = "demo", .driver = "demo"},
                 {.id = "gone", .name = "gone", .driver = "gone", .unavailable = "it is not installed"}});
  EXPECT_EQ(agents.usable(), "demo");
  EXPECT_EQ(agents.check({.name = "demo", .driver = "demo"}, "").error().reason, "agent_exists");
  EXPECT_TRUE(agents.check({.name = "demo", .driver = "demo"}, "demo")) << "it is the one itself";
  for (const char* driver : {"command", "nothing"})
    EXPECT_EQ(agents.check({.name = "new", .driver = driver}, "").error().reason, "unknown_driver");
  EXPECT_TRUE(agents.check({.name = "new", .driver = "demo"}, ""));
}

TEST(Agents, ThatWereGivenOutStayAsTheyAre) {
  const Demo with;
  Agents agents({{"demo", with.demo.get()}}, {});
  agents.use({.id = "agent_1", .name = "coder", .driver = "demo", .model = "small"});
  const auto before = agents.find("coder");
  agents.use({.id = "agent_1", .name = "coder", .driver = "demo", .model = "large"});
  EXPECT_EQ(before->model, "small");
  EXPECT_EQ(agents.find("coder")->model, "large");
  EXPECT_EQ(agents.all().size(), 1u) << "in the place of the other";
  agents.drop("agent_1");
  EXPECT_EQ(agents.find("coder"), nullptr);
}

TEST(Agents, R1_7_LimitThemselvesAndAreLimitedByTheirNames) {
  const Demo with;
  Agents agents({{"demo", with.demo.get()}}, {});
  agents.use({.id = "agent_1", .name = "coder", .driver = "demo", .max_concurrent = 7});
  EngineSettings settings;
  EXPECT_EQ(agents.limits(settings).per_agent.at("agent_1"), 7);
  settings.max_per_agent["coder"] = 2;
  EXPECT_EQ(agents.limits(settings).per_agent.at("agent_1"), 2) << "what the server says wins";
}

}  // namespace
}  // namespace errand

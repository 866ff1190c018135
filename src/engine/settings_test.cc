// Agents and settings that are changed while the server runs.
#include <algorithm>

#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

using fake::Script;

Result<Agent> put(World& world, std::string id, Agent agent) {
  return world.ask<Agent>([&](auto reply) { world.engine->administration().put_agent(id, agent, std::move(reply)); });
}

Agent reviewer() {
  Agent agent{.name = "reviewer", .driver = "script", .model = "m", .builtin = false};
  agent.permission = Permission::deny;
  agent.permission_rules = {{"bash", "git *", Permission::allow}};
  agent.prompt = "You review.";
  agent.tools = {"read"};
  agent.budget.tool_calls = 7;
  agent.limits = {.memory_bytes = 1'000'000, .output_bytes = 5'000};
  agent.enable_mcp = true;
  agent.options = {{"effort", "high"}};
  return agent;
}

TEST(Agents, AreUsedAtOnceAndKeptOverRestarts) {
  World world;
  const Result<Agent> made = put(world, {}, reviewer());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->id.starts_with("agent_"));
  Agent expected = reviewer();
  expected.id = made->id;
  EXPECT_EQ(*made, expected);
  for (int i = 0; i < 2; ++i) {
    const std::vector<Agent> agents = world.engine->administration().agents();
    EXPECT_EQ(std::ranges::count(agents, expected), 1);
    const Task task = world.run_script("x", Script().say("ok"), [](Launch& l) { l.agent_id = "reviewer"; });
    EXPECT_EQ(task.launch.agent_id, made->id);
    EXPECT_EQ(task.launch.permission, Permission::deny);
    EXPECT_EQ(task.launch.permission_rules, expected.permission_rules);
    EXPECT_EQ(task.launch.budget.tool_calls, 7);
    EXPECT_EQ(task.launch.limits, expected.limits);
    EXPECT_EQ(agent_name(task.launch), "reviewer");
    EXPECT_EQ(task.launch.model, "m");
    EXPECT_TRUE(task.launch.enable_mcp);
    ASSERT_TRUE(world.run_to_rest(task.id));
    EXPECT_EQ(world.get(task.id).state, TaskState::completed);
    world.crash();
  }
}

TEST(Agents, LimitTheirProcessesWhereALaunchSaysLess) {
  World world;
  ASSERT_TRUE(put(world, {}, reviewer()));
  const Task task = world.run_script("x", Script().say("ok"), [](Launch& launch) {
    launch.agent_id = "reviewer";
    launch.limits = {.cpu_s = 9, .output_bytes = 6'000};
  });
  EXPECT_EQ(task.launch.limits, (Limits{.cpu_s = 9, .memory_bytes = 1'000'000, .output_bytes = 6'000}));
}

TEST(Agents, AreChangedAndRemovedButTheFoundOnes) {
  World world;
  const Agent made = *put(world, {}, reviewer());
  Agent other = reviewer();
  other.model = "other";
  ASSERT_TRUE(put(world, "reviewer", other)) << "by its name";
  EXPECT_EQ(put(world, "demo", other).error().reason, "agent_is_fixed");
  EXPECT_EQ(put(world, "agent_nobody", other).error().code, Code::not_found);
  EXPECT_EQ(put(world, {}, other).error().reason, "agent_exists");
  other.name = "demo";
  EXPECT_EQ(put(world, made.id, other).error().reason, "agent_exists") << "names are unique";
  other.name = "free";
  other.driver = "nothing";
  EXPECT_EQ(put(world, made.id, other).error().reason, "unknown_driver");
  const auto remove = [&](std::string id) {
    return world.ask<void>([&](auto reply) { world.engine->administration().remove_agent(id, std::move(reply)); });
  };
  EXPECT_EQ(remove("demo").error().reason, "agent_is_fixed");
  EXPECT_TRUE(remove(made.id));
  EXPECT_EQ(remove(made.id).error().code, Code::not_found);
  world.crash();
  EXPECT_EQ(std::ranges::count(world.engine->administration().agents(), "reviewer", &Agent::name), 0);
}

TEST(Agents, AtMostSoManyOfOneWorkAtOnce) {
  World world({.max_concurrent = 10});
  Agent narrow = reviewer();
  narrow.max_concurrent = 1;
  ASSERT_TRUE(put(world, {}, narrow));
  const auto as_reviewer = [](Launch& l) { l.agent_id = "reviewer"; };
  const Task first = world.run_script("hang", Script().hang(), as_reviewer);
  const Task second = world.run_script("hang", Script().hang(), as_reviewer);
  EXPECT_EQ(world.get(first.id).state, TaskState::running);
  EXPECT_EQ(world.get(second.id).state, TaskState::pending);
}

TEST(Agents, AreMeantByTheirNamesInTheLimits) {
  World world({.max_concurrent = 10, .max_per_agent = {{"reviewer", 1}}});
  ASSERT_TRUE(put(world, {}, reviewer()));
  const auto as_reviewer = [](Launch& l) { l.agent_id = "reviewer"; };
  const Task first = world.run_script("hang", Script().hang(), as_reviewer);
  const Task second = world.run_script("hang", Script().hang(), as_reviewer);
  EXPECT_EQ(world.get(first.id).state, TaskState::running);
  EXPECT_EQ(world.get(second.id).state, TaskState::pending);
}

// `set` takes what it changes.
Result<EngineSettings> change(World& world, const std::function<void(SettingsChange&)>& set) {
  SettingsChange change;
  set(change);
  return world.ask<EngineSettings>(
      [&](auto reply) { world.engine->administration().change_settings(change, std::move(reply)); });
}

TEST(SettingsChanges, LimitOneAgentOrModelAndLetItGoAgain) {
  World world({.max_concurrent = 10});
  ASSERT_TRUE(change(world, [](SettingsChange& to) {
    to.take("max_per_agent").max_per_agent = {{"script", 1}};
    to.take("max_per_model").max_per_model = {{"m", 2}};
  }));
  world.crash();
  EXPECT_EQ(world.engine->administration().settings().max_per_agent, (std::map<std::string, int>{{"script", 1}}));
  EXPECT_EQ(world.engine->administration().settings().max_per_model, (std::map<std::string, int>{{"m", 2}}));
  const auto scripted = [](Launch& l) { l.agent_id = "script"; };
  const Task first = world.run_script("hang", Script().hang(), scripted);
  const Task second = world.run_script("hang", Script().hang(), scripted);
  EXPECT_EQ(world.get(second.id).state, TaskState::pending);
  ASSERT_TRUE(change(world, [](SettingsChange& to) { to.take("max_per_agent").max_per_agent = {}; }));
  EXPECT_EQ(world.get(second.id).state, TaskState::running);
}

TEST(SettingsChanges, HoldAtOnceAndOverRestarts) {
  World world({.max_concurrent = 1});
  const Task first = world.run_script("hang", Script().hang());
  const Task second = world.run_script("hang", Script().hang());
  EXPECT_EQ(world.get(second.id).state, TaskState::pending);
  const Result<EngineSettings> changed = change(world, [](SettingsChange& to) {
    to.take("max_concurrent").max_concurrent = 2;
    to.take("retention_s").retention_ms = 60'000;
    to.take("ask_timeout_s").ask_timeout_ms = 5'000;
    to.take("wake").wake = true;
    to.take("loop_max").loop_max = 9;
    to.take("tools.family").tools_family = "bgagent";
    to.take("fork.tokens").fork.tokens = 5'000;
    to.take("fork.profile").fork.profile = fork::Profile::tiered;
  });
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->max_concurrent, 2);
  EXPECT_EQ(world.get(second.id).state, TaskState::running);
  world.crash();
  const EngineSettings settings = world.engine->administration().settings();
  EXPECT_EQ(settings.max_concurrent, 2);
  EXPECT_EQ(settings.retention_ms, 60'000);
  EXPECT_EQ(settings.ask_timeout_ms, 5'000);
  EXPECT_TRUE(settings.wake);
  EXPECT_EQ(settings.loop_max, 9);
  EXPECT_EQ(settings.tools_family, "bgagent");
  EXPECT_EQ(settings.fork, (fork::Limits{.tokens = 5'000, .profile = fork::Profile::tiered}));
  EXPECT_EQ(settings.idle_timeout_ms, EngineSettings{}.idle_timeout_ms) << "what was not changed";
}

TEST(SettingsChanges, LoseToWhatTheFileOrAFlagSays) {
  World world;
  ASSERT_TRUE(change(world, [](SettingsChange& to) {
    to.take("max_concurrent").max_concurrent = 7;
    to.take("wake").wake = true;
  }));
  world.pinned = {"max_concurrent"};
  world.crash();
  EXPECT_EQ(world.engine->administration().settings().max_concurrent, 3);
  EXPECT_TRUE(world.engine->administration().settings().wake);
  const Result<EngineSettings> refused = change(world, [](SettingsChange& to) {
    to.take("max_concurrent").max_concurrent = 9;
    to.take("wake").wake = false;
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "setting_is_pinned");
  EXPECT_TRUE(world.engine->administration().settings().wake) << "all of it, or nothing";
}

}  // namespace
}  // namespace errand

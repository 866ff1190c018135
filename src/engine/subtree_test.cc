// Tasks that tasks launch: depth, bounds, cancel, budgets, loops, notices.
#include <algorithm>

#include "engine/engine.h"
#include "engine/world_test.h"
#include "task/permission.h"

namespace errand {
namespace {

using fake::Script;

Task child_of(World& world, const Task& parent, std::string prompt, Script script,
              std::function<void(Launch&)> more = {}) {
  return world.run_script(std::move(prompt), std::move(script), [&](Launch& launch) {
    launch.parent_session_id = parent.session_id;
    mark_launched_by_agent(launch);
    if (more) more(launch);
  });
}

Error refused(World& world, const Task& parent, std::function<void(Launch&)> more = {}) {
  Launch launch;
  launch.agent_id = "script";
  launch.prompt = "x";
  launch.parent_session_id = parent.session_id;
  mark_launched_by_agent(launch);
  if (more) more(launch);
  Result<TaskView> made =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().launch(launch, {}, {}, std::move(reply)); });
  EXPECT_FALSE(made);
  return made ? Error{} : made.error();
}

TEST(Subtree, IsAtMostThreeDeep) {
  World world({.max_concurrent = 10});
  Task task = world.run_script("root", Script().hang());
  for (int depth = 1; depth <= 3; ++depth) {
    task = child_of(world, task, "child", Script().hang());
    EXPECT_EQ(task.launch.ancestors.size(), static_cast<size_t>(depth));
  }
  const Error error = refused(world, task);
  EXPECT_EQ(error.code, Code::forbidden);
  EXPECT_EQ(error.reason, "too_deep");
}

TEST(Subtree, AChildWorksWhereItsParentMay) {
  World world({.max_concurrent = 10});
  const Task parent = world.run_script("root", Script().hang(), [](Launch& launch) {
    launch.work_dir = "/srv/project";
    launch.add_dirs = {"/srv/shared/"};
    launch.sandbox = Sandbox::workspace;
  });
  const Task child = child_of(world, parent, "child", Script().hang());
  EXPECT_EQ(child.launch.work_dir, "/srv/project");
  EXPECT_EQ(child.launch.sandbox, Sandbox::workspace);
  EXPECT_EQ(child.launch.bounds.size(), 1u);
  EXPECT_TRUE(child_of(world, parent, "child", Script().hang(), [](Launch& l) { l.work_dir = "/srv/shared/a/.."; }).id);
  for (const std::string folder : {"/srv", "/srv/project2", "/srv/project/../..", "/"})
    EXPECT_EQ(refused(world, parent, [&](Launch& l) { l.work_dir = folder; }).reason, "beyond_parent") << folder;
  EXPECT_EQ(refused(world, parent, [&](Launch& l) { l.add_dirs = {"/etc"}; }).reason, "beyond_parent");
  // What the user launches there has what the user says, and is the task's child all the same.
  const Task users = world.run_script("child", Script().hang(), [&](Launch& launch) {
    launch.parent_session_id = parent.session_id;
    launch.work_dir = "/";
    launch.permission = Permission::allow;
  });
  EXPECT_TRUE(users.launch.bounds.empty());
  EXPECT_EQ(users.launch.ancestors, std::vector{parent.id});
}

TEST(Subtree, ACancelTakesWhatTheTaskLaunchedAndTheirs) {
  World world({.max_concurrent = 10});
  const Task root = world.run_script("root", Script().hang());
  const Task child = child_of(world, root, "child", Script().hang());
  const Task grandchild = child_of(world, child, "child", Script().hang());
  const Task stranger = world.run_script("root", Script().hang());
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(root.id, "user", std::move(reply)); }));
  world.advance(100);
  EXPECT_EQ(world.get(root.id).reason, "cancelled_by_user");
  EXPECT_EQ(world.get(child.id).reason, "cancelled_by_parent");
  EXPECT_EQ(world.get(grandchild.id).reason, "cancelled_by_parent");
  EXPECT_EQ(world.get(stranger.id).state, TaskState::running);
  EXPECT_EQ(refused(world, root).code, Code::conflict) << "nothing new is begun for it";
}

TEST(Subtree, ACancelTakesThemAlsoWhereTheStoreCannotBeReadAtFirst) {
  World world({.max_concurrent = 10});
  const Task root = world.run_script("root", Script().hang());
  const Task child = child_of(world, root, "child", Script().hang());
  world.read_fault = [] { return Error{Code::unavailable, "The disk is away.", "io"}; };
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(root.id, "user", std::move(reply)); }));
  world.advance(2'000);
  world.read_fault = nullptr;
  EXPECT_EQ(world.get(child.id).state, TaskState::running);
  world.advance(2'000);
  EXPECT_EQ(world.get(child.id).reason, "cancelled_by_parent");
}

TEST(Subtree, ACancelHoldsOverACrashBetweenParentAndChild) {
  World world({.max_concurrent = 10});
  const Task root = world.run_script("root", Script().hang());
  const Task child = child_of(world, root, "child", Script().hang());
  // The parent's cancel is stored, and the server dies before it gets to the children.
  Task cancelled = decide(world.get(root.id), input::Cancel{"user"}, world.clock.wall())->after;
  cancelled.version += 1;
  Commit commit{.task_id = root.id, .before_version = cancelled.version - 1, .now = world.clock.wall()};
  commit.after = std::make_shared<const Task>(cancelled);
  world.store->commit({commit}, [](std::vector<Result<Committed>> results) { EXPECT_TRUE(results.front()); });
  world.loop.run_one();
  world.crash();
  world.advance(100);
  EXPECT_EQ(world.get(child.id).reason, "cancelled_by_parent");
}

TEST(Subtree, WhatIsRetriedAfterTheCancelIsLeftAlone) {
  World world({.max_concurrent = 10});
  const Task root = world.run_script("root", Script().hang());
  const Task child = child_of(world, root, "child", Script().hang());
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(root.id, "user", std::move(reply)); }));
  world.advance(100);
  ASSERT_TRUE(world.ask<TaskView>([&](auto reply) { world.engine->tasks().retry(child.id, {}, std::move(reply)); }));
  world.advance(100);
  EXPECT_EQ(world.get(child.id).state, TaskState::running);
  world.crash();
  world.advance(100);
  EXPECT_EQ(world.get(child.id).state, TaskState::running);
}

TEST(Budget, OfTokensEndsTheTask) {
  World world;
  const auto use = [](int64_t tokens) { return Usage{.input_tokens = tokens / 2, .output_tokens = tokens / 2}; };
  const Task task = world.run_script("work", Script().use(use(600)).wait(100).use(use(600)).hang(),
                                     [](Launch& launch) { launch.budget.tokens = 1'000; });
  world.advance(50);
  EXPECT_EQ(world.get(task.id).state, TaskState::running);
  ASSERT_TRUE(world.run_to_rest(task.id));
  EXPECT_EQ(world.error(task.id).code, "budget");
  EXPECT_EQ(world.error(task.id).details, R"({"budget":"tokens","limit":1000,"used":1200})");
}

TEST(Budget, OfCallsTurnsCostAndTimeToo) {
  World world;
  Script calls;
  for (int i = 0; i < 3; ++i) calls.tool({.name = "read", .input = std::to_string(i), .ms = 10});
  calls.hang();
  const Task by_calls = world.run_script("calls", calls, [](Launch& launch) { launch.budget.tool_calls = 2; });
  ASSERT_TRUE(world.run_to_rest(by_calls.id));
  EXPECT_EQ(world.error(by_calls.id).code, "budget");

  const Task by_cost = world.run_script("cost", Script().use({.cost_usd = 0.6}).use({.cost_usd = 0.6}).hang(),
                                        [](Launch& launch) { launch.budget.cost_usd = 1; });
  ASSERT_TRUE(world.run_to_rest(by_cost.id));
  EXPECT_EQ(world.error(by_cost.id).code, "budget");

  const Task by_time =
      world.run_script("time", Script().wait(-1), [](Launch& launch) { launch.budget.wall_ms = 5'000; });
  world.advance(4'000);
  EXPECT_EQ(world.get(by_time.id).state, TaskState::running);
  world.advance(2'000);
  EXPECT_EQ(world.error(by_time.id).code, "budget");

  const Task by_turns = world.run_script("turns", Script().say("one"), [](Launch& launch) { launch.budget.turns = 1; });
  ASSERT_TRUE(world.run_to_rest(by_turns.id));
  EXPECT_EQ(world.get(by_turns.id).state, TaskState::completed);
  ASSERT_TRUE(world.ask<MessageTaken>(
      [&](auto reply) { world.engine->tasks().message(by_turns.id, {.text = "more"}, std::move(reply)); }));
  ASSERT_TRUE(world.run_to_rest(by_turns.id));
  EXPECT_EQ(world.error(by_turns.id).code, "budget");
}

// R4.4: shared with the tasks that it launches, also over a crash.
TEST(Budget, IsSharedWithTheTasksThatItLaunches) {
  for (const bool crash : {false, true}) {
    World world({.max_concurrent = 10});
    const Task root =
        world.run_script("root", Script().use({.input_tokens = 400}).wait(1'000).use({.input_tokens = 1}).hang(),
                         [](Launch& launch) { launch.budget.tokens = 1'000; });
    world.advance(20);
    const Task first = child_of(world, root, "first", Script().use({.output_tokens = 500}).say("Done."));
    ASSERT_TRUE(world.run_to_rest(first.id));
    EXPECT_EQ(world.get(first.id).state, TaskState::completed);
    EXPECT_EQ(first.launch.payers, std::vector{root.id});
    if (crash) world.crash();
    const Task second = child_of(world, root, "second", Script().use({.output_tokens = 101}).hang());
    ASSERT_TRUE(world.run_to_rest(second.id));
    EXPECT_EQ(world.error(second.id).code, "budget") << "with " << (crash ? "a" : "no") << " crash";
    EXPECT_EQ(refused(world, root).reason, "budget") << "nothing is left to launch with";
    ASSERT_TRUE(world.run_to_rest(root.id));
    EXPECT_EQ(world.error(root.id).code, "budget") << "it uses something, too";
  }
}

TEST(Loop, OfEqualCallsIsWarnedOfAndEnded) {
  World world;
  Script script;
  for (int i = 0; i < 6; ++i) script.tool({.name = "read", .input = R"({"path":"a"})", .output = "same", .ms = 10});
  script.hang();
  const Task task = world.run_script("loop", script);
  ASSERT_TRUE(world.run_to_rest(task.id));
  EXPECT_EQ(world.error(task.id).code, "loop");
  EXPECT_EQ(world.get(task.id).progress.tool_calls, 5);
  EXPECT_TRUE(world.has_event(task.id, EventType::task_warning, R"("code":"loop")"));
}

TEST(Loop, IsNoneWhereInputOrResultDiffers) {
  World world;
  Script script;
  for (int i = 0; i < 8; ++i)
    script.tool({.name = "read", .input = R"({"path":"a"})", .output = std::to_string(i), .ms = 10});
  for (int i = 0; i < 8; ++i) script.tool({.name = "read", .input = std::to_string(i), .output = "same", .ms = 10});
  const Task task = world.run_script("no loop", script);
  ASSERT_TRUE(world.run_to_rest(task.id));
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(world.get(task.id).progress.tool_calls, 16);
}

int told(World& world, const Task& parent, const Task& child) {
  int times = 0;
  for (const Message& message : world.messages(parent.id))
    for (const Part& part : message.parts)
      times +=
          part.type == PartType::notice && part.text.find(child.id.value) != std::string::npos && message.completed_at;
  return times;
}

size_t untaken(World& world, const Task& parent) { return world.store->notices(parent.session_id, 0, 100)->size(); }

// R5.5: at work, at its next step.
TEST(OwnNotices, ReachAParentAtWorkOnce) {
  for (const bool crash : {false, true}) {
    World world({.max_concurrent = 10});
    const Task parent = world.run_script("parent", Script().repeat("{n} ", 30, 100));
    const Task child = child_of(world, parent, "child", Script().wait(500).say("the answer"));
    ASSERT_TRUE(world.run_to_rest(child.id));
    if (crash) world.crash();
    ASSERT_TRUE(world.run_until([&] { return told(world, parent, child) == 1; })) << crash;
    EXPECT_EQ(untaken(world, parent), 0u);
    EXPECT_TRUE(world.has_event(child.id, EventType::notice_taken));
    if (crash) world.crash();
    ASSERT_TRUE(world.run_to_rest(parent.id));
    EXPECT_EQ(told(world, parent, child), 1);
    EXPECT_EQ(world.get(parent.id).turn, 1);
  }
}

TEST(OwnNotices, OfATaskAtRestAreKeptForItsNextTurn) {
  World world({.max_concurrent = 10});
  const Task parent = world.run_script("parent", Script().say("launched"));
  const Task child = child_of(world, parent, "child", Script().wait(500).say("the answer"));
  ASSERT_TRUE(world.run_to_rest(parent.id));
  ASSERT_TRUE(world.run_to_rest(child.id));
  world.advance(500);
  EXPECT_EQ(world.get(parent.id).state, TaskState::completed);
  EXPECT_EQ(world.get(parent.id).turn, 1);
  EXPECT_EQ(untaken(world, parent), 1u);
  world.crash();
  ASSERT_TRUE(world.ask<MessageTaken>(
      [&](auto reply) { world.engine->tasks().message(parent.id, {.text = "and?"}, std::move(reply)); }));
  ASSERT_TRUE(world.run_to_rest(parent.id));
  EXPECT_EQ(told(world, parent, child), 1);
  EXPECT_EQ(untaken(world, parent), 0u);
  EXPECT_EQ(world.get(parent.id).turn, 2);
}

TEST(OwnNotices, WakeACompletedTaskWhereTheSettingSaysSo) {
  World world({.max_concurrent = 10, .wake = true});
  const Task parent = world.run_script("parent", Script().say("launched"));
  const Task child = child_of(world, parent, "child", Script().wait(500).say("the answer"));
  ASSERT_TRUE(world.run_to_rest(child.id));
  ASSERT_TRUE(world.run_until([&] { return told(world, parent, child) == 1; }));
  ASSERT_TRUE(world.run_to_rest(parent.id));
  EXPECT_EQ(world.get(parent.id).turn, 2);
  EXPECT_EQ(world.get(parent.id).resume_count, 1);
  world.advance(1'000);
  EXPECT_EQ(world.get(parent.id).turn, 2);
}

TEST(OwnNotices, AreHeldBackWhileItWaitsForItsChildren) {
  World world({.max_concurrent = 10});
  const Task parent = world.run_script(
      "parent", Script().say("go").blocked(WaitKind::children, "Two tasks.", 2'000).repeat("{n} ", 5, 100));
  const Task child = child_of(world, parent, "child", Script().wait(200).say("the answer"));
  ASSERT_TRUE(world.run_to_rest(child.id));
  world.advance(500);
  EXPECT_EQ(world.messages(parent.id).size(), 2u) << "what it waits for tells it itself";
  ASSERT_TRUE(world.run_until([&] { return told(world, parent, child) == 1; })) << "nobody took it: it is told";
}

TEST(OwnNotices, ThatItsToolHasTakenAreNotToldAgain) {
  World world({.max_concurrent = 10});
  const Task parent = world.run_script(
      "parent", Script().say("go").blocked(WaitKind::children, "Two tasks.", 2'000).repeat("{n} ", 5, 100));
  const Task child = child_of(world, parent, "child", Script().wait(200).say("the answer"));
  ASSERT_TRUE(world.run_to_rest(child.id));
  world.advance(100);
  const NoticeId notice = world.store->notices(parent.session_id, 0, 10)->front().id;
  ASSERT_TRUE(world.ask<Notice>(
      [&](auto reply) { world.engine->sessions().take_notice(parent.session_id, notice, std::move(reply)); }));
  ASSERT_TRUE(world.run_to_rest(parent.id));
  EXPECT_EQ(told(world, parent, child), 0);
}

// R4.6: survives a restart, and ends with a denial that is recorded.
TEST(Asks, AreDeniedWhenNobodyAnswersInTime) {
  for (const bool crash : {false, true}) {
    World world({.ask_timeout_ms = 5'000});
    const Task task =
        world.run_script("ask", Script().ask_permission("may", "May I?", "bash", "make").say("{may}").finish());
    world.advance(3'000);
    if (crash) world.crash();
    EXPECT_NE(open_ask(world.get(task.id)), nullptr);
    world.advance(1'000);
    EXPECT_NE(open_ask(world.get(task.id)), nullptr);
    ASSERT_TRUE(world.run_to_rest(task.id));
    EXPECT_EQ(world.get(task.id).result, "deny");
    EXPECT_TRUE(world.has_event(task.id, EventType::ask_answered, R"("by":"timeout")"));
  }
}

}  // namespace
}  // namespace errand

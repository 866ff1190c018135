// Waiting for several tasks, and giving up.
#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct Waiting {
  explicit Waiting(World& world, std::vector<TaskId> ids, Until until, Millis block_ms = 60'000) {
    key = world.engine->tasks().wait(std::move(ids), until, block_ms, [this](Result<void> done) {
      answers += 1;
      ok = done.has_value();
    });
    world.settle();
  }
  uint64_t key = 0;
  int answers = 0;
  bool ok = false;
};

TEST(Waits, ForAllOrForTheFirst) {
  World world;
  const Task slow = world.launch("long 5");
  const Task quick = world.launch("long 2");
  Waiting all(world, {slow.id, quick.id}, Until::all);
  Waiting first(world, {slow.id, quick.id}, Until::first);
  EXPECT_EQ(first.answers, 0);
  while (at_work(world.get(quick.id).state)) world.advance(100);
  EXPECT_EQ(first.answers, 1);
  EXPECT_EQ(all.answers, 0);
  EXPECT_FALSE(world.get(quick.id).retrieved_at) << "waiting marks nothing";
  while (at_work(world.get(slow.id).state)) world.advance(100);
  EXPECT_EQ(all.answers, 1);
  EXPECT_EQ(first.answers, 1);
  EXPECT_TRUE(all.ok);
}

TEST(Waits, AnswerAtOnceForWhatIsAtRestOrGone) {
  World world;
  const Task task = world.launch("noop");
  world.advance(100);
  EXPECT_EQ(Waiting(world, {task.id, TaskId("task_never")}, Until::all).answers, 1);
  EXPECT_EQ(Waiting(world, {task.id, task.id}, Until::all).answers, 1);
  Waiting nothing(world, {}, Until::all);
  world.advance(10);
  EXPECT_EQ(nothing.answers, 1);
}

TEST(Waits, EndWithTheTaskTheTimeOrWhoeverWaits) {
  World world;
  const Task task = world.launch("long 30");
  Waiting timed(world, {task.id}, Until::all, 500);
  Waiting given_up(world, {task.id}, Until::all);
  Waiting removed(world, {task.id}, Until::all);
  world.advance(600);
  EXPECT_EQ(timed.answers, 1);
  world.engine->tasks().give_up(given_up.key);
  world.engine->tasks().give_up(given_up.key);
  ASSERT_TRUE(
      world.ask<void>([&](auto reply) { world.engine->tasks().remove(task.id, Gone::deleted, std::move(reply)); }));
  world.advance(100);
  EXPECT_EQ(removed.answers, 1);
  EXPECT_EQ(given_up.answers, 0);
}

TEST(Waits, R5_5_WhoWaitsForOneThatIsCancelledHasItsResultAndItsNoticeWhenNothingOfItIsLeft) {
  World world;
  world.stop_ms = 2'000;
  world.crash();
  world.scripts["long"] = fake::Script().say("so far").hang();
  const Task task = world.launch("long", [](Launch& launch) {
    launch.agent_id = "in_server";
    launch.parent_session_id = SessionId("ses_parent");
  });
  world.advance(1'000);
  std::optional<Result<ResultView>> blocked;
  world.engine->tasks().result(task.id, 60'000, [&](Result<ResultView> result) { blocked.emplace(std::move(result)); });
  Waiting waiting(world, {task.id}, Until::all);
  const auto cancelled =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); });
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(cancelled->task.state, TaskState::cancelled) << "at once";
  EXPECT_TRUE(cancelled->task.stopping);
  world.advance(1'000);
  EXPECT_EQ(waiting.answers, 0);
  EXPECT_FALSE(blocked);
  EXPECT_TRUE(world.store->notices_of_task(task.id)->empty());
  // Whoever does not wait is answered.
  EXPECT_TRUE(world.ask<ResultView>([&](auto reply) { world.engine->tasks().result(task.id, 0, std::move(reply)); }));
  world.crash();  // Its notice is owed over a crash, too.
  EXPECT_TRUE(world.run_until([&] { return !world.get(task.id).stopping; }));
  EXPECT_EQ(world.store->notices_of_task(task.id)->size(), 1u);
}

TEST(Waits, AreAnsweredWhenTheServerStops) {
  World world;
  const Task task = world.launch("long 30");
  Waiting waiting(world, {task.id}, Until::all);
  world.engine->drain([](Result<void>) {});
  world.settle();
  EXPECT_EQ(waiting.answers, 1);
  EXPECT_FALSE(waiting.ok);
}

}  // namespace
}  // namespace errand

// What waits to be stored has a bound, in inputs and in bytes; and a task that somebody else has stored.
#include "engine/backlog.h"

#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

using fake::Script;

TEST(Backlog, AChargeIsCountedInAllThatItIsAPartOfUntilItGoes) {
  const auto whole = std::make_shared<Backlog>();
  const auto part = std::make_shared<Backlog>(whole);
  {
    Charge charge(part, 10);
    charge.add(5);
    Charge moved = std::move(charge);
    EXPECT_EQ(part->bytes, 15);
    EXPECT_EQ(whole->inputs, 1);
    moved = Charge(whole, 7);
    EXPECT_EQ(part->inputs, 0);
    EXPECT_EQ(whole->bytes, 7);
  }
  EXPECT_EQ(whole->inputs, 0);
  EXPECT_EQ(whole->bytes, 0);
}

// A turn that says what the test tells it to.
struct Loud final : Driver {
  struct LoudTurn final : Turn {
    explicit LoudTurn(Sink& s) : sink(s) {}
    Status send(const Message&) override { return {}; }
    void answer(const std::string&, const std::string&, const std::string&) override {}
    void stop() override { sink.ended({.kind = Outcome::Kind::stopped}); }
    void drop() override {}
    Sink& sink;
  };
  Capabilities capabilities() const override { return {}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest, Sink& s) override {
    sinks.push_back(&s);
    return std::make_unique<LoudTurn>(s);
  }
  std::vector<Sink*> sinks;
};

TEST(Backlog, ATurnIsToldToWaitUntilWhatItReportedIsStored) {
  Loud loud;
  World world({.turn_bytes = 10'000, .turns_bytes = 25'000}, {{"loud", &loud}});
  std::vector<Task> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(world.launch("go", [](Launch& launch) { launch.agent_id = "loud"; }));
  ASSERT_EQ(loud.sinks.size(), 3u);
  Sink& sink = *loud.sinks[0];
  EXPECT_TRUE(sink.has_room());
  sink.report({report::Text{0, false, std::string(11'000, 'x')}}, "mark");
  EXPECT_FALSE(sink.has_room());
  EXPECT_TRUE(loud.sinks[1]->has_room()) << "others have their own";
  loud.sinks[1]->report({report::Text{0, false, std::string(11'000, 'x')}}, "mark");
  loud.sinks[2]->report({report::Text{0, false, std::string(4'000, 'x')}}, "mark");
  EXPECT_FALSE(loud.sinks[2]->has_room()) << "and there is a bound for all";
  int called = 0;
  for (Sink* each : loud.sinks) each->when_room([&] { ++called; });
  EXPECT_EQ(called, 0) << "later, never inside";
  world.settle();
  EXPECT_EQ(called, 3);
  EXPECT_TRUE(sink.has_room());
  EXPECT_EQ(world.engine->administration().health().inbox_bytes, 0);
}

TEST(Backlog, SmallPiecesOfTextThatWaitTogetherAreOneEvent) {
  Loud loud;
  World world({}, {{"loud", &loud}});
  const Task task = world.launch("go", [](Launch& launch) { launch.agent_id = "loud"; });
  std::string all;
  for (int i = 0; i < 5'000; ++i) {
    loud.sinks[0]->report({report::Text{0, false, std::to_string(i)}}, std::to_string(i));
    all += std::to_string(i);
  }
  world.advance(2'000);
  const Task after = world.get(task.id);
  EXPECT_EQ(after.checkpoint, "4999");
  EXPECT_LE(after.version, 5);
  EXPECT_EQ(text_of(world.messages(task.id).back()), all);
}

TEST(Backlog, ATurnThatWaitsIsEndedWithItsTask) {
  Loud loud;
  World world({.turn_bytes = 1'000}, {{"loud", &loud}});
  const Task task = world.launch("go", [](Launch& launch) { launch.agent_id = "loud"; });
  loud.sinks[0]->report({report::Text{0, false, std::string(11'000, 'x')}}, "mark");
  bool called = false;
  loud.sinks[0]->when_room([&] { called = true; });
  ASSERT_TRUE(
      world.ask<void>([&](auto reply) { world.engine->tasks().remove(task.id, Gone::deleted, std::move(reply)); }));
  world.advance(100);
  EXPECT_EQ(world.engine->administration().health().running, 0);
  EXPECT_EQ(world.engine->administration().health().inbox_bytes, 0);
}

TEST(Backlog, PastTheBytesThatMayWaitACallIsRefusedAndOthersAreServedAgainLater) {
  World world({.inbox_bytes = copies_until_stored << 20});
  std::vector<std::optional<Result<TaskView>>> answers(5);
  for (auto& answer : answers) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = "noop" + std::string(400'000, ' ');
    world.engine->tasks().launch(launch, {}, {}, [&](Result<TaskView> made) { answer.emplace(std::move(made)); });
  }
  // Three of them, with all that is made of each.
  EXPECT_GT(world.engine->administration().health().inbox_bytes, 3 * copies_until_stored * 400'000);
  EXPECT_LT(world.engine->administration().health().inbox_bytes, 4 * copies_until_stored * 400'000);
  world.settle();
  for (size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i]) << i;
    EXPECT_EQ(answers[i]->has_value(), i < 3) << i;
    if (!*answers[i]) {
      EXPECT_EQ(answers[i]->error().code, Code::exhausted);
    }
  }
  EXPECT_EQ(world.engine->administration().health().inbox_bytes, 0);
  EXPECT_EQ(world.engine->administration().health().inbox, 0);
  world.launch("noop");
}

TEST(Backlog, WhatWaitsInATasksInboxIsCounted) {
  World world({.inbox_max = 10});
  const Task task = world.launch("silent 600");
  int refused = 0;
  for (int i = 0; i < 30; ++i)
    world.engine->tasks().message(task.id, {.text = "on"}, [&](Result<MessageTaken> taken) {
      if (!taken && taken.error().code == Code::exhausted) ++refused;
    });
  world.settle();
  EXPECT_EQ(refused, 19);
}

TEST(Backlog, AManysTasksAreAllCancelledThoughTheyAreMoreThanMayWait) {
  World world({.max_concurrent = 0, .inbox_max = 300});
  BatchId batch;
  for (int i = 0; i < 700; ++i)
    batch =
        world.launch("noop", [&](Launch& launch) { launch.batch_id = batch ? batch : BatchId("new"); }).launch.batch_id;
  const Result<int64_t> cancelled =
      world.ask<int64_t>([&](auto reply) { world.engine->batches().cancel(batch, "user", std::move(reply)); });
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(*cancelled, 700);
}

TEST(Messages, ATaskTakesAThousandThatWaitAndRefusesMoreWithWhatToDo) {
  World world;
  const Task task = world.launch("silent 600");
  const auto send = [&](std::string text) {
    const Result<MessageTaken> taken = world.ask<MessageTaken>([&](auto reply) {
      world.engine->tasks().message(task.id, {.text = std::move(text), .when = WaitingMessage::When::queue},
                                    std::move(reply));
    });
    return taken ? Status() : Status(std::unexpected(taken.error()));
  };
  world.advance(100);
  const size_t before = world.get(task.id).waiting.size();
  Status last = send("first");
  for (size_t i = 1; i < waiting_max && last; ++i) last = send("more");
  ASSERT_TRUE(last) << last.error().message;
  last = send("one too many");
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::exhausted);
  EXPECT_EQ(last.error().reason, too_many_messages);
  EXPECT_EQ(world.get(task.id).waiting.size(), before + waiting_max);
  // The same after a restart, where the task is not what is in memory.
  world.crash();
  EXPECT_FALSE(send("one too many"));
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); }));
  last = send("to one at rest");
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::conflict) << "its state is what matters then";
}

TEST(Messages, LongOnesAreBoundedInBytes) {
  World world;
  const Task task = world.launch("silent 600");
  const auto send = [&] {
    return world.ask<MessageTaken>([&](auto reply) {
      world.engine->tasks().message(task.id, {.text = std::string(6 << 20, 'x'), .when = WaitingMessage::When::queue},
                                    std::move(reply));
    });
  };
  EXPECT_TRUE(send());
  EXPECT_TRUE(send());
  const Result<MessageTaken> third = send();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().reason, too_many_messages);
}

// Another has stored the task behind the engine's back, as a second server or a repair by hand would.
void store_behind_its_back(World& world, const TaskId& id) {
  Task task = world.get(id);
  Commit commit{.task_id = id, .before_version = task.version};
  task.version += 1;
  task.title = "changed";
  commit.after = std::make_shared<const Task>(std::move(task));
  commit.now = world.clock.wall();
  bool stored = false;
  world.store->commit({std::move(commit)},
                      [&](std::vector<Result<Committed>> results) { stored = results[0].has_value(); });
  world.settle();
  ASSERT_TRUE(stored);
}

TEST(Versions, ATurnsReportsAndEndAreDecidedOnTheTaskAsItIsStoredNow) {
  World world;
  const Task task = world.run_script("two", Script().say("one ").wait(1'000).say("two").wait(1'000).say(" three"));
  world.advance(200);
  store_behind_its_back(world, task.id);
  ASSERT_TRUE(world.run_to_rest(task.id));
  const Task after = world.get(task.id);
  EXPECT_EQ(after.state, TaskState::completed);
  EXPECT_EQ(after.title, "changed");
  EXPECT_EQ(text_of(world.messages(task.id).back()), "one \n\ntwo\n\n three");
}

TEST(Versions, ACallersRequestIsDecidedAgainToo) {
  World world;
  const Task task = world.launch("silent 600");
  world.advance(100);
  store_behind_its_back(world, task.id);
  const Result<TaskView> cancelled =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); });
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  EXPECT_EQ(cancelled->task.title, "changed");
  world.advance(200);
  EXPECT_EQ(world.engine->administration().health().running, 0);
}

}  // namespace
}  // namespace errand

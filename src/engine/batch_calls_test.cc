// Batches (R7): one notice when all are at rest, with the failures listed; waiting for all or the first; retrying.
#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct InBatch {
  World& world;
  BatchId batch = BatchId("new");

  Task launch(const std::string& prompt) {
    const Task task = world.launch(prompt, [&](Launch& launch) {
      launch.batch_id = batch;
      launch.parent_session_id = SessionId("ses_parent");
    });
    batch = task.launch.batch_id;
    return task;
  }
  std::vector<Notice> notices() {
    std::vector<Notice> whole;
    for (const Notice& notice : *world.store->notices(SessionId("ses_parent"), 0, 100))
      if (notice.kind == NoticeKind::batch_ended) whole.push_back(notice);
    return whole;
  }
  bool at_rest() {
    const Result<BatchCounts> counts = world.store->batch_counts(batch);
    return counts && counts->working() == 0;
  }
  void finish() {
    for (int i = 0; i < 1'000 && !at_rest(); ++i) world.advance(100);
    EXPECT_TRUE(at_rest());
  }
};

TEST(BatchCalls, TheNoticeOfAWholeBatchListsItsFailures) {
  World world;
  InBatch batch{world};
  const Task first = batch.launch("fail");
  batch.launch("long 2");
  const Task second = batch.launch("fail");
  batch.finish();
  ASSERT_EQ(batch.notices().size(), 1u);
  const Notice notice = batch.notices().front();
  for (const Task& task : {first, second})
    EXPECT_NE(notice.text.find("- Failed: " + task.id.value + " \"fail\" (demo_failure): The demonstration failed"),
              std::string::npos)
        << notice.text;
  EXPECT_NE(notice.data.find(R"("failures":[{"task_id":")"), std::string::npos) << notice.data;
  EXPECT_TRUE(notice.data.ends_with("}]}")) << notice.data;
}

// What is being stopped has yet to tell of its own end.
TEST(BatchCalls, TheNoticeOfAWholeBatchComesBehindThoseOfAllItsTasks) {
  for (const bool crash : {false, true}) {
    World world;
    world.stop_ms = 2'000;
    world.crash();
    world.scripts["long"] = fake::Script().say("so far").hang();
    InBatch batch{world};
    const Task last = batch.launch("long 1");
    const Task slow = world.launch("long", [&](Launch& launch) {
      launch.agent_id = "in_server";
      launch.batch_id = batch.batch;
      launch.parent_session_id = SessionId("ses_parent");
    });
    world.advance(200);
    ASSERT_TRUE(
        world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(slow.id, "user", std::move(reply)); }));
    ASSERT_TRUE(world.get(slow.id).stopping);
    if (crash) world.crash();
    ASSERT_TRUE(world.run_until([&] { return batch.notices().size() == 1; }));
    world.advance(10'000);
    const std::vector<Notice> all = *world.store->notices(SessionId("ses_parent"), 0, 100);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[2].kind, NoticeKind::batch_ended);
    EXPECT_EQ(world.get(last.id).state, TaskState::completed);
    EXPECT_FALSE(world.get(slow.id).stopping);
  }
}

TEST(BatchCalls, R3_4_ClearingOneThatIsNotThereSaysSo) {
  World world;
  InBatch batch{world};
  batch.launch("noop");
  const Task busy = batch.launch("long 600");
  world.advance(1'000);
  const auto clear = [&](const char* id) {
    return world.ask<Cleared>(
        [&](auto reply) { world.engine->tasks().clear({.batch = BatchId(id)}, std::move(reply)); });
  };
  const Result<Cleared> first = clear(batch.batch.value.c_str());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->removed, 1);
  EXPECT_EQ(first->left, 1);
  const Result<Cleared> again = clear(batch.batch.value.c_str());
  ASSERT_TRUE(again) << "one is at work: the batch is there";
  EXPECT_EQ(again->left, 1);
  const Result<Cleared> unknown = clear("batch_nowhere");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_EQ(unknown.error().reason, "unknown_batch");
  EXPECT_NE(unknown.error().message.find("batch_id"), std::string::npos) << unknown.error().message;
}

TEST(BatchCalls, ABatchWithoutFailuresListsNone) {
  World world;
  InBatch batch{world};
  batch.launch("noop");
  batch.finish();
  ASSERT_EQ(batch.notices().size(), 1u);
  EXPECT_EQ(batch.notices().front().text.find("- Failed"), std::string::npos);
  EXPECT_TRUE(batch.notices().front().data.ends_with("\"failures\":[]}")) << batch.notices().front().data;
}

TEST(BatchCalls, FailuresFromBeforeARestartAreListedToo) {
  World world;
  InBatch batch{world};
  const Task failed = batch.launch("fail");
  batch.launch("long 5");
  while (at_work(world.get(failed.id).state)) world.advance(100);
  world.crash();
  batch.finish();
  ASSERT_EQ(batch.notices().size(), 1u);
  EXPECT_NE(batch.notices().front().text.find("- Failed: " + failed.id.value), std::string::npos)
      << batch.notices().front().text;
}

TEST(BatchCalls, WhatIsBegunAgainIsNoFailureAnyMore) {
  World world;
  InBatch batch{world};
  const Task failed = batch.launch("long 3 fail");
  batch.finish();
  ASSERT_EQ(world.get(failed.id).state, TaskState::failed);
  ASSERT_TRUE(world.ask<TaskView>([&](auto reply) { world.engine->tasks().retry(failed.id, {}, std::move(reply)); }));
  world.advance(500);
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(failed.id, "user", std::move(reply)); }));
  batch.finish();
  world.advance(100);
  ASSERT_EQ(batch.notices().size(), 2u);
  EXPECT_NE(batch.notices().front().text.find("- Failed"), std::string::npos);
  EXPECT_EQ(batch.notices().back().text.find("- Failed"), std::string::npos) << batch.notices().back().text;
}

TEST(BatchCalls, RetryTakesTheFailedOnesAlone) {
  World world;
  InBatch batch{world};
  const Task failed = batch.launch("fail");
  const Task completed = batch.launch("noop");
  batch.finish();
  const Result<int64_t> retried =
      world.ask<int64_t>([&](auto reply) { world.engine->batches().retry(batch.batch, std::move(reply)); });
  ASSERT_TRUE(retried);
  EXPECT_EQ(*retried, 1);
  EXPECT_EQ(world.get(failed.id).attempt, 2);
  EXPECT_EQ(world.get(completed.id).attempt, 1);
}

TEST(BatchCalls, OnlySoManyFailuresAreListedAndTheRestIsCounted) {
  World world(EngineSettings{.max_concurrent = 100});
  InBatch batch{world};
  for (int i = 0; i < 25; ++i) batch.launch("fail");
  batch.finish();
  ASSERT_EQ(batch.notices().size(), 1u);
  const std::string text = batch.notices().front().text;
  EXPECT_NE(text.find("- Failed: 5 more"), std::string::npos) << text;
}

// A world whose store can refuse a group of commits.
struct RefusingWorld : World {
  RefusingWorld() {
    engine.reset();
    store = make_faulty(std::move(store), loop,
                        {.commit =
                             [this](const std::vector<Commit>&) {
                               ++groups;
                               return std::exchange(refuse_next, false) ? Fault::full : Fault::none;
                             },
                         .read = {}});
    engine = make_engine({.store = *store,
                          .loop = loop,
                          .readers = readers,
                          .clock = clock,
                          .random = random,
                          .drivers = {{"demo", demo.get()}},
                          .agents = {{.id = "demo", .name = "demo", .driver = "demo"}},
                          .wake_at = {},
                          .faults = {},
                          .pinned = {}},
                         settings);
    engine->recover([](Result<void>) {});
    settle();
  }
  // Until the store has the next group; it has not answered then.
  void hand_over() {
    const int before = groups;
    while (groups == before && (loop.run_one() || readers.run_one())) {
    }
    EXPECT_EQ(groups, before + 1);
  }
  void cancel(const TaskId& id) {
    engine->tasks().cancel(id, "user", [](Result<TaskView>) {});
  }

  int groups = 0;
  bool refuse_next = false;
};

TEST(BatchCalls, TheEndOfTheLastIsToldThoughALaunchIntoTheBatchWasUnderWayAndIsRefused) {
  RefusingWorld world;
  InBatch batch{world};
  const Task last = batch.launch("long 1000");
  Launch late = last.launch;
  std::optional<Result<TaskView>> launched;
  world.refuse_next = true;
  world.engine->tasks().launch(late, {}, {}, [&](Result<TaskView> view) { launched.emplace(std::move(view)); });
  world.hand_over();
  world.cancel(last.id);
  world.engine->tick();
  EXPECT_FALSE(launched);
  world.settle();
  ASSERT_TRUE(launched && !*launched);
  EXPECT_EQ(world.get(last.id).state, TaskState::cancelled);
  EXPECT_EQ(batch.notices().size(), 1u);
}

TEST(BatchCalls, TheEndOfTheLastIsNotTheEndOfTheBatchWhereALaunchIntoItWasUnderWay) {
  RefusingWorld world;
  InBatch batch{world};
  const Task last = batch.launch("long 1000");
  Launch late = last.launch;
  std::optional<TaskId> launched;
  world.engine->tasks().launch(late, {}, {}, [&](Result<TaskView> view) { launched = view->task.id; });
  world.hand_over();
  world.cancel(last.id);
  world.engine->tick();
  world.settle();
  ASSERT_TRUE(launched);
  EXPECT_EQ(world.get(last.id).state, TaskState::cancelled);
  EXPECT_EQ(batch.notices().size(), 0u);
  world.cancel(*launched);
  world.settle();
  EXPECT_EQ(batch.notices().size(), 1u);
}

TEST(BatchCalls, ABatchIsNotWholeWhereTheEndOfAnotherIsUnderWayAndIsRefused) {
  RefusingWorld world;
  InBatch batch{world};
  const Task one = batch.launch("long 1000"), two = batch.launch("long 1000");
  std::optional<Result<BatchCounts>> waited;
  world.engine->batches().wait(batch.batch, Until::all, 100'000, [&](Result<BatchCounts> counts) { waited = counts; });
  world.settle();
  world.refuse_next = true;
  world.cancel(one.id);
  world.hand_over();
  world.cancel(two.id);
  world.engine->tick();
  world.settle();
  ASSERT_TRUE(at_work(world.get(one.id).state));
  ASSERT_EQ(world.get(two.id).state, TaskState::cancelled);
  EXPECT_EQ(batch.notices().size(), 0u);
  EXPECT_FALSE(waited);
  world.cancel(one.id);
  world.settle();
  EXPECT_EQ(batch.notices().size(), 1u);
  ASSERT_TRUE(waited && *waited);
  EXPECT_EQ((*waited)->working(), 0);
}

}  // namespace
}  // namespace errand

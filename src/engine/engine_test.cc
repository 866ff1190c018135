#include "engine/engine.h"

#include <algorithm>

#include "engine/world_test.h"

namespace errand {
namespace {

TEST(Engine, R1_3_LaunchesAtOnceWhereASlotIsFreeAndQueuesTheRest) {
  World world;
  std::vector<Task> tasks;
  for (int i = 0; i < 5; ++i) tasks.push_back(world.launch("long 5"));
  EXPECT_EQ(tasks[2].state, TaskState::running);
  EXPECT_EQ(tasks[3].state, TaskState::pending);
  EXPECT_EQ(world.engine->tasks().moment(world.get(tasks[4].id)).queue_position, 2);
  EXPECT_EQ(world.engine->administration().health().running, 3);
  world.advance(12'000, 100);
  for (const Task& task : tasks) EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(world.engine->administration().health().running, 0);
}

TEST(Engine, R1_5_CompletionStoresResultTimeAndOneNotice) {
  World world;
  const Task task = world.launch("noop", [](Launch& launch) { launch.parent_session_id = SessionId("ses_parent"); });
  world.advance(100);
  const Task done = world.get(task.id);
  EXPECT_EQ(done.state, TaskState::completed);
  EXPECT_EQ(done.result, "ok");
  EXPECT_TRUE(done.completed_at);
  const auto notices = world.store->notices_of_task(task.id);
  ASSERT_EQ(notices->size(), 1U);
  EXPECT_EQ(notices->front().kind, NoticeKind::turn_ended);
  const std::vector<std::string> names = world.event_names(task.id);
  EXPECT_EQ(names.front(), "task.created");
  EXPECT_EQ(names.back(), "end");
}

TEST(Engine, R1_6_CancelIsFinalAtOnceAndKeepsWhatThereWas) {
  World world;
  const Task task = world.launch("long 30");
  world.advance(3'000);
  const auto cancelled =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); });
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(cancelled->task.state, TaskState::cancelled);
  world.advance(100);
  EXPECT_FALSE(world.get(task.id).stopping);
  EXPECT_EQ(world.engine->administration().health().running, 0);
  const auto again =
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(task.id, "user", std::move(reply)); });
  EXPECT_EQ(again.error().code, Code::conflict);
  EXPECT_FALSE(world.store->messages(task.session_id, 0, 0, 10)->messages.empty());
}

TEST(Engine, R2_2_ACrashInTheMiddleLosesNothingAndDoublesNothing) {
  std::string whole;
  std::vector<std::string> names;
  {
    World world;
    const Task task = world.launch("text tools");
    world.advance(20'000, 20);
    ASSERT_EQ(world.get(task.id).state, TaskState::completed);
    whole = *world.get(task.id).result;
    names = world.event_names(task.id);
  }
  World world;
  const Task task = world.launch("text tools");
  for (int i = 0; i < 40 && world.get(task.id).state != TaskState::completed; ++i) {
    world.advance(170);
    world.crash();
  }
  world.advance(20'000, 20);
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(world.get(task.id).result, whole);
  const auto count = [](const std::vector<std::string>& all, const char* what) {
    return std::ranges::count(all, what);
  };
  const std::vector<std::string> seen = world.event_names(task.id);
  for (const char* what : {"tool.started", "tool.completed", "message.created", "message.completed", "end"})
    EXPECT_EQ(count(seen, what), count(names, what)) << what;
  EXPECT_EQ(world.store->notices_of_task(task.id)->size(), 1U);
}

TEST(Engine, R3_1_TheFirstReadingOfAResultIsMarked) {
  World world;
  const Task task = world.launch("long 2");
  auto read = [&](Millis block) {
    return world.ask<ResultView>([&](auto reply) { world.engine->tasks().result(task.id, block, std::move(reply)); });
  };
  EXPECT_FALSE(read(0)->view.task.retrieved_at);
  std::optional<Result<ResultView>> blocked;
  world.engine->tasks().result(task.id, 60'000, [&](Result<ResultView> view) { blocked.emplace(std::move(view)); });
  world.settle();
  EXPECT_FALSE(blocked);
  world.advance(4'000);
  ASSERT_TRUE(blocked && *blocked);
  EXPECT_EQ((*blocked)->view.task.state, TaskState::completed);
  EXPECT_TRUE((*blocked)->view.task.retrieved_at);
}

TEST(Engine, R3_2_ABlockedReadingThatRunsOutAnswersWithProgress) {
  World world;
  const Task task = world.launch("long 30");
  std::optional<Result<ResultView>> blocked;
  world.engine->tasks().result(task.id, 1'000, [&](Result<ResultView> view) { blocked.emplace(std::move(view)); });
  world.advance(1'200);
  ASSERT_TRUE(blocked && *blocked);
  EXPECT_TRUE((*blocked)->timed_out);
  EXPECT_EQ((*blocked)->view.task.state, TaskState::running);
}

TEST(Engine, R3_3_RetentionRemovesWhatIsPastItAndSaysSo) {
  World world;
  const Task task = world.launch("noop", [](Launch& launch) { launch.retention_ms = 5'000; });
  world.advance(1'000);
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  world.advance(6'000, 100);
  const Result<Task> gone = world.store->get(task.id);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::not_found);
  EXPECT_EQ(gone.error().reason, "expired");
}

TEST(Engine, R3_4_ClearNeverTouchesATaskAtWork) {
  World world;
  const Task done = world.launch("noop");
  world.advance(100);
  const Task running = world.launch("long 30");
  const auto cleared = world.ask<Cleared>([&](auto reply) { world.engine->tasks().clear({}, std::move(reply)); });
  ASSERT_TRUE(cleared);
  EXPECT_EQ(cleared->removed, 1);
  EXPECT_EQ(cleared->left, 1);
  EXPECT_FALSE(world.store->get(done.id));
  EXPECT_EQ(world.get(running.id).state, TaskState::running);
}

TEST(Engine, R3_5_ASessionThatEndsTakesItsTasksWithIt) {
  World world;
  const auto child = [](Launch& launch) { launch.parent_session_id = SessionId("ses_parent"); };
  const Task running = world.launch("long 30", child);
  const Task other = world.launch("long 30");
  const auto ended = world.ask<int64_t>(
      [&](auto reply) { world.engine->sessions().end_session(SessionId("ses_parent"), std::move(reply)); });
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(*ended, 1);
  EXPECT_EQ(world.store->get(running.id).error().reason, "session_ended");
  world.advance(100);
  EXPECT_EQ(world.get(other.id).state, TaskState::running);
  EXPECT_EQ(world.engine->administration().health().running, 1);
}

TEST(Engine, R4_2_SilenceIsWarnedOfAndThenHung) {
  World world;
  const Task task = world.launch("silent 600", [](Launch& launch) { launch.idle_timeout_ms = 10'000; });
  world.advance(7'000, 50);
  const auto names = world.event_names(task.id);
  EXPECT_EQ(std::ranges::count(names, "task.warning"), 1);
  EXPECT_EQ(world.get(task.id).state, TaskState::running);
  world.advance(7'000, 50);
  const Task hung = world.get(task.id);
  EXPECT_EQ(hung.state, TaskState::failed);
  EXPECT_EQ(hung.reason, "hung");
}

TEST(Engine, R4_3_ATimeoutEndsTheTask) {
  World world;
  const Task task = world.launch("long 60", [](Launch& launch) { launch.timeout_ms = 2'000; });
  world.advance(2'500);
  EXPECT_EQ(world.get(task.id).reason, "timeout");
}

TEST(Engine, R4_6_AQuestionHoldsNoSlotAndItsAnswerReachesTheAgent) {
  World world({.max_concurrent = 1});
  const Task task = world.launch("ask", [](Launch& launch) { launch.parent_session_id = SessionId("ses_p"); });
  world.advance(2'000);
  const Task asking = world.get(task.id);
  ASSERT_NE(open_ask(asking), nullptr);
  EXPECT_EQ(world.engine->administration().health().running, 0);
  const Task next = world.launch("noop");
  EXPECT_EQ(next.state, TaskState::running);
  world.advance(100);
  input::Answered answer{open_ask(asking)->request_id, "answer", "blue", "user"};
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().answer(task.id, answer, std::move(reply)); }));
  world.advance(5'000);
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_NE(world.get(task.id).result->find("blue"), std::string::npos) << *world.get(task.id).result;
}

TEST(Engine, R5_1_AMessageReachesARunningAgentOnce) {
  World world;
  const Task task = world.launch("long 5");
  world.advance(1'000);
  const auto sent = world.ask<MessageTaken>(
      [&](auto reply) { world.engine->tasks().message(task.id, {.text = "hello there"}, std::move(reply)); });
  ASSERT_TRUE(sent);
  world.advance(8'000);
  const auto page = world.store->messages(task.session_id, 0, 0, 100);
  int heard = 0;
  for (const Message& message : page->messages)
    if (message.role == Role::assistant && text_of(message).find("hello there") != std::string::npos) ++heard;
  EXPECT_EQ(heard, 1);
  for (const Message& message : page->messages) EXPECT_TRUE(message.completed_at);
}

TEST(Engine, R5_3_ResumeIsForCompletedTasksAndSaysSoOtherwise) {
  World world;
  const Task task = world.launch("noop");
  world.advance(100);
  auto resume = [&](const TaskId& id) {
    return world.ask<MessageTaken>(
        [&](auto reply) { world.engine->tasks().resume(id, {.text = "long 2"}, std::move(reply)); });
  };
  const auto resumed = resume(task.id);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->view.task.state, TaskState::resumed);
  EXPECT_EQ(resumed->view.task.resume_count, 1);
  EXPECT_NE(resume(task.id).error().message.find("being resumed"), std::string::npos);
  world.advance(5'000);
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  EXPECT_EQ(world.store->notices_of_task(task.id)->size(), 2U);
}

TEST(Engine, R7_2_ABatchIsWholeOnce) {
  World world;
  const auto in_batch = [](Launch& launch) { launch.batch_id = BatchId("new"); };
  const Task first = world.launch("long 1", in_batch);
  const BatchId batch = first.launch.batch_id;
  EXPECT_TRUE(is_id(batch.value, "batch_"));
  const Task second = world.launch("fail", [&](Launch& launch) { launch.batch_id = batch; });
  std::optional<Result<BatchCounts>> whole;
  world.engine->batches().wait(batch, Until::all, 60'000, [&](Result<BatchCounts> counts) { whole = counts; });
  world.advance(4'000);
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->working(), 0);
  EXPECT_EQ((*whole)->total(), 2);
  int batch_notices = 0;
  for (const TaskId& id : {first.id, second.id})
    for (const Notice& notice : *world.store->notices_of_task(id))
      batch_notices += notice.kind == NoticeKind::batch_ended;
  EXPECT_EQ(batch_notices, 1);
}

TEST(Engine, P2_TheSameKeyMakesOneTask) {
  World world;
  Launch launch;
  launch.agent_id = "demo";
  launch.prompt = "noop";
  std::vector<TaskId> made;
  for (int i = 0; i < 3; ++i)
    world.engine->tasks().launch(launch, "key-1", "print-1",
                                 [&](Result<TaskView> view) { made.push_back(view->task.id); });
  world.settle();
  world.engine->tasks().launch(launch, "key-1", "print-1",
                               [&](Result<TaskView> view) { made.push_back(view->task.id); });
  world.settle();
  ASSERT_EQ(made.size(), 4U);
  for (const TaskId& id : made) EXPECT_EQ(id, made.front());
  const auto other = world.ask<TaskView>(
      [&](auto reply) { world.engine->tasks().launch(launch, "key-1", "print-2", std::move(reply)); });
  EXPECT_EQ(other.error().code, Code::conflict);
}

TEST(Engine, R5_5_NoticesWaitUntilTheyAreTaken) {
  World world;
  std::optional<Result<std::vector<Notice>>> waited;
  const SessionId parent("ses_parent");
  const Task task = world.launch("long 1", [&](Launch& launch) { launch.parent_session_id = parent; });
  world.engine->sessions().notices(parent, 0, 10, 60'000,
                                   [&](Result<std::vector<Notice>> notices) { waited = std::move(notices); });
  world.settle();
  EXPECT_FALSE(waited);
  world.advance(3'000);
  ASSERT_TRUE(waited && *waited);
  ASSERT_EQ((*waited)->size(), 1U);
  const auto taken = world.ask<Notice>(
      [&](auto reply) { world.engine->sessions().take_notice(parent, (*waited)->front().id, std::move(reply)); });
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->taken_at);
  EXPECT_TRUE(world.store->notices(parent, 0, 10)->empty());
  EXPECT_EQ(world.event_names(task.id).back(), "notice.taken");
}

}  // namespace
}  // namespace errand

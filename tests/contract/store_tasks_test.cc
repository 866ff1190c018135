// Tasks: what is stored comes back whole, versions guard every change, a group keeps its members apart.
#include "tests/contract/store_contract.h"

namespace errand {
namespace {

// Every field differs from its default.
Task full_task(Task task) {
  Launch& launch = task.launch;
  launch.kind = TaskKind::command;
  launch.agent_id = "command";
  launch.title = "Ein Titel";
  launch.description = "描述";
  launch.prompt = "line one\nline \"two\" \\ \x01 \xF0\x9F\x98\x80";
  launch.content = R"([{"type":"text","text":"x"}])";
  launch.command = "echo 'a' | cat";
  launch.argv = {"echo", "a b", ""};
  launch.model = "model-1";
  launch.work_dir = "/tmp/work";
  launch.add_dirs = {"/a", "/b"};
  launch.env = {{"KEY", "value"}, {"EMPTY", ""}};
  launch.pass_env = {"PATH"};
  launch.enable_skills = launch.enable_mcp = launch.fork = true;
  launch.parent_session_id = SessionId("ses_parent");
  launch.parent_message_id = MessageId("msg_parent");
  launch.batch_id = BatchId("batch_1");
  launch.labels = {{"team", "core"}, {"空", "值"}};
  launch.timeout_ms = 1'000;
  launch.idle_timeout_ms = -1;
  launch.on_hang = OnHang::restart;
  launch.max_restarts = 2;
  launch.progress_every_ms = 7;
  launch.retention_ms = 99;
  launch.limits = {1, 2, 3, 4, 5, 6};
  launch.budget = {10, 0.25, 30, 40};
  launch.permission = Permission::deny;
  launch.permission_rules = {{"bash", "git *", Permission::allow}};
  launch.sandbox = Sandbox::strict;
  launch.priority = -3;
  launch.authorize_over_limit = launch.allow_interactive = true;
  launch.notify_on = {"error.*"};
  launch.artifacts = {"*.txt"};
  task.title = "Ein Titel";
  task.reason = "timeout";
  task.state = TaskState::failed;
  task.phase = TurnPhase::working;
  task.stopping = task.is_forked = true;
  task.turn = 4;
  task.attempt = 2;
  task.run = 9;
  task.restarts = 1;
  task.resume_count = 3;
  task.progress = {.tool_calls = 12,
                   .recent_tools = {{"bash", "ls", task.created_at}},
                   .turns = 4,
                   .usage = {100, 200, 0.5},
                   .output_bytes = 4096,
                   .output_lines = 17,
                   .output_truncated = true,
                   .cpu_s = 1.25,
                   .memory_bytes = 1 << 20,
                   .last_update = task.created_at};
  task.result = std::string("half a result");
  task.error = TaskError{"timeout", "It took too long.", R"({"after_s":300})"};
  task.exit_code = 3;
  task.signal = 15;
  task.driver_session = "driver-1";
  task.checkpoint = "offset:77";
  task.started_at = task.created_at + 1;
  task.completed_at = task.created_at + 2;
  task.updated_at = task.created_at + 3;
  task.queued_at = task.created_at + 4;
  task.retrieved_at = task.created_at + 5;
  task.expires_at = task.created_at + 6;
  return task;
}

TEST_P(StoreContract, EveryFieldOfATaskComesBack) {
  const Task task = full_task(new_task());
  store_it(commit_of(task));
  EXPECT_EQ(store().get(task.id), task);

  Task after = next(task);
  after.asks = {{"req_1", AskKind::permission, "May I?", {"yes", "no"}, now_, "allow", "go on"}};
  after.waiting = {{MessageId("msg_1"), WaitingMessage::When::queue},
                   {MessageId("msg_2"), WaitingMessage::When::steer}};
  after.interrupting = true;
  after.error.reset();
  after.exit_code.reset();
  after.signal = 0;
  after.result = std::string();
  after.progress = {};
  after.expires_at = {};
  store_it(commit_of(after));
  EXPECT_EQ(store().get(task.id), after);
}

TEST_P(StoreContract, AResultMayChangeAndGo) {
  Task task = update(completed(add(new_task()), "first"));
  EXPECT_EQ(store().get(task.id)->result, "first");
  task = next(task);
  task.result = "second";
  store_it(commit_of(task));
  EXPECT_EQ(store().get(task.id)->result, "second");
  task = next(task);
  task.result.reset();
  store_it(commit_of(task));
  EXPECT_EQ(store().get(task.id)->result, std::nullopt);
}

TEST_P(StoreContract, ACommitOnAnOlderVersionIsRefusedAndWritesNothing) {
  const Task first = add(new_task(), 1);
  const Task second = update(running(first), 1);
  Commit late = commit_of(completed(first), 1);
  late.messages.push_back(new_message(first.session_id));
  late.notices.push_back(new_notice(first, SessionId("ses_parent")));
  const int64_t pos = store().last_pos();
  const Result<Committed> refused = commit(std::move(late));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().reason, "version");
  EXPECT_EQ(store().get(first.id), second);
  EXPECT_EQ(store().last_pos(), pos);
  EXPECT_TRUE(store().notices_of_task(first.id)->empty());
  EXPECT_FALSE(store().session(first.session_id));
}

TEST_P(StoreContract, ATaskIsInsertedOnce) {
  const Task task = add(new_task());
  const Result<Committed> again = commit(commit_of(task));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
}

TEST_P(StoreContract, AChangeOfATaskThatWasNeverThereIsNotFound) {
  const Result<Committed> refused = commit(commit_of(running(new_task())));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::not_found);
}

TEST_P(StoreContract, ARefusedCommitDoesNotTouchTheOthersOfItsGroup) {
  const Task known = add(new_task());
  const Task first = new_task(), last = new_task();
  const Answers answers = commit_all({commit_of(first, 1), commit_of(known, 1), commit_of(last, 1)});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().code, Code::conflict);
  EXPECT_TRUE(answers[2]);
  EXPECT_EQ(answers[2]->first_pos, answers[0]->first_pos + 1) << "a refused commit takes no position";
  EXPECT_TRUE(store().get(first.id));
  EXPECT_TRUE(store().get(last.id));
}

TEST_P(StoreContract, CommitsOfOneGroupSeeEachOther) {
  const Task task = new_task();
  const Task then = running(task);
  const Answers answers = commit_all({commit_of(task), commit_of(then), removal(then)});
  for (const auto& answer : answers) EXPECT_TRUE(answer);
  EXPECT_FALSE(store().get(task.id));
  EXPECT_EQ(store().counts(), StateCounts{});
}

TEST_P(StoreContract, AnswersComeInTheOrderOfTheCalls) {
  std::vector<int> order;
  for (int i = 0; i < 20; ++i) store().commit({commit_of(new_task())}, [&order, i](Answers) { order.push_back(i); });
  ASSERT_TRUE(executor_.run_until([&] { return order.size() == 20; }));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

// They arrive one by one while others are being written: a store may put them into one transaction as it likes.
TEST_P(StoreContract, WhatArrivesMeanwhileIsStoredOnceAndWhatIsRefusedIsRefusedAlone) {
  const Task known = add(new_task());
  constexpr int groups = 300;
  std::vector<Task> tasks;
  std::vector<int64_t> positions;
  int answered = 0, refused = 0;
  for (int i = 0; i < groups; ++i) {
    const bool wrong = i % 7 == 3;
    const Task& task = wrong ? known : tasks.emplace_back(new_task());
    store().commit({commit_of(task, 1)}, [&](Answers answers) {
      ++answered;
      if (answers.at(0))
        positions.push_back(answers[0]->first_pos);
      else
        ++refused;
    });
  }
  ASSERT_TRUE(executor_.run_until([&] { return answered == groups; }));
  EXPECT_EQ(refused, groups - static_cast<int>(tasks.size()));
  for (size_t i = 1; i < positions.size(); ++i) EXPECT_EQ(positions[i], positions[i - 1] + 1);
  reopen();
  for (const Task& task : tasks) EXPECT_TRUE(store().get(task.id)) << task.id.value;
  EXPECT_EQ(store().counts().by_state[static_cast<int>(TaskState::pending)], static_cast<int64_t>(tasks.size()) + 1);
}

TEST_P(StoreContract, WrongShapesAreRefused) {
  const Task task = add(new_task(), 2);
  std::vector<Commit> wrong;
  wrong.push_back(commit_of(next(task), 1));
  wrong.back().events[0].seq = 7;
  wrong.push_back(commit_of(next(task), 1));
  wrong.back().events[0].task_id = TaskId("task_other");
  wrong.push_back(commit_of(next(task)));
  wrong.back().remove = Gone::deleted;
  wrong.push_back(removal(task));
  wrong.back().task_id = {};
  wrong.push_back(commit_of(next(task)));
  wrong.back().before_version = 5;
  wrong.push_back(commit_of(next(task)));
  wrong.back().after.reset();
  // A gap behind what is stored.
  Task gap = next(task);
  gap.last_seq = 5;
  wrong.push_back(commit_of(gap, 1));
  const size_t count = wrong.size();
  const Answers answers = commit_all(std::move(wrong));
  ASSERT_EQ(answers.size(), count);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_FALSE(answers[i]) << i;
    EXPECT_EQ(answers[i].error().code, Code::invalid_argument) << i;
  }
  EXPECT_EQ(store().get(task.id), task);
}

TEST_P(StoreContract, CountsByStateAreKept) {
  const Task a = add(new_task()), b = add(new_task());
  add(new_task());
  update(running(a));
  const Task done = update(completed(b));
  StateCounts expected;
  expected.by_state[static_cast<int>(TaskState::pending)] = 1;
  expected.by_state[static_cast<int>(TaskState::running)] = 1;
  expected.by_state[static_cast<int>(TaskState::completed)] = 1;
  EXPECT_EQ(store().counts(), expected);
  store_it(removal(done));
  expected.by_state[static_cast<int>(TaskState::completed)] = 0;
  EXPECT_EQ(store().counts(), expected);
  reopen();
  EXPECT_EQ(store().counts(), expected);
}

TEST_P(StoreContract, CountsOfABatchAreKept) {
  const BatchId batch("batch_x");
  std::vector<Task> tasks;
  for (int i = 0; i < 3; ++i) {
    Task task = new_task();
    task.launch.batch_id = batch;
    tasks.push_back(add(task));
  }
  tasks[0] = update(completed(tasks[0]));
  const BatchCounts counts = *store().batch_counts(batch);
  EXPECT_EQ(counts.by_state[static_cast<int>(TaskState::pending)], 2);
  EXPECT_EQ(counts.by_state[static_cast<int>(TaskState::completed)], 1);
  for (const Task& task : tasks) store_it(removal(task, Gone::cleared));
  EXPECT_EQ(*store().batch_counts(batch), BatchCounts{});
  EXPECT_EQ(*store().batch_counts(BatchId("batch_unknown")), BatchCounts{});
  EXPECT_EQ(*store().batch_counts(BatchId()), BatchCounts{});
}

TEST_P(StoreContract, RemovalLeavesATombstoneThatSaysWhy) {
  for (const Gone why : {Gone::deleted, Gone::cleared, Gone::expired, Gone::session_ended}) {
    Task task = new_task();
    task.launch.parent_session_id = SessionId("ses_parent");
    task = add(task, 2);
    const Committed gone = store_it(removal(task, why));
    EXPECT_EQ(gone.first_pos, store().last_pos());
    const Result<Task> read = store().get(task.id);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::not_found);
    EXPECT_EQ(read.error().reason, name(why));
    const Result<std::vector<Event>> events = store().events_after(task.id, 0, 10);
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().reason, name(why));
    const Result<Committed> late = commit(commit_of(running(task)));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::not_found);
    const Result<Committed> twice = commit(removal(task, why));
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, Code::not_found);
  }
  const Result<Task> never = store().get(TaskId("task_never"));
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().reason, "");
}

TEST_P(StoreContract, RemovalOfAnOlderVersionIsRefused) {
  const Task task = add(new_task());
  update(running(task));
  const Result<Committed> refused = commit(removal(task));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(store().get(task.id));
}

TEST_P(StoreContract, PrefixesFindIds) {
  const Task a = add(new_task()), b = add(new_task());
  EXPECT_EQ(*store().find_prefix(a.id.value, 5), std::vector{a.id});
  EXPECT_EQ(*store().find_prefix("task_", 5), (std::vector{a.id, b.id}));
  EXPECT_EQ(*store().find_prefix("task_", 1), std::vector{a.id});
  EXPECT_TRUE(store().find_prefix("task%", 5)->empty());
  EXPECT_EQ(store().find_prefix("", 5)->size(), 2u);
}

TEST_P(StoreContract, WorkingAndQueuedAreWhatRecoveryNeeds) {
  Task waiting = new_task();
  waiting.launch.model = "m1";
  waiting.launch.batch_id = BatchId("batch_1");
  waiting.launch.priority = 5;
  waiting.launch.authorize_over_limit = true;
  waiting = add(waiting);
  const Task at_work = update(running(add(new_task())));
  Task stopping = running(add(new_task()));
  stopping.state = TaskState::cancelled;
  stopping.reason = "cancelled_by_user";
  stopping.stopping = true;
  stopping.completed_at = now_;
  stopping = update(stopping);
  update(completed(add(new_task())));

  const std::vector<Task> working = *store().working();
  ASSERT_EQ(working.size(), 2u);
  EXPECT_EQ(working[0], at_work);
  EXPECT_EQ(working[1], stopping);
  const std::vector<QueuedTask> queued = *store().queued();
  ASSERT_EQ(queued.size(), 1u);
  EXPECT_EQ(queued[0].id, waiting.id);
  EXPECT_EQ(queued[0].agent_id, "demo");
  EXPECT_EQ(queued[0].model, "m1");
  EXPECT_EQ(queued[0].batch_id, BatchId("batch_1"));
  EXPECT_EQ(queued[0].priority, 5);
  EXPECT_EQ(queued[0].queued_at, waiting.queued_at);
  EXPECT_TRUE(queued[0].over_limit);
}

TEST_P(StoreContract, TasksOfAParentAreThoseItLaunched) {
  const SessionId parent("ses_parent");
  Task child = new_task();
  child.launch.parent_session_id = parent;
  child = add(child);
  add(new_task());
  EXPECT_EQ(*store().tasks_of_parent(parent), std::vector{child.id});
  EXPECT_TRUE(store().tasks_of_parent(SessionId())->empty());
}

TEST_P(StoreContract, WhatWasAnsweredIsThereAfterARestart) {
  Task task = add(full_task(new_task()), 3);
  const int64_t pos = store().last_pos();
  reopen();
  EXPECT_EQ(store().get(task.id), task);
  EXPECT_EQ(store().last_pos(), pos);
  EXPECT_EQ(store().events_after(task.id, 0, 10)->size(), 3u);
}

TEST_P(StoreContract, DescribesItself) { EXPECT_FALSE(store().describe().empty()); }

}  // namespace
}  // namespace errand

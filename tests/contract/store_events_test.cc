// Events, their two numbers, and the order of everything.
#include "tests/contract/store_contract.h"

namespace errand {
namespace {

TEST_P(StoreContract, EventsComeBackInOrderWithTheirPositions) {
  Commit commit = commit_of(new_task(), 3, EventType::message_delta);
  commit.events[1].data = R"({"text":"引号 \" and \u0000"})";
  std::vector<Event> expected = commit.events;
  const TaskId id = commit.task_id;
  const Committed stored = store_it(std::move(commit));
  for (size_t i = 0; i < expected.size(); ++i) expected[i].pos = stored.first_pos + static_cast<int64_t>(i);
  EXPECT_EQ(*store().events_after(id, 0, 10), expected);
  EXPECT_EQ(*store().events_after(id, 1, 1), std::vector{expected[1]});
  EXPECT_TRUE(store().events_after(id, 3, 10)->empty());
  EXPECT_EQ(store().last_pos(), stored.first_pos + 2);
}

TEST_P(StoreContract, PositionsGoUpAcrossTasksAndAreNeverUsedAgain) {
  const Task a = add(new_task(), 2);
  const Task b = add(new_task(), 2);
  const int64_t before = store().last_pos();
  store_it(removal(b));
  EXPECT_EQ(store().last_pos(), before + 1) << "a deletion has a position too";
  reopen();
  EXPECT_EQ(store().last_pos(), before + 1);
  const Committed next = store_it(commit_of(running(a), 1));
  EXPECT_EQ(next.first_pos, before + 2);
}

TEST_P(StoreContract, ACommitWithoutEventsHasNoPosition) {
  const Task task = add(new_task(), 1);
  EXPECT_EQ(store_it(commit_of(running(task))).first_pos, 0);
}

TEST_P(StoreContract, ChangesAreEventsAndDeletionsInOneOrder) {
  const Task a = add(new_task(), 2);
  const Task b = add(new_task(), 1);
  store_it(removal(b, Gone::cleared));
  update(running(a), 1);
  const std::vector<Change> changes = *store().changes_after(0, 100);
  ASSERT_EQ(changes.size(), 4u) << "the events of a task that went are gone";
  EXPECT_EQ(changes[0].event->seq, 1);
  EXPECT_EQ(changes[1].event->seq, 2);
  ASSERT_TRUE(changes[2].gone);
  EXPECT_EQ(changes[2].gone->task_id, b.id);
  EXPECT_EQ(changes[2].gone->why, Gone::cleared);
  EXPECT_EQ(changes[2].gone->pos, changes[2].pos);
  EXPECT_EQ(changes[3].event->seq, 3);
  EXPECT_EQ(changes[3].event->task_id, a.id);
  for (size_t i = 1; i < changes.size(); ++i) EXPECT_LT(changes[i - 1].pos, changes[i].pos);

  const std::vector<Change> page = *store().changes_after(changes[1].pos, 1);
  ASSERT_EQ(page.size(), 1u);
  EXPECT_TRUE(page[0].gone);
  EXPECT_TRUE(store().changes_after(store().last_pos(), 10)->empty());
}

TEST_P(StoreContract, APositionThatWasNeverGivenIsAReset) {
  add(new_task(), 1);
  const Result<std::vector<Change>> changes = store().changes_after(store().last_pos() + 1, 10);
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code, Code::not_found);
  EXPECT_EQ(changes.error().reason, "reset");
}

TEST_P(StoreContract, ATaskWithManyEventsIsGoneAtOnce) {
  Task task = add(new_task("needle"), 3'000);
  Commit talk = commit_of(next(task));
  Session session = new_session("task");
  session.id = task.session_id;
  session.task_id = task.id;
  talk.session = session;
  for (int i = 0; i < 700; ++i) talk.messages.push_back(new_message(task.session_id));
  const MessageId message = talk.messages[5].id;
  task = next(task);
  store_it(std::move(talk));
  const int64_t before = store().last_pos();
  store_it(removal(task));
  EXPECT_FALSE(store().events_after(task.id, 0, 10));
  const std::vector<Change> changes = *store().changes_after(0, 10);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].pos, before + 1);
  EXPECT_FALSE(store().message(message));
  EXPECT_FALSE(store().session(task.session_id));
  EXPECT_TRUE(found({.query = "needle"}).empty());
  reopen();
  EXPECT_EQ(store().changes_after(0, 10)->size(), 1u);
}

TEST_P(StoreContract, FilesAreSyncedBeforeTheCommitThatSpeaksOfThem) {
  struct File final : Syncable {
    explicit File(Status answer) : answer(std::move(answer)) {}
    Status sync() override {
      ++synced;
      return answer;
    }
    Status answer;
    int synced = 0;
  };
  const auto good = std::make_shared<File>(Status{});
  const auto bad = std::make_shared<File>(fail(Code::internal, "The log cannot be written.", "io"));
  const Task a = new_task(), b = new_task(), c = new_task();
  std::vector<Commit> group;
  for (const Task& task : {a, b, c}) group.push_back(commit_of(task, 1, EventType::output));
  group[0].sync_first = {good};
  group[1].sync_first = {good, bad};
  const Answers answers = commit_all(std::move(group));
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().message, "The log cannot be written.");
  EXPECT_TRUE(answers[2]);
  EXPECT_GE(good->synced, 1);
  EXPECT_TRUE(store().get(a.id));
  EXPECT_FALSE(store().get(b.id));
}

}  // namespace
}  // namespace errand

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

TEST_P(StoreContract, TombstonesAreForgottenByAgeOldestFirstAndTheirKeysWithThem) {
  const auto made = [&](const std::string& key) {
    Task task = new_task();
    Commit commit = commit_of(task, 1);
    commit.key = Commit::Key{key, "print", task.id};
    store_it(std::move(commit));
    return task;
  };
  const auto forget = [&](Time before, int64_t most, int rows) {
    Commit commit = bare();
    commit.forget = {.before = before, .most = most, .rows = rows};
    return store_it(std::move(commit));
  };
  const Task kept = made("kept"), old = made("old"), older = made("older"), young = made("young");
  const int64_t before_all = store().last_pos();
  store_it(removal(older));
  const int64_t read_older = store().last_pos();
  store_it(removal(old));
  const Time at_old = now_;
  later();
  store_it(removal(young));

  EXPECT_EQ(forget(at_old - 1'000'000, 100, 10).forgotten, 0);
  EXPECT_EQ(store().get(older.id).error().reason, "deleted");
  EXPECT_EQ(forget(at_old + 1, 100, 1).forgotten, 1) << "no more rows than it was told";
  EXPECT_EQ(store().get(older.id).error().code, Code::not_found);
  EXPECT_EQ(store().get(older.id).error().reason, "") << "the oldest first";
  EXPECT_EQ(store().get(old.id).error().reason, "deleted");
  const Committed second = forget(at_old + 1, 100, 10);
  EXPECT_EQ(second.forgotten, 1);
  EXPECT_GT(second.oldest_tombstone, at_old) << "what is left, and when it is due";
  EXPECT_EQ(store().get(old.id).error().reason, "");
  EXPECT_EQ(store().get(young.id).error().reason, "deleted");

  for (int life = 0; life < 2; ++life) {
    EXPECT_FALSE(*store().find_key("old"));
    EXPECT_FALSE(*store().find_key("older"));
    EXPECT_TRUE(*store().find_key("young")) << "as long as the mark of its task";
    EXPECT_TRUE(*store().find_key("kept")) << "as long as its task";
    // Whoever has seen less than was forgotten cannot be told what went.
    EXPECT_EQ(store().changes_after(before_all, 10).error().reason, "reset");
    EXPECT_EQ(store().changes_after(read_older, 10).error().reason, "reset");
    EXPECT_TRUE(store().changes_after(store().last_pos(), 10));
    const std::vector<Change> all = *store().changes_after(0, 10);
    ASSERT_EQ(all.size(), 2u) << "from the very beginning: what is there, and the mark that is left";
    EXPECT_EQ(all[1].gone->task_id, young.id);
    reopen();
  }
  made("old");

  EXPECT_EQ(forget(Time{1}, 1, 10).forgotten, 0);
  store_it(removal(kept));
  EXPECT_EQ(forget(Time{1}, 1, 10).forgotten, 1) << "however young, where there are too many";
  EXPECT_EQ(store().get(young.id).error().reason, "");
  EXPECT_EQ(store().get(kept.id).error().reason, "deleted");
  const Committed rest = forget(Time{1}, 0, 10);
  EXPECT_EQ(rest.forgotten, 1);
  EXPECT_FALSE(rest.oldest_tombstone);
}

TEST_P(StoreContract, AStoreThatIsWellSaysSo) {
  EXPECT_EQ(store().health().state, StoreState::well);
  EXPECT_EQ(name(store().health().state), "ok");
  EXPECT_EQ(store().health().text, "");
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

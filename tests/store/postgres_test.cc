// What is PostgreSQL's own: who may write, what a lost connection means, and that nothing untrue is said of it.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "store/postgres/connection.h"
#include "store/postgres/postgres_store.h"
#include "tests/contract/private_postgres.h"
#include "tests/contract/store_contract.h"

namespace errand {
namespace {

Commit creation(const std::string& id, int64_t at = 1'763'200'000'000) {
  auto task = std::make_shared<Task>();
  task->id = TaskId(id);
  task->session_id = SessionId("ses_" + id);
  task->launch.agent_id = "demo";
  task->launch.prompt = "Look around";
  task->title = "Look around";
  task->created_at = task->queued_at = task->updated_at = Time{at};
  task->version = 1;
  task->last_seq = 1;
  Commit commit;
  commit.task_id = task->id;
  commit.now = Time{at};
  commit.events.push_back({.task_id = task->id, .seq = 1, .at = Time{at}, .data = "{}"});
  commit.after = std::move(task);
  return commit;
}

class PostgresStoreTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Store>> open(const std::string& place = "here") {
    return open_postgres_store({.url = PrivatePostgres::shared().url(),
                                .place = place,
                                .schema = schema_,
                                .fatal =
                                    [this](const std::string& message) {
                                      const std::lock_guard lock(mutex_);
                                      fatal_.push_back(message);
                                    }},
                               executor_);
  }
  std::unique_ptr<Store> opened(const std::string& place = "here") {
    Result<std::unique_ptr<Store>> store = open(place);
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }
  Result<Committed> commit(Store& store, Commit one) {
    std::vector<Commit> group;
    group.push_back(std::move(one));
    Answers answers = commit_group(store, executor_, std::move(group));
    if (answers.size() != 1) return fail(Code::internal, "not one answer");
    return std::move(answers.front());
  }
  // As somebody who looks into the database himself.
  int64_t sql(const std::string& text) {
    Result<postgres::Connection> db =
        postgres::Connection::open({.url = PrivatePostgres::shared().url(), .schema = schema_});
    if (!db) {
      ADD_FAILURE() << db.error().message;
      return -1;
    }
    const Result<postgres::Rows> rows = db->run(text);
    if (!rows) {
      ADD_FAILURE() << rows.error().message;
      return -1;
    }
    return rows->count() > 0 ? rows->integer(0, 0) : rows->affected();
  }
  // Waits for what another thread or process does.
  template <class Done>
  void until(Done done) {
    for (int i = 0; i < 3'000; ++i) {
      if (done()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "it did not happen within 30 s";
  }

  QueueExecutor executor_;
  // The writer's thread says it.
  std::vector<std::string> fatal() {
    const std::lock_guard lock(mutex_);
    return fatal_;
  }
  std::mutex mutex_;
  std::vector<std::string> fatal_;

 private:
  static inline int made_ = 0;
  const std::string schema_ = fmt::format("own_{}", ++made_);
};

TEST_F(PostgresStoreTest, ASecondServerIsRefusedAndIsToldWhoHasTheDatabase) {
  std::unique_ptr<Store> first = opened("one folder");
  const Result<std::unique_ptr<Store>> second = open("another folder");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(second.error().reason, "owned");
  EXPECT_NE(second.error().message.find(fmt::format("process {}", ::getpid())), std::string::npos)
      << second.error().message;
  EXPECT_TRUE(commit(*first, creation("task_1"))) << "the first one does not notice";
  first.reset();
  EXPECT_TRUE(open("another folder")) << "who leaves, leaves at once";
}

TEST_F(PostgresStoreTest, TheNextStartInTheSameFolderTakesOverAtOnceAndTheOldServerStoresNothingMore) {
  std::unique_ptr<Store> old = opened();
  ASSERT_TRUE(commit(*old, creation("task_1")));
  std::unique_ptr<Store> next = opened();
  const Result<Committed> late = commit(*old, creation("task_2"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::unavailable);
  EXPECT_EQ(late.error().reason, "taken");
  EXPECT_EQ(old->health().state, StoreState::taken);
  EXPECT_TRUE(old->get(TaskId("task_1"))) << "reading goes on";
  EXPECT_FALSE(next->get(TaskId("task_2")));
  EXPECT_TRUE(commit(*next, creation("task_2")));
  old.reset();
  EXPECT_TRUE(commit(*next, creation("task_3"))) << "the old one's goodbye is its own alone";
  EXPECT_TRUE(fatal().empty());
}

TEST_F(PostgresStoreTest, ASilentServersDatabaseIsTakenOverAndItsTransactionIsRefused) {
  std::unique_ptr<Store> silent = opened("one folder");
  sql("UPDATE servers SET beat = 0");
  std::unique_ptr<Store> next = opened("another folder");
  EXPECT_EQ(commit(*silent, creation("task_1")).error().reason, "taken");
  EXPECT_TRUE(commit(*next, creation("task_1")));
}

TEST_F(PostgresStoreTest, AServerThatWasSilentAndNotReplacedGoesOn) {
  std::unique_ptr<Store> store = opened();
  sql("UPDATE servers SET beat = 0");
  EXPECT_TRUE(commit(*store, creation("task_1")));
  EXPECT_FALSE(open("another folder")) << "its lease began anew";
}

TEST_F(PostgresStoreTest, ADatabaseThatLostCommitsEndsTheServer) {
  std::unique_ptr<Store> store = opened();
  ASSERT_TRUE(commit(*store, creation("task_1")));
  ASSERT_TRUE(commit(*store, creation("task_2")));
  // As after a fail-over to a copy that was behind.
  sql("UPDATE servers SET commits = commits - 1");
  sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = "
      "'client backend'");
  EXPECT_FALSE(commit(*store, creation("task_3")));
  ASSERT_FALSE(fatal().empty());
  EXPECT_NE(fatal().front().find("1 of the 2"), std::string::npos) << fatal().front();
}

TEST_F(PostgresStoreTest, CutConnectionsAreNotNoticed) {
  std::unique_ptr<Store> store = opened();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(commit(*store, creation(fmt::format("task_{}", i))));
    ASSERT_TRUE(store->get(TaskId(fmt::format("task_{}", i))));
    sql("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
        "backend_type = 'client backend'");
  }
  EXPECT_EQ(*store->count({.agent_id = "demo"}), 5);
}

// What was acknowledged is there; what was answered "away" is not, and can be stored again.
TEST_F(PostgresStoreTest, KilledUnderLoadNothingUntrueIsSaid) {
  std::unique_ptr<Store> store = opened();
  std::set<std::string> acknowledged, refused;
  int asked = 0, answered = 0, wrong = 0;
  const auto ask = [&] {
    const std::string id = fmt::format("task_{:06}", asked++);
    std::vector<Commit> group;
    group.push_back(creation(id));
    store->commit(std::move(group), [&, id](Answers answers) {
      ++answered;
      if (answers.at(0))
        acknowledged.insert(id);
      else if (answers[0].error().code == Code::unavailable && answers[0].error().reason == "away")
        refused.insert(id);
      else
        ++wrong;
    });
  };
  for (int round = 0; round < 3; ++round) {
    const size_t before = acknowledged.size();
    // Many are on their way when it happens.
    ASSERT_TRUE(executor_.run_until([&] {
      while (asked - answered < 40) ask();
      return acknowledged.size() > before + 200;
    }));
    PrivatePostgres::shared().kill();
    // All that was on its way may be one transaction of which nobody can say yet whether it is stored, and what is
    // asked for now may still reach a process that has not noticed.
    until([&] { return store->health().state == StoreState::away; });
    const size_t refused_before = refused.size();
    ask();
    ASSERT_TRUE(executor_.run_until([&] { return refused.size() > refused_before; })) << "it is told that it is away";
    EXPECT_EQ(store->health().state, StoreState::away);
    EXPECT_NE(store->health().text, "");
    const Result<Task> unreadable = store->get(TaskId("task_000000"));
    ASSERT_FALSE(unreadable);
    EXPECT_EQ(unreadable.error().code, Code::unavailable);
    PrivatePostgres::shared().start();
    until([&] { return store->health().state == StoreState::well; });
  }
  ASSERT_TRUE(executor_.run_until([&] { return answered == asked; }));
  EXPECT_EQ(wrong, 0);
  for (const std::string& id : acknowledged) ASSERT_TRUE(store->get(TaskId(id))) << id;
  for (const std::string& id : refused) ASSERT_EQ(store->get(TaskId(id)).error().code, Code::not_found) << id;
  EXPECT_EQ(store->counts().by_state[0], static_cast<int64_t>(acknowledged.size()));
  EXPECT_EQ(store->last_pos(), static_cast<int64_t>(acknowledged.size()));
  EXPECT_EQ(store->changes_after(0, 100'000)->size(), acknowledged.size());
  EXPECT_EQ(sql("SELECT count(*) FROM tasks"), static_cast<int64_t>(acknowledged.size()));
  EXPECT_TRUE(fatal().empty());
}

TEST_F(PostgresStoreTest, AServerThatMayOnlyBeReadIsAway) {
  std::unique_ptr<Store> store = opened();
  ASSERT_TRUE(commit(*store, creation("task_1")));
  // As a primary that was demoted; this connection is one that may read.
  const std::string url = PrivatePostgres::shared().url();
  Result<postgres::Connection> db =
      postgres::Connection::open({.url = url + "&target_session_attrs=any", .schema = "public"});
  ASSERT_TRUE(db) << db.error().message;
  ASSERT_TRUE(db->script("ALTER SYSTEM SET default_transaction_read_only = on"));
  ASSERT_TRUE(db->run("SELECT pg_reload_conf()::int::bigint"));
  until([&] { return !postgres::Connection::open({.url = url, .schema = "public"}); });
  ASSERT_TRUE(
      db->run("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE pid <> "
              "pg_backend_pid() AND backend_type = 'client backend'"));
  const Result<Committed> refused = commit(*store, creation("task_2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(store->health().state, StoreState::away);
  ASSERT_TRUE(db->script("SET default_transaction_read_only = off"));
  ASSERT_TRUE(db->script("ALTER SYSTEM RESET default_transaction_read_only"));
  ASSERT_TRUE(db->run("SELECT pg_reload_conf()::int::bigint"));
  until([&] { return store->health().state == StoreState::well; });
  EXPECT_TRUE(commit(*store, creation("task_2")));
}

TEST_F(PostgresStoreTest, BytesThatAreNoTextComeBackAsTheyWere) {
  std::unique_ptr<Store> store = opened();
  const std::string odd("\0\xFF\xFE' \\x41 \"", 12);
  Commit commit_odd = creation("task_1");
  commit_odd.events[0].data = odd;
  commit_odd.key = Commit::Key{odd, odd, commit_odd.task_id};
  commit_odd.settings = {{"a" + odd, odd}};
  auto after = std::make_shared<Task>(*commit_odd.after);
  after->result = odd;
  after->checkpoint = odd;
  after->launch.labels = {{"k", odd}};
  commit_odd.after = after;
  ASSERT_TRUE(commit(*store, std::move(commit_odd)));
  EXPECT_EQ(store->events_after(TaskId("task_1"), 0, 10)->front().data, odd);
  EXPECT_EQ((*store->find_key(odd))->fingerprint, odd);
  EXPECT_EQ(store->get(TaskId("task_1"))->result, odd);
  EXPECT_EQ(store->get(TaskId("task_1"))->checkpoint, odd);
  EXPECT_EQ(store->settings("a")->front().json, odd);
  EXPECT_EQ(store->list({.label_key = "k", .label_value = odd}, {})->tasks.size(), 1u);
  EXPECT_TRUE(store->list({.agent_id = odd}, {})->tasks.empty());
  EXPECT_FALSE(store->get(TaskId(odd)));
}

TEST_F(PostgresStoreTest, TheIndexFindsWhatWasLookedThroughBefore) {
  std::unique_ptr<Store> store = opened();
  Commit chinese = creation("task_1");
  auto after = std::make_shared<Task>(*chinese.after);
  after->launch.prompt = "把数据库迁移到新的服务器";
  after->result = "forty-two";
  chinese.after = after;
  ASSERT_TRUE(commit(*store, std::move(chinese)));
  ASSERT_TRUE(commit(*store, creation("task_2")));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store->list({.query = "数据"}, {})->tasks.size(), 1u) << "two characters";
    EXPECT_EQ(store->list({.query = "库迁 FORTY-TWO"}, {})->tasks.size(), 1u);
    EXPECT_EQ(store->list({.query = "around"}, {})->tasks.size(), 2u) << "the title of both";
    EXPECT_TRUE(store->list({.query = "库到"}, {})->tasks.empty());
    until([&] { return sql("SELECT count(*) FROM unindexed") == 0; });
  }
  EXPECT_EQ(sql("SELECT count(*) FROM searched"), 2);
}

TEST_F(PostgresStoreTest, WhatIsLeftOfALongTaskIsSwept) {
  std::unique_ptr<Store> store = opened();
  Commit lengthy = creation("task_1");
  auto after = std::make_shared<Task>(*lengthy.after);
  for (int i = 0; i < 2'999; ++i)
    lengthy.events.push_back({.task_id = after->id, .seq = ++after->last_seq, .at = Time{1}, .data = "{}"});
  lengthy.after = after;
  ASSERT_TRUE(commit(*store, std::move(lengthy)));
  Commit removal;
  removal.task_id = TaskId("task_1");
  removal.before_version = 1;
  removal.remove = Gone::deleted;
  ASSERT_TRUE(commit(*store, std::move(removal)));
  EXPECT_EQ(store->changes_after(0, 10)->size(), 1u);
  until([&] { return sql("SELECT count(*) FROM events") == 0 && sql("SELECT count(*) FROM garbage") == 0; });
  EXPECT_EQ(sql("SELECT count(*) FROM searched"), 0);
}

TEST_F(PostgresStoreTest, ANewerSchemaIsRefused) {
  opened().reset();
  sql("UPDATE meta SET schema = 9999");
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unsupported);
  EXPECT_NE(store.error().message.find("9999"), std::string::npos);
}

TEST(PostgresUrl, OnlyItsOwnFormsAreTaken) {
  EXPECT_TRUE(is_postgres_url("postgres://localhost/errand"));
  EXPECT_TRUE(is_postgres_url("postgresql:///errand?host=/run/postgresql"));
  EXPECT_FALSE(is_postgres_url("mysql://localhost"));
  EXPECT_FALSE(is_postgres_url(""));
}

TEST(PostgresUrl, AServerThatIsNotThereIsNamed) {
  QueueExecutor executor;
  const auto store = open_postgres_store({.url = "postgresql:///errand?host=/nowhere", .place = "here"}, executor);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::unavailable);
  EXPECT_NE(store.error().message.find("/nowhere"), std::string::npos) << store.error().message;
}

TEST(PostgresPlace, IsMadeOnceAndKept) {
  const TestFolder folder;
  const Result<std::string> first = read_place(folder / "place");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(*read_place(folder / "place"), *first);
  EXPECT_NE(*read_place(folder / "other"), *first);
}

}  // namespace
}  // namespace errand

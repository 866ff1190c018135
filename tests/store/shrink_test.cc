// Space that was used and is not any more goes back to the file system, in steps that nobody waits for.
#include <chrono>
#include <filesystem>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/id.h"
#include "tests/store/store_file.h"

namespace errand {
namespace {

class Shrink : public StoreFile {
 protected:
  std::unique_ptr<Store> open() {
    Result<std::unique_ptr<Store>> store = StoreFile::open();
    if (!store) {
      ADD_FAILURE() << store.error().message;
      std::abort();
    }
    return std::move(*store);
  }
  static TaskId id_of(int n) { return TaskId(fmt::format("task_{:06}", n)); }
  Commit creation(int n) {
    // Words by chance: the search index is as large as the texts.
    std::string prompt;
    while (prompt.size() < 8'000) prompt += fmt::format("{:x} ", random_.below(1 << 30));
    return StoreFile::creation(id_of(n), std::move(prompt));
  }
  static Commit removal(int n) {
    Commit commit;
    commit.task_id = id_of(n);
    commit.before_version = 1;
    commit.remove = Gone::deleted;
    return commit;
  }
  void commit_all(Store& store, int from, int to, bool remove) {
    for (int n = from; n < to; n += 100) {
      std::vector<Commit> group;
      for (int i = n; i < std::min(n + 100, to); ++i) group.push_back(remove ? removal(i) : creation(i));
      for (const auto& answer : commit_group(store, executor_, std::move(group))) ASSERT_TRUE(answer);
    }
  }
  int64_t size(const char* suffix = "") {
    std::error_code none;
    return static_cast<int64_t>(std::filesystem::file_size(options_.path + suffix, none));
  }
  template <class F>
  bool until(F done) {
    for (int i = 0; i < 6'000 && !done(); ++i) ::usleep(10'000);
    return done();
  }
  int64_t pragma(const char* name) { return number(fmt::format("PRAGMA {}", name)); }
  int64_t number(const std::string& sql, const char* suffix = "") {
    sqlite3* db = nullptr;
    sqlite3_stmt* row = nullptr;
    EXPECT_EQ(sqlite3_open_v2((options_.path + suffix).c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_prepare_v2(db, sql.c_str(), -1, &row, nullptr), SQLITE_OK);
    const int64_t value = sqlite3_step(row) == SQLITE_ROW ? sqlite3_column_int64(row, 0) : -1;
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
  }

  SeededRandom random_{41};
};

TEST_F(Shrink, WhatWasDeletedGoesBackToTheFileSystem) {
  constexpr int tasks = 2'000;
  const std::unique_ptr<Store> store = open();
  commit_all(*store, 0, tasks, false);
  commit_all(*store, 10, tasks, true);
  const int64_t full = pragma("page_count") * 4'096;
  EXPECT_GT(full, 16 << 20);
  // Commits go on meanwhile, and none of them waits long for a step. (A loaded machine has its own pauses.)
  Millis slowest = 0;
  int n = tasks;
  EXPECT_TRUE(until([&] {
    const auto begin = std::chrono::steady_clock::now();
    commit_all(*store, n, n + 1, false);
    ++n;
    const auto took = std::chrono::steady_clock::now() - begin;
    slowest = std::max<Millis>(slowest, std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    ::usleep(250'000);  // Idle begins after 200 ms.
    return size() < full / 4;
  })) << size();
  RecordProperty("slowest_commit_ms", std::to_string(slowest));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(store->get(id_of(i)));
  EXPECT_EQ(store->health().state, StoreState::well);
}

TEST_F(Shrink, TheSearchIndexForgetsWhatWasDeletedAndGivesItsSpaceBack) {
  constexpr int tasks = 2'000;
  const auto indexed = [&] { return number("SELECT task FROM indexed", ".search"); };
  const auto pages = [&] { return number("PRAGMA page_count", ".search"); };
  const std::unique_ptr<Store> store = open();
  commit_all(*store, 0, tasks, false);
  ASSERT_TRUE(until([&] { return indexed() == tasks; })) << indexed();
  const int64_t full = pages();
  EXPECT_GT(full, 1'000);
  commit_all(*store, 10, tasks, true);
  EXPECT_TRUE(until([&] { return pages() < full / 3; })) << pages() << " of " << full;
  EXPECT_TRUE(until([&] { return size(".search") < full * 4096 / 3; })) << size(".search");
}

// One that an older errand made could not: it is copied once, when it is opened.
TEST_F(Shrink, AnOlderFileIsMadeShrinkableWhenItIsOpened) {
  {
    const std::unique_ptr<Store> store = open();
    commit_all(*store, 0, 300, false);
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(db,
                   "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM;"
                   // As errand 0.1 left it.
                   "DROP TABLE usage; DROP INDEX tasks_pinned; DROP INDEX tasks_archived; DROP INDEX tasks_renamed; "
                   "DROP INDEX tasks_unseen; DROP INDEX tasks_asks; DROP INDEX keys_task; ALTER TABLE meta DROP "
                   "COLUMN forgotten_pos; "
                   "PRAGMA user_version = 1",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(db);
  ASSERT_EQ(pragma("auto_vacuum"), 0);
  for (int life = 0; life < 2; ++life) {
    const std::unique_ptr<Store> store = open();
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(store->get(id_of(i)));
    commit_all(*store, 300 + life, 301 + life, false);
  }
  EXPECT_EQ(pragma("auto_vacuum"), 2);
  EXPECT_EQ(pragma("user_version"), 5);
  EXPECT_TRUE(std::filesystem::exists(options_.path + ".before-002"));
  EXPECT_FALSE(std::filesystem::exists(options_.path + ".part"));
}

}  // namespace
}  // namespace errand

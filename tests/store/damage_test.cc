// T17: somebody else's file, a locked one, a damaged one: a clear error, never a crash, an empty start or a wrong row.
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/store/power_disk.h"
#include "tests/store/store_file.h"
#include "tests/store/store_user.h"

namespace errand {
namespace {

class Damage : public StoreFile {
 protected:
  Damage() { options_.busy_ms = 50; }

  Error problem() {
    Result<std::unique_ptr<Store>> store = open();
    return store ? Error{Code::internal, "it was opened", "none"} : store.error();
  }
  void write(const std::string& bytes) { std::ofstream(options_.path, std::ios::binary) << bytes; }
  static Commit creation(int n) { return StoreFile::creation(TaskId(fmt::format("task_{}", n))); }

  // Runs a statement on the file while nobody has it open.
  void change(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(options_.path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  static void wait_for(const std::string& file) {
    for (int i = 0; i < 3'000 && !std::filesystem::exists(file); ++i) ::usleep(10'000);
    ASSERT_TRUE(std::filesystem::exists(file)) << file;
  }
};

TEST_F(Damage, ASecondOwnerIsToldWhoHasItWithinASecond) {
  const Result<std::unique_ptr<Store>> first = open();
  ASSERT_TRUE(first);
  const auto start = std::chrono::steady_clock::now();
  const Error refused = problem();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(refused.code, Code::conflict);
  EXPECT_NE(refused.message.find(std::to_string(::getpid())), std::string::npos) << refused.message;
}

TEST_F(Damage, TheLockGoesWithItsOwnerAndIsNotInherited) {
  Result<std::unique_ptr<Store>> first = open();
  ASSERT_TRUE(first);
  // A child that outlives the store, as an agent may outlive the server.
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execl("/bin/sleep", "sleep", "60", nullptr);
    ::_exit(127);
  }
  ASSERT_GT(child, 0);
  first->reset();
  const bool opened = open().has_value();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_TRUE(opened);
}

TEST_F(Damage, AllFilesAreTheirUsersAlone) {
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store);
  commit_group(**store, executor_, {creation(1)});
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    struct stat status{};
    ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << file.path();
    ++files;
  }
  EXPECT_GE(files, 5);
}

TEST_F(Damage, AMissingFolderSaysSo) {
  options_.path = folder_ / "no/such/folder/errand.db";
  const Error error = problem();
  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_NE(error.message.find("folder"), std::string::npos) << error.message;
}

TEST_F(Damage, AFileThatIsNoDatabaseIsRefused) {
  write("This is not a database, it only looks like one for as long as nobody reads it. " + std::string(5'000, 'x'));
  EXPECT_EQ(problem().reason, "corrupt");
  EXPECT_GT(std::filesystem::file_size(options_.path), 5'000u) << "and it is left as it is";
}

TEST_F(Damage, SomebodyElsesDatabaseIsRefused) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "CREATE TABLE notes (text)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  const Error error = problem();
  EXPECT_EQ(error.code, Code::conflict);
  EXPECT_EQ(error.reason, "foreign");
}

TEST_F(Damage, ADatabaseThatWasEmptiedIsNotStartedAnew) {
  ASSERT_TRUE(open());
  write("");
  EXPECT_EQ(problem().reason, "corrupt");
  EXPECT_EQ(std::filesystem::file_size(options_.path), 0u);
}

TEST_F(Damage, ATruncatedDatabaseIsRefused) {
  ASSERT_TRUE(open());
  std::filesystem::resize_file(options_.path, 3 * 4096);
  EXPECT_EQ(problem().reason, "corrupt");
}

TEST_F(Damage, ASearchIndexThatIsDamagedOrMissingIsMadeAgain) {
  for (const char* damage : {"garbage", "missing", "another"}) {
    SCOPED_TRACE(damage);
    const std::string index = options_.path + ".search";
    if (std::string(damage) == "garbage") std::ofstream(index, std::ios::binary) << std::string(20'000, 'x');
    if (std::string(damage) == "missing") std::filesystem::remove(index);
    if (std::string(damage) == "another") {
      SqliteOptions other = options_;
      other.path = folder_ / "other.db";
      {
        ASSERT_TRUE(open_sqlite_store(other, executor_));
      }
      std::filesystem::copy_file(other.path + ".search", index, std::filesystem::copy_options::overwrite_existing);
    }
    // The first start, where there is an index without a database, is another case.
    if (!std::filesystem::exists(options_.path)) std::filesystem::remove(index);
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store) << store.error().message;
    Commit commit = creation(static_cast<int>(std::string(damage).size()));
    auto task = std::make_shared<Task>(*commit.after);
    task->title = "find me";
    commit.after = task;
    const int64_t before = *(*store)->count({.query = "find me"});
    ASSERT_TRUE(commit_group(**store, executor_, {std::move(commit)})[0] || before > 0);
    EXPECT_GE(*(*store)->count({.query = "find me"}), 1);
  }
}

TEST_F(Damage, AStrangersLockIsWaitedForAndThenSaid) {
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store);
  sqlite3* stranger = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &stranger), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(stranger, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Answers refused = commit_group(**store, executor_, {creation(1), creation(2)});
  for (const auto& answer : refused) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::unavailable);
  }
  EXPECT_TRUE((*store)->list({}, {})) << "reads go on";
  sqlite3_exec(stranger, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(stranger);
  EXPECT_TRUE(commit_group(**store, executor_, {creation(1)})[0]);
}

TEST_F(Damage, AFileLockedByAStrangerCannotBeOpened) {
  ASSERT_TRUE(open());
  sqlite3* stranger = nullptr;
  ASSERT_EQ(sqlite3_open(options_.path.c_str(), &stranger), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(stranger, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(problem().code, Code::unavailable);
  sqlite3_close(stranger);
  EXPECT_TRUE(open());
}

// The seals: 1,000 flipped bits, no crash, and every row is right, or an error.
TEST_F(Damage, AFlippedBitIsNeverAWrongTask) {
  SeededRandom random(11);
  PowerDisk disk;
  std::vector<Task> truth;
  {
    StoreUser user(random);
    ASSERT_TRUE(user.open(disk.vfs()));
    user.only(StoreUser::Only::inserts);
    for (int i = 0; i < 15; ++i) user.commit_something();
    truth = (*user.store().list({}, {.limit = 500})).tasks;
  }
  ASSERT_GT(truth.size(), 30u);
  const std::string whole = disk.read("errand.db");
  const std::string index = disk.read("errand.db.search");
  int refused = 0, failed = 0, right = 0;
  for (int flip = 0; flip < 1'000; ++flip) {
    SCOPED_TRACE(fmt::format("flip {}", flip));
    std::string bytes = whole;
    bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    disk.replace("errand.db", bytes);
    disk.replace("errand.db.search", index);
    disk.replace("errand.db-wal", "");
    Result<std::unique_ptr<Store>> store =
        open_sqlite_store({.path = "errand.db", .readers = 1, .ballast_bytes = 0, .vfs = disk.vfs()}, executor_);
    if (!store) {
      ++refused;
      continue;
    }
    for (const Task& task : truth) {
      const Result<Task> read = (*store)->get(task.id);
      if (!read) {
        ASSERT_NE(read.error().code, Code::not_found) << "a task that is there is not denied";
        ++failed;
        continue;
      }
      ASSERT_EQ(*read, task);
      ++right;
      const Result<std::vector<Event>> events = (*store)->events_after(task.id, 0, 100);
      if (!events) continue;
      ASSERT_EQ(std::ssize(*events), task.last_seq);
      for (size_t i = 0; i < events->size(); ++i) ASSERT_EQ((*events)[i].seq, static_cast<int64_t>(i) + 1);
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(failed, 10);
  EXPECT_GT(right, 1'000);
}

TEST_F(Damage, ASmallDatabaseWithADamagedRowIsReadOnlyFromItsStart) {
  {
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store);
    commit_group(**store, executor_, {creation(1), creation(2)});
  }
  change("UPDATE launches SET title = 'another' WHERE n = 1");
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->health().state, StoreState::damaged);
  const Result<Committed> refused = commit(**store, creation(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_EQ(refused.error().reason, "damaged");
  EXPECT_EQ((*store)->get(TaskId("task_1")).error().reason, "corrupt");
  EXPECT_TRUE((*store)->get(TaskId("task_2"))) << "what is whole can be read";
  EXPECT_EQ((*store)->get(TaskId("task_3")).error().code, Code::not_found);
}

// Too large to be looked through before it is served: whoever meets the damage first ends the writing.
TEST_F(Damage, ADamagedRowThatIsReadMakesTheStoreReadOnly) {
  {
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store);
    Commit large = creation(1);
    auto task = std::make_shared<Task>(*large.after);
    task->launch.prompt = std::string(6 << 20, 'x');
    large.after = task;
    commit_group(**store, executor_, {std::move(large), creation(2)});
  }
  change("UPDATE launches SET title = 'another' WHERE n = 2");
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->health().state, StoreState::well) << "nobody knows yet";
  EXPECT_TRUE(commit(**store, creation(3)));
  EXPECT_EQ((*store)->get(TaskId("task_2")).error().reason, "corrupt");
  EXPECT_EQ((*store)->health().state, StoreState::damaged);
  EXPECT_EQ(commit(**store, creation(4)).error().reason, "damaged");
  EXPECT_TRUE((*store)->get(TaskId("task_3")));
}

TEST_F(Damage, ADatabaseThatWasDeletedUnderTheServerTakesNoCommitAndIsSaved) {
  {
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store);
    ASSERT_TRUE(commit(**store, creation(1)));
    ASSERT_TRUE(std::filesystem::remove(options_.path));
    const Result<Committed> refused = commit(**store, creation(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_EQ(refused.error().reason, "unlinked");
    EXPECT_EQ((*store)->health().state, StoreState::unlinked);
    EXPECT_TRUE((*store)->get(TaskId("task_1"))) << "reads go on";
    EXPECT_EQ((*store)->get(TaskId("task_2")).error().code, Code::not_found) << "nothing of it is stored";
    wait_for(options_.path + ".rescued");
    EXPECT_EQ(commit(**store, creation(3)).error().reason, "unlinked");
  }
  const Error refused = problem();
  EXPECT_NE(refused.message.find(".rescued"), std::string::npos) << refused.message;
  std::filesystem::rename(options_.path + ".rescued", options_.path);
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE((*store)->get(TaskId("task_1")));
  EXPECT_TRUE(commit(**store, creation(2)));
}

// The old WAL beside a copy of its database would be played into it.
TEST_F(Damage, ARescueThatWasCutShortIsFinishedBeforeAnythingIsOpened) {
  const std::string wal = options_.path + "-wal", kept = folder_ / "kept-wal";
  {
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store);
    for (int i = 1; i <= 20; ++i) ASSERT_TRUE(commit(**store, creation(i)));
    std::filesystem::copy_file(wal, kept);
    ASSERT_TRUE(std::filesystem::remove(options_.path));
    ASSERT_FALSE(commit(**store, creation(21)));
    wait_for(options_.path + ".rescued");
    EXPECT_FALSE(std::filesystem::exists(wal)) << "gone before the name is there";
  }
  std::filesystem::rename(options_.path + ".rescued", options_.path + ".rescuing");
  std::filesystem::rename(kept, wal);
  const Error refused = problem();
  EXPECT_NE(refused.message.find(".rescued"), std::string::npos) << refused.message;
  EXPECT_FALSE(std::filesystem::exists(wal));
  std::filesystem::rename(options_.path + ".rescued", options_.path);
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store) << store.error().message;
  for (int i = 1; i <= 20; ++i) EXPECT_TRUE((*store)->get(TaskId("task_" + std::to_string(i))));
}

TEST_F(Damage, ADatabaseThatWasReplacedUnderTheServerTakesNoCommit) {
  SqliteOptions other = options_;
  other.path = folder_ / "other.db";
  ASSERT_TRUE(open_sqlite_store(other, executor_));
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store);
  ASSERT_TRUE(commit(**store, creation(1)));
  std::filesystem::rename(other.path, options_.path);
  EXPECT_EQ(commit(**store, creation(2)).error().reason, "unlinked");
}

TEST_F(Damage, AWalThatWasDeletedUnderTheServerTakesNoCommitAndLosesNothing) {
  {
    const Result<std::unique_ptr<Store>> store = open();
    ASSERT_TRUE(store);
    ASSERT_TRUE(commit(**store, creation(1)));
    ASSERT_TRUE(std::filesystem::remove(options_.path + "-wal"));
    EXPECT_EQ(commit(**store, creation(2)).error().reason, "unlinked");
  }
  const Result<std::unique_ptr<Store>> store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_TRUE((*store)->get(TaskId("task_1")));
  EXPECT_TRUE(commit(**store, creation(2)));
}

// SQLite 3.40's WAL-reset bug: exactly one connection may write and checkpoint, in either file.
TEST_F(Damage, OneConnectionWrites) {
  SeededRandom random(5);
  PowerDisk disk;
  StoreUser user(random);
  ASSERT_TRUE(user.open(disk.vfs()));
  for (int i = 0; i < 150; ++i) {
    user.commit_something();
    static_cast<void>(user.store().list({.query = "task"}, {.limit = 5}));
    static_cast<void>(user.store().list({.states = {TaskState::pending}}, {}));
  }
  ASSERT_EQ(user.verify(), "");
  for (const char* file : {"errand.db", "errand.db-wal", "errand.db.search", "errand.db.search-wal"})
    EXPECT_LE(disk.writers(file), 1u) << file;
  EXPECT_EQ(disk.writers("errand.db-wal"), 1u);
}

}  // namespace
}  // namespace errand

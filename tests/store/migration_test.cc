// T23: the schema moves forward, whole steps at a time, with a copy before; a newer one is refused.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/test_folder.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/contract/store_contract.h"
#include "tests/store/power_disk.h"

namespace errand::sqlite {
namespace {

const std::vector<Migration> first = {{1, "first", "CREATE TABLE a (x); INSERT INTO a VALUES (1), (2), (3);"}};
const std::vector<Migration> both = {
    first[0],
    {2, "second",
     "CREATE TABLE b (y); INSERT INTO b SELECT x * 10 FROM a; ALTER TABLE a ADD COLUMN z DEFAULT 7; UPDATE a SET z = x;"
     "CREATE INDEX b_y ON b (y);"}};
const std::vector<Migration> broken = {
    first[0], {2, "broken", "CREATE TABLE b (y); INSERT INTO b VALUES (1); INSERT INTO c VALUES (1);"}};

class MigrationTest : public testing::Test {
 protected:
  MigrationTest() { set_log_level(LogLevel::error); }
  Database open() { return std::move(*Database::open(folder_ / "m.db", Database::Mode::create, {})); }

  TestFolder folder_;
};

TEST_F(MigrationTest, StepsAreTakenOnceAndInOrder) {
  Database db = open();
  ASSERT_TRUE(migrate(db, both, {}));
  EXPECT_EQ(*db.number("PRAGMA user_version"), 2);
  EXPECT_EQ(*db.number("SELECT sum(y) FROM b"), 60);
  ASSERT_TRUE(migrate(db, both, {}));
  EXPECT_EQ(*db.number("SELECT count(*) FROM b"), 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m.db.before-001")) << "nothing to copy";
}

TEST_F(MigrationTest, ACopyIsMadeBeforeAStep) {
  Database db = open();
  ASSERT_TRUE(migrate(db, first, {}));
  ASSERT_TRUE(migrate(db, both, {}));
  const std::string copy = folder_ / "m.db.before-002";
  struct stat status{};
  ASSERT_EQ(::stat(copy.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  Database before = std::move(*Database::open(copy, Database::Mode::read, {}));
  EXPECT_EQ(*before.number("PRAGMA user_version"), 1);
  EXPECT_EQ(*before.number("SELECT count(*) FROM a"), 3);
  EXPECT_EQ(*before.number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
}

TEST_F(MigrationTest, AStepThatFailsIsUndone) {
  Database db = open();
  ASSERT_TRUE(migrate(db, first, {}));
  const Status failed = migrate(db, broken, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("broken"), std::string::npos);
  EXPECT_EQ(*db.number("PRAGMA user_version"), 1);
  EXPECT_EQ(*db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
  EXPECT_TRUE(migrate(db, both, {}));
}

TEST_F(MigrationTest, ANewerSchemaIsRefusedInClearWords) {
  Database db = open();
  ASSERT_TRUE(migrate(db, both, {}));
  const Status refused = migrate(db, first, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_EQ(refused.error().reason, "newer_schema");
  EXPECT_EQ(*db.number("PRAGMA user_version"), 2) << "nothing is touched";
}

TEST_F(MigrationTest, TheStoreRefusesANewerSchema) {
  QueueExecutor executor;
  const std::string path = folder_ / "errand.db";
  {
    ASSERT_TRUE(open_sqlite_store({.path = path, .ballast_bytes = 0}, executor));
  }
  {
    Database db = std::move(*Database::open(path, Database::Mode::read_write, {}));
    ASSERT_TRUE(db.exec("PRAGMA user_version = 99"));
  }
  const auto refused = open_sqlite_store({.path = path, .ballast_bytes = 0}, executor);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "newer_schema");
}

TEST_F(MigrationTest, APowerCutAtAnyStepLeavesTheOldSchemaOrTheNew) {
  int old_ones = 0, new_ones = 0;
  for (int64_t cut = 1; cut < 200; ++cut) {
    SCOPED_TRACE(fmt::format("cut after {} operations", cut));
    SeededRandom random(static_cast<uint64_t>(cut));
    PowerDisk disk;
    const auto open_there = [&] {
      Database db = std::move(*Database::open("m.db", Database::Mode::create, disk.vfs()));
      static_cast<void>(db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
      return db;
    };
    {
      Database db = open_there();
      ASSERT_TRUE(migrate(db, first, disk.vfs()));
      disk.cut_power_after(cut);
      static_cast<void>(migrate(db, both, disk.vfs()));
    }
    const bool was_cut = !disk.has_power();
    disk.restore_power(random);
    Database db = open_there();
    const int64_t version = *db.number("PRAGMA user_version");
    ASSERT_TRUE(version == 1 || version == 2);
    ASSERT_EQ(*db.number("SELECT count(*) FROM sqlite_schema WHERE name IN ('b', 'b_y')"), version == 1 ? 0 : 2);
    ASSERT_EQ(*db.number("SELECT count(*) FROM pragma_table_info('a') WHERE name = 'z'"), version == 1 ? 0 : 1);
    (version == 1 ? old_ones : new_ones) += 1;
    ASSERT_TRUE(migrate(db, both, disk.vfs()));
    ASSERT_EQ(*db.number("SELECT sum(y) FROM b"), 60);
    if (!was_cut) break;
  }
  EXPECT_GT(old_ones, 2);
  EXPECT_GT(new_ones, 0);
}

TEST(Migrations, AreNumberedFromOne) {
  int expected = 1;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, expected++);
}

}  // namespace
}  // namespace errand::sqlite

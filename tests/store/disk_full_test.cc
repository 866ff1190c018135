// T16: a full disk refuses what needs space, loses nothing, lets people delete, and is over when there is space.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/store/power_disk.h"
#include "tests/store/store_user.h"

namespace errand {
namespace {

constexpr int64_t ballast_bytes = 1 << 20;

class DiskFull : public testing::Test {
 protected:
  std::function<bool(bool)> ballast() {
    return [this](bool take) { return disk_.reserve(take ? ballast_bytes : -ballast_bytes); };
  }
  // Commits until one is refused.
  void fill(StoreUser& user) {
    user.only(StoreUser::Only::inserts);
    for (int i = 0; i < 2'000 && !user.refused(); ++i) user.commit_something();
    ASSERT_EQ(user.refused(), Code::storage_full);
  }

  PowerDisk disk_;
};

TEST_F(DiskFull, AtTwentyFillLevelsNothingIsLostAndDeletingStillWorks) {
  for (int level = 0; level < 20; ++level) {
    SCOPED_TRACE(fmt::format("level {}", level));
    SeededRandom random(static_cast<uint64_t>(level) + 1);
    PowerDisk disk;
    StoreUser user(random);
    ASSERT_TRUE(user.open(disk.vfs(), [&](bool take) { return disk.reserve(take ? ballast_bytes : -ballast_bytes); }));
    disk.set_capacity(disk.used() + 200'000 + level * 17'777);
    fill(user);
    ASSERT_EQ(user.verify(), "") << "reads go on, and what was answered is there";
    ASSERT_EQ(user.fatal(), "");

    user.only(StoreUser::Only::removals);
    const int64_t before = user.answered();
    for (int i = 0; i < 20; ++i) user.commit_something();
    ASSERT_EQ(user.refused(), std::nullopt) << "the ballast makes room for deleting";
    ASSERT_GT(user.answered(), before);
    ASSERT_EQ(user.verify(), "");

    // Space is back: everything works within 5 s, without a restart.
    disk.set_capacity(0);
    user.only(StoreUser::Only::inserts);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    do {
      user.commit_something();
    } while (user.refused() && std::chrono::steady_clock::now() < deadline);
    ASSERT_EQ(user.refused(), std::nullopt);
    ASSERT_EQ(user.verify(), "");
    user.close();
    ASSERT_TRUE(user.open(disk.vfs()));
    ASSERT_EQ(user.verify(), "");
  }
}

TEST_F(DiskFull, WhileTheBallastIsGivenUpOnlyDeletingIsPossible) {
  SeededRandom random(3);
  StoreUser user(random);
  ASSERT_TRUE(user.open(disk_.vfs(), ballast()));
  disk_.set_capacity(disk_.used() + 100'000);
  fill(user);
  // There is the ballast's space now, and a creation must not eat it.
  const int64_t used = disk_.used();
  user.commit_something();
  EXPECT_EQ(user.refused(), Code::storage_full);
  EXPECT_EQ(disk_.used(), used);
  user.only(StoreUser::Only::removals);
  user.commit_something();
  EXPECT_EQ(user.refused(), std::nullopt);
}

TEST_F(DiskFull, AStartOnAFullDiskServesReadsAndDeletes) {
  SeededRandom random(4);
  StoreUser user(random);
  ASSERT_TRUE(user.open(disk_.vfs()));
  for (int i = 0; i < 20; ++i) user.commit_something();
  user.close();
  disk_.set_capacity(disk_.used() + ballast_bytes / 2);
  ASSERT_TRUE(user.open(disk_.vfs(), ballast())) << user.problem();
  EXPECT_EQ(user.verify(), "");
  user.only(StoreUser::Only::inserts);
  user.commit_something();
  EXPECT_EQ(user.refused(), Code::storage_full);
  user.only(StoreUser::Only::removals);
  user.commit_something();
  EXPECT_EQ(user.refused(), std::nullopt);
}

}  // namespace
}  // namespace errand

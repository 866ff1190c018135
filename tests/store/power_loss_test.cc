// T2, P1: what was answered survives a power cut, at any point; and a disk that cannot sync is never believed.
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.h"
#include "tests/store/power_disk.h"
#include "tests/store/store_user.h"

namespace errand {
namespace {

// How many power cuts; the nightly run sets more.
int points() {
  const char* given = std::getenv("ERRAND_POWER_POINTS");
  return given ? std::atoi(given) : 2'000;
}

TEST(PowerLoss, NothingThatWasAnsweredIsLostAndNothingIsCorrupt) {
  const uint64_t first_seed = std::getenv("ERRAND_SEED") ? std::strtoull(std::getenv("ERRAND_SEED"), nullptr, 10) : 1;
  int64_t answered = 0;
  int cut_while_open = 0;
  for (int point = 0; point < points(); ++point) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(point);
    SCOPED_TRACE(fmt::format("ERRAND_SEED={} ERRAND_POWER_POINTS=1", seed));
    SeededRandom random(seed);
    PowerDisk disk;
    StoreUser user(random);
    // Most cuts hit a store at work; one in ten the making of it.
    const bool while_made = random.one_in(10);
    if (while_made) disk.cut_power_after(1 + static_cast<int64_t>(random.below(60)));
    if (user.open(disk.vfs())) {
      if (!while_made) disk.cut_power_after(1 + static_cast<int64_t>(random.below(200)));
      for (int i = 0; i < 60 && disk.has_power(); ++i) user.commit_something();
      cut_while_open += disk.has_power() ? 0 : 1;
    }
    user.close();
    disk.restore_power(random);
    answered += user.answered();

    // A file of this size is checked whole when it is opened.
    ASSERT_TRUE(user.open(disk.vfs())) << user.problem();
    ASSERT_EQ(user.verify(), "");
    user.commit_something();  // And it goes on.
    ASSERT_EQ(user.verify(), "");
    user.close();
  }
  RecordProperty("answered", std::to_string(answered));
  EXPECT_GT(answered, points() * 5) << "the cuts came too early to say anything";
  EXPECT_GT(cut_while_open, points() / 2);
}

TEST(PowerLoss, AFailedSyncIsNotAnsweredAndEndsTheServer) {
  SeededRandom random(7);
  PowerDisk disk;
  StoreUser user(random);
  ASSERT_TRUE(user.open(disk.vfs()));
  for (int i = 0; i < 5; ++i) user.commit_something();
  ASSERT_GT(user.answered(), 0);
  const int64_t before = user.answered();
  disk.fail_syncs(true);
  user.commit_something();
  EXPECT_EQ(user.answered(), before);
  EXPECT_NE(user.fatal().find("disk failed"), std::string::npos) << user.fatal();
  user.commit_something();
  EXPECT_EQ(user.answered(), before) << "it does not warn and go on";
  user.close();
  disk.restore_power(random);
  ASSERT_TRUE(user.open(disk.vfs())) << user.problem();
  EXPECT_EQ(user.verify(), "");
}

}  // namespace
}  // namespace errand

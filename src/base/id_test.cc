#include "base/id.h"

#include <set>

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(Ids, SortInTheOrderInWhichTheyWereMade) {
  ManualClock clock;
  SeededRandom random(7);
  IdSource ids(clock, random);
  std::string last;
  for (int i = 0; i < 1'000; ++i) {
    const TaskId id = ids.task();
    EXPECT_TRUE(is_id(id.value, "task_")) << id.value;
    EXPECT_LT(last, id.value);
    last = id.value;
    if (i % 3 == 0) clock.advance(1);
    if (i % 100 == 0) clock.jump_wall(-50);  // A clock that is set back does not undo the order.
  }
}

TEST(Ids, AreUniqueAcrossSources) {
  ManualClock clock;
  SystemRandom random;
  std::set<std::string> seen;
  for (int source = 0; source < 50; ++source) {
    IdSource ids(clock, random);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(seen.insert(ids.message().value).second);
  }
}

TEST(Ids, RefuseWhatIsNotOne) {
  EXPECT_FALSE(is_id("task_", "task_"));
  EXPECT_FALSE(is_id("task_0123456789abcdefghjkmnpqr/", "task_"));
  EXPECT_FALSE(is_id("ses_0123456789abcdefghjkmnpqrs", "task_"));
  EXPECT_TRUE(is_id("task_0123456789abcdefghjkmnpqrs", "task_"));
}

TEST(Secrets, HaveTheBitsThatWereAskedFor) {
  SystemRandom random;
  const std::string secret = random_secret(random, 32);
  EXPECT_EQ(secret.size(), 43U);
  EXPECT_NE(secret, random_secret(random, 32));
}

}  // namespace
}  // namespace errand

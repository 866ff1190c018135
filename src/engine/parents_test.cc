#include "engine/parents.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

const SessionId parent("ses_parent");

TEST(Parents, R3_5_AnEndWaitsForTheBirthsBeforeIt) {
  Parents parents;
  int ended = 0;
  parents.when_born(parent, [&] { ++ended; });
  EXPECT_EQ(ended, 1) << "none is under way";
  parents.birth(parent);
  parents.birth(parent);
  parents.when_born(parent, [&] { ++ended; });
  parents.born(parent);
  EXPECT_EQ(ended, 1);
  parents.born(parent);
  EXPECT_EQ(ended, 2);
  parents.born(parent);
  EXPECT_EQ(ended, 2);
}

TEST(Parents, ThatAreBeingEndedTakeNoLaunchUntilEveryoneIsThrough) {
  Parents parents;
  parents.begin_end(parent);
  parents.begin_end(parent);
  parents.finish_end(parent);
  EXPECT_TRUE(parents.has_ended(parent)) << "another one still ends it";
  parents.finish_end(parent);
  parents.finish_end(parent);
  EXPECT_FALSE(parents.has_ended(parent));
}

TEST(Parents, ThatHaveEndedAreNotKnownUntilTheyAreOpenedAnew) {
  Parents parents;
  parents.remember(parent);
  EXPECT_TRUE(parents.knows(parent));
  parents.ended(parent);
  EXPECT_FALSE(parents.knows(parent));
  EXPECT_TRUE(parents.has_ended(parent));
  parents.not_ended(parent);
  EXPECT_FALSE(parents.has_ended(parent));
}

TEST(Parents, AreForgottenBeforeTheyFillTheMemory) {
  Parents parents;
  parents.remember(parent);
  for (int i = 0; i < 10'000; ++i) parents.remember(SessionId("ses_" + std::to_string(i)));
  EXPECT_FALSE(parents.knows(parent));
}

}  // namespace
}  // namespace errand

#include "engine/commits.h"

#include "engine/room_test.h"

namespace errand {
namespace {

Commit setting(const char* name) {
  Commit commit;
  commit.settings.push_back({name, "{}"});
  return commit;
}

TEST(Commits, AreHandedOverTogetherAndAnsweredInTheirOrder) {
  Room room;
  std::vector<int> answers;
  int groups = 0;
  room.commits.on_group([&] { ++groups; });
  for (int i = 0; i < 3; ++i)
    room.commits.store(setting("a"), [&answers, i](const Result<Committed>& stored) {
      EXPECT_TRUE(stored);
      answers.push_back(i);
    });
  EXPECT_EQ(room.commits.staged(), 3u);
  EXPECT_EQ(room.commits.waiting(), 3);
  room.settle();
  EXPECT_EQ(answers, (std::vector{0, 1, 2}));
  EXPECT_EQ(groups, 1);
  EXPECT_EQ(room.commits.waiting(), 0);
  EXPECT_EQ(room.commits.stored(), 3);
  EXPECT_EQ(room.store->settings("a")->size(), 1u);
}

TEST(Commits, ThatAreRefusedSaySoAndAreNotCounted) {
  Room room;
  room.fault = Fault::full;
  std::optional<Code> said;
  room.commits.store(setting("a"), [&](const Result<Committed>& stored) {
    ASSERT_FALSE(stored);
    said = stored.error().code;
  });
  room.settle();
  EXPECT_EQ(said, Code::storage_full);
  EXPECT_EQ(room.commits.stored(), 0);
  EXPECT_EQ(room.commits.waiting(), 0);
}

TEST(Commits, PastTheirBoundsNothingMoreIsTaken) {
  Room room({.inbox_max = 2, .inbox_bytes = 1'000});
  EXPECT_FALSE(room.commits.refuse());
  for (int i = 0; i < 3; ++i) room.commits.store(setting("a"), [](const Result<Committed>&) {});
  EXPECT_TRUE(room.commits.refuse());
  EXPECT_EQ(room.commits.refusal().error().code, Code::exhausted);
  room.settle();
  EXPECT_FALSE(room.commits.refuse());
  {
    const Reply<int> held = room.commits.charged<int>([](const Result<int>&) {}, 1'001);
    EXPECT_TRUE(room.commits.refuse()) << "what was asked and not answered counts";
  }
  EXPECT_FALSE(room.commits.refuse()) << "given back, whichever way it goes";
  room.shared.draining = true;
  EXPECT_TRUE(room.commits.refuse());
  EXPECT_EQ(room.commits.refusal().error().reason, "stopping");
}

}  // namespace
}  // namespace errand

#include "engine/each.h"

#include "engine/room_test.h"

namespace errand {
namespace {

std::vector<TaskId> many(int count) {
  std::vector<TaskId> ids;
  for (int i = 0; i < count; ++i) ids.emplace_back("task_" + std::to_string(i));
  return ids;
}

TEST(Each, ActsOnAFewAtATimeAndCountsWhatItCould) {
  Room room;
  Each each(room.shared);
  std::vector<Each::Done> under_way;
  size_t most = 0, begun = 0;
  std::optional<int64_t> acted;
  each.act(
      many(1'000),
      [&](const TaskId&, Each::Done done) {
        ++begun;
        under_way.push_back(std::move(done));
        most = std::max(most, under_way.size());
      },
      [&](int64_t count) { acted = count; });
  while (!under_way.empty()) {
    Each::Done done = std::move(under_way.back());
    under_way.pop_back();
    done(begun % 2 == 0);
    room.settle();
  }
  EXPECT_EQ(begun, 1'000u);
  EXPECT_EQ(most, 200u);
  ASSERT_TRUE(acted);
  EXPECT_GT(*acted, 0);
  EXPECT_LT(*acted, 1'000);
}

TEST(Each, OfNothingIsDoneAtOnce) {
  Room room;
  Each each(room.shared);
  std::optional<int64_t> acted;
  each.act({}, [](const TaskId&, const Each::Done&) { FAIL(); }, [&](int64_t count) { acted = count; });
  EXPECT_EQ(acted, 0);
}

TEST(Each, R7_OfABatchThatIsNotThereIsAnError) {
  Room room;
  Each each(room.shared);
  const auto act = [](const TaskId&, Each::Done done) { done(true); };
  const auto none =
      room.ask<int64_t>([&](auto reply) { each.act_on({.batch_id = BatchId("batch_none")}, act, std::move(reply)); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, "unknown_batch");
  EXPECT_EQ(room.ask<int64_t>([&](auto reply) { each.act_on({}, act, std::move(reply)); }), 0) << "all of no tasks";
}

}  // namespace
}  // namespace errand

#include "cli/short_id.h"

#include <gtest/gtest.h>

#include "base/id.h"

namespace errand::cli {
namespace {

TEST(ShortIds, AreAsLongAsItTakesAndNoShorterThanTheTime) {
  std::vector<std::string> ids = {"task_01jcq5x7k20000000000000000", "task_01jcq5x7k2zzzzzzzzzzzzzzzz",
                                  "task_01jcq5x8k20000000000000000"};
  EXPECT_EQ(short_ids(ids), (std::vector<std::string>{"01jcq5x7k20", "01jcq5x7k2z", "01jcq5x8k2"}));
}

// Ids of one millisecond differ in their last characters only.
TEST(ShortIds, OfOneMillisecondAreUnique) {
  ManualClock clock;
  SeededRandom random(7);
  IdSource source(clock, random);
  std::vector<std::string> ids;
  ids.reserve(40);
  for (int i = 0; i < 40; ++i) ids.push_back(source.task().value);
  std::vector<std::string> shortened = short_ids(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    int matches = 0;
    for (const std::string& id : ids) matches += id.starts_with("task_" + shortened[i]);
    EXPECT_EQ(matches, 1) << shortened[i];
  }
}

TEST(ShortIds, OneAloneAndNone) {
  EXPECT_EQ(short_ids({"task_01jcq5x7k20000000000000000"}), std::vector<std::string>{"01jcq5x7k2"});
  EXPECT_TRUE(short_ids({}).empty());
}

TEST(WithKind, AddsItOnceAndLowers) {
  EXPECT_EQ(with_kind("01JCQ", "task_"), "task_01jcq");
  EXPECT_EQ(with_kind("task_01jcq", "task_"), "task_01jcq");
}

TEST(SpanOf, HoldsTheTimeOfEveryIdThatBeginsSo) {
  ManualClock clock({1'763'200'123'456});
  SeededRandom random(1);
  IdSource source(clock, random);
  std::string id = source.task().value;
  for (size_t length = 5; length <= id.size(); ++length) {
    std::optional<IdSpan> span = span_of(id.substr(0, length), "task_");
    ASSERT_TRUE(span) << length;
    EXPECT_LE(span->first, clock.wall());
    EXPECT_GE(span->last, clock.wall());
  }
  std::optional<IdSpan> exact = span_of(id.substr(0, 15), "task_");
  EXPECT_EQ(exact->first, clock.wall());
  EXPECT_EQ(exact->last, clock.wall());
}

TEST(SpanOf, RefusesWhatNoIdBeginsWith) {
  EXPECT_FALSE(span_of("task_u", "task_")) << "u is not in the alphabet";
  EXPECT_FALSE(span_of("batch_01", "task_"));
  EXPECT_FALSE(span_of("task_" + std::string(27, '0'), "task_"));
}

}  // namespace
}  // namespace errand::cli

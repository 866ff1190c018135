#include "store/cursor.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(Cursor, ComesBackAsThePlaceItWasMadeFor) {
  const TaskFilter filter{.states = {TaskState::failed}, .query = "x"};
  const Place place{1'234'567'890'123, Time{1'763'200'000'000}};
  EXPECT_EQ(read_cursor(make_cursor(filter, Sort::updated, place), filter, Sort::updated), place);
}

TEST(Cursor, IsRefusedForAnotherListAndWhereItIsDamaged) {
  const TaskFilter filter{.agent_id = "demo"};
  const std::string cursor = make_cursor(filter, Sort::newest, {7, {}});
  EXPECT_FALSE(read_cursor(cursor, {.agent_id = "other"}, Sort::newest));
  EXPECT_FALSE(read_cursor(cursor, filter, Sort::oldest));
  EXPECT_FALSE(read_cursor(cursor.substr(1), filter, Sort::newest));
  EXPECT_FALSE(read_cursor(cursor.substr(0, 40) + "-", filter, Sort::newest));
  EXPECT_FALSE(read_cursor("", filter, Sort::newest));
}

}  // namespace
}  // namespace errand

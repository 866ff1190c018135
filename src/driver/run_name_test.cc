#include "driver/run_name.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(RunName, IsReadAsItWasWritten) {
  for (const RunName& run : {RunName{TaskId("task_01jcq5"), 3, "", ""}, RunName{TaskId("task_a"), 1, "bash", "0f3a"},
                             RunName{TaskId("task_a_b"), 12, "mcp", "my_server_2"}}) {
    const std::optional<RunName> read = parse_run_name(run_name(run));
    ASSERT_TRUE(read) << run_name(run);
    EXPECT_EQ(*read, run) << run_name(run);
  }
  EXPECT_EQ(run_name({TaskId("task_x"), 2, "bash", "1f"}), "task_x__bash_1f.2");
}

TEST(RunName, WhatIsNoneOfOursIsNone) {
  for (const char* name : {"", ".", "a", "a.", ".1", "a.0", "a.-1", "a.x", "a.1x", "__bash_1.1", "a__.1", "a__bash.1",
                           "a__bash_.1", "a___1.1", "a.99999999999"})
    EXPECT_FALSE(parse_run_name(name)) << name;
}

}  // namespace
}  // namespace errand

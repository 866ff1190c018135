#include "driver/run/usage_text.h"

#include <gtest/gtest.h>

namespace errand::run {
namespace {

TEST(UsageText, SaysWhatTheProcessesAreAt) {
  EXPECT_EQ(describe({.cpu_s = 0.516, .processes = 2, .io_bytes = 1'234'567, .states = "ST"}),
            "2 processes (1 asleep, 1 stopped), 0.52 s of CPU and 1.2 MB of I/O so far");
  EXPECT_EQ(describe({.processes = 1, .io_bytes = 999, .states = "D"}),
            "1 process (1 waiting for a disk), 0.00 s of CPU and 999 bytes of I/O so far");
}

TEST(UsageText, AnOlderSupervisorSaysLess) {
  EXPECT_EQ(describe({.cpu_s = 1, .processes = 3}), "3 processes, 1.00 s of CPU and 0 bytes of I/O so far");
}

}  // namespace
}  // namespace errand::run

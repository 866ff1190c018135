#include "process/boot_id.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::process {
namespace {

TEST(BootId, IsTheSameUntilTheMachineIsStartedAnew) {
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_EQ(boot_id("/proc/sys/kernel/random/uuid"), "") << "one that every reader finds different is none";
}

TEST(BootId, IsEmptyWhereTheSystemDoesNotSay) {
  TestFolder folder;
  const std::string file = folder.path() + "/id";
  EXPECT_EQ(boot_id(file), "");
  const auto given = [&](const std::string& text) {
    std::ofstream(file) << text;
    return boot_id(file);
  };
  EXPECT_EQ(given("31e1-ab\n"), "31e1-ab");
  EXPECT_EQ(given(""), "");
  EXPECT_EQ(given("two words\n"), "") << "it becomes a word of a checkpoint";
  EXPECT_EQ(given(std::string(1'000, 'a')), "");
}

}  // namespace
}  // namespace errand::process

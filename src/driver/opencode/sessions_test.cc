#include "driver/opencode/sessions.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::opencode {
namespace {

class SessionsTest : public testing::Test {
 protected:
  TestFolder folder;
  const TaskId one = TaskId("task_1"), two = TaskId("task_2");
};

TEST_F(SessionsTest, AreKnownToTheNextServerEachOnce) {
  Sessions(folder / "tasks").add(one, "ses_a");
  const Sessions sessions(folder / "tasks");
  sessions.add(one, "ses_b");
  sessions.add(one, "ses_a");
  sessions.add(two, "ses_c");
  EXPECT_EQ(sessions.of(one), (std::vector<std::string>{"ses_a", "ses_b"}));
  EXPECT_EQ(sessions.tasks(), (std::vector<TaskId>{one, two}));
  EXPECT_TRUE(sessions.given_up().empty());
}

TEST_F(SessionsTest, StayKnownWhenTheirTaskIsGivenUpUntilTheyAreRemoved) {
  const Sessions sessions(folder / "tasks");
  sessions.add(one, "ses_a");
  sessions.add(two, "ses_c");
  sessions.give_up(one);
  EXPECT_EQ(sessions.tasks(), std::vector<TaskId>{two});
  EXPECT_EQ(sessions.given_up(), std::vector<TaskId>{one});
  EXPECT_EQ(sessions.of(one), std::vector<std::string>{"ses_a"});
  sessions.remove(one);
  EXPECT_TRUE(sessions.given_up().empty());
  EXPECT_TRUE(sessions.of(one).empty());
}

TEST_F(SessionsTest, NoNameLeadsOutOfTheFolder) {
  const Sessions sessions(folder / "tasks");
  sessions.add(TaskId("../evil"), "ses_a");
  sessions.add(one, "../../x");
  EXPECT_FALSE(std::filesystem::exists(folder / "evil"));
  EXPECT_TRUE(sessions.of(one).empty());
  std::filesystem::create_directories(folder / "tasks");
  std::ofstream(folder / "tasks/task_1") << "ses_a\n../../x\n\n";
  EXPECT_EQ(sessions.of(one), std::vector<std::string>{"ses_a"});
}

TEST_F(SessionsTest, OfAFolderThatIsNotThereAreNone) {
  const Sessions sessions(folder / "none");
  EXPECT_TRUE(sessions.tasks().empty());
  sessions.give_up(one);
  sessions.remove(one);
  EXPECT_TRUE(sessions.of(one).empty());
}

}  // namespace
}  // namespace errand::opencode

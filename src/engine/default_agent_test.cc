#include "engine/default_agent.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

std::vector<Agent> some() {
  return {{.id = "command", .name = "command", .driver = "command"},
          {.id = "builtin", .name = "builtin", .driver = "builtin", .unavailable = "No model is set."},
          {.id = "demo", .name = "demo", .driver = "demo"},
          {.id = "agent_1", .name = "reviewer", .driver = "claude"}};
}

TEST(DefaultAgent, IsTheFirstThatCanBeUsed) { EXPECT_EQ(default_agent(some(), "auto").value(), "agent_1"); }

TEST(DefaultAgent, IsNeverTheDemonstrationOrACommandUnlessTheFormerIsNamed) {
  std::vector<Agent> agents = some();
  agents.pop_back();
  EXPECT_EQ(default_agent(agents, "auto").error().reason, "no_agent");
  EXPECT_EQ(default_agent(agents, "demo").value(), "demo");
  EXPECT_EQ(default_agent(agents, "command").error().reason, "default_agent");
}

TEST(DefaultAgent, IsTheOneThatIsNamedByIdOrNameAndNoOtherInItsPlace) {
  EXPECT_EQ(default_agent(some(), "reviewer").value(), "agent_1");
  EXPECT_EQ(default_agent(some(), "agent_1").value(), "agent_1");
  const auto none = default_agent(some(), "builtin");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::unavailable);
  EXPECT_TRUE(none.error().message.contains("No model is set.")) << none.error().message;
  EXPECT_EQ(default_agent(some(), "gone").error().reason, "default_agent");
}

}  // namespace
}  // namespace errand

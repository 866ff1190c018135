// The agents that ship with errand (R9.6).
#include "tools/presets.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tools/family.h"
#include "tools/toolbox.h"

namespace errand::tools {
namespace {

const Agent& manager() {
  static const std::vector<Agent> agents = preset_agents("background");
  const auto found = std::ranges::find(agents, "background-task-manager", &Agent::id);
  EXPECT_NE(found, agents.end());
  return *found;
}

TEST(Presets, R9_6_TheBackgroundTaskManagerHasTheSeedsToolsAndWords) {
  EXPECT_EQ(manager().name, "background task manager");
  EXPECT_EQ(manager().driver, "builtin");
  for (const char* words :
       {"BACKGROUND", "more than 3 background tasks", "300 seconds", "### Background Task Completed: [Task Name]",
        "- Status: Success/Failure", "- Duration: [Time]", "- Output Path: [Link to logs/files]",
        "- Summary: [Brief recap of what was done]", "check-in policy", "session_manager", "look_at"})
    EXPECT_NE(manager().prompt.find(words), std::string::npos) << words;
}

TEST(Presets, NameOnlyToolsThatThereAre) {
  for (const std::string_view family : families) {
    std::set<std::string> known;
    for (const ToolInfo& info : tool_infos(family)) known.insert(info.name);
    for (const Agent& agent : preset_agents(family))
      for (const std::string& tool : agent.tools) EXPECT_TRUE(known.contains(tool)) << agent.id << ": " << tool;
  }
}

TEST(Presets, SpeakInTheFamilyThatIsListed) {
  const std::vector<Agent> agents = preset_agents("superagents");
  ASSERT_FALSE(agents.empty());
  EXPECT_EQ(agents[0].prompt.find("background_"), std::string::npos);
  EXPECT_NE(agents[0].prompt.find("superagents_execute"), std::string::npos);
}

TEST(Presets, RefuseWhatIsNoPreset) {
  EXPECT_TRUE(parse_preset("---\nid: a\nname: A\ndriver: d\n---\nDo it.\n"));
  for (const char* file : {"", "Do it.", "---\nid: a\n", "---\nid a\n---\nx", "---\nid: a\nname: A\ndriver: d\n---\n",
                           "---\nid: a\nname: A\ndriver: d\ncolour: red\n---\nx", "---\nname: A\ndriver: d\n---\nx"})
    EXPECT_FALSE(parse_preset(file)) << file;
}

}  // namespace
}  // namespace errand::tools

#include "driver/builtin/tools/tool_set.h"

#include <gtest/gtest.h>

namespace errand::builtin {
namespace {

const std::vector<std::string> all = {"read",
                                      "list",
                                      "glob",
                                      "grep",
                                      "edit",
                                      "write",
                                      "bash",
                                      "todo",
                                      "fetch",
                                      "skill",
                                      "background_task",
                                      "look_at",
                                      "mcp__db__query",
                                      "mcp__web__get"};

std::string chosen(const std::vector<std::string>& wanted) {
  std::vector<std::string> unknown;
  std::string out;
  for (const std::string& tool : chosen_tools(wanted, all, unknown)) out += (out.empty() ? "" : " ") + tool;
  for (const std::string& word : unknown) out += " ?" + word;
  return out;
}

TEST(ChosenTools, AreNamesAndGroups) {
  EXPECT_EQ(chosen({"read", "bash"}), "read bash");
  EXPECT_EQ(chosen({"read_only"}), "read list glob grep");
  EXPECT_EQ(chosen({"files"}), "read list glob grep edit write");
  EXPECT_EQ(chosen({"shell", "web"}), "bash fetch");
  EXPECT_EQ(chosen({"background"}), "background_task look_at");
  EXPECT_EQ(chosen({"mcp"}), "mcp__db__query mcp__web__get");
  EXPECT_EQ(chosen({"mcp__db"}), "mcp__db__query");
  EXPECT_EQ(chosen({"all"}).size(), chosen({"*"}).size());
  EXPECT_EQ(chosen({"ask_user", "grep"}), "grep");
  EXPECT_EQ(chosen({"reed"}), " ?reed");
}

}  // namespace
}  // namespace errand::builtin

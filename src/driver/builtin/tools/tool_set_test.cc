#include "driver/builtin/tools/tool_set.h"

#include <gtest/gtest.h>

#include "driver/builtin/tools/agent_tool.h"

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

class OneTool : public AgentTools {
 public:
  std::vector<Info> list() const override {
    return {{.name = "background_execute", .description = {}, .input_schema = "{}"}};
  }
  std::unique_ptr<Handle> call(std::string, std::string, const Task&, const MessageId&,
                               std::move_only_function<void(Result)>) override {
    return nullptr;
  }
};

// It has a folder and an environment of its own: `cat id_rsa` in ~/.ssh, `ls` with another PATH.
TEST(BackgroundExecute, IsAskedForWhateverItRuns) {
  Task task;
  task.launch.work_dir = "/srv/project";
  OneTool one;
  const auto tools = make_agent_tools(one);
  for (const char* input : {R"({"command":"ls"})", R"({"command":"cat id_rsa","work_dir":"/home/me/.ssh"})",
                            R"({"command":"ls","env":{"PATH":"."}})"}) {
    ToolContext context;
    context.task = std::make_shared<Task>(task);
    const auto call = tools.front()->prepare(context, input);
    ASSERT_TRUE(call) << input;
    EXPECT_TRUE(call->need.ask && !call->need.reads) << input;
    EXPECT_EQ(call->need.tool, "bash");
    EXPECT_EQ(call->need.subject.contains("\nwork_dir /home/me/.ssh"), std::string_view(input).contains("work_dir"));
  }
}

}  // namespace
}  // namespace errand::builtin

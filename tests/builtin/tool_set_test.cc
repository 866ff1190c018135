// The tools of a turn as the loop gets them, with real MCP servers under a real supervisor, skills, and what is left of
// them when a turn, or a server, ends.
#include "driver/builtin/tools/tool_set.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "base/thread_pool.h"
#include "driver/run_name.h"
#include "model/model.h"
#include "task/agent.h"
#include "tests/process/harness.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

class FakeAgentTools final : public AgentTools {
 public:
  std::vector<Info> list() const override {
    const std::string schema = R"({"type":"object"})";
    return {{"background_task", "x", schema, false},
            {"background_execute", "x", schema, false},
            {"background_output", "x", schema, true},
            {"session_manager", "x", schema, false}};
  }
  std::unique_ptr<Handle> call(std::string name, std::string arguments, const Task& caller, const MessageId& message,
                               std::move_only_function<void(Result)> done) override {
    called = name + arguments + caller.id.value + message.value;
    answer = std::move(done);
    return std::make_unique<Handle>();
  }
  std::string called;
  std::move_only_function<void(Result)> answer;
};

struct ToolSetTest : testing::Test {
  ToolSetTest() {
    task.id = TaskId("task_01");
    task.session_id = SessionId("ses_01");
    task.run = 2;
    task.launch.work_dir = work.path();
    settings.command = {.data_dir = bench.folder.path(),
                        .environment = {"PATH=/usr/bin:/bin", "HOME=" + home.path(), "API_TOKEN=t0k3n", "OTHER=o"},
                        .grace_ms = 200};
  }
  ~ToolSetTest() override {
    turn.reset();
    background.stop();
  }

  static std::string server() {
    return (fs::path(process::test_supervisor()).parent_path() / "test_mcp_server").string();
  }
  void make() {
    set = make_tool_set(settings, {.supervisor = bench.client(),
                                   .timers = timers,
                                   .background = background,
                                   .engine = bench.executor,
                                   .clock = clock,
                                   .random = random,
                                   .agent_tools = &agent_tools});
  }
  bool until(const std::function<bool()>& done) {
    return bench.executor.until([&] {
      timers.run_due();
      return done();
    });
  }
  // The warnings, joined.
  std::string open() {
    if (!set) make();
    turn = set->open(std::make_shared<const Task>(task), std::make_shared<const Agent>(agent));
    std::optional<std::vector<std::string>> warnings;
    turn->prepare([&](std::vector<std::string> said) { warnings = std::move(said); });
    EXPECT_FALSE(warnings);
    EXPECT_TRUE(until([&] { return warnings.has_value(); }));
    std::string out;
    for (const std::string& warning : warnings.value_or(std::vector<std::string>{"no answer"})) out += warning + "\n";
    return out;
  }
  std::string names() const {
    std::string out;
    for (const auto& tool : turn->list()) out += (out.empty() ? "" : " ") + tool->spec().name;
    return out;
  }
  ToolContext context() const {
    ToolContext out;
    out.task = std::make_shared<const Task>(task);
    out.roots = {work.path()};
    out.message = MessageId("msg_01");
    out.call_id = "call_1";
    return out;
  }
  ToolOutcome call(const std::string& name, const std::string& input) {
    const auto tool = turn->find(name);
    if (!tool) return {.output = "no such tool", .is_error = true};
    Result<Tool::Prepared> prepared = tool->prepare(context(), input);
    if (!prepared) return {.output = prepared.error().message, .is_error = true};
    std::optional<ToolOutcome> outcome;
    const auto run = prepared->run(context(), [&](ToolOutcome told) { outcome = std::move(told); });
    if (!until([&] { return outcome.has_value(); })) return {.output = "no answer", .is_error = true};
    return *outcome;
  }
  bool close() {
    bool gone = false;
    turn->close([&] { gone = true; });
    return until([&] { return gone; });
  }
  std::vector<std::string> runs_of(std::string_view tool) {
    std::vector<std::string> out;
    for (const process::RunStatus& status : bench.list())
      if (const auto run = parse_run_name(status.run); run && run->tool == tool && status.alive)
        out.push_back(status.run);
    return out;
  }

  process::Bench bench;
  TestFolder work, home;
  SystemClock clock;
  SystemRandom random;
  TimerQueue timers{clock};
  FakeAgentTools agent_tools;
  ToolSettings settings;
  Task task;
  Agent agent{.id = "a", .name = "a", .driver = "builtin"};
  ThreadPool background{1};
  std::unique_ptr<ToolSet> set;
  std::unique_ptr<TurnTools> turn;
};

TEST_F(ToolSetTest, AnAgentGetsWhatItNames) {
  EXPECT_EQ(open(), "");
  EXPECT_EQ(
      names(),
      "read list glob grep edit write bash todo background_task background_execute background_output session_manager");
  agent.tools = {"read_only", "bash", "nope"};
  EXPECT_EQ(open(), "The agent a names a tool \"nope\" that does not exist.\n");
  EXPECT_EQ(names(), "read list glob grep bash");
  EXPECT_EQ(turn->find("write"), nullptr);
  EXPECT_NE(turn->find("grep"), nullptr);
}

TEST_F(ToolSetTest, SkillsAreThereWhereTheyAreEnabledAndTheirFoldersCanBeRead) {
  home.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs.\n---\nSee forms.md.\n");
  home.write(".claude/skills/pdf/forms.md", "the forms\n");
  const std::string input = fmt::format(R"({{"path":"{}"}})", home / ".claude/skills/pdf/forms.md");
  open();
  EXPECT_EQ(turn->find("skill"), nullptr);
  EXPECT_EQ(turn->skills_text(), "");
  EXPECT_TRUE(turn->find("read")->prepare(context(), input)->need.ask);
  task.launch.enable_skills = true;
  agent.tools = {"read"};
  EXPECT_EQ(open(), "");
  EXPECT_EQ(names(), "read skill");
  EXPECT_TRUE(turn->skills_text().contains("- pdf: Reads PDFs.\n"));
  EXPECT_TRUE(call("skill", R"({"name":"pdf"})").output.contains("See forms.md."));
  EXPECT_FALSE(turn->find("read")->prepare(context(), input)->need.ask);
  EXPECT_EQ(call("read", input).output, "     1\tthe forms\n");
}

TEST_F(ToolSetTest, ACommandInTheBackgroundIsAskedForByTheRulesForBash) {
  open();
  const auto execute = turn->find("background_execute");
  const Tool::Need need =
      execute->prepare(context(), R"({"command":"make; rm -rf x","env":{"PATH":"/evil"},"pass_env":["API_TOKEN"]})")
          ->need;
  EXPECT_TRUE(need.ask);
  EXPECT_EQ(need.tool, "bash");
  EXPECT_EQ(need.subject, "make\nrm -rf x\nenv PATH\npass_env API_TOKEN");
  EXPECT_EQ(execute->prepare(context(), R"({"command":["rm","-rf","a b; c"]})")->need.subject, "rm -rf a b; c");
  EXPECT_FALSE(turn->find("background_task")->prepare(context(), "{}")->need.ask);
  const auto output = turn->find("background_output");
  EXPECT_EQ(output->prepare(context(), R"({"task_id":"x","block":true})")->children, "x");
  EXPECT_FALSE(output->prepare(context(), R"({"task_id":"x"})")->children);
  EXPECT_FALSE(execute->prepare(context(), R"({"command":"make","block":true})")->children);
  task.launch.sandbox = Sandbox::workspace;
  EXPECT_FALSE(execute->prepare(context(), R"({"command":"make"})"));
  EXPECT_TRUE(execute->prepare(context(), R"({"command":"make","sandbox":"strict"})"));
}

TEST_F(ToolSetTest, ACallOfErrandsToolsIsTheTasksOwn) {
  open();
  std::optional<ToolOutcome> outcome;
  const auto run =
      turn->find("background_task")->prepare(context(), R"({"a":1})")->run(context(), [&](ToolOutcome told) {
        outcome = std::move(told);
      });
  EXPECT_EQ(agent_tools.called, R"(background_task{"a":1}task_01msg_01)");
  agent_tools.answer({"done", true});
  EXPECT_EQ(outcome->output, "done");
  EXPECT_TRUE(outcome->is_error);
}

TEST_F(ToolSetTest, AnMcpServerGivesItsTools) {
  settings.mcp["test"] = {.command = {server()}, .env = {{"MINE", "m"}}, .pass_env = {"API_TOKEN"}};
  open();
  EXPECT_EQ(names().find("mcp__"), std::string::npos);
  task.launch.enable_mcp = true;
  EXPECT_EQ(open(), "The MCP server test: 1 of its tools cannot be used (no schema).\n");
  EXPECT_TRUE(names().contains("mcp__test__big mcp__test__die mcp__test__echo mcp__test__env mcp__test__fails"))
      << names();
  EXPECT_EQ(call("mcp__test__echo", R"({"a":"ü"})").output, R"({"a":"ü"})");
  EXPECT_EQ(call("mcp__test__echo", "").output, "{}");
  EXPECT_TRUE(call("mcp__test__fails", "{}").is_error);
  // Secrets are given where they are named, to nobody else.
  EXPECT_EQ(call("mcp__test__env", R"({"name":"API_TOKEN"})").output, "t0k3n");
  EXPECT_EQ(call("mcp__test__env", R"({"name":"OTHER"})").output, "(not set)");
  EXPECT_EQ(call("mcp__test__env", R"({"name":"MINE"})").output, "m");
  EXPECT_LE(call("mcp__test__big", R"({"bytes":3000000})").output.size(), tool_output_max);
  EXPECT_TRUE(turn->find("mcp__test__echo")->prepare(context(), "{}")->need.ask);
  EXPECT_EQ(runs_of("mcp").size(), 1u);
  EXPECT_TRUE(close());
  EXPECT_EQ(runs_of("mcp").size(), 0u);
  turn.reset();
  EXPECT_TRUE(until([&] { return bench.list().empty(); }));
}

TEST_F(ToolSetTest, AnMcpServerThatDiesIsSaidAndBegunAgain) {
  settings.mcp["test"] = {.command = {server()}};
  task.launch.enable_mcp = true;
  open();
  const std::string first = call("mcp__test__pid", "{}").output;
  ToolOutcome died = call("mcp__test__die", "{}");
  EXPECT_TRUE(died.is_error);
  EXPECT_TRUE(died.interrupted);
  EXPECT_EQ(died.output, "The MCP server test: It ended with code 3: I cannot go on.");
  const ToolOutcome again = call("mcp__test__pid", "{}");
  EXPECT_FALSE(again.is_error) << again.output;
  EXPECT_NE(again.output, first);
  // Not for ever.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(call("mcp__test__die", "{}").is_error);
  EXPECT_TRUE(call("mcp__test__pid", "{}").output.contains("died too often"));
  EXPECT_TRUE(close());
}

TEST_F(ToolSetTest, ServersThatCannotBeUsedAreSaidAndTheOthersWork) {
  settings.mcp["a_broken"] = {.command = {server(), "broken"}};
  settings.mcp["b_missing"] = {.command = {"/nonexistent/server"}};
  settings.mcp["c_old"] = {.command = {server(), "old"}};
  settings.mcp["d nameless"] = {.command = {server()}};
  settings.mcp["e_both"] = {.command = {server()}, .url = "http://127.0.0.1:1/"};
  settings.mcp["good"] = {.command = {server()}};
  task.launch.enable_mcp = true;
  const std::string warnings = open();
  EXPECT_TRUE(warnings.contains("The MCP server a_broken: It ended with code 1: no such file: config.json"))
      << warnings;
  EXPECT_TRUE(warnings.contains("The MCP server b_missing: It could not be started")) << warnings;
  EXPECT_TRUE(warnings.contains("The MCP server c_old: It speaks version \"1999-01-01\"")) << warnings;
  EXPECT_TRUE(warnings.contains("The MCP server d nameless cannot be used")) << warnings;
  EXPECT_TRUE(warnings.contains("The MCP server e_both cannot be used")) << warnings;
  EXPECT_EQ(call("mcp__good__echo", "{}").output, "{}");
  EXPECT_TRUE(close());
  EXPECT_EQ(runs_of("mcp").size(), 0u);
}

TEST_F(ToolSetTest, ACallThatIsNotAnsweredInTimeIsSaid) {
  settings.mcp["test"] = {.command = {server()}, .timeout_ms = 300};
  task.launch.enable_mcp = true;
  open();
  const ToolOutcome late = call("mcp__test__hangs", "{}");
  EXPECT_TRUE(late.interrupted);
  EXPECT_TRUE(late.output.contains("did not answer within 300 ms")) << late.output;
  EXPECT_EQ(call("mcp__test__echo", "{}").output, "{}");
}

// As when the server leaves: the servers go first, and a call is still being read, or has not been let go.
TEST_F(ToolSetTest, ACallAndItsToolMayOutliveTheServersOfTheirTurn) {
  settings.mcp["test"] = {.command = {server()}};
  task.launch.enable_mcp = true;
  open();
  const auto tool = turn->find("mcp__test__hangs");
  ASSERT_NE(tool, nullptr);
  bool told = false;
  auto run = tool->prepare(context(), "{}")->run(context(), [&](ToolOutcome) { told = true; });
  turn.reset();
  EXPECT_EQ(tool->prepare(context(), "{}")->need.text, "Call hangs of the MCP server test with {}");
  run.reset();
  EXPECT_FALSE(told);
}

// R14.4: the server leaves. What a call does in an MCP server may have effects, and goes on; a server without one goes.
TEST_F(ToolSetTest, AnMcpServerIsLeftAtItsCallAndEndedWithoutOne) {
  settings.mcp["test"] = {.command = {server()}};
  task.launch.enable_mcp = true;
  open();
  EXPECT_EQ(call("mcp__test__echo", "{}").output, "{}");
  turn.reset();
  EXPECT_TRUE(until([&] { return runs_of("mcp").empty(); })) << "it had nothing to do";
  for (const bool dropped : {false, true}) {
    open();
    auto run = turn->find("mcp__test__hangs")->prepare(context(), "{}")->run(context(), [](ToolOutcome) {});
    EXPECT_EQ(call("mcp__test__echo", "{}").output, "{}") << "so the call before it has arrived";
    if (dropped) {
      run->drop();
      turn->drop();
    }
    run.reset();
    turn.reset();
    if (dropped) {
      EXPECT_TRUE(until([&] { return runs_of("mcp").empty(); }));
    } else {
      bench.list();  // All that was said to the supervisor has arrived.
      EXPECT_EQ(runs_of("mcp").size(), 1u);
    }
  }
}

// The server was killed: what it had begun is found by the next one and ended.
TEST_F(ToolSetTest, WhatAServerBeforeThisOneLeftIsEnded) {
  settings.mcp["test"] = {.command = {server()}};
  task.launch.enable_mcp = true;
  open();
  const std::string first = call("mcp__test__pid", "{}").output;
  const std::vector<std::string> before = runs_of("mcp");
  bench.disconnect();  // As a server that is killed: nothing is said to the supervisor.
  // And nothing of it is tidied up; kept, so that nobody takes it for a leak.
  static auto* const abandoned = new std::vector<std::pair<std::unique_ptr<TurnTools>, std::unique_ptr<ToolSet>>>;
  abandoned->emplace_back(std::move(turn), std::move(set));
  bench.reconnect();
  EXPECT_EQ(runs_of("mcp"), before);
  open();
  EXPECT_NE(call("mcp__test__pid", "{}").output, first);
  EXPECT_EQ(runs_of("mcp").size(), 1u);
  EXPECT_NE(runs_of("mcp"), before);
}

TEST_F(ToolSetTest, RunsOfToolsBelongToTheirTask) {
  make();
  process::RecordedRun bash, other;
  ASSERT_TRUE(bench.spawn(bench.shell("task_07__bash_ab.3", "sleep 1000"), bash));
  ASSERT_TRUE(bench.spawn(bench.shell("task_08.1", "sleep 1000"), other));
  std::optional<std::vector<Driver::KnownRun>> known;
  set->known_runs([&](std::vector<Driver::KnownRun> runs) { known = std::move(runs); });
  ASSERT_TRUE(until([&] { return known.has_value(); }));
  ASSERT_EQ(known->size(), 1u);
  EXPECT_EQ(known->front().task, TaskId("task_07"));
  EXPECT_EQ(known->front().run, 3);
  EXPECT_TRUE(known->front().alive);
  set->end_run(TaskId("task_07"), 2);
  set->end_run(TaskId("task_07"), 3);
  EXPECT_TRUE(bench.wait_end(bash));
  set->forget(TaskId("task_07"));
  EXPECT_TRUE(until([&] { return bench.list().size() == 1; }));
  EXPECT_FALSE(other.end);
}

// What commands may not have here, an agent's commands may not either.
TEST_F(ToolSetTest, ALaunchIsRefusedWhereItsSurroundingsCannotBeHad) {
  settings.command.work_dirs = {home.path()};
  make();
  EXPECT_EQ(set->look(task.launch)().error().reason, "work_dir");
  task.launch.work_dir = home.path();
  EXPECT_TRUE(set->check(task.launch));
  EXPECT_TRUE(set->look(task.launch)());
  task.launch.add_dirs = {work.path()};
  EXPECT_FALSE(set->look(task.launch)());
  task.launch.add_dirs.clear();
  task.launch.env = {{"A=B", "x"}};
  EXPECT_FALSE(set->check(task.launch));
  task.launch.env.clear();
  task.launch.sandbox = Sandbox::workspace;
  task.launch.work_dir = "/";
  EXPECT_FALSE(set->look(task.launch)());
}

TEST_F(ToolSetTest, WhatATaskLeftGoesWithIt) {
  make();
  fs::create_directories(bench.folder.path() + "/artifacts/task_07");
  fs::create_directories(bench.folder.path() + "/artifacts/task_08");
  set->forget(TaskId("task_07"));
  EXPECT_TRUE(until([&] { return !fs::exists(bench.folder.path() + "/artifacts/task_07"); }));
  EXPECT_TRUE(fs::exists(bench.folder.path() + "/artifacts/task_08"));
}

}  // namespace
}  // namespace errand::builtin

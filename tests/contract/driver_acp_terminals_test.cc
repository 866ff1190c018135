// The terminals that agents over ACP ask for: commands of the task, under the supervisor.
#include "driver/acp/terminals.h"
#include "tests/contract/acp_world.h"

namespace errand::test {
namespace {

using Kind = Outcome::Kind;
namespace json = boost::json;

struct AcpTerminals : AcpDriver {
  AcpTerminals() { world.terminals = true; }

  json::object answer_to(Host& host, const char* method, json::object params) {
    const size_t before = world.agent.answers().size();
    world.agent.ask(run, method, std::move(params));
    EXPECT_TRUE(host.run_until([&] { return world.agent.answers().size() > before; })) << method;
    return world.agent.answers().back();
  }
  Host& begin(Host& host) {
    EXPECT_TRUE(host.open());
    EXPECT_TRUE(host.run_until([&] { return !host.transcript().said().empty(); }));
    return host;
  }
  static inline const std::string first = "task_00000000000000000000000001__terminal_1.1";
};

TEST_F(AcpTerminals, RunCommandsInTheTasksFoldersAndSayHowTheyEnd) {
  world.supervisor.programs["b c"] = {.prints = {{.after_ms = 5, .bytes = "before 语"}, {.after_ms = 5, .bytes = "!"}},
                                      .end = process::RunEnd{.how = process::RunEnd::How::exited, .exit_code = 3}};
  Host host(world, world.goes_on());
  begin(host);
  const json::object made = answer_to(host, "terminal/create",
                                      {{"command", "a"},
                                       {"args", {"b c"}},
                                       {"env", {{{"name", "COLOUR"}, {"value", "blue"}}}},
                                       {"cwd", "/tmp/sub"},
                                       {"outputByteLimit", 5}});
  EXPECT_EQ(made.at("result").at("terminalId"), "term_1");
  const process::SpawnRequest& spawned = world.supervisor.runs.at(first).request;
  EXPECT_EQ(spawned.argv, (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(spawned.work_dir, "/tmp/sub");
  EXPECT_NE(std::ranges::find(spawned.env, "COLOUR=blue"), spawned.env.end());
  const json::object ended = answer_to(host, "terminal/wait_for_exit", {{"terminalId", "term_1"}});
  EXPECT_EQ(json::serialize(ended.at("result")), R"({"exitCode":3,"signal":null})");
  const json::object output = answer_to(host, "terminal/output", {{"terminalId", "term_1"}});
  EXPECT_EQ(json::serialize(output.at("result")),
            R"({"output":" 语!","truncated":true,"exitStatus":{"exitCode":3,"signal":null}})");
  EXPECT_TRUE(answer_to(host, "terminal/release", {{"terminalId", "term_1"}}).contains("result"));
  EXPECT_FALSE(world.supervisor.runs.contains(first)) << "its folder goes";
  EXPECT_EQ(answer_to(host, "terminal/output", {{"terminalId", "term_1"}}).at("error").at("code"), -32002);
  EXPECT_EQ(host.broken(), "");
}

TEST_F(AcpTerminals, AWholeLineIsRunByAShellAndNothingOutsideOfTheFolders) {
  Host host(world, world.goes_on());
  begin(host);
  ASSERT_TRUE(answer_to(host, "terminal/create", {{"command", "ls | wc"}}).contains("result"));
  EXPECT_EQ(world.supervisor.runs.at(first).request.argv, (std::vector<std::string>{"/bin/sh", "-c", "ls | wc"}));
  EXPECT_EQ(world.supervisor.runs.at(first).request.work_dir, "/tmp");
  for (const char* folder : {"/etc", "/tmpx", "/tmp/../etc", "relative"})
    EXPECT_TRUE(answer_to(host, "terminal/create", {{"command", "ls"}, {"cwd", folder}}).contains("error")) << folder;
  EXPECT_TRUE(answer_to(host, "terminal/create", {{"command", ""}}).contains("error"));
  EXPECT_TRUE(answer_to(host, "terminal/create", {{"command", "a"}, {"env", {{{"name", "A=B"}, {"value", ""}}}}})
                  .contains("error"));
  EXPECT_EQ(answer_to(host, "terminal/resize", {{"terminalId", "term_1"}}).at("error").at("code"), -32601);
  EXPECT_TRUE(answer_to(host, "terminal/kill", {{"terminalId", "term_1"}}).contains("result"));
  const json::object ended = answer_to(host, "terminal/wait_for_exit", {{"terminalId", "term_1"}});
  EXPECT_TRUE(ended.at("result").as_object().contains("exitCode"));
  for (size_t i = 1; i < acp::terminals_max; ++i)
    EXPECT_TRUE(answer_to(host, "terminal/create", {{"command", "x"}}).contains("result"));
  EXPECT_TRUE(answer_to(host, "terminal/create", {{"command", "x"}}).contains("error")) << "there are too many";
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.left_behind(), 0);
  EXPECT_EQ(host.broken(), "");
}

// R2.2, R2.3: its commands go on with it, and nothing of them is left when it is over.
TEST_F(AcpTerminals, GoOnWhenTheServerDiesAndEndWithTheTurn) {
  Host host(world, world.goes_on());
  begin(host);
  ASSERT_TRUE(answer_to(host, "terminal/create", {{"command", "long"}}).contains("result"));
  const size_t before = world.agent.answers().size();
  world.agent.ask(run, "terminal/wait_for_exit", {{"terminalId", "term_1"}});
  host.run_until([&] { return host.checkpoints().back().contains("terminal_1"); });
  world.settle();
  ASSERT_TRUE(host.crash_and_reopen());
  world.settle();
  EXPECT_EQ(world.agent.answers().size(), before) << "it runs";
  world.supervisor.end(first, {.how = process::RunEnd::How::signalled, .signal = 9});
  ASSERT_TRUE(host.run_until([&] { return world.agent.answers().size() > before; }));
  EXPECT_EQ(json::serialize(world.agent.answers().back().at("result")), R"({"exitCode":null,"signal":"SIGKILL"})");
  ASSERT_TRUE(answer_to(host, "terminal/create", {{"command", "long"}}).contains("result"));
  EXPECT_EQ(world.supervisor.alive(), 2);
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(AcpTerminals, NothingOfOneThatIsDroppedIsLeft) {
  Host host(world, world.goes_on());
  begin(host);
  ASSERT_TRUE(answer_to(host, "terminal/create", {{"command", "long"}}).contains("result"));
  host.drop();
  world.settle();
  EXPECT_EQ(world.left_behind(), 0);
}

}  // namespace
}  // namespace errand::test

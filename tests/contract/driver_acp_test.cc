// The contract, for agents over ACP: over an agent and a supervisor in memory, whose time goes as fast as the next
// timer. And what holds for this driver alone.
#include <fstream>
#include <memory>
#include <optional>

#include <sys/stat.h>

#include "driver/model_list.h"
#include "tests/contract/acp_world.h"

namespace errand::test {
namespace {

using Kind = Outcome::Kind;
namespace json = boost::json;

INSTANTIATE_TEST_SUITE_P(Acp, DriverContract,
                         testing::Values(DriverCase{"acp", [] { return std::make_unique<AcpWorld>(); }}), case_name);

// Nobody's look opens a session: what the last one offered is the list.
TEST_F(AcpDriver, ModelsAreListedAsTheLastSessionOfferedThem) {
  std::optional<Result<ListedModels>> listed;
  const auto ask = [&](const Agent& agent) {
    dynamic_cast<ModelList&>(world.driver()).list_models(agent, [&](Result<ListedModels> said) { listed = said; });
  };
  world.agent.offers = {
      {"models", {{"currentModelId", "a"}, {"availableModels", {{{"modelId", "a"}}, {{"modelId", "b"}}}}}}};
  Host host(world, world.speaks());
  ask(host.agent);
  ASSERT_TRUE(listed.has_value());
  EXPECT_EQ(listed->error().reason, "no_models");
  EXPECT_TRUE(world.supervisor.runs.empty());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  ask(host.agent);
  ASSERT_TRUE(*listed);
  EXPECT_EQ((*listed)->models, (std::vector<ListedModel>{{.id = "a"}, {.id = "b"}}));
  EXPECT_EQ((*listed)->by, ListedBy::program);
  Agent other = host.agent;
  other.options["command"] = "another acp";
  ask(other);
  EXPECT_FALSE(*listed) << "that is another program";
}

TEST_F(AcpDriver, WhatIsSaidMeanwhileIsTheNextPromptAndNeverASecondOne) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !world.agent.requests("session/prompt").empty(); }));
  ASSERT_TRUE(host.send("first"));
  ASSERT_TRUE(host.send("second"));
  world.settle();
  ASSERT_TRUE(host.run_until_ended());
  const auto prompts = world.agent.requests("session/prompt");
  ASSERT_EQ(prompts.size(), 2U);
  EXPECT_EQ(prompts[1].at("params").at("prompt").as_array().size(), 2U);
  EXPECT_EQ(host.outcome()->result, "You said: first | second");
  EXPECT_EQ(host.broken(), "");
}

TEST_F(AcpDriver, ASecondTurnResumesTheSessionInANewProcess) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.left_behind(), 0);
  host.prompt("again");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "You said: again");
  ASSERT_EQ(world.agent.requests("session/resume").size(), 1U);
  EXPECT_EQ(world.agent.requests("session/resume")[0].at("params").at("sessionId"), "s1");
  EXPECT_EQ(world.agent.requests("session/new").size(), 1U);
}

TEST_F(AcpDriver, ASecondTurnGoesOnInTheProcessThatWaits) {
  world.kept = {.idle_ms = 60'000, .most = 1};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.left_behind(), 1);
  host.prompt("again");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return world.agent.requests("session/prompt").size() == 2; }));
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "You said: again");
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(world.agent.requests("initialize").size(), 1U);
  EXPECT_EQ(world.agent.requests("session/prompt").size(), 2U);
  EXPECT_EQ(world.agent.requests("session/resume").size(), 0U);
  EXPECT_EQ(world.supervisor.runs.size(), 1U);
  world.settle();
  EXPECT_EQ(world.left_behind(), 0) << "it has waited long enough";
}

TEST_F(AcpDriver, AProcessThatDiedWhileItWaitedIsReplaced) {
  world.kept = {.idle_ms = 60'000, .most = 1};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  // Nobody has heard of it when the turn takes it up.
  world.supervisor.attach_fails = Error{Code::not_found, "No such run.", {}};
  host.prompt("again");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->result, "You said: again");
  EXPECT_EQ(world.agent.requests("session/resume").size(), 1U);
}

TEST_F(AcpDriver, AProcessThatSaysTooMuchWhileItWaitsIsEnded) {
  world.kept = {.idle_ms = 60'000'000, .most = 1};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  const std::string run = world.supervisor.runs.begin()->first;
  const std::string line =
      R"({"jsonrpc":"2.0","method":"_noise","params":{"x":")" + std::string(100'000, 'x') + "\"}}\n";
  const Time before = world.clock.steady();
  for (int i = 0; i < 11; ++i) world.supervisor.print(run, process::Stream::out, line);
  EXPECT_TRUE(world.run_until([&] { return world.left_behind() == 0; }));
  EXPECT_LT(world.clock.steady() - before, 60'000);
}

// The protocol knows no work without a prompt; some agents do it all the same.
struct AcpBegins {
  void first_turn() {
    world.kept = {.idle_ms = 60'000'000, .most = 1};
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until_ended());
    const Time ended = world.clock.steady();
    ASSERT_TRUE(world.run_until([&] { return world.clock.steady() - ended >= 2'000; })) << "it has said all";
  }
  void updates(const char* update) {
    world.agent.print(
        AcpDriver::run,
        std::string(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":)") + update +
            "}}\n");
  }
  void says(const char* text) {
    updates((std::string(R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")") + text + "\"}}")
                .c_str());
  }
  void calls() {
    updates(
        R"({"sessionUpdate":"tool_call","toolCallId":"c9","title":"make","kind":"execute","status":"in_progress","rawInput":{"command":"make"}})");
    updates(R"({"sessionUpdate":"tool_call_update","toolCallId":"c9","status":"completed"})");
  }
  // Its turn is at work.
  void goes_on() {
    ASSERT_NO_FATAL_FAILURE(first_turn());
    says("It is built.");
    ASSERT_TRUE(world.run_until([&] { return world.asked.size() == 1; }));
    host.notice("why", "began");
    ASSERT_TRUE(host.open());
    ASSERT_TRUE(host.run_until([&] { return host.transcript().said().contains("It is built."); }));
  }

  AcpWorld world;
  Host host{world, world.speaks()};
};

TEST(AcpBeginsByItself, ItIsATurnOfItsTaskWhereverTheServerDies) {
  int reports = INT_MAX;
  for (int stored = 0; stored <= reports; ++stored) {
    SCOPED_TRACE(stored);
    AcpBegins agent;
    Host& host = agent.host;
    ASSERT_NO_FATAL_FAILURE(agent.first_turn());
    const int before = host.reports(), calls = host.transcript().tool_calls;
    agent.calls();
    agent.says("It is ");
    ASSERT_TRUE(agent.world.run_until([&] { return agent.world.asked.size() == 1; }));
    agent.says("built.");
    host.notice("why", "began");
    const bool whole = stored == 0;
    ASSERT_TRUE(host.run_turn(stored));
    if (whole) reports = host.reports() - before + 1;
    EXPECT_EQ(host.broken(), "");
    EXPECT_EQ(host.outcome()->kind, Kind::completed);
    EXPECT_EQ(host.transcript().taken.size(), 2U);
    const size_t prompts = agent.world.agent.requests("session/prompt").size();
    if (!whole && stored == 1) {  // Nothing was stored of the turn: a new process is told why.
      EXPECT_EQ(prompts, 2U);
      continue;
    }
    EXPECT_EQ(prompts, 1U);
    EXPECT_EQ(host.outcome()->result, "It is built.");
    EXPECT_EQ(host.transcript().tool_calls, calls + 1) << "what it did before it spoke, too";
    EXPECT_EQ(agent.world.left_behind(), 1) << "it waits again";
  }
}

TEST(AcpBeginsByItself, AMessageMeanwhileIsAPromptOfTheSameTurn) {
  AcpBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.goes_on());
  ASSERT_TRUE(agent.host.send("and now?"));
  ASSERT_TRUE(agent.host.run_until_ended());
  EXPECT_EQ(agent.host.outcome()->result, "You said: and now?");
  EXPECT_EQ(agent.host.broken(), "");
}

TEST(AcpBeginsByItself, ItIsStopped) {
  AcpBegins agent;
  ASSERT_NO_FATAL_FAILURE(agent.goes_on());
  agent.host.turn().stop();
  ASSERT_TRUE(agent.host.run_until_ended());
  EXPECT_EQ(agent.host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(agent.world.left_behind(), 0);
}

TEST(AcpBeginsByItself, WhatComesLateIsNoBeginning) {
  AcpWorld world;
  world.kept = {.idle_ms = 60'000, .most = 1};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  world.agent.print(
      AcpDriver::run,
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}}})"
      "\n");
  world.settle();
  EXPECT_TRUE(world.asked.empty());
}

TEST_F(AcpDriver, WhatALoadedSessionRepeatsIsNotSaidAgain) {
  world.agent.can = {{"loadSession", true}};
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  host.prompt("again");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(world.agent.requests("session/load").size(), 1U);
  EXPECT_EQ(host.transcript().said().find("what was"), std::string::npos);
  EXPECT_EQ(host.outcome()->result, "You said: again");
}

TEST_F(AcpDriver, ASessionThatIsGoneIsMadeAnewWithTheConversationAsAText) {
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  world.agent.forgets = true;
  host.prompt("again");
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  const std::string prompt = json::serialize(world.agent.requests("session/prompt").back());
  EXPECT_NE(prompt.find("zwei: ä, b."), std::string::npos) << prompt;
  EXPECT_NE(prompt.find("again"), std::string::npos);
  ASSERT_EQ(host.transcript().warnings.size(), 1U);
  EXPECT_EQ(host.transcript().warnings[0].code, "session_anew");
}

TEST_F(AcpDriver, QuestionsAreAnsweredAsCancelledBeforeItIsToldToStop) {
  Host host(world, world.speaks());
  host.decision = "";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.task().asks.empty(); }));
  EXPECT_EQ(host.transcript().asks[0].tool, "bash");
  EXPECT_EQ(host.transcript().asks[0].subject, "ls");
  world.agent.heard.clear();
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  ASSERT_GE(world.agent.heard.size(), 2U);
  EXPECT_EQ(world.agent.heard[0].at("result").at("outcome").at("outcome"), "cancelled");
  EXPECT_EQ(world.agent.heard[1].at("method"), "session/cancel");
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(AcpDriver, AnAgentThatDoesNotStopIsEnded) {
  world.agent.ignores_cancel = true;
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.transcript().said().empty(); }));
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(AcpDriver, ADeniedCallIsDeniedToTheAgent) {
  Host host(world, world.speaks());
  host.decision = "deny";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  ASSERT_EQ(world.agent.answers().size(), 1U);
  EXPECT_EQ(world.agent.answers()[0].at("result").at("outcome").at("optionId"), "no");
}

// R4.6: decided while the server was down, it reaches the agent once.
TEST_F(AcpDriver, AQuestionIsAnsweredAlsoAfterTheServerDied) {
  Host host(world, world.speaks());
  host.decision = "";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.task().asks.empty(); }));
  ASSERT_TRUE(host.crash_and_reopen());
  host.decision = "allow";
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_EQ(world.agent.answers().size(), 1U);
  EXPECT_EQ(host.transcript().asks.size(), 1U);
}

TEST_F(AcpDriver, AnAgentThatIsKilledIsAFailureThatSaysSo) {
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.transcript().said().empty(); }));
  world.supervisor.print(run, process::Stream::err, "out of luck\n");
  world.supervisor.end(run, {.how = process::RunEnd::How::signalled, .signal = 9});
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::failed);
  EXPECT_EQ(host.outcome()->error->code, "signal");
  EXPECT_EQ(host.outcome()->signal, 9);
  EXPECT_NE(host.outcome()->error->message.find("out of luck"), std::string::npos) << host.outcome()->error->message;
  EXPECT_EQ(host.transcript().said(), "I go on");
}

TEST_F(AcpDriver, AnAgentThatNeverAnswersIsGivenUp) {
  world.agent.silent = true;
  Host host(world, world.speaks());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->error->code, "spawn_failed");
  EXPECT_NE(host.outcome()->error->message.find("did not answer within 120 seconds"), std::string::npos);
  EXPECT_EQ(world.left_behind(), 0);
}

TEST_F(AcpDriver, AMissingLoginSaysWhatToType) {
  world.agent.auth_error = "Authentication required";
  Host host(world, world.speaks());
  host.agent.options["login"] = "scripted login";
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->error->code, "login_required");
  EXPECT_NE(host.outcome()->error->message.find("Run `scripted login`"), std::string::npos);
}

TEST_F(AcpDriver, FilesAreServedWithinTheTasksFolders) {
  std::ofstream(world.folder.path() + "/notes.txt") << "one\ntwo\nthree\n";
  Launch launch = world.goes_on();
  launch.work_dir = world.folder.path();
  Host host(world, launch);
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.transcript().said().empty(); }));
  const auto answer_to = [&](const char* method, json::object params) {
    const size_t before = world.agent.answers().size();
    world.agent.ask(run, method, std::move(params));
    EXPECT_TRUE(host.run_until([&] { return world.agent.answers().size() > before; }));
    return world.agent.answers().back();
  };
  const std::string file = world.folder.path() + "/notes.txt";
  EXPECT_EQ(answer_to("fs/read_text_file", {{"path", file}, {"line", 2}, {"limit", 1}}).at("result").at("content"),
            "two\n");
  EXPECT_TRUE(answer_to("fs/write_text_file", {{"path", file}, {"content", "new"}}).at("result").is_null());
  EXPECT_EQ(answer_to("fs/read_text_file", {{"path", file}}).at("result").at("content"), "new");
  for (const std::string& path : {std::string("/etc/passwd"), world.folder.path() + "/../x",
                                  world.folder.path() + "x/y", std::string("notes.txt"), std::string()})
    EXPECT_TRUE(answer_to("fs/read_text_file", {{"path", path}}).contains("error")) << path;
  EXPECT_EQ(answer_to("fs/read_text_file", {{"path", file + "2"}}).at("error").at("code"), -32002);
  EXPECT_EQ(answer_to("terminal/create", {{"command", "ls"}}).at("error").at("code"), -32601);
  EXPECT_EQ(host.broken(), "");
}

// R4.5.
TEST_F(AcpDriver, AUsageLimitIsWaitedForUntilItEndsAlsoByTheNextServer) {
  world.agent.limited = R"({"error":{"type":"rate_limit_error"},"resets_in_seconds":7200})";
  const Time began = world.clock.wall();
  Host host(world, world.launch("much work"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  EXPECT_EQ(host.transcript().wait->kind, WaitKind::quota);
  EXPECT_GE(host.transcript().wait->until, began + 7'200'000);
  world.agent.limited.clear();
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_GE(world.clock.wall(), began + 7'200'000);
  EXPECT_EQ(host.broken(), "");
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
  EXPECT_FALSE(host.transcript().wait);
  EXPECT_EQ(host.outcome()->result->find("You said: The usage limit is over."), 0U) << *host.outcome()->result;
  EXPECT_TRUE(host.outcome()->result->contains("You were asked:\nmuch work")) << "it may not have kept the prompt";
}

TEST_F(AcpDriver, SomebodyMaySayThatTheLimitIsOverWhileTheTurnIsTakenUp) {
  world.agent.limited = R"({"resets_in_seconds":7200,"statusCode":429})";
  const Time began = world.clock.wall();
  Host host(world, world.launch("much work"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  world.agent.limited.clear();
  ASSERT_TRUE(host.crash_and_reopen());
  ASSERT_TRUE(host.turn().lift_quota()) << "it has not heard of its process yet";
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_LT(world.clock.wall(), began + 7'200'000);
  EXPECT_EQ(host.outcome()->kind, Kind::completed);
}

TEST_F(AcpDriver, SomebodyMaySayThatTheLimitIsOverOrHaveEnoughOfIt) {
  world.agent.limited = R"({"statusCode":429})";
  Host host(world, world.launch("much work"));
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait.has_value(); }));
  const Time first = host.transcript().wait->until;
  ASSERT_TRUE(host.turn().lift_quota());
  ASSERT_TRUE(host.run_until([&] { return host.transcript().wait && host.transcript().wait->until > first; }))
      << "the limit holds: it waits again, and longer";
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
  EXPECT_EQ(host.outcome()->kind, Kind::stopped);
  EXPECT_EQ(world.left_behind(), 0);
  EXPECT_EQ(host.broken(), "");
}

TEST_F(AcpDriver, WhatIsNoMessageOrNobodysAnswerIsLetPass) {
  Host host(world, world.goes_on());
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until([&] { return !host.transcript().said().empty(); }));
  for (const char* line :
       {"Loading...\n", "{\"id\":\"99\",\"result\":{}}\n", "{\"id\":77,\"error\":{}}\n", "[]\n",
        "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"other\",\"update\":{"
        "\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"no\"}}}}\n"})
    world.agent.print(run, line);
  world.settle();
  EXPECT_EQ(host.transcript().said(), "I go on");
  EXPECT_EQ(host.ended(), 0);
  host.turn().stop();
  ASSERT_TRUE(host.run_until_ended());
}

TEST_F(AcpDriver, ItHasItsOwnKeysAndNoneOfOurs) {
  Launch launch = world.speaks();
  launch.enable_mcp = true;
  Host host(world, launch);
  ASSERT_TRUE(host.open());
  ASSERT_TRUE(host.run_until_ended());
  const auto& env = world.supervisor.runs.begin()->second.request.env;
  EXPECT_NE(std::ranges::find(env, "GEMINI_API_KEY=k"), env.end());
  EXPECT_NE(std::ranges::find(env, "ERRAND_TOKEN=of-the-task"), env.end());
  for (const std::string& variable : env) EXPECT_FALSE(variable == "ERRAND_TOKEN=x" || variable == "CLAUDECODE=1");
  const json::object opened = world.agent.requests("session/new")[0];
  EXPECT_EQ(opened.at("params").at("mcpServers").at(0).at("name"), "errand");
  for (const std::string& checkpoint : host.checkpoints())
    EXPECT_EQ(checkpoint.find("secret"), std::string::npos) << "a token is not stored";
}

TEST(AcpCommand, AgentsAreFoundOnThePath) {
  const TestFolder folder;
  const std::vector<std::string> environment = {"PATH=relative:" + folder.path()};
  EXPECT_TRUE(acp::found_agents(environment).empty());
  const auto install = [&](const std::string& name) {
    std::ofstream(folder.path() + "/" + name) << "#!/bin/sh\n";
    ::chmod((folder.path() + "/" + name).c_str(), 0755);
  };
  install("codex");
  std::vector<Agent> agents = acp::found_agents(environment);
  ASSERT_EQ(agents.size(), 1U);
  EXPECT_EQ(agents[0].id, "codex");
  EXPECT_NE(agents[0].unavailable.find("npm install -g @agentclientprotocol/codex-acp"), std::string::npos);
  install("codex-acp");
  install("gemini");
  agents = acp::found_agents(environment);
  ASSERT_EQ(agents.size(), 2U);
  EXPECT_EQ(agents[0].options["command"], "[\"" + folder.path() + "/gemini\",\"--acp\"]");
  EXPECT_EQ(agents[1].unavailable, "");
  EXPECT_EQ(agents[1].options["mode"], "workspace-write") << "its default asks a model, not a person";
}

TEST(AcpCommand, WordsAreTakenAsTheyAreWritten) {
  EXPECT_EQ(acp::command_words("goose  acp").value(), (std::vector<std::string>{"goose", "acp"}));
  EXPECT_EQ(acp::command_words(R"(["a b","c"])").value(), (std::vector<std::string>{"a b", "c"}));
  EXPECT_EQ(acp::command_words(R"("/opt/my agent/run" --x='1 2')").value(),
            (std::vector<std::string>{"/opt/my agent/run", "--x=1 2"}));
  for (const char* wrong : {"", "  ", "[]", "[1]", "[\"\"]", "'a", "[\"a\",2]", "["})
    EXPECT_FALSE(acp::command_words(wrong)) << wrong;
}

}  // namespace
}  // namespace errand::test

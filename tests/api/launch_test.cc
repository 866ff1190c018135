#include "api/launch.h"

#include <string>

#include <gtest/gtest.h>

#include "task/json_in.h"

namespace errand::api {
namespace {

Launch parsed(std::string_view body) {
  Result<Launch> launch = parse_launch(body);
  EXPECT_TRUE(launch) << body << ": " << (launch ? "" : launch.error().message);
  return launch.value_or(Launch{});
}

// A command task with one more member.
std::string with(std::string_view member) {
  return R"({"kind":"command","command":"true",)" + std::string(member) + "}";
}

TEST(ParseLaunch, TakesTheSeedsExample) {  // Seed 001, "Create Task".
  const Launch launch = parsed(R"({"agent_id": "abc123", "message": "Help me build a REST API", "enable_skills": true,
                                   "enable_mcp": true, "add_dirs": ["/path/to/project"]})");
  Launch expected;
  expected.agent_id = "abc123";
  expected.prompt = "Help me build a REST API";
  expected.enable_skills = expected.enable_mcp = true;
  expected.add_dirs = {"/path/to/project"};
  EXPECT_EQ(launch, expected);
}

TEST(ParseLaunch, TakesEveryField) {
  const Launch launch = parsed(R"({
    "kind":"command","agent_id":"command","command":["echo","a b","it's"],"title":"T","description":"D","model":"m",
    "work_dir":"/w","add_dirs":["/a"],"env":{"A_1":"x","B":""},"pass_env":["HOME"],"enable_skills":true,"enable_mcp":true,
    "fork":true,"parent_session_id":"ses_1","parent_message_id":"msg_1","batch_id":"new","labels":{"k":"v"},
    "timeout_s":1.5,"idle_timeout_s":0,"on_hang":"restart","max_restarts":5,"progress_every_s":60,"retention_s":0.0001,
    "limits":{"cpu_s":1,"memory_bytes":2,"processes":3,"open_files":4,"output_bytes":5,"nice":-6},
    "budget":{"tokens":1,"cost_usd":0.5,"turns":2,"tool_calls":3},
    "permission":[{"tool":"bash","pattern":"git *","decision":"allow"},{"tool":"*","decision":"deny"}],
    "sandbox":"strict","priority":-7,"authorize_over_limit":true,"allow_interactive":true,"notify_on":["E"],
    "artifacts":["out/*.log"]})");
  Launch expected;
  expected.kind = TaskKind::command;
  expected.agent_id = "command";
  expected.command = R"(echo 'a b' 'it'\''s')";
  expected.argv = {"echo", "a b", "it's"};
  expected.title = "T";
  expected.description = "D";
  expected.model = "m";
  expected.work_dir = "/w";
  expected.add_dirs = {"/a"};
  expected.env = {{"A_1", "x"}, {"B", ""}};
  expected.pass_env = {"HOME"};
  expected.enable_skills = expected.enable_mcp = expected.fork = true;
  expected.parent_session_id = SessionId("ses_1");
  expected.parent_message_id = MessageId("msg_1");
  expected.batch_id = BatchId("new");
  expected.labels = {{"k", "v"}};
  expected.timeout_ms = 1500;
  expected.idle_timeout_ms = -1;  // 0 on the wire: none.
  expected.on_hang = OnHang::restart;
  expected.max_restarts = 5;
  expected.progress_every_ms = 60'000;
  expected.retention_ms = 1;  // Rounded up: a tiny duration is not "none".
  expected.limits = {.cpu_s = 1, .memory_bytes = 2, .processes = 3, .open_files = 4, .output_bytes = 5, .nice = -6};
  expected.budget = {.tokens = 1, .cost_usd = 0.5, .turns = 2, .tool_calls = 3};
  expected.permission_rules = {{"bash", "git *", Permission::allow}, {"*", "", Permission::deny}};
  expected.sandbox = Sandbox::strict;
  expected.priority = -7;
  expected.authorize_over_limit = expected.allow_interactive = true;
  expected.notify_on = {"E"};
  expected.artifacts = {"out/*.log"};
  EXPECT_EQ(launch, expected);
}

TEST(ParseLaunch, ACommandAloneIsACommandTask) {
  const Launch launch = parsed(R"({"command":"make"})");
  EXPECT_EQ(launch.kind, TaskKind::command);
  EXPECT_EQ(launch.agent_id, "command");
  EXPECT_EQ(launch.command, "make");
  EXPECT_TRUE(launch.argv.empty());
  EXPECT_EQ(parsed(R"({"agent_id":"command","command":"make"})"), launch) << "the agent that runs commands";
}

TEST(ParseLaunch, ContentStandsInThePlaceOfAMessage) {
  const Launch launch = parsed(R"({"agent_id":"demo","message":null,"content":[{"type":"text","text":"Look:"},
    {"type":"file","name":"a.png","media_type":"image/png","url":"data:image/png;base64,AA=="},
    {"type":"text","text":"What is it?"}]})");
  EXPECT_EQ(launch.prompt, "Look:\n\nWhat is it?");
  const auto parts = decode_parts(launch.content);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 3u);
  EXPECT_EQ((*parts)[1].type, PartType::file);
  EXPECT_EQ((*parts)[1].url, "data:image/png;base64,AA==");
}

TEST(ParseLaunch, NullIsNotGiven) {
  EXPECT_EQ(parsed(with(R"("title":null,"limits":null,"env":null,"timeout_s":null,"permission":null)")),
            parsed(R"({"command":"true"})"));
}

TEST(ParseLaunch, APermissionIsAWordOrAListOfRules) {
  EXPECT_EQ(parsed(with(R"("permission":"ask")")).permission, Permission::ask);
  EXPECT_EQ(parsed(with(R"("permission":[])")).permission, std::nullopt);
}

struct Wrong {
  const char* body;
  const char* reason;
  const char* names;  // What the message must name.
};

TEST(ParseLaunch, WhatIsWrongIsNamed) {  // R10.4, R12.3
  const Wrong cases[] = {
      {R"([])", "wrong_type", "JSON object"},
      {R"("x")", "wrong_type", "JSON object"},
      {R"({})", "missing_field", "`agent_id`"},
      {R"({"agent_id":"demo"})", "missing_field", "`message`"},
      {R"({"message":"hi"})", "missing_field", "`agent_id`"},
      {R"({"kind":"command"})", "missing_field", "`command`"},
      {R"({"agent_id":"command","message":"make"})", "invalid_field", "takes `command`"},
      {R"({"kind":"robot","command":"x"})", "out_of_range", "`kind`"},
      {R"({"kind":1,"command":"x"})", "wrong_type", "`kind`"},
      {R"({"agent_id":"demo","message":"  \n"})", "empty", "`message`"},
      {R"({"agent_id":"demo","message":5})", "wrong_type", "`message`"},
      {R"({"agent_id":"","message":"hi"})", "empty", "`agent_id`"},
      {R"({"agent_id":"a\nb","message":"hi"})", "control_character", "`agent_id`"},
      {R"({"agent_id":"demo","message":"a\u0000b"})", "nul", "`message`"},
      {R"({"agent_id":"demo","message":"hi","command":"x"})", "invalid_field", "`command`"},
      {R"({"agent_id":"demo","message":"hi","content":[{"type":"text","text":"x"}]})", "invalid_field", "not both"},
      {R"({"agent_id":"demo","content":[]})", "empty", "`content`"},
      {R"({"agent_id":"demo","content":"x"})", "wrong_type", "`content`"},
      {R"({"agent_id":"demo","content":[{"text":"x"}]})", "missing_field", "`content[0].type`"},
      {R"({"agent_id":"demo","content":[{"type":"poem"}]})", "out_of_range", "`content[0].type`"},
      {R"({"agent_id":"demo","content":[{"type":"tool_call"}]})", "out_of_range", "`content[0].type`"},
      {R"({"agent_id":"demo","content":[{"type":"text"}]})", "missing_field", "`content[0].text`"},
      {R"({"agent_id":"demo","content":[{"type":"text","text":"x","url":"y"}]})", "unknown_field", "`content[0].url`"},
      {R"({"agent_id":"demo","content":[{"type":"file","url":"http://x/"}]})", "invalid_field", "`content[0].url`"},
      {R"({"agent_id":"demo","content":[{"type":"file","url":"file:x"}]})", "invalid_field", "`content[0].url`"},
      {R"({"kind":"command","command":"x","message":"hi"})", "invalid_field", "`message`"},
      {R"({"kind":"command","command":"x","agent_id":"demo"})", "invalid_field", "`agent_id`"},
      {R"({"kind":"command","command":""})", "empty", "`command`"},
      {R"({"kind":"command","command":[]})", "empty", "`command`"},
      {R"({"kind":"command","command":["","x"]})", "empty", "`command`"},
      {R"({"kind":"command","command":["a",1]})", "wrong_type", "`command[1]`"},
      {R"({"kind":"command","command":{"a":1}})", "wrong_type", "`command`"},
      {R"({"kind":"command","command":"x\u0000"})", "nul", "`command`"},
      {R"({"command":"x","colour":"red"})", "unknown_field", "`colour`"},
      {R"({"command":"x","resume":"task_1"})", "unknown_field", "`resume`"},
      {R"({"command":"x","Title":"x"})", "unknown_field", "`Title`"},
      {R"({"command":"x","title":{}})", "wrong_type", "`title`"},
      {R"({"command":"x","work_dir":"relative"})", "invalid_field", "`work_dir`"},
      {R"({"command":"x","work_dir":"~other/x"})", "invalid_field", "`work_dir`"},
      {R"({"command":"x","add_dirs":["/a","b"]})", "invalid_field", "`add_dirs`"},
      {R"({"command":"x","add_dirs":"/a"})", "wrong_type", "`add_dirs`"},
      {R"({"command":"x","env":{"A B":"1"}})", "invalid_field", "`env`"},
      {R"({"command":"x","env":{"1A":"1"}})", "invalid_field", "`env`"},
      {R"({"command":"x","env":{"":"1"}})", "invalid_field", "`env`"},
      {R"({"command":"x","env":{"A=B":"1"}})", "invalid_field", "`env`"},
      {R"({"command":"x","env":{"A":1}})", "wrong_type", "`env.A`"},
      {R"({"command":"x","env":{"A":"\u0000"}})", "nul", "`env.A`"},
      {R"({"command":"x","env":[]})", "wrong_type", "`env`"},
      {R"({"command":"x","pass_env":["A-B"]})", "invalid_field", "`pass_env`"},
      {R"({"command":"x","enable_mcp":"yes"})", "wrong_type", "`enable_mcp`"},
      {R"({"command":"x","enable_mcp":1})", "wrong_type", "`enable_mcp`"},
      {R"({"command":"x","fork":true})", "missing_field", "`parent_session_id`"},
      {R"({"command":"x","parent_session_id":"a/b"})", "invalid_field", "`parent_session_id`"},
      {R"({"command":"x","batch_id":"a b"})", "invalid_field", "`batch_id`"},
      {R"({"command":"x","labels":{"a:b":"c"}})", "invalid_field", "`labels`"},
      {R"({"command":"x","labels":{"":"c"}})", "invalid_field", "`labels`"},
      {R"({"command":"x","labels":{"a":["c"]}})", "wrong_type", "`labels.a`"},
      {R"({"command":"x","timeout_s":-1})", "out_of_range", "`timeout_s`"},
      {R"({"command":"x","timeout_s":1e300})", "out_of_range", "`timeout_s`"},
      {R"({"command":"x","timeout_s":"60"})", "wrong_type", "`timeout_s`"},
      {R"({"command":"x","idle_timeout_s":true})", "wrong_type", "`idle_timeout_s`"},
      {R"({"command":"x","on_hang":"pray"})", "out_of_range", "`on_hang`"},
      {R"({"command":"x","limits":{"cpu_s":-1}})", "out_of_range", "`limits.cpu_s`"},
      {R"({"command":"x","limits":{"memory_bytes":1.5}})", "out_of_range", "`limits.memory_bytes`"},
      {R"({"command":"x","limits":{"memory_bytes":"1G"}})", "wrong_type", "`limits.memory_bytes`"},
      {R"({"command":"x","limits":{"nice":20}})", "out_of_range", "`limits.nice`"},
      {R"({"command":"x","limits":{"gpu":1}})", "unknown_field", "`limits.gpu`"},
      {R"({"command":"x","limits":[]})", "wrong_type", "`limits`"},
      {R"({"command":"x","budget":{"cost_usd":0}})", "out_of_range", "`budget.cost_usd`"},
      {R"({"command":"x","budget":{"tokens":-5}})", "out_of_range", "`budget.tokens`"},
      {R"({"command":"x","permission":"maybe"})", "out_of_range", "`permission`"},
      {R"({"command":"x","permission":7})", "wrong_type", "`permission`"},
      {R"({"command":"x","permission":[{"tool":"bash"}]})", "missing_field", "`permission[0].decision`"},
      {R"({"command":"x","permission":[{"tool":"b","decision":"ask","x":1}]})", "unknown_field", "`permission[0].x`"},
      {R"({"command":"x","sandbox":"none"})", "out_of_range", "`sandbox`"},
      {R"({"command":"x","priority":1001})", "out_of_range", "`priority`"},
      {R"({"command":"x","priority":1e99})", "out_of_range", "`priority`"},
      {R"({"command":"x","artifacts":["/etc/passwd"]})", "invalid_field", "`artifacts`"},
      {R"({"command":"x","artifacts":["a/../../b"]})", "invalid_field", "`artifacts`"},
      {R"({"command":"x","notify_on":[""]})", "empty", "`notify_on[0]`"},
  };
  for (const Wrong& wrong : cases) {
    const Result<Launch> launch = parse_launch(wrong.body);
    ASSERT_FALSE(launch) << wrong.body;
    EXPECT_EQ(launch.error().code, Code::invalid_argument) << wrong.body;
    EXPECT_EQ(launch.error().reason, wrong.reason) << wrong.body << ": " << launch.error().message;
    EXPECT_NE(launch.error().message.find(wrong.names), std::string::npos)
        << wrong.body << ": " << launch.error().message;
  }
}

TEST(ParseLaunch, AnUnknownFieldIsAnsweredWithTheKnownOnes) {
  const Result<Launch> launch = parse_launch(R"({"command":"x","timeout":5})");
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().message.find("`timeout`"), std::string::npos);
  EXPECT_NE(launch.error().message.find("timeout_s"), std::string::npos);
}

TEST(ParseLaunch, LongTextsHaveABound) {
  const std::string long_command = R"({"command":")" + std::string(128 * 1024 + 1, 'x') + "\"}";
  const Result<Launch> launch = parse_launch(long_command);
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.error().reason, "too_long");
  EXPECT_LT(launch.error().message.size(), 200u) << "an answer does not repeat what was too long";
  std::string many = R"({"command":"x","add_dirs":[)";
  for (int i = 0; i < 101; ++i) many += i == 0 ? "\"/a\"" : ",\"/a\"";
  EXPECT_EQ(parse_launch(many + "]}").error().reason, "too_many");
}

TEST(Fingerprint, IsTheSameForTheSameRequestHoweverItIsWritten) {  // P2
  const std::string one = fingerprint(parsed(R"({"agent_id":"demo","message":"hi","labels":{"a":"1","b":"2"}})"));
  const std::string same =
      fingerprint(parsed("{ \"labels\":{\"b\":\"2\",\"a\":\"1\"},\n\"message\":\"\\u0068i\",\"agent_id\":\"demo\"}"));
  EXPECT_EQ(one, same);
  EXPECT_EQ(one.size(), 32u);
  EXPECT_NE(one, fingerprint(parsed(R"({"agent_id":"demo","message":"ho","labels":{"a":"1","b":"2"}})")));
}

TEST(JoinWords, IsWhatAPersonWouldType) {
  EXPECT_EQ(join_words({"ls", "-l", "/tmp"}), "ls -l /tmp");
  EXPECT_EQ(join_words({"echo", "", "a b", "$x", "it's", "é"}), R"(echo '' 'a b' '$x' 'it'\''s' 'é')");
}

}  // namespace
}  // namespace errand::api

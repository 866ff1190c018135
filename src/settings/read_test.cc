#include "settings/read.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand {
namespace {

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() { sources_.data_dir = folder_.path(); }
  void file(const std::string& text) { folder_.write("errand.toml", text); }
  std::string refusal(const std::map<std::string, std::string>& environment = {}) {
    const Result<Settings> read = read_settings(sources_, environment);
    return read ? "" : read.error().message;
  }

  TestFolder folder_;
  SettingsSources sources_;
};

TEST_F(SettingsTest, FlagsBeatTheEnvironmentWhichBeatsTheFileWhichBeatsTheDefaults) {
  EXPECT_EQ(read_settings(sources_, {})->engine.max_concurrent, 3);
  file("max_concurrent = 4\nretention_s = 60\nallow_hosts = [\"a.example\"]\n[max_per_agent]\ndemo = 1\n");
  EXPECT_EQ(read_settings(sources_, {})->engine.max_concurrent, 4);
  EXPECT_EQ(read_settings(sources_, {})->engine.max_per_agent.at("demo"), 1);
  EXPECT_EQ(read_settings(sources_, {{"ERRAND_MAX_CONCURRENT", "5"}})->engine.max_concurrent, 5);
  sources_.flags = {{"max_concurrent", "6"}};
  EXPECT_EQ(read_settings(sources_, {{"ERRAND_MAX_CONCURRENT", "5"}})->engine.max_concurrent, 6);
  EXPECT_EQ(read_settings(sources_, {})->engine.retention_ms, 60'000);
}

TEST_F(SettingsTest, RefusesUnknownNamesAndWrongTypesByName) {
  file("max_concurent = 4\n");
  EXPECT_NE(refusal().find("max_concurent"), std::string::npos);
  file("max_concurrent = \"four\"\n");
  EXPECT_NE(refusal().find("max_concurrent must be a whole number"), std::string::npos);
  file("max_concurrent = 0\n");
  EXPECT_NE(refusal().find("must be 1 to"), std::string::npos);
  file("max_concurrent = \n");
  EXPECT_NE(refusal().find("line 1"), std::string::npos);
  file("");
  EXPECT_NE(refusal({{"ERRAND_RETENTION_S", "1h"}}).find("ERRAND_RETENTION_S"), std::string::npos);
}

TEST_F(SettingsTest, ForksHaveLimits) {
  EXPECT_EQ(read_settings(sources_, {})->engine.fork.tool_result_chars, 1'500);
  EXPECT_EQ(read_settings(sources_, {})->engine.fork.tokens, 100'000);
  file("[fork]\ntokens = 50000\nprofile = \"tiered\"\n");
  EXPECT_EQ(read_settings(sources_, {})->engine.fork.tokens, 50'000);
  EXPECT_EQ(read_settings(sources_, {})->engine.fork.profile, fork::Profile::tiered);
  EXPECT_EQ(read_settings(sources_, {{"ERRAND_FORK_TOOL_RESULT_CHARS", "700"}})->engine.fork.tool_result_chars, 700);
  file("[fork]\nprofile = \"clever\"\n");
  EXPECT_NE(refusal().find("fork.profile"), std::string::npos) << refusal();
  file("[fork]\ntokens = 1\n");
  EXPECT_NE(refusal().find("fork.tokens must be"), std::string::npos) << refusal();
}

TEST_F(SettingsTest, AGroupIsATable) {
  EXPECT_EQ(read_settings(sources_, {})->engine.tools_family, "background");
  file("[tools]\nfamily = \"superagents\"\n");
  EXPECT_EQ(read_settings(sources_, {})->engine.tools_family, "superagents");
  EXPECT_EQ(read_settings(sources_, {{"ERRAND_TOOLS_FAMILY", "bgagent"}})->engine.tools_family, "bgagent");
  file("[tools]\nfamly = \"superagents\"\n");
  EXPECT_NE(refusal().find("tools.famly is not a setting"), std::string::npos) << refusal();
  file("tools = 1\n");
  EXPECT_NE(refusal().find("write it as a table"), std::string::npos) << refusal();
}

TEST_F(SettingsTest, LimitsOfCommandsAreSettings) {
  const Result<Settings> usual = read_settings(sources_, {});
  EXPECT_EQ(usual->engine.command_limits.processes, 512);
  EXPECT_EQ(usual->engine.command_limits.memory_bytes, 2LL << 30);
  file("limit_processes = 0\nwork_dirs = [\"/srv\"]\nchild_umask = \"077\"\nenv_allow = [\"CC\", \"CARGO_*\"]\n");
  EXPECT_EQ(read_settings(sources_, {})->engine.command_limits.processes, 0) << "none";
  EXPECT_EQ(read_settings(sources_, {})->env_allow.size(), 2u);
  EXPECT_EQ(read_settings(sources_, {{"ERRAND_LIMIT_NICE", "-5"}})->engine.command_limits.nice, -5);
  file("child_umask = \"089\"\n");
  EXPECT_NE(refusal().find("octal"), std::string::npos);
  file("work_dirs = [\"here\"]\n");
  EXPECT_NE(refusal().find("absolute"), std::string::npos);
}

TEST_F(SettingsTest, TheNamesOfTheApiAreUnderstoodToo) {
  file("tools_family = \"bgagent\"\nfork_tokens = 5000\n");
  const Result<Settings> read = read_settings(sources_, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->engine.tools_family, "bgagent");
  EXPECT_EQ(read->engine.fork.tokens, 5'000);
  EXPECT_EQ(read->given, (std::vector<std::string>{"fork_tokens", "tools_family"}));
  file("fork_tokens = 5000\n[fork]\ntokens = 6000\n");
  EXPECT_NE(refusal().find("fork.tokens is given twice"), std::string::npos) << refusal();
}

TEST_F(SettingsTest, AWordThatIsNoneOfTheChoicesIsRefused) {
  file("log_level = \"loud\"\n");
  EXPECT_NE(refusal().find("log_level must be debug, info, warning or error"), std::string::npos) << refusal();
  file("");
  EXPECT_NE(refusal({{"ERRAND_TOOLS_FAMILY", "mine"}}).find("tools.family must be background"), std::string::npos);
}

TEST_F(SettingsTest, FlagsAddToAListAndReplaceAnythingElse) {
  file("allow_hosts = [\"a\"]\nbehind_proxy = false\n");
  sources_.flags = {{"allow_hosts", "b"}, {"allow_hosts", "c"}, {"behind_proxy", "true"}};
  const Result<Settings> read = read_settings(sources_, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->allow_hosts, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(read->behind_proxy);
}

TEST_F(SettingsTest, AFileThatWasNamedMustBeThere) {
  sources_.config = folder_ / "other.toml";
  EXPECT_NE(refusal().find("other.toml"), std::string::npos);
}

TEST_F(SettingsTest, ACertificateNeedsItsKey) {
  sources_.flags = {{"tls_cert", "cert.pem"}};
  EXPECT_NE(refusal().find("tls_key"), std::string::npos);
}

TEST_F(SettingsTest, ModelsAreTablesWithTheirOwnNames) {
  file(
      "[model]\nbase_url = \"http://127.0.0.1:11434/v1\"\nmodel = \"qwen3\"\ncontext_tokens = 32000\n"
      "[models.big]\napi = \"anthropic\"\nkey_env = \"BIG_KEY\"\ninput_usd = 3.5\nheaders = { x-team = \"a\" }\n");
  const Result<Settings> read = read_settings(sources_, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->models.at("").model, "qwen3");
  EXPECT_EQ(read->models.at("").numbers.at("context_tokens"), "32000");
  EXPECT_EQ(read->models.at("big").key_env, "BIG_KEY");
  EXPECT_EQ(read->models.at("big").numbers.at("input_usd"), "3.5");
  EXPECT_EQ(read->models.at("big").headers.at("x-team"), "a");
  file("[models.big]\nprice = 3\n");
  EXPECT_NE(refusal().find("models.big.price is not a setting"), std::string::npos);
  file("[models.big]\ninput_usd = -1\n");
  EXPECT_NE(refusal().find("models.big.input_usd must be a number"), std::string::npos);
  file("[models]\nbig = 3\n");
  EXPECT_NE(refusal().find("models.big must be a table"), std::string::npos);
}

TEST_F(SettingsTest, AnMcpServerIsAProgramOrAnAddress) {
  file(
      "[mcp.files]\ncommand = [\"npx\", \"server\"]\nenv = { A = \"1\" }\n[mcp.web]\nurl = \"https://x\"\ntimeout_s = "
      "5\n");
  const Result<Settings> read = read_settings(sources_, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->mcp.at("files").command, (std::vector<std::string>{"npx", "server"}));
  EXPECT_EQ(read->mcp.at("files").env.at("A"), "1");
  EXPECT_EQ(read->mcp.at("web").timeout_s, 5);
  file("[mcp.web]\nurl = \"https://x\"\ncommand = [\"y\"]\n");
  EXPECT_NE(refusal().find("a command or a url"), std::string::npos);
  file("[mcp.web]\nurl = 3\n");
  EXPECT_NE(refusal().find("mcp.web.url must be a text"), std::string::npos);
  file("[fetch]\nenabled = true\n");
  EXPECT_TRUE(read_settings(sources_, {})->fetch_enabled);
}

}  // namespace
}  // namespace errand

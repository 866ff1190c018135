// The words by which the program is started.
#include "driver/claude/start.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace errand::claude {
namespace {

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

TEST(ClaudeStart, ByItselfItSpeaksLinesAsksAndStartsNobodyElsesServers) {
  const std::vector<std::string> words = words_of("/bin/claude", Task{}, Agent{}, "", "/data/x.json");
  EXPECT_EQ(words.front(), "/bin/claude");
  for (const char* word :
       {"-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose", "--include-partial-messages",
        "--permission-prompt-tool=stdio", "--strict-mcp-config", "--disable-slash-commands"})
    EXPECT_TRUE(has(words, word)) << word;
  EXPECT_TRUE(std::ranges::none_of(words, [](const std::string& word) { return word.contains("dangerously"); }));
}

TEST(ClaudeStart, WhatTaskAndAgentSayIsPassedOnAsOneWordEach) {
  Task task;
  task.session_id = SessionId("ses_1");
  task.launch.model = "opus";
  task.launch.add_dirs = {"/a b", "-c"};
  task.launch.enable_mcp = true;
  Agent agent;
  agent.model = "haiku";
  agent.prompt = "--be nice";
  agent.max_steps = 7;
  agent.enable_skills = true;
  agent.tools = {"Bash", "Read"};
  agent.options["permission_mode"] = "acceptEdits";
  const std::vector<std::string> words = words_of("/bin/claude", task, agent, "6b8d", "/data/x.json");
  for (const char* word : {"--resume=6b8d", "--model=opus", "--add-dir=/a b", "--add-dir=-c", "--max-turns=7",
                           "--append-system-prompt=--be nice", "--permission-mode=acceptEdits", "--tools=Bash,Read"})
    EXPECT_TRUE(has(words, word)) << word;
  EXPECT_FALSE(has(words, "--strict-mcp-config"));
  EXPECT_FALSE(has(words, "--disable-slash-commands"));
  EXPECT_TRUE(has(words, "--mcp-config=/data/x.json"));
}

TEST(ClaudeStart, TheFileNamesErrandsServerAndTheUsersOwn) {
  EXPECT_EQ(servers_file({{.name = "errand", .command = {"/bin/errand", "mcp"}, .env = {{"ERRAND_TOKEN", "t"}}},
                          {.name = "web", .url = "http://127.0.0.1:1/mcp", .headers = {{"X-Key", "k"}}}}),
            R"({"mcpServers":{"errand":{"type":"stdio","command":"/bin/errand","args":["mcp"],)"
            R"("env":{"ERRAND_TOKEN":"t"}},"web":{"type":"http","url":"http://127.0.0.1:1/mcp",)"
            R"("headers":{"X-Key":"k"}}}})");
}

TEST(ClaudeStart, MarksOfAnotherConversationStayBehind) {
  EXPECT_TRUE(is_session_mark("CLAUDECODE=1"));
  EXPECT_TRUE(is_session_mark("CLAUDE_CODE_SESSION_ID=x"));
  EXPECT_FALSE(is_session_mark("CLAUDE_CODE_USE_BEDROCK=1"));
  EXPECT_FALSE(is_session_mark("ANTHROPIC_API_KEY=x"));
}

}  // namespace
}  // namespace errand::claude

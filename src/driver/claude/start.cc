#include "driver/claude/start.h"

#include <algorithm>
#include <array>

#include "base/json_out.h"

namespace errand::claude {

bool has_servers(const Task& task, const Agent& agent) { return task.launch.enable_mcp || agent.enable_mcp; }

std::string servers_file(const std::vector<program::McpServer>& servers) {
  std::string text;
  JsonOut out(text);
  const auto pairs = [&out](const char* name, const StringMap& values) {
    if (values.empty()) return;
    out.key(name).object();
    for (const auto& [key, value] : values) out.field(key, value);
    out.end();
  };
  out.object().key("mcpServers").object();
  for (const program::McpServer& server : servers) {
    out.key(server.name).object();
    if (!server.url.empty()) {
      out.field("type", "http").field("url", server.url);
      pairs("headers", server.headers);
    } else {
      out.field("type", "stdio").field("command", server.command.empty() ? "" : server.command.front());
      out.key("args").array();
      for (size_t i = 1; i < server.command.size(); ++i) out.value(server.command[i]);
      out.end();
      pairs("env", server.env);
    }
    out.end();
  }
  out.end().end();
  return text;
}

std::vector<std::string> words_of(const std::string& program, const Task& task, const Agent& agent,
                                  const std::string& session, const std::string& servers) {
  const Launch& launch = task.launch;
  std::vector<std::string> words = {program,
                                    "-p",
                                    "--input-format=stream-json",
                                    "--output-format=stream-json",
                                    "--verbose",
                                    "--include-partial-messages",
                                    "--permission-prompt-tool=stdio"};
  const auto add = [&words](std::string name, const std::string& value) {
    if (!value.empty()) words.push_back(std::move(name) + "=" + value);
  };
  add("--resume", session);
  add("--model", launch.model.empty() ? agent.model : launch.model);
  add("--append-system-prompt", agent.prompt);
  if (agent.max_steps > 0) add("--max-turns", std::to_string(agent.max_steps));
  if (const auto mode = agent.options.find("permission_mode"); mode != agent.options.end())
    add("--permission-mode", mode->second);
  for (const std::string& folder : launch.add_dirs) add("--add-dir", folder);
  std::string tools;
  for (const std::string& tool : agent.tools) tools += (tools.empty() ? "" : ",") + tool;
  add("--tools", tools);
  if (!launch.enable_skills && !agent.enable_skills) words.emplace_back("--disable-slash-commands");
  // Otherwise those that the user has set up for himself would be started for every task.
  if (has_servers(task, agent))
    add("--mcp-config", servers);
  else
    words.emplace_back("--strict-mcp-config");
  return words;
}

std::vector<std::string> environment_names() {
  return {"ANTHROPIC_*",
          "ANTHROPIC_API_KEY",
          "ANTHROPIC_AUTH_TOKEN",
          "ANTHROPIC_CUSTOM_HEADERS",
          "CLAUDE_CONFIG_DIR",
          "CLAUDE_CODE_*",
          "CLAUDE_CODE_OAUTH_TOKEN",
          "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
          "AWS_*",
          "AWS_ACCESS_KEY_ID",
          "AWS_SECRET_ACCESS_KEY",
          "AWS_SESSION_TOKEN",
          "AWS_BEARER_TOKEN_BEDROCK",
          "CLOUD_ML_REGION",
          "GOOGLE_APPLICATION_CREDENTIALS",
          "VERTEX_*",
          "API_TIMEOUT_MS",
          "BASH_*",
          "DISABLE_*",
          "ENABLE_*",
          "IS_SANDBOX",
          "MAX_THINKING_TOKENS",
          "MAX_MCP_OUTPUT_TOKENS",
          "MCP_*",
          "NODE_EXTRA_CA_CERTS",
          "SSL_CERT_FILE",
          "SSL_CERT_DIR",
          "HTTP_PROXY",
          "HTTPS_PROXY",
          "NO_PROXY",
          "http_proxy",
          "https_proxy",
          "no_proxy",
          "XDG_*"};
}

bool is_session_mark(std::string_view variable) {
  static constexpr std::array<std::string_view, 8> marks = {
      "CLAUDECODE=",           "CLAUDE_CODE_SESSION_ID=",   "CLAUDE_CODE_ENTRYPOINT=", "CLAUDE_CODE_SSE_PORT=",
      "CLAUDE_CODE_MESSAGING", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PROJECT_DIR=",     "CLAUDE_ENV_FILE="};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return variable.starts_with(mark); });
}

}  // namespace errand::claude

// The settings of a server, as values: what the rows of the table (table.h) set, and the tables with names of the
// user's own. read.h reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "settings/engine_settings.h"

namespace errand {

// A model of the built-in agent: [model], or [models.NAME].
struct ModelSettings {
  std::string api, base_url, key, key_env, model, effort;
  std::map<std::string, std::string> headers;
  std::map<std::string, std::string> numbers;  // context_tokens, output_tokens, input_usd, ...: as written.
};

// An MCP server whose tools the built-in agent can have: [mcp.NAME].
struct McpSettings {
  std::vector<std::string> command, pass_env;
  std::map<std::string, std::string> env, headers, headers_env;
  std::string url;
  int64_t timeout_s = 120;
};

struct Settings {
  EngineSettings engine;
  std::string listen = "127.0.0.1:4747";
  std::string store;  // Empty: the SQLite file in the data folder.
  int64_t artifacts_max_bytes = 256LL << 20;
  int64_t artifacts_max_files = 1'000;
  std::vector<std::string> env_allow;  // Names, or beginnings with "*": passed on from the server's environment.
  std::vector<std::string> work_dirs;  // Folders that commands may work in; empty: any.
  std::string child_umask = "022";     // Octal.
  Millis orphan_ms = 86'400'000;       // How long commands go on without any server.
  bool behind_proxy = false;
  std::vector<std::string> proxies;  // Addresses and networks whose X-Forwarded-* count beside loopback's.
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> allow_hosts;
  std::string log_level = "info";
  // Programs of agents that wait between two turns of their task (driver/program/holder.h); 0 of either: none does.
  int64_t warm_ms = 60'000;
  int64_t warm_background_ms = 3'600'000;  // Of one whose agent has left a command in the background.
  int warm_max = 4;
  bool fetch_enabled = false;
  bool fetch_allow_private = false;
  std::vector<std::string> notify_private_hosts;  // HOST or HOST:PORT that notifications may go to, private or not.
  std::string notify_page_url;                    // Where people reach the page; empty: this server's own address.
  std::map<std::string, ModelSettings> models;    // By name; "" is [model].
  std::map<std::string, McpSettings> mcp;
  // [agents.NAME]: each as the JSON that the API takes for an agent, in the order of the names.
  std::vector<std::string> agents;
  // All that the file, the environment or a flag has set, by the names of the API.
  std::vector<std::string> given;
};

}  // namespace errand

// The server's settings: from flags, the environment (ERRAND_...), the settings file (TOML) and the defaults, in that
// order. Unknown names and wrong types are refused by name, so that a misspelt limit is not silently no limit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

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
  std::string listen = "127.0.0.1:4747";
  std::string store;  // Empty: the SQLite file in the data folder.
  int64_t max_concurrent = 3;
  std::map<std::string, int64_t> max_per_agent;
  std::map<std::string, int64_t> max_per_model;
  bool allow_over_limit = false;
  int64_t command_timeout_s = 300;
  int64_t idle_timeout_s = 300;
  int64_t max_restarts = 3;
  int64_t retention_s = 0;
  int64_t output_limit_bytes = 64LL << 20;
  int64_t artifacts_max_bytes = 256LL << 20;
  int64_t artifacts_max_files = 1'000;
  // Of commands that name none; 0: no limit.
  int64_t limit_cpu_s = 0;
  int64_t limit_memory_bytes = 2LL << 30;
  int64_t limit_processes = 512;
  int64_t limit_open_files = 4'096;
  int64_t limit_nice = 0;
  std::vector<std::string> env_allow;  // Names, or beginnings with "*": passed on from the server's environment.
  std::vector<std::string> work_dirs;  // Folders that commands may work in; empty: any.
  std::string child_umask = "022";     // Octal.
  int64_t orphan_s = 86'400;           // How long commands go on without any server.
  bool behind_proxy = false;
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> allow_hosts;
  std::string log_level = "info";
  std::string tools_family = "background";
  std::map<std::string, ModelSettings> models;  // By name; "" is [model].
  std::map<std::string, McpSettings> mcp;
  bool fetch_enabled = false;
  bool fetch_allow_private = false;
  int64_t fork_tool_result_chars = 1'500;
  int64_t fork_tokens = 100'000;
  std::string fork_profile = "plain";  // Or "tiered".
  int64_t ask_timeout_s = 0;           // 0: a question waits for ever.
  bool wake = false;                   // A notice makes a further turn of a completed task.
  int64_t loop_max = 5;                // Equal tool calls in a row that end a task; 0: not watched.
  // [agents.NAME]: each as the JSON that the API takes for an agent, in the order of the names.
  std::vector<std::string> agents;
  std::vector<std::string> given;  // The names of all that the file, the environment or a flag has set.
};

// Where settings come from. What is absent comes from the environment (ERRAND_...), then the file, then the default.
struct SettingsSources {
  std::string data_dir;               // Absolute.
  std::optional<std::string> config;  // A TOML file; absent: data_dir/errand.toml, where there is one.
  // Flags of `errand serve`.
  std::optional<std::string> listen;  // "127.0.0.1:4747"
  std::optional<std::string> store;   // A URL; absent: the SQLite file in the data folder.
  std::optional<int> max_concurrent;
  bool behind_proxy = false;
  std::optional<std::string> tls_cert;  // PEM files.
  std::optional<std::string> tls_key;
  std::vector<std::string> allow_host;  // More names that the Host header may have.
  std::optional<std::string> log_level;
};

// `environment` is of the form of environ: names to values.
Result<Settings> read_settings(const SettingsSources& sources, const std::map<std::string, std::string>& environment);

}  // namespace errand

// The Agent Client Protocol (version 1) as plain values: what an agent says on its standard output, a JSON-RPC message
// a line, and the lines that are sent to it. Reading is lenient: a field that is absent or of another type is as if it
// were empty, an update that is not known is `other`, a line that is no message is `none`. Pure.
//
// The two directions count their requests apart: an agent's request 0 is not ours. An agent may use texts as ids; they
// are kept as they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/program/mcp_server.h"
#include "task/task.h"

namespace errand::acp {

struct Diff {
  std::string path, before, after;
};

// A tool call, or what has changed of one: what is empty was not said.
struct ToolCall {
  std::string id;
  std::string title;
  std::string name;    // The tool's own, where the agent says it.
  std::string kind;    // read, edit, delete, move, search, execute, think, fetch, switch_mode, other.
  std::string status;  // pending, in_progress, completed, failed.
  std::string input;   // A JSON object.
  std::optional<std::string> output;
  std::string more_output;  // What came behind it: some agents say it piece by piece, and never as a whole.
  std::vector<Diff> diffs;
  std::vector<std::string> locations;  // Paths.
  std::string terminal;                // One of the client's, which has its output.
};

struct PlanEntry {
  std::string text, status;  // pending, in_progress, completed.
};

struct Update {
  enum class Type : uint8_t { other, text, thought, user_text, call, plan, usage, notice, health } type = Type::other;
  std::string message_id;  // text, thought: where the agent counts its messages.
  std::string text;        // text, thought, user_text, notice.
  ToolCall call;
  std::vector<PlanEntry> plan;
  std::optional<double> cost_usd;  // usage: of the session so far.
  // health: the turn is failing. Codex's adapter says so here alone, and ends such a prompt as if it were answered.
  bool failing = false;
};

struct Option {
  std::string id, name;
  std::string kind;  // allow_once, allow_always, reject_once, reject_always.
};

struct FileRequest {
  std::string path;
  int64_t line = 0, limit = 0;  // Reading: from this line (1-based), so many; 0: not said.
  std::string content;          // Writing.
};

// A terminal that the client is asked for, or asked about.
struct TerminalRequest {
  std::string id;
  std::string command;  // Creating: the program, or a whole line where there are no words.
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string work_dir;
  int64_t limit = 0;  // Of its output, in bytes; 0: not said.
};

struct RpcError {
  int64_t code = 0;
  std::string message;
  std::string details;  // JSON, or empty.
};

// One line of an agent's.
struct Incoming {
  enum class Kind : uint8_t {
    none,        // No message of the protocol.
    update,      // session/update: session, update
    permission,  // session/request_permission: id, session, update.call, options
    read_file,   // fs/read_text_file: id, session, file
    write_file,  // fs/write_text_file: id, session, file
    terminal,    // terminal/*: id, method, session, terminal
    request,     // Any other request: id, method
    notification,
    result,  // number, body
    error,   // number, error
  } kind = Kind::none;
  std::string id;       // Of a request: as it came, JSON.
  int64_t number = -1;  // Of an answer: the number of our request; -1: none that could be ours.
  std::string method;
  std::string session;
  Update update;
  std::vector<Option> options;
  FileRequest file;
  TerminalRequest terminal;
  std::string body;  // Of a result: JSON.
  RpcError error;
};
Incoming parse_incoming(std::string_view line);

// ---- What the answers to our requests say.

struct AgentInfo {
  int64_t protocol = 0;
  std::string name, version;
  bool load = false, resume = false, fork = false, close = false;
  bool http = false;         // Takes MCP servers over HTTP.
  bool directories = false;  // Takes additionalDirectories.
  struct Login {
    std::string id, name, description;
  };
  std::vector<Login> logins;
};
AgentInfo parse_agent(std::string_view result);

// A choice that a session offers (its model, its mode), and how it is told.
struct Choice {
  std::string method;               // session/set_config_option, session/set_model or session/set_mode;
  std::string config;               // the option's id, for the first.
  std::string current;              // What holds now.
  std::vector<std::string> values;  // What may be chosen.
  bool offered() const { return !method.empty(); }
};
struct SessionInfo {
  std::string id;
  Choice model, mode;
};
SessionInfo parse_session(std::string_view result);

struct Stopped {
  std::string reason;  // end_turn, max_tokens, max_turn_requests, refusal, cancelled.
  Usage usage;         // Of this prompt, where the agent says it.
};
Stopped parse_stopped(std::string_view result);

// ---- What is sent: whole messages, without a line break.

// `files`, `terminals`: what is served here.
std::string initialize_line(int64_t number, std::string_view version, bool files, bool terminals = false);

struct OpenSession {
  std::string session;  // Of load, resume and fork.
  std::string work_dir;
  std::vector<std::string> add_dirs;
  std::vector<program::McpServer> servers;
  bool as_root = false;  // See open_line.
};
// `method`: session/new, session/load, session/resume or session/fork. An agent that runs as root is told by the
// extension of Claude's adapter that nobody will ask it to skip permissions: it refuses to begin otherwise.
std::string open_line(int64_t number, std::string_view method, const OpenSession& session);
std::string choose_line(int64_t number, std::string_view session, const Choice& choice, std::string_view value);
std::string prompt_line(int64_t number, std::string_view session, const std::vector<std::string>& texts);
std::string cancel_line(std::string_view session);
// `option` empty: cancelled.
std::string permission_line(std::string_view id, std::string_view option);
std::string result_line(std::string_view id, std::string_view result);
std::string error_line(std::string_view id, int code, std::string_view message);

inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int auth_required = -32000;
inline constexpr int not_found = -32002;

}  // namespace errand::acp

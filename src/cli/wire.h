// What the server's JSON says, as plain values: the part of it that the CLI shows. Everything is optional on the way
// in, so that a newer or older server is still shown as far as it can be; only text that is no JSON fails.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace errand::cli {

struct WaitingInfo {
  std::string kind;  // permission, answer, quota, children.
  std::string request_id;
  std::string text;
  std::vector<std::string> options;
  Time until;
  // Of a permission: what is decided about.
  std::string tool = {}, work_dir = {}, diff = {};
  struct Pattern {
    std::string pattern, text;
  };
  std::vector<Pattern> patterns = {};
};

struct ToolInfo {
  std::string name;
  std::string summary;
};

struct ProgressInfo {
  int64_t tool_calls = 0;
  std::vector<ToolInfo> recent_tools;  // Newest last.
  int64_t turns = 0;
  int64_t input_tokens = 0, output_tokens = 0;
  double cost_usd = 0;
  bool unpriced = false;  // Some of it has no known price.
  int64_t output_bytes = 0, output_lines = 0;
  bool output_truncated = false;
  double cpu_s = 0;
  int64_t memory_bytes = 0;
  double idle_s = 0;
};

struct TaskInfo {
  std::string id, kind, status, reason;
  std::optional<WaitingInfo> waiting_for;
  bool stopping = false;
  std::string agent_id, agent, model, title, description, prompt, command, work_dir;
  std::string sandbox;
  std::string isolation_state, isolation_path, isolation_branch;  // Its own work tree; empty: none.
  int64_t isolation_bytes = 0;                                    // On the disk; 0: not known.
  std::map<std::string, int64_t> limits;                          // Those that are set.
  std::string session_id, parent_session_id, batch_id;
  std::map<std::string, std::string> labels;
  bool is_forked = false;
  int64_t resume_count = 0, attempt = 0, turn = 0;
  std::optional<int64_t> queue_position;
  std::string queue_reason;  // What holds it back beside that; empty: nothing.
  Time created_at, started_at, deadline_at, completed_at, updated_at, retrieved_at, expires_at;
  std::optional<std::string> result;
  std::string error_code, error_message;
  std::string error_details;  // JSON, or empty.
  std::optional<int> exit_code, signal;
  ProgressInfo progress;
  int64_t seq = 0;  // Of its last event when it was read: a stream goes on from here.

  bool at_work() const { return status == "pending" || status == "running" || status == "resumed"; }
};

struct BatchInfo {
  std::string id;
  std::map<std::string, int64_t> counts;
  int64_t total = 0;
};
// "9 completed, 2 failed"
std::string counts_text(const std::map<std::string, int64_t>& counts);

struct TaskPage {
  std::vector<TaskInfo> tasks;
  std::string next_cursor;
  std::map<std::string, int64_t> counts;
  std::map<std::string, BatchInfo> batches;  // Where batches are one row: by id.
};

struct PartInfo {
  std::string type, text, call_id, name;
  std::string input;  // JSON.
  bool is_error = false;
};

struct MessageInfo {
  std::string id, role;
  std::vector<PartInfo> parts;
};

// An event of a stream, flat: which fields count depends on the type.
struct EventInfo {
  int64_t seq = 0;
  std::string type;
  Time at;
  std::string task_id;  // In the stream of everything; else empty.
  std::optional<TaskInfo> task;
  std::optional<MessageInfo> message;
  std::optional<ProgressInfo> progress;
  std::string message_id, call_id, request_id;
  int64_t part = 0;
  std::string part_type;  // Of a delta: text or reasoning.
  std::string stream, text, name, code, kind, decision, by, status, pattern, line;
  int64_t run = 0, offset = 0, length = 0;  // Of a command's output: which bytes of which log.
  std::string input;                        // JSON: of a tool.
  std::string output;                       // Of a tool.
  bool is_error = false;
  std::vector<std::string> options;
  std::string diff;  // Of a permission that is asked for.
};

// A line of a log in its JSON form.
struct LogLine {
  std::string stream;
  int64_t offset = 0;
  std::string at;
  std::string text;
};

// The program that an agent runs in.
struct AgentProgramInfo {
  std::string name, path, version;
  std::optional<bool> logged_in;  // Absent: it cannot be told.
  std::string login, log_in;
  int64_t start_ms = 0, memory_bytes = 0;  // 0: not seen yet.
  int64_t running = 0, waiting = 0, waiting_memory_bytes = 0;
};

struct AgentInfo {
  std::string id, name, driver, model, description;
  std::string unavailable;             // Why it cannot be used; empty: it can.
  std::vector<std::string> abilities;  // What it can do, by the API's names.
  std::optional<AgentProgramInfo> program;
};

// A usage limit that holds tasks back.
struct QuotaInfo {
  std::string account, text;
  Time since, until;
  std::vector<std::string> tasks;  // The first that wait,
  int64_t waiting = 0;             // of so many.
  int64_t queued = 0;
};

// What a session is owed.
struct NoticeInfo {
  std::string id, text;
};

struct ToolEntry {
  std::string name, title;
  std::string example;  // JSON.
};

// What a tool answered.
struct ToolReply {
  std::string text;
  bool is_error = false;
};

struct ServerInfo {  // DIR/server.json
  int64_t pid = 0;
  std::string url, version;
  std::string config;  // The settings file that it reads; empty: it did not say.
};

Result<TaskInfo> parse_task(std::string_view json);
// A task alone, or the `task` of a reply that has more ({"task","turn"}).
Result<TaskInfo> parse_task_reply(std::string_view json);
// A question of the inbox, or a task's `waiting_for`.
Result<WaitingInfo> parse_question(std::string_view json);
Result<TaskPage> parse_tasks(std::string_view json);
LogLine parse_log_line(std::string_view json);  // Empty where it is none.
Result<EventInfo> parse_event(std::string_view json);
Result<std::vector<EventInfo>> parse_events(std::string_view json);
Result<std::vector<AgentInfo>> parse_agents(std::string_view json);
Result<std::vector<QuotaInfo>> parse_quotas(std::string_view json);
Result<std::vector<NoticeInfo>> parse_notices(std::string_view json);
Result<AgentInfo> parse_agent(std::string_view json);
// The fields of an object, texts as they are and the rest as JSON.
Result<std::vector<std::pair<std::string, std::string>>> parse_fields(std::string_view json);
Result<std::vector<ToolEntry>> parse_tools(std::string_view json);
Result<ToolReply> parse_tool_reply(std::string_view json);
// A message of MCP's as the bridge sees it.
struct McpMessage {
  std::string id;  // JSON; empty where it is answered by nobody.
  std::string method;
  std::string version;  // Of the stateless protocol (2026-07-28 and later), where it names one.
  std::string name;     // What the header Mcp-Name repeats; empty where it has none.
  enum class Again : uint8_t {
    safe,    // It may be sent again where the connection broke: it changes nothing, or the same.
    keyed,   // It starts something: safe with an idempotency key.
    unsafe,  // It would be done twice.
  } again = Again::safe;
};
McpMessage parse_mcp_message(std::string_view line);
// Does this `initialize` say that its client has roots?
bool offers_roots(std::string_view initialize);
// The answer to `roots/list` under this id: the first root that is a folder of this machine, empty where there is none.
// Nothing where the line is no such answer.
std::optional<std::string> first_root(std::string_view line, std::string_view id);
// Is this text JSON at all?
Status check_json(std::string_view text);
Result<BatchInfo> parse_batch(std::string_view json);
Result<ServerInfo> parse_server(std::string_view json);
// RFC 9457; a body that is none gives the status alone.
Error parse_problem(int status, std::string_view body);

// One member of an object as text; empty where there is none. Numbers and booleans as they are written.
std::string member(std::string_view json, std::string_view name);
// The whole number that a text begins with, as headers have it; 0 where it does not.
int64_t number(std::string_view text);
// The elements of the array `name` of an object (or of the text itself, where it is an array), each as JSON.
std::vector<std::string> elements(std::string_view json, std::string_view name);
// Those of an array of texts.
std::vector<std::string> texts_of(std::string_view json, std::string_view name);

}  // namespace errand::cli

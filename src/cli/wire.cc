#include "cli/wire.h"

#include <charconv>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/encode.h"
#include "base/text.h"

namespace errand::cli {

namespace json = boost::json;

namespace {

Result<json::value> parse(std::string_view text) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 64;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return fail(Code::unavailable, "The server's answer is not JSON. Is this an errand server?", "bad_answer");
  return value;
}

const json::value* find(const json::value& in, std::string_view name) {
  const json::object* object = in.if_object();
  if (!object) return nullptr;
  const json::value* value = object->if_contains({name.data(), name.size()});
  return value && !value->is_null() ? value : nullptr;
}

std::string text(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  const json::string* string = value ? value->if_string() : nullptr;
  return string ? std::string(string->data(), string->size()) : std::string();
}

double real(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  boost::system::error_code error;
  double number = value && value->is_number() ? value->to_number<double>(error) : 0;
  return error ? 0 : number;
}

std::optional<int64_t> maybe_integer(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  int64_t number = value->to_number<int64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

int64_t integer(const json::value& in, std::string_view name) { return maybe_integer(in, name).value_or(0); }

bool flag(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  return value && value->is_bool() && value->get_bool();
}

Time when(const json::value& in, std::string_view name) {
  std::string written = text(in, name);
  return written.empty() ? Time{} : parse_time(written).value_or(Time{});
}

// JSON text of a member; a string member that holds JSON (as some inputs do) is taken as it is.
std::string raw(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  if (!value) return {};
  return json::serialize(*value);
}

std::map<std::string, int64_t> integers(const json::value& in, std::string_view name) {
  std::map<std::string, int64_t> out;
  const json::value* value = find(in, name);
  const json::object* object = value ? value->if_object() : nullptr;
  if (!object) return out;
  for (const auto& [key, item] : *object)
    out[std::string(key)] = integer(*value, std::string_view(key.data(), key.size()));
  return out;
}

template <class Each>
void each(const json::value& in, std::string_view name, Each&& take) {
  const json::value* value = name.empty() ? &in : find(in, name);
  const json::array* array = value ? value->if_array() : nullptr;
  if (!array) return;
  for (const json::value& item : *array) take(item);
}

std::vector<std::string> texts(const json::value& in, std::string_view name) {
  std::vector<std::string> out;
  each(in, name, [&](const json::value& item) {
    if (item.is_string()) out.emplace_back(std::string_view(item.get_string()));
  });
  return out;
}

ProgressInfo progress_of(const json::value& in) {
  ProgressInfo out;
  out.tool_calls = integer(in, "tool_calls");
  each(in, "recent_tools",
       [&](const json::value& tool) { out.recent_tools.push_back({text(tool, "name"), text(tool, "summary")}); });
  out.turns = integer(in, "turns");
  if (const json::value* usage = find(in, "usage")) {
    out.input_tokens = integer(*usage, "input_tokens");
    out.output_tokens = integer(*usage, "output_tokens");
    out.cost_usd = real(*usage, "cost_usd");
    out.unpriced = flag(*usage, "unpriced");
  }
  out.output_bytes = integer(in, "output_bytes");
  out.output_lines = integer(in, "output_lines");
  out.output_truncated = flag(in, "output_truncated");
  out.cpu_s = real(in, "cpu_s");
  out.memory_bytes = integer(in, "memory_bytes");
  out.idle_s = real(in, "idle_s");
  return out;
}

std::optional<int> small(const json::value& in, std::string_view name) {
  auto number = maybe_integer(in, name);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

WaitingInfo waiting_of(const json::value& in) {
  WaitingInfo out{text(in, "kind"), text(in, "request_id"), text(in, "text"), texts(in, "options"), when(in, "until")};
  out.tool = text(in, "tool");
  out.work_dir = text(in, "work_dir");
  out.diff = text(in, "diff");
  each(in, "patterns",
       [&](const json::value& pattern) { out.patterns.push_back({text(pattern, "pattern"), text(pattern, "text")}); });
  return out;
}

TaskInfo task_of(const json::value& in) {
  TaskInfo out;
  out.id = text(in, "id");
  out.kind = text(in, "kind");
  out.status = text(in, "status");
  out.reason = text(in, "reason");
  if (const json::value* waiting = find(in, "waiting_for")) out.waiting_for = waiting_of(*waiting);
  out.stopping = flag(in, "stopping");
  out.agent_id = text(in, "agent_id");
  out.agent = text(in, "agent");
  out.model = text(in, "model");
  out.title = text(in, "title");
  out.description = text(in, "description");
  out.prompt = text(in, "prompt");
  out.command = text(in, "command");
  if (out.command.empty())
    each(in, "command", [&](const json::value& word) {
      if (word.is_string())
        out.command.append(out.command.empty() ? "" : " ").append(std::string_view(word.get_string()));
    });
  out.work_dir = text(in, "work_dir");
  out.sandbox = text(in, "sandbox");
  if (const json::value* isolation = find(in, "isolation")) {
    out.isolation_state = text(*isolation, "state");
    out.isolation_path = text(*isolation, "path");
    out.isolation_branch = text(*isolation, "branch");
    out.isolation_bytes = maybe_integer(*isolation, "bytes").value_or(0);
  }
  if (const json::value* limits = find(in, "limits"))
    for (const char* name : {"cpu_s", "memory_bytes", "processes", "open_files", "output_bytes", "nice"})
      if (const auto value = maybe_integer(*limits, name)) out.limits[name] = *value;
  out.session_id = text(in, "session_id");
  out.parent_session_id = text(in, "parent_session_id");
  out.batch_id = text(in, "batch_id");
  if (const json::value* labels = find(in, "labels"); labels && labels->is_object())
    for (const auto& [key, value] : labels->get_object())
      out.labels[std::string(key)] = text(*labels, std::string_view(key.data(), key.size()));
  out.is_forked = flag(in, "is_forked");
  out.resume_count = integer(in, "resume_count");
  out.attempt = integer(in, "attempt");
  out.turn = integer(in, "turn");
  out.queue_position = maybe_integer(in, "queue_position");
  out.queue_reason = text(in, "queue_reason");
  out.created_at = when(in, "created_at");
  out.started_at = when(in, "started_at");
  out.deadline_at = when(in, "deadline_at");
  out.completed_at = when(in, "completed_at");
  out.updated_at = when(in, "updated_at");
  out.retrieved_at = when(in, "retrieved_at");
  out.expires_at = when(in, "expires_at");
  if (const json::value* result = find(in, "result"))
    out.result = result->is_string() ? text(in, "result") : json::serialize(*result);
  if (const json::value* error = find(in, "error")) {
    out.error_code = text(*error, "code");
    out.error_message = text(*error, "message");
    out.error_details = raw(*error, "details");
  }
  out.exit_code = small(in, "exit_code");
  out.signal = small(in, "signal");
  if (const json::value* progress = find(in, "progress")) out.progress = progress_of(*progress);
  out.seq = integer(in, "seq");
  return out;
}

MessageInfo message_of(const json::value& in) {
  MessageInfo out{text(in, "id"), text(in, "role"), {}};
  each(in, "parts", [&](const json::value& part) {
    out.parts.push_back({text(part, "type"), text(part, "text"), text(part, "call_id"), text(part, "name"),
                         raw(part, "input"), flag(part, "is_error")});
  });
  return out;
}

EventInfo event_of(const json::value& in) {
  EventInfo out;
  out.seq = integer(in, "seq");
  out.type = text(in, "type");
  out.at = when(in, "at");
  out.task_id = text(in, "task_id");
  const json::value* data = find(in, "data");
  if (!data) return out;
  if (const json::value* task = find(*data, "task")) {
    out.task = task_of(*task);
    if (out.task_id.empty()) out.task_id = out.task->id;
  }
  if (const json::value* message = find(*data, "message")) out.message = message_of(*message);
  if (const json::value* progress = find(*data, "progress")) out.progress = progress_of(*progress);
  out.message_id = text(*data, "message_id");
  out.call_id = text(*data, "call_id");
  out.request_id = text(*data, "request_id");
  out.part = integer(*data, "part");
  out.part_type = text(*data, "type");
  out.stream = text(*data, "stream");
  out.run = integer(*data, "run");
  out.offset = integer(*data, "offset");
  out.length = integer(*data, "length");
  out.text = text(*data, "text");
  out.name = text(*data, "name");
  out.code = text(*data, "code");
  out.kind = text(*data, "kind");
  out.decision = text(*data, "decision");
  out.by = text(*data, "by");
  out.status = text(*data, "status");
  out.pattern = text(*data, "pattern");
  out.line = text(*data, "line");
  out.input = raw(*data, "input");
  const json::value* output = find(*data, "output");
  if (output) out.output = output->is_string() ? text(*data, "output") : json::serialize(*output);
  out.is_error = flag(*data, "is_error");
  out.options = texts(*data, "options");
  out.diff = text(*data, "diff");
  return out;
}

Code code_of(int status) {
  switch (status) {
    case 400:
    case 405:
    case 415:
    case 422:
      return Code::invalid_argument;
    case 401:
      return Code::unauthorized;
    case 403:
    case 421:
      return Code::forbidden;
    case 404:
    case 410:
      return Code::not_found;
    case 409:
      return Code::conflict;
    case 413:
    case 431:
      return Code::too_large;
    case 429:
      return Code::exhausted;
    case 501:
      return Code::unsupported;
    case 502:
    case 503:
    case 504:
      return Code::unavailable;
    case 507:
      return Code::storage_full;
    default:
      return Code::internal;
  }
}

template <class T, class Make>
Result<T> read(std::string_view text, Make&& make) {
  auto value = parse(text);
  if (!value) return std::unexpected(value.error());
  return make(*value);
}

BatchInfo batch_of(const json::value& value) {
  std::string id = text(value, "id");
  return {id.empty() ? text(value, "batch_id") : id, integers(value, "counts"), integer(value, "total")};
}

}  // namespace

Result<TaskInfo> parse_task(std::string_view in) { return read<TaskInfo>(in, task_of); }

Result<WaitingInfo> parse_question(std::string_view in) { return read<WaitingInfo>(in, waiting_of); }

Result<TaskInfo> parse_task_reply(std::string_view in) {
  return read<TaskInfo>(in, [](const json::value& value) {
    const json::value* task = find(value, "task");
    return task_of(task ? *task : value);
  });
}

Result<TaskPage> parse_tasks(std::string_view in) {
  return read<TaskPage>(in, [](const json::value& value) {
    TaskPage page;
    each(value, "tasks", [&](const json::value& task) { page.tasks.push_back(task_of(task)); });
    page.next_cursor = text(value, "next_cursor");
    page.counts = integers(value, "counts");
    each(value, "batches", [&](const json::value& batch) {
      BatchInfo info = batch_of(batch);
      page.batches.emplace(info.id, std::move(info));
    });
    return page;
  });
}

Result<EventInfo> parse_event(std::string_view in) { return read<EventInfo>(in, event_of); }

Result<std::vector<EventInfo>> parse_events(std::string_view in) {
  return read<std::vector<EventInfo>>(in, [](const json::value& value) {
    std::vector<EventInfo> events;
    each(value, value.is_array() ? "" : "events", [&](const json::value& event) { events.push_back(event_of(event)); });
    return events;
  });
}

namespace {

std::optional<AgentProgramInfo> program_of(const json::value& agent) {
  const json::object* const object = agent.if_object();
  const json::value* const program = object ? object->if_contains("program") : nullptr;
  if (program == nullptr || !program->is_object()) return std::nullopt;
  AgentProgramInfo info{.name = text(*program, "name"),
                        .path = text(*program, "path"),
                        .version = text(*program, "version"),
                        .logged_in = {},
                        .login = text(*program, "login"),
                        .log_in = text(*program, "log_in"),
                        .start_ms = integer(*program, "start_ms"),
                        .memory_bytes = integer(*program, "memory_bytes"),
                        .running = integer(*program, "running"),
                        .waiting = integer(*program, "waiting"),
                        .waiting_memory_bytes = integer(*program, "waiting_memory_bytes")};
  if (const json::value* const known = program->get_object().if_contains("logged_in"); known && known->is_bool())
    info.logged_in = known->get_bool();
  return info;
}

AgentInfo agent_of(const json::value& agent) {
  AgentInfo info{.id = text(agent, "id"),
                 .name = text(agent, "name"),
                 .driver = text(agent, "driver"),
                 .model = text(agent, "model"),
                 .description = text(agent, "description"),
                 .unavailable = text(agent, "unavailable_reason"),
                 .abilities = {},
                 .program = program_of(agent)};
  const json::object* const object = agent.if_object();
  const json::value* const abilities = object ? object->if_contains("capabilities") : nullptr;
  if (abilities && abilities->is_object())
    for (const auto& [name, can] : abilities->get_object())
      if (can.is_bool() && can.get_bool()) info.abilities.emplace_back(name);
  return info;
}

}  // namespace

Result<std::vector<AgentInfo>> parse_agents(std::string_view in) {
  return read<std::vector<AgentInfo>>(in, [](const json::value& value) {
    std::vector<AgentInfo> agents;
    each(value, value.is_array() ? "" : "agents", [&](const json::value& agent) { agents.push_back(agent_of(agent)); });
    return agents;
  });
}

Result<std::vector<QuotaInfo>> parse_quotas(std::string_view in) {
  return read<std::vector<QuotaInfo>>(in, [](const json::value& value) {
    std::vector<QuotaInfo> quotas;
    each(value, "quotas", [&](const json::value& quota) {
      quotas.push_back({.account = text(quota, "account"),
                        .text = text(quota, "text"),
                        .since = when(quota, "since"),
                        .until = when(quota, "until"),
                        .tasks = texts(quota, "task_ids"),
                        .waiting = integer(quota, "waiting"),
                        .queued = integer(quota, "queued")});
    });
    return quotas;
  });
}

Result<std::vector<NoticeInfo>> parse_notices(std::string_view in) {
  return read<std::vector<NoticeInfo>>(in, [](const json::value& value) {
    std::vector<NoticeInfo> notices;
    each(value, "notices", [&](const json::value& notice) {
      notices.push_back({.id = text(notice, "id"), .text = text(notice, "text")});
    });
    return notices;
  });
}

Result<AgentInfo> parse_agent(std::string_view in) { return read<AgentInfo>(in, agent_of); }

Result<std::vector<std::pair<std::string, std::string>>> parse_fields(std::string_view in) {
  using Shown = std::vector<std::pair<std::string, std::string>>;
  return read<Shown>(in, [](const json::value& value) {
    Shown fields;
    if (const json::object* object = value.if_object())
      for (const auto& [name, field] : *object)
        fields.emplace_back(std::string(name),
                            field.is_string() ? std::string(field.get_string()) : json::serialize(field));
    return fields;
  });
}

Result<std::vector<ToolEntry>> parse_tools(std::string_view in) {
  return read<std::vector<ToolEntry>>(in, [](const json::value& value) {
    std::vector<ToolEntry> tools;
    each(value, "tools", [&](const json::value& tool) {
      const json::object* object = tool.if_object();
      const json::value* example = object ? object->if_contains("example") : nullptr;
      tools.push_back({text(tool, "name"), text(tool, "title"), example ? json::serialize(*example) : ""});
    });
    return tools;
  });
}

Result<ToolReply> parse_tool_reply(std::string_view in) {
  return read<ToolReply>(
      in, [](const json::value& value) { return ToolReply{text(value, "text"), flag(value, "is_error")}; });
}

namespace {

McpMessage::Again again_of(const std::string& method, const std::string& tool, const json::value* params) {
  using Again = McpMessage::Again;
  if (method == "tasks/update") return Again::unsafe;
  if (method != "tools/call") return Again::safe;
  if (tool.ends_with("_execute")) return Again::keyed;
  const json::value* arguments = params && params->is_object() ? params->as_object().if_contains("arguments") : nullptr;
  if (tool.ends_with("_task")) return arguments && !text(*arguments, "resume").empty() ? Again::unsafe : Again::keyed;
  return tool.ends_with("_message") || tool.ends_with("_retry") ? Again::unsafe : Again::safe;
}

}  // namespace

McpMessage parse_mcp_message(std::string_view line) {
  McpMessage message;
  json::error_code error;
  const json::value value = json::parse(line, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (!object) return message;
  message.method = text(value, "method");
  const json::value* id = object->if_contains("id");
  if (id && !message.method.empty()) message.id = json::serialize(*id);
  const json::value* params = object->if_contains("params");
  if (!params || !params->is_object()) return message;
  for (const char* const name : {"name", "uri", "taskId"})
    if (message.name.empty()) message.name = text(*params, name);
  if (const json::value* meta = params->as_object().if_contains("_meta"))
    message.version = text(*meta, "io.modelcontextprotocol/protocolVersion");
  message.again = again_of(message.method, text(*params, "name"), params);
  return message;
}

namespace {

// The path of a file address; a broken escape stays as it is.
std::string unescaped(std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    const std::optional<std::string> byte = path[i] == '%' ? from_hex(path.substr(i + 1, 2)) : std::nullopt;
    if (byte && byte->size() == 1) i += 2;
    out += byte && byte->size() == 1 ? (*byte)[0] : path[i];
  }
  return out;
}

}  // namespace

bool offers_roots(std::string_view initialize) {
  json::error_code error;
  const json::value value = json::parse(initialize, error);
  if (error) return false;
  const json::value* const roots = value.find_pointer("/params/capabilities/roots", error);
  return roots && roots->is_object();
}

std::optional<std::string> first_root(std::string_view line, std::string_view id) {
  // Cheap, for every line that a client sends: only an answer to us has our id.
  if (line.find(id) == std::string_view::npos) return std::nullopt;
  json::error_code error;
  const json::value value = json::parse(line, error);
  if (error || !value.is_object() || !text(value, "method").empty() || text(value, "id") != id) return std::nullopt;
  const json::value* const roots = value.find_pointer("/result/roots", error);
  if (!roots || !roots->is_array()) return "";
  for (const json::value& root : roots->as_array()) {
    constexpr std::string_view scheme = "file://";
    const std::string uri = text(root, "uri");
    if (!uri.starts_with(scheme)) continue;
    std::string path = unescaped(std::string_view(uri).substr(scheme.size()));
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (path.starts_with('/') && path.find('\0') == std::string::npos) return path;
  }
  return "";
}

Status check_json(std::string_view text) {
  json::error_code error;
  json::parse(text, error);
  if (error)
    return fail(Code::invalid_argument, "The arguments are not valid JSON: " + error.message() + ".", "bad_json");
  return {};
}

Result<BatchInfo> parse_batch(std::string_view in) { return read<BatchInfo>(in, batch_of); }

std::string counts_text(const std::map<std::string, int64_t>& counts) {
  std::string text;
  for (const auto& [status, count] : counts)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + status;
  return text;
}

Result<ServerInfo> parse_server(std::string_view in) {
  return read<ServerInfo>(in, [](const json::value& value) {
    return ServerInfo{integer(value, "pid"), text(value, "url"), text(value, "version"), text(value, "config")};
  });
}

Error parse_problem(int status, std::string_view body) {
  Error error{code_of(status), {}, {}};
  if (auto value = parse(body)) {
    // The code tells more than the status where one status stands for two (503: exhausted, unavailable).
    std::string code = text(*value, "code");
    for (int c = 0; c <= static_cast<int>(Code::internal); ++c)
      if (name(static_cast<Code>(c)) == code) error.code = static_cast<Code>(c);
    error.reason = text(*value, "reason");
    if (error.reason.empty()) error.reason = code;
    error.message = text(*value, "detail");
    if (error.message.empty()) error.message = text(*value, "title");
  }
  if (error.message.empty())
    error.message = fmt::format("The server answered {} without saying why; its log may.", status);
  return error;
}

LogLine parse_log_line(std::string_view in) {
  const auto value = parse(in);
  if (!value) return {};
  return {text(*value, "stream"), integer(*value, "offset"), text(*value, "at"), text(*value, "text")};
}

int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string member(std::string_view in, std::string_view name) {
  auto value = parse(in);
  if (!value) return {};
  const json::value* found = find(*value, name);
  if (!found) return {};
  return found->is_string() ? text(*value, name) : json::serialize(*found);
}

std::vector<std::string> elements(std::string_view in, std::string_view name) {
  std::vector<std::string> out;
  if (auto value = parse(in))
    each(*value, value->is_array() ? "" : name, [&](const json::value& item) { out.push_back(json::serialize(item)); });
  return out;
}

std::vector<std::string> texts_of(std::string_view in, std::string_view name) {
  std::vector<std::string> out;
  if (auto value = parse(in))
    each(*value, value->is_array() ? "" : name, [&](const json::value& item) {
      if (item.is_string()) out.emplace_back(item.get_string());
    });
  return out;
}

}  // namespace errand::cli

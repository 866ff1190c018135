#include "driver/acp/wire.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::acp {

namespace {

namespace json = boost::json;

constexpr size_t depth_max = 100;  // Of what an agent nests; arguments of tools may be deep.
constexpr size_t list_max = 1'000;

const json::value& at(const json::value& value, std::string_view name) {
  static const json::value none;
  const json::object* object = value.if_object();
  const json::value* found = object ? object->if_contains(name) : nullptr;
  return found ? *found : none;
}

std::string text(const json::value& value) {
  const json::string* string = value.if_string();
  return string ? std::string(*string) : std::string();
}

bool flag(const json::value& value) { return value.is_bool() && value.get_bool(); }

// A capability is there as `true` or as an object, however empty.
bool offered(const json::value& value) { return value.is_object() || flag(value); }

int64_t integer(const json::value& value) {
  if (const int64_t* number = value.if_int64()) return *number;
  if (const uint64_t* number = value.if_uint64())
    return *number > INT64_MAX ? INT64_MAX : static_cast<int64_t>(*number);
  // Outside of what an integer holds it says nothing.
  if (const double* number = value.if_double())
    return *number > -9e15 && *number < 9e15 ? static_cast<int64_t>(*number) : 0;
  return 0;
}

int64_t count(const json::value& value) { return std::clamp<int64_t>(integer(value), 0, int64_t{1} << 50); }

// The elements of a list, at most so many.
std::pair<const json::value*, size_t> list(const json::value& value) {
  const json::array* array = value.if_array();
  return array ? std::pair(array->data(), std::min(array->size(), list_max)) : std::pair(&value, size_t{0});
}

json::value parse(std::string_view source) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = depth_max;
  json::value value = json::parse(source, error, {}, options);
  return error ? json::value() : std::move(value);
}

std::string block_text(const json::value& block) {
  const std::string type = text(at(block, "type"));
  if (type == "text") return text(at(block, "text"));
  if (type == "resource") return text(at(at(block, "resource"), "text"));
  if (type == "resource_link") return text(at(block, "uri"));
  return type.empty() ? std::string() : "[" + type + "]";
}

// What a tool gave, where the agent only says it raw.
std::string raw_text(const json::value& raw) {
  if (raw.is_string()) return text(raw);
  for (const char* name : {"output", "error", "formatted_output", "aggregated_output", "stdout", "message"})
    if (std::string found = text(at(raw, name)); !found.empty()) return found;
  return json::serialize(raw);
}

void read_content(const json::value& value, ToolCall& call) {
  const auto [items, size] = list(value);
  std::string said;
  bool elsewhere = false;  // It is in a terminal of the agent's.
  for (size_t i = 0; i < size; ++i) {
    const std::string type = text(at(items[i], "type"));
    if (type == "diff")
      call.diffs.push_back({text(at(items[i], "path")), text(at(items[i], "oldText")), text(at(items[i], "newText"))});
    else if (type == "content")
      said += (said.empty() ? "" : "\n") + block_text(at(items[i], "content"));
    if (type != "terminal") continue;
    elsewhere = true;
    call.terminal = text(at(items[i], "terminalId"));
  }
  // An empty list says that there is nothing (any more): a question may have had a description in its place.
  if (!said.empty() || (value.is_array() && !elsewhere)) call.output = std::move(said);
}

ToolCall read_call(const json::value& value) {
  ToolCall call;
  call.id = text(at(value, "toolCallId"));
  call.title = text(at(value, "title"));
  call.name = text(at(value, "name"));
  if (call.name.empty()) call.name = text(at(at(at(value, "_meta"), "claudeCode"), "toolName"));
  call.kind = text(at(value, "kind"));
  call.status = text(at(value, "status"));
  if (at(value, "rawInput").is_object()) call.input = json::serialize(at(value, "rawInput"));
  read_content(at(value, "content"), call);
  // Plain text is the result itself; content may be the same dressed up for an editor.
  const json::value& raw = at(value, "rawOutput");
  if (raw.is_string() || (call.output.value_or("").empty() && !raw.is_null())) call.output = raw_text(raw);
  call.more_output = text(at(at(at(value, "_meta"), "terminal_output_delta"), "data"));
  const auto [items, size] = list(at(value, "locations"));
  for (size_t i = 0; i < size; ++i)
    if (std::string path = text(at(items[i], "path")); !path.empty()) call.locations.push_back(std::move(path));
  return call;
}

Update read_update(const json::value& value) {
  using Type = Update::Type;
  Update update;
  const std::string type = text(at(value, "sessionUpdate"));
  if (type == "agent_message_chunk" || type == "agent_thought_chunk" || type == "user_message_chunk") {
    update.type = type.starts_with("user")        ? Type::user_text
                  : type == "agent_message_chunk" ? Type::text
                                                  : Type::thought;
    update.message_id = text(at(value, "messageId"));
    update.text = block_text(at(value, "content"));
  } else if (type == "tool_call" || type == "tool_call_update") {
    update.type = Type::call;
    update.call = read_call(value);
    // A call that says nothing of its state has just been named.
    if (type == "tool_call" && update.call.status.empty()) update.call.status = "pending";
  } else if (type == "plan") {
    update.type = Type::plan;
    const auto [items, size] = list(at(value, "entries"));
    for (size_t i = 0; i < size; ++i)
      update.plan.push_back({text(at(items[i], "content")), text(at(items[i], "status"))});
  } else if (type == "usage_update") {
    update.type = Type::usage;
    const json::value& cost = at(value, "cost");
    const json::value& amount = at(cost, "amount");
    if (amount.is_number() && text(at(cost, "currency")) == "USD") {
      const double usd = amount.to_number<double>();
      if (usd >= 0 && usd < 1e9) update.cost_usd = usd;
    }
  } else if (type == "session_info_update") {
    const std::string status = text(at(at(at(at(value, "_meta"), "codex"), "threadStatus"), "type"));
    if (!status.empty()) update.type = Type::health;
    update.failing = status == "systemError";
  } else if (type == "notice") {
    update.type = Type::notice;
    update.text = text(at(value, "message"));
    if (update.text.empty()) update.text = block_text(at(value, "content"));
  }
  return update;
}

void read_request(const json::value& params, Incoming& in) {
  in.session = text(at(params, "sessionId"));
  if (in.method == "session/request_permission") {
    in.kind = Incoming::Kind::permission;
    in.update.type = Update::Type::call;
    in.update.call = read_call(at(params, "toolCall"));
    const auto [items, size] = list(at(params, "options"));
    for (size_t i = 0; i < size; ++i)
      in.options.push_back({text(at(items[i], "optionId")), text(at(items[i], "name")), text(at(items[i], "kind"))});
  } else if (in.method == "fs/read_text_file" || in.method == "fs/write_text_file") {
    in.kind = in.method == "fs/read_text_file" ? Incoming::Kind::read_file : Incoming::Kind::write_file;
    in.file = {.path = text(at(params, "path")),
               .line = count(at(params, "line")),
               .limit = count(at(params, "limit")),
               .content = text(at(params, "content"))};
  } else if (in.method.starts_with("terminal/")) {
    in.kind = Incoming::Kind::terminal;
    TerminalRequest& terminal = in.terminal;
    terminal = {.id = text(at(params, "terminalId")),
                .command = text(at(params, "command")),
                .args = {},
                .env = {},
                .work_dir = text(at(params, "cwd")),
                .limit = count(at(params, "outputByteLimit"))};
    const auto [words, word_count] = list(at(params, "args"));
    for (size_t i = 0; i < word_count; ++i) terminal.args.push_back(text(words[i]));
    const auto [variables, variable_count] = list(at(params, "env"));
    for (size_t i = 0; i < variable_count; ++i)
      terminal.env.emplace_back(text(at(variables[i], "name")), text(at(variables[i], "value")));
  }
}

RpcError read_error(const json::value& error) {
  RpcError out{.code = integer(at(error, "code")), .message = text(at(error, "message")), .details = {}};
  const json::value& data = at(error, "data");
  // Gemini puts its provider's answer into the message, and others the reason into the data.
  const std::string inner = text(at(at(parse(out.message), "error"), "message"));
  if (!inner.empty()) out.message = inner;
  if (out.message == "Internal error" || out.message.empty())
    for (const json::value* reason : {&data, &at(data, "details"), &at(data, "message")})
      if (reason->is_string()) out.message = text(*reason);
  if (out.message.empty()) out.message = "The agent answered with an error and gave no reason.";
  if (data.is_object()) out.details = json::serialize(data);
  return out;
}

void read_choices(const json::value& options, std::string_view category, Choice& out) {
  const auto [items, size] = list(options);
  for (size_t i = 0; i < size; ++i) {
    if (text(at(items[i], "category")) != category && text(at(items[i], "id")) != category) continue;
    out = {.method = "session/set_config_option",
           .config = text(at(items[i], "id")),
           .current = text(at(items[i], "currentValue")),
           .values = {}};
    const auto [values, value_count] = list(at(items[i], "options"));
    for (size_t k = 0; k < value_count; ++k) {
      // Options may stand in groups.
      const auto [grouped, group_size] = list(at(values[k], "options"));
      for (size_t g = 0; g < group_size; ++g) out.values.push_back(text(at(grouped[g], "value")));
      if (group_size == 0) out.values.push_back(text(at(values[k], "value")));
    }
    return;
  }
}

// The older forms: {"availableModels":[{"modelId"}],"currentModelId"}, {"availableModes":[{"id"}],"currentModeId"}.
void read_old_choice(const json::value& value, const char* all, const char* id, const char* current, const char* method,
                     Choice& out) {
  if (out.offered() || !value.is_object()) return;
  out.method = method;
  out.current = text(at(value, current));
  const auto [items, size] = list(at(value, all));
  for (size_t i = 0; i < size; ++i) out.values.push_back(text(at(items[i], id)));
}

class Line {
 public:
  Line() : out_(text_) { out_.object().field("jsonrpc", "2.0"); }
  Line(int64_t number, std::string_view method) : Line() {
    out_.field("id", number).field("method", method).key("params").object();
  }
  JsonOut& out() { return out_; }
  std::string end() {
    out_.end();
    return std::move(text_);
  }

 private:
  std::string text_;
  JsonOut out_;
};

void write_pairs(JsonOut& out, std::string_view field, const StringMap& map) {
  out.key(field).array();
  for (const auto& [name, value] : map) out.object().field("name", name).field("value", value).end();
  out.end();
}

}  // namespace

Incoming parse_incoming(std::string_view line) {
  Incoming in;
  const json::value message = parse(line);
  if (!message.is_object()) return in;
  const json::value& id = at(message, "id");
  in.method = text(at(message, "method"));
  if (!in.method.empty()) {
    const json::value& params = at(message, "params");
    if (id.is_string() || id.is_number()) {
      in.kind = Incoming::Kind::request;
      in.id = json::serialize(id);
      read_request(params, in);
      return in;
    }
    in.kind = Incoming::Kind::notification;
    if (in.method == "session/update") {
      in.kind = Incoming::Kind::update;
      in.session = text(at(params, "sessionId"));
      in.update = read_update(at(params, "update"));
    }
    return in;
  }
  if (id.is_int64() || id.is_uint64()) in.number = integer(id);
  const json::object& object = message.get_object();
  if (object.contains("error")) {
    in.kind = Incoming::Kind::error;
    in.error = read_error(at(message, "error"));
  } else if (object.contains("result")) {
    in.kind = Incoming::Kind::result;
    in.body = json::serialize(at(message, "result"));
  }
  return in;
}

AgentInfo parse_agent(std::string_view result) {
  const json::value value = parse(result);
  const json::value& can = at(value, "agentCapabilities");
  const json::value& sessions = at(can, "sessionCapabilities");
  AgentInfo info{.protocol = integer(at(value, "protocolVersion")),
                 .name = text(at(at(value, "agentInfo"), "title")),
                 .version = text(at(at(value, "agentInfo"), "version")),
                 .load = offered(at(can, "loadSession")),
                 .resume = offered(at(sessions, "resume")),
                 .fork = offered(at(sessions, "fork")),
                 .close = offered(at(sessions, "close")),
                 .http = offered(at(at(can, "mcpCapabilities"), "http")),
                 .directories = offered(at(sessions, "additionalDirectories")),
                 .logins = {}};
  if (info.name.empty()) info.name = text(at(at(value, "agentInfo"), "name"));
  const auto [items, size] = list(at(value, "authMethods"));
  for (size_t i = 0; i < size; ++i)
    info.logins.push_back({text(at(items[i], "id")), text(at(items[i], "name")), text(at(items[i], "description"))});
  return info;
}

SessionInfo parse_session(std::string_view result) {
  const json::value value = parse(result);
  SessionInfo info{.id = text(at(value, "sessionId")), .model = {}, .mode = {}};
  read_choices(at(value, "configOptions"), "model", info.model);
  read_choices(at(value, "configOptions"), "mode", info.mode);
  read_old_choice(at(value, "models"), "availableModels", "modelId", "currentModelId", "session/set_model", info.model);
  read_old_choice(at(value, "modes"), "availableModes", "id", "currentModeId", "session/set_mode", info.mode);
  return info;
}

Stopped parse_stopped(std::string_view result) {
  const json::value value = parse(result);
  Stopped stopped{.reason = text(at(value, "stopReason")), .usage = {}};
  const json::value& usage = at(value, "usage");
  stopped.usage.cache_read_tokens = count(at(usage, "cachedReadTokens"));
  stopped.usage.cache_write_tokens = count(at(usage, "cachedWriteTokens"));
  stopped.usage.input_tokens =
      count(at(usage, "inputTokens")) + stopped.usage.cache_read_tokens + stopped.usage.cache_write_tokens;
  stopped.usage.output_tokens = count(at(usage, "outputTokens")) + count(at(usage, "thoughtTokens"));
  if (usage.is_object()) return stopped;
  // Gemini's own way to say it.
  const json::value& counts = at(at(at(value, "_meta"), "quota"), "token_count");
  stopped.usage.input_tokens = count(at(counts, "input_tokens"));
  stopped.usage.output_tokens = count(at(counts, "output_tokens"));
  return stopped;
}

std::string initialize_line(int64_t number, std::string_view version, bool files, bool terminals) {
  Line line(number, "initialize");
  line.out().field("protocolVersion", 1).key("clientCapabilities").object();
  line.out().key("fs").object().field("readTextFile", files).field("writeTextFile", files).end();
  line.out().field("terminal", terminals).end();
  line.out().key("clientInfo").object().field("name", "errand").field("version", version).end().end();
  return line.end();
}

std::string open_line(int64_t number, std::string_view method, const OpenSession& session) {
  Line line(number, method);
  JsonOut& out = line.out();
  if (!session.session.empty()) out.field("sessionId", session.session);
  out.field("cwd", session.work_dir).key("mcpServers").array();
  for (const program::McpServer& server : session.servers) {
    out.object();
    if (!server.url.empty()) {
      out.field("type", "http").field("name", server.name).field("url", server.url);
      write_pairs(out, "headers", server.headers);
    } else {
      out.field("name", server.name).field("command", server.command.empty() ? "" : server.command.front());
      out.key("args").array();
      for (size_t i = 1; i < server.command.size(); ++i) out.value(server.command[i]);
      out.end();
      write_pairs(out, "env", server.env);
    }
    out.end();
  }
  out.end();
  if (!session.add_dirs.empty()) {
    out.key("additionalDirectories").array();
    for (const std::string& folder : session.add_dirs) out.value(folder);
    out.end();
  }
  if (session.as_root) out.key("_meta").raw(R"({"claudeCode":{"options":{"allowDangerouslySkipPermissions":false}}})");
  out.end();
  return line.end();
}

std::string choose_line(int64_t number, std::string_view session, const Choice& choice, std::string_view value) {
  Line line(number, choice.method);
  line.out().field("sessionId", session);
  if (choice.method == "session/set_config_option")
    line.out().field("configId", choice.config).field("value", value);
  else
    line.out().field(choice.method == "session/set_mode" ? "modeId" : "modelId", value);
  line.out().end();
  return line.end();
}

std::string prompt_line(int64_t number, std::string_view session, const std::vector<std::string>& texts) {
  Line line(number, "session/prompt");
  line.out().field("sessionId", session).key("prompt").array();
  for (const std::string& one : texts) line.out().object().field("type", "text").field("text", one).end();
  line.out().end().end();
  return line.end();
}

std::string cancel_line(std::string_view session) {
  Line line;
  line.out().field("method", "session/cancel").key("params").object().field("sessionId", session).end();
  return line.end();
}

std::string permission_line(std::string_view id, std::string_view option) {
  Line line;
  line.out().key("id").raw(id).key("result").object().key("outcome").object();
  line.out().field("outcome", option.empty() ? "cancelled" : "selected");
  if (!option.empty()) line.out().field("optionId", option);
  line.out().end().end();
  return line.end();
}

std::string result_line(std::string_view id, std::string_view result) {
  Line line;
  line.out().key("id").raw(id).key("result").raw(result);
  return line.end();
}

std::string error_line(std::string_view id, int code, std::string_view message) {
  Line line;
  line.out().key("id").raw(id).key("error").object().field("code", code).field("message", message).end();
  return line.end();
}

}  // namespace errand::acp

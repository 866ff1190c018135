#include "driver/claude/wire.h"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/line_diff.h"
#include "base/text.h"
#include "task/task.h"

namespace errand::claude {
namespace {

namespace json = boost::json;
using Type = Event::Type;

constexpr size_t depth_max = 128;
constexpr int64_t time_max = 253'402'300'799'999;  // The end of the year 9999.
constexpr size_t subject_max = 4'000;

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
double number(const json::value& value) {
  if (const double* found = value.if_double()) return *found;
  if (const int64_t* found = value.if_int64()) return static_cast<double>(*found);
  if (const uint64_t* found = value.if_uint64()) return static_cast<double>(*found);
  return 0;
}
// Where it is outside of what can be meant it says nothing.
int64_t integer(const json::value& value) {
  const double found = number(value);
  return found > -9e15 && found < 9e15 ? static_cast<int64_t>(found) : 0;
}
int64_t count(const json::value& value) { return std::max<int64_t>(integer(value), 0); }
bool flag(const json::value& value) { return value.is_bool() && value.get_bool(); }

std::optional<json::value> parse(std::string_view source) {
  json::parse_options options;
  options.max_depth = depth_max;
  boost::system::error_code error;
  json::value value = json::parse(source, error, {}, options);
  if (error) return std::nullopt;
  return value;
}

// A tool's result is a text, or a list of blocks.
std::string result_text(const json::value& content) {
  if (content.is_string()) return text(content);
  std::string out;
  if (const json::array* blocks = content.if_array())
    for (const json::value& block : *blocks) {
      const std::string type = text(at(block, "type"));
      if (!out.empty()) out += '\n';
      out += type == "text" ? text(at(block, "text")) : "[" + type + "]";
    }
  return out;
}

Block read_block(const json::value& value) {
  Block block;
  const std::string type = text(at(value, "type"));
  if (type == "text") {
    block.type = Block::Type::text;
    block.text = text(at(value, "text"));
  } else if (type == "thinking") {
    block.type = Block::Type::thinking;
    block.text = text(at(value, "thinking"));
  } else if (type == "tool_use") {
    block.type = Block::Type::tool_use;
    block.id = text(at(value, "id"));
    block.name = text(at(value, "name"));
    const json::value& input = at(value, "input");
    block.input = input.is_object() ? json::serialize(input) : "{}";
  } else if (type == "tool_result") {
    block.type = Block::Type::tool_result;
    block.id = text(at(value, "tool_use_id"));
    block.text = result_text(at(value, "content"));
    block.is_error = flag(at(value, "is_error"));
  }
  return block;
}

void read_blocks(const json::value& content, Event& event) {
  if (const json::array* blocks = content.if_array())
    for (const json::value& block : *blocks) event.blocks.push_back(read_block(block));
}

void read_stream_event(const json::value& inner, Event& event) {
  const std::string type = text(at(inner, "type"));
  event.index = integer(at(inner, "index"));
  if (type == "message_start") {
    event.type = Type::message_start;
    event.message_id = text(at(at(inner, "message"), "id"));
  } else if (type == "content_block_start") {
    event.type = Type::block_start;
    event.blocks.push_back(read_block(at(inner, "content_block")));
  } else if (type == "content_block_delta") {
    const json::value& delta = at(inner, "delta");
    const std::string kind = text(at(delta, "type"));
    Block block;
    if (kind == "text_delta") {
      block.type = Block::Type::text;
      block.text = text(at(delta, "text"));
    } else if (kind == "thinking_delta") {
      block.type = Block::Type::thinking;
      block.text = text(at(delta, "thinking"));
    } else {
      return;
    }
    event.type = Type::delta;
    event.blocks.push_back(std::move(block));
  }
}

void read_system(const json::value& value, Event& event) {
  const std::string subtype = text(at(value, "subtype"));
  if (subtype == "init") {
    event.type = Type::init;
    event.version = text(at(value, "claude_code_version"));
  } else if (subtype == "api_retry") {
    event.type = Type::retry;
    event.attempt = count(at(value, "attempt"));
    event.delay_ms = count(at(value, "retry_delay_ms"));
    event.status = count(at(value, "error_status"));
    event.error = text(at(value, "error"));
  } else if (subtype == "background_tasks_changed") {
    event.type = Type::background;
    // A shell may be left running for good (a server that is to be tried): a turn does not wait for it.
    if (const json::array* tasks = at(value, "tasks").if_array()) {
      event.shells = std::ranges::count_if(
          *tasks, [](const json::value& task) { return text(at(task, "task_type")) == "local_bash"; });
      event.count = static_cast<int64_t>(tasks->size()) - event.shells;
    }
  } else if (subtype == "task_notification") {
    event.type = Type::notification;
    event.text = text(at(value, "summary"));
  }
}

void read_control_request(const json::value& value, Event& event) {
  event.request_id = text(at(value, "request_id"));
  const json::value& request = at(value, "request");
  event.type = event.request_id.empty() ? Type::other : Type::requests;
  if (text(at(request, "subtype")) != "can_use_tool" || event.request_id.empty()) return;
  event.type = Type::asks;
  event.about = text(at(request, "description"));
  const json::value& input = at(request, "input");
  event.blocks.push_back({.type = Block::Type::tool_use,
                          .text = {},
                          .id = text(at(request, "tool_use_id")),
                          .name = text(at(request, "tool_name")),
                          .input = input.is_object() ? json::serialize(input) : "{}"});
}

constexpr size_t models_max = 100;

// Per model; what was read from a cache was used too.
void read_used(const json::value& value, Event& event) {
  event.total_cost = std::max(0.0, number(at(value, "total_cost_usd")));
  if (const json::object* models = at(value, "model_usage_since_last_result").if_object()) {
    event.has_used = true;
    for (const auto& model : *models) {
      const json::value& used = model.value();
      Usage usage;
      usage.cache_read_tokens = count(at(used, "cacheReadInputTokens"));
      usage.cache_write_tokens = count(at(used, "cacheCreationInputTokens"));
      usage.input_tokens = count(at(used, "inputTokens")) + usage.cache_read_tokens + usage.cache_write_tokens;
      usage.output_tokens = count(at(used, "outputTokens"));
      usage.cost_usd = std::max(0.0, number(at(used, "costUSD")));
      event.used.input_tokens += usage.input_tokens;
      event.used.output_tokens += usage.output_tokens;
      event.used.cost_usd += usage.cost_usd;
      event.used.cache_read_tokens += usage.cache_read_tokens;
      event.used.cache_write_tokens += usage.cache_write_tokens;
      if (event.models.size() < models_max) event.models.push_back({std::string(model.key()), usage});
    }
    return;
  }
  const json::value& used = at(value, "usage");
  event.used.cache_read_tokens = count(at(used, "cache_read_input_tokens"));
  event.used.cache_write_tokens = count(at(used, "cache_creation_input_tokens"));
  event.used.input_tokens =
      count(at(used, "input_tokens")) + event.used.cache_read_tokens + event.used.cache_write_tokens;
  event.used.output_tokens = count(at(used, "output_tokens"));
}

void read_result(const json::value& value, Event& event) {
  event.type = Type::result;
  event.is_error = flag(at(value, "is_error"));
  event.subtype = text(at(value, "subtype"));
  event.text = text(at(value, "result"));
  event.terminal_reason = text(at(value, "terminal_reason"));
  event.status = count(at(value, "api_error_status"));
  event.queued = count(at(value, "queued_turn_count"));
  event.idle = at(value, "num_turns").is_int64() && count(at(value, "num_turns")) == 0;
  if (const json::array* errors = at(value, "errors").if_array(); errors && event.text.empty())
    for (const json::value& error : *errors) event.text += (event.text.empty() ? "" : "\n") + text(error);
  read_used(value, event);
}

void read_limit(const json::value& value, Event& event) {
  const json::value& info = at(value, "rate_limit_info");
  event.type = Type::limit;
  event.rejected = text(at(info, "status")) == "rejected";
  if (const int64_t seconds = count(at(info, "resetsAt")); seconds > 0 && seconds <= time_max / 1000)
    event.resets = Time{seconds * 1000};
}

std::string control_response(std::string_view request_id, std::string_view response) {
  std::string line;
  JsonOut out(line);
  out.object().field("type", "control_response").key("response").object();
  out.field("subtype", "success").field("request_id", request_id).key("response").raw(response).end().end();
  return line;
}

}  // namespace

Event parse_line(std::string_view line) {
  Event event;
  std::string whole;
  if (!is_utf8(line)) {
    whole = to_utf8(line);
    line = whole;
  }
  const std::optional<json::value> value = parse(line);
  if (!value) return event;
  const std::string type = text(at(*value, "type"));
  event.session_id = text(at(*value, "session_id"));
  event.inner = at(*value, "parent_tool_use_id").is_string();
  if (type == "stream_event") {
    read_stream_event(at(*value, "event"), event);
  } else if (type == "assistant") {
    event.type = Type::assistant;
    event.message_id = text(at(at(*value, "message"), "id"));
    event.api_error = flag(at(*value, "is_api_error_message"));
    event.error = text(at(*value, "error"));
    read_blocks(at(at(*value, "message"), "content"), event);
  } else if (type == "user") {
    event.type = Type::user;
    read_blocks(at(at(*value, "message"), "content"), event);
  } else if (type == "system") {
    read_system(*value, event);
  } else if (type == "result") {
    read_result(*value, event);
  } else if (type == "control_request") {
    read_control_request(*value, event);
  } else if (type == "control_cancel_request") {
    event.type = Type::unasked;
    event.request_id = text(at(*value, "request_id"));
  } else if (type == "command_lifecycle") {
    event.type = Type::lifecycle;
    event.uuid = text(at(*value, "command_uuid"));
    event.state = text(at(*value, "state"));
  } else if (type == "rate_limit_event") {
    read_limit(*value, event);
  }
  return event;
}

std::string user_line(std::string_view text, std::string_view uuid, bool asks) {
  std::string line;
  JsonOut out(line);
  out.object().field("type", "user").key("message").object().field("role", "user").key("content").array();
  out.object().field("type", "text").field("text", text).end().end().end();
  out.key("parent_tool_use_id").null().field("uuid", uuid);
  if (!asks) out.field("shouldQuery", false);
  out.end();
  return line;
}

std::string interrupt_line(std::string_view request_id) {
  std::string line;
  JsonOut out(line);
  out.object().field("type", "control_request").field("request_id", request_id);
  out.key("request").object().field("subtype", "interrupt").end().end();
  return line;
}

std::string allow_line(std::string_view request_id) { return control_response(request_id, R"({"behavior":"allow"})"); }

std::string answers_line(std::string_view request_id, std::string_view input, std::string_view answer) {
  std::optional<json::value> value = parse(input);
  if (!value || !value->is_object()) return allow_line(request_id);
  json::object answers;
  if (const json::array* questions = at(*value, "questions").if_array())
    for (const json::value& question : *questions) answers[text(at(question, "question"))] = answer;
  value->get_object()["answers"] = std::move(answers);
  std::string response;
  JsonOut out(response);
  out.object().field("behavior", "allow").key("updatedInput").raw(json::serialize(*value)).end();
  return control_response(request_id, response);
}

std::string deny_line(std::string_view request_id, std::string_view message) {
  std::string response;
  JsonOut out(response);
  out.object().field("behavior", "deny").field("message", message).field("interrupt", false).end();
  return control_response(request_id, response);
}

std::string unsupported_line(std::string_view request_id) {
  std::string line;
  JsonOut out(line);
  out.object().field("type", "control_response").key("response").object();
  out.field("subtype", "error").field("request_id", request_id).field("error", "This host does not do that.");
  out.end().end();
  return line;
}

Question read_question(std::string_view input) {
  Question out;
  const std::optional<json::value> value = parse(input);
  const json::array* questions = value ? at(*value, "questions").if_array() : nullptr;
  if (!questions) return out;
  for (const json::value& question : *questions) {
    if (!out.text.empty()) out.text += "\n\n";
    out.text += text(at(question, "question"));
    if (const json::array* options = at(question, "options").if_array())
      for (const json::value& option : *options) {
        const std::string label = text(at(option, "label"));
        const std::string meaning = text(at(option, "description"));
        out.text += "\n- " + label + (meaning.empty() ? "" : ": " + meaning);
        if (questions->size() == 1 && !label.empty()) out.options.push_back(label);
      }
  }
  return out;
}

std::string subject_of(std::string_view input) {
  const std::optional<json::value> value = parse(input);
  const json::object* object = value ? value->if_object() : nullptr;
  if (!object) return {};
  std::string found;
  for (const char* name : {"command", "file_path", "notebook_path", "path", "url", "pattern", "query", "prompt"})
    if (found.empty()) found = text(at(*value, name));
  for (const auto& member : *object)
    if (found.empty()) found = text(member.value());
  if (found.size() > subject_max) found = found.substr(0, utf8_prefix(found, subject_max)) + "…";
  return found;
}

std::string command_of(std::string_view input) {
  const std::optional<json::value> value = parse(input);
  return value && value->is_object() ? text(at(*value, "command")) : std::string();
}

std::string change_of(std::string_view input) {
  const std::optional<json::value> value = parse(input);
  if (!value || !value->is_object()) return {};
  const std::string path = text(at(*value, "file_path"));
  if (path.empty()) return {};
  if (at(*value, "content").is_string()) return line_diff(path, {}, text(at(*value, "content")), diff_bytes_max);
  std::string out = line_diff(path, text(at(*value, "old_string")), text(at(*value, "new_string")), diff_bytes_max);
  if (const json::array* const edits = at(*value, "edits").if_array())
    for (const json::value& edit : *edits)
      if (out.size() < diff_bytes_max)
        out += line_diff(path, text(at(edit, "old_string")), text(at(edit, "new_string")), diff_bytes_max);
  return out;
}

}  // namespace errand::claude

#include "driver/opencode/wire.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::opencode {

namespace {

namespace json = boost::json;

constexpr int64_t time_max = 253'402'300'799'999;  // The end of the year 9999.

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

int64_t integer(const json::value& value) {
  if (const int64_t* number = value.if_int64()) return *number;
  if (const uint64_t* number = value.if_uint64())
    return *number > INT64_MAX ? INT64_MAX : static_cast<int64_t>(*number);
  // Where it is outside of what an integer holds it says nothing.
  if (const double* number = value.if_double())
    return *number > -9e15 && *number < 9e15 ? static_cast<int64_t>(*number) : 0;
  return 0;
}

double number(const json::value& value) {
  if (const double* found = value.if_double()) return *found;
  return static_cast<double>(integer(value));
}

std::optional<json::value> parse(std::string_view source) {
  boost::system::error_code error;
  json::value value = json::parse(source, error);
  if (error) return std::nullopt;
  return value;
}

Info read_info(const json::value& value) {
  Info info;
  info.id = text(at(value, "id"));
  info.session_id = text(at(value, "sessionID"));
  info.role = text(at(value, "role"));
  info.created = Time{std::clamp<int64_t>(integer(at(at(value, "time"), "created")), 0, time_max)};
  info.completed = Time{std::clamp<int64_t>(integer(at(at(value, "time"), "completed")), 0, time_max)};
  const json::value& error = at(value, "error");
  info.error_name = text(at(error, "name"));
  info.error_text = text(at(at(error, "data"), "message"));
  info.error_status = static_cast<int>(std::clamp<int64_t>(integer(at(at(error, "data"), "statusCode")), 0, 999));
  const json::value& tokens = at(value, "tokens");
  const json::value& cache = at(tokens, "cache");
  info.cache_read_tokens = integer(at(cache, "read"));
  info.cache_write_tokens = integer(at(cache, "write"));
  info.input_tokens = integer(at(tokens, "input")) + info.cache_read_tokens + info.cache_write_tokens;
  info.output_tokens = integer(at(tokens, "output")) + integer(at(tokens, "reasoning"));
  info.cost_usd = number(at(value, "cost"));
  info.agent = text(at(value, "agent"));
  info.provider = text(at(value, "providerID"));
  info.model = text(at(value, "modelID"));
  if (info.provider.empty()) {  // A user's message has them below.
    info.provider = text(at(at(value, "model"), "providerID"));
    info.model = text(at(at(value, "model"), "modelID"));
  }
  return info;
}

Part read_part(const json::value& value) {
  Part part;
  part.id = text(at(value, "id"));
  part.session_id = text(at(value, "sessionID"));
  part.message_id = text(at(value, "messageID"));
  part.type = text(at(value, "type"));
  part.text = text(at(value, "text"));
  if (part.type == "file") {
    part.name = text(at(value, "filename"));
    part.media_type = text(at(value, "mime"));
    part.url = text(at(value, "url"));
  }
  if (part.type != "tool") return part;
  part.call_id = text(at(value, "callID"));
  part.tool = text(at(value, "tool"));
  const json::value& state = at(value, "state");
  part.status = text(at(state, "status"));
  part.input = at(state, "input").is_object() ? json::serialize(at(state, "input")) : "{}";
  part.output = text(at(state, part.status == "error" ? "error" : "output"));
  part.title = text(at(state, "title"));
  const int64_t start = integer(at(at(state, "time"), "start")), end = integer(at(at(state, "time"), "end"));
  if (start > 0 && end > start) part.ms = end - start;
  return part;
}

void read_request(const json::value& value, Event& event) {
  event.session_id = text(at(value, "sessionID"));
  event.request.id = text(at(value, "id"));
  if (event.type == Event::Type::permission) {
    event.request.permission = text(at(value, "permission"));
    event.request.diff = text(at(at(value, "metadata"), "diff"));
    if (const json::array* patterns = at(value, "patterns").if_array())
      for (const json::value& pattern : *patterns) event.request.patterns.push_back(text(pattern));
    return;
  }
  const json::array* questions = at(value, "questions").if_array();
  if (!questions || questions->empty()) return;
  for (const json::value& question : *questions)
    event.text += (event.text.empty() ? "" : "\n") + text(at(question, "question"));
  if (const json::array* options = at(questions->front(), "options").if_array(); options && questions->size() == 1)
    for (const json::value& option : *options) event.request.options.push_back(text(at(option, "label")));
}

Event::Type type_of(std::string_view name, const json::value& properties) {
  using enum Event::Type;
  if (name == "server.connected") return connected;
  if (name == "message.updated") return message;
  if (name == "message.part.updated") return part;
  if (name == "message.part.delta") return text(at(properties, "field")) == "text" ? delta : other;
  if (name == "session.idle") return idle;
  if (name == "session.error") return error;
  if (name == "permission.asked") return permission;
  if (name == "question.asked") return question;
  if (name == "session.created") return session_created;
  if (name == "session.deleted") return session_deleted;
  if (name != "session.status") return other;
  const std::string status = text(at(at(properties, "status"), "type"));
  return status == "busy" ? busy : status == "retry" ? retry : status == "idle" ? idle : other;
}

}  // namespace

std::optional<Event> parse_event(std::string_view source) {
  const std::optional<json::value> value = parse(source);
  if (!value) return std::nullopt;
  const json::value& payload = at(*value, "payload");
  const std::string name = text(at(payload, "type"));
  if (name.empty() || name == "sync") return std::nullopt;
  const json::value& properties = at(payload, "properties");
  Event event;
  event.type = type_of(name, properties);
  event.session_id = text(at(properties, "sessionID"));
  switch (event.type) {
    case Event::Type::message:
      event.info = read_info(at(properties, "info"));
      if (event.session_id.empty()) event.session_id = event.info.session_id;
      break;
    case Event::Type::part:
      event.part = read_part(at(properties, "part"));
      if (event.session_id.empty()) event.session_id = event.part.session_id;
      break;
    case Event::Type::delta:
      event.part.id = text(at(properties, "partID"));
      event.part.message_id = text(at(properties, "messageID"));
      event.part.text = text(at(properties, "delta"));
      break;
    case Event::Type::retry: {
      const json::value& status = at(properties, "status");
      event.attempt = integer(at(status, "attempt"));
      event.text = text(at(status, "message"));
      event.next = Time{integer(at(status, "next"))};
      break;
    }
    case Event::Type::error:
      event.info = read_info(properties);
      break;
    case Event::Type::permission:
    case Event::Type::question:
      read_request(properties, event);
      break;
    case Event::Type::session_created:
    case Event::Type::session_deleted:
      if (event.session_id.empty()) event.session_id = text(at(at(properties, "info"), "id"));
      event.parent = text(at(at(properties, "info"), "parentID"));
      break;
    case Event::Type::other:
    case Event::Type::connected:
    case Event::Type::busy:
    case Event::Type::idle:
      break;
  }
  return event;
}

Result<std::vector<MessageSeen>> parse_messages(std::string_view source) {
  const std::optional<json::value> value = parse(source);
  const json::array* list = value ? value->if_array() : nullptr;
  if (!list) return fail(Code::unavailable, "OpenCode did not answer with messages.", "opencode");
  std::vector<MessageSeen> messages;
  for (const json::value& item : *list) {
    MessageSeen& message = messages.emplace_back();
    message.info = read_info(at(item, "info"));
    if (const json::array* parts = at(item, "parts").if_array())
      for (const json::value& part : *parts) {
        message.parts.push_back(read_part(part));
        message.parts.back().json = json::serialize(part);
      }
  }
  return messages;
}

Result<std::vector<ListedModel>> parse_models(std::string_view source) {
  const std::optional<json::value> value = parse(source);
  const json::array* providers = value ? at(*value, "providers").if_array() : nullptr;
  if (!providers) return fail(Code::unavailable, "OpenCode did not answer with its models.", "no_models");
  std::vector<ListedModel> all;
  for (const json::value& provider : *providers) {
    const std::string owner = text(at(provider, "id"));
    const json::object* models = at(provider, "models").if_object();
    if (owner.empty() || !models) continue;
    for (const auto& model : *models) {
      ListedModel listed{.id = fmt::format("{}/{}", owner, std::string_view(model.key())),
                         .name = text(at(model.value(), "name"))};
      if (listed.id.size() > listed_model_name_max || all.size() >= listed_models_max) continue;
      if (listed.name.size() > listed_model_name_max) listed.name.clear();
      all.push_back(std::move(listed));
    }
  }
  return all;
}

std::vector<Event> parse_requests(std::string_view source, Event::Type type) {
  const std::optional<json::value> value = parse(source);
  const json::array* list = value ? value->if_array() : nullptr;
  std::vector<Event> events;
  if (!list) return events;
  for (const json::value& item : *list) {
    Event& event = events.emplace_back();
    event.type = type;
    read_request(item, event);
  }
  return events;
}

std::vector<std::string> parse_ids(std::string_view source) {
  const std::optional<json::value> value = parse(source);
  const json::array* list = value ? value->if_array() : nullptr;
  std::vector<std::string> ids;
  if (list)
    for (const json::value& item : *list)
      if (std::string id = text(at(item, "id")); !id.empty()) ids.push_back(std::move(id));
  return ids;
}

std::string text_field(std::string_view source, std::string_view name) {
  const std::optional<json::value> value = parse(source);
  return value ? text(at(*value, name)) : std::string();
}

bool is_busy(std::string_view source, std::string_view session) {
  const std::optional<json::value> value = parse(source);
  if (!value) return false;
  const std::string type = text(at(at(*value, session), "type"));
  return !type.empty() && type != "idle";
}

std::string error_text(int status, std::string_view body) {
  const std::optional<json::value> value = parse(body);
  const std::string said = value ? text(at(at(*value, "data"), "message")) : std::string();
  return said.empty() ? fmt::format("OpenCode answered {}.", status) : fmt::format("OpenCode: {} ({})", said, status);
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '_' || c == '.' || c == '~' || c == '/';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string in_directory(std::string_view directory) { return "?directory=" + url_encode(directory); }

std::string prompt_body(const Prompt& prompt) {
  std::string body;
  JsonOut out(body);
  out.object();
  if (!prompt.message_id.empty()) out.field("messageID", prompt.message_id);
  // Models have slashes in their names, providers have none.
  if (const size_t slash = prompt.model.find('/'); slash != std::string::npos)
    out.key("model")
        .object()
        .field("providerID", std::string_view(prompt.model).substr(0, slash))
        .field("modelID", std::string_view(prompt.model).substr(slash + 1))
        .end();
  if (!prompt.agent.empty()) out.field("agent", prompt.agent);
  if (!prompt.system.empty()) out.field("system", prompt.system);
  if (prompt.no_reply) out.field("noReply", true);
  out.key("parts").array().object().field("type", "text").field("text", prompt.text);
  if (prompt.no_reply) out.field("synthetic", true);
  out.end().end().end();
  return body;
}

std::string session_body(std::string_view title, const TaskId& task) {
  std::string body;
  JsonOut(body).object().field("title", title).key("metadata").object().field("errand_task", task.value).end().end();
  return body;
}

std::string make_message_id(Time wall, Random& random) {
  constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const uint64_t mark = static_cast<uint64_t>(wall.ms) * 0x1000 & 0xffff'ffff'ffff;
  std::string id = fmt::format("msg_{:012x}", mark);
  for (int i = 0; i < 14; ++i) id += alphabet[random.next() % alphabet.size()];
  return id;
}

std::string version_in(std::string_view health) {
  const std::optional<json::value> value = parse(health);
  return value ? text(at(*value, "version")) : std::string();
}

}  // namespace errand::opencode

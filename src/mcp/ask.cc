#include "mcp/ask.h"

#include <algorithm>
#include <charconv>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"
#include "mcp/seal.h"
#include "mcp/shapes.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr Millis state_ms = 600'000;
constexpr size_t state_max = 8'192;
constexpr size_t message_max = 4'000;  // Of a question, in characters.
constexpr std::string_view decisions[] = {"allow", "allow_always", "deny"};

// What a state holds for: this caller and this call.
std::string bound_to(const Rpc& rpc, std::string_view keys, std::string_view expires) {
  const json::value* arguments = rpc.message.param("arguments");
  return rpc.peer.who + "\n" + rpc.peer.session.value + "\n" + rpc.message.text("name") + "\n" +
         digest(arguments ? json::serialize(*arguments) : "{}") + "\n" + std::string(keys) + "\n" +
         std::string(expires);
}

// KEYS EXPIRES SEAL, with spaces between, none of which has one.
std::string make_state(const Rpc& rpc, const std::vector<tools::OpenAsk>& asks) {
  std::string keys;
  for (const tools::OpenAsk& one : asks) keys += (keys.empty() ? "" : ",") + ask_key(one.task.id, one.ask);
  const std::string expires = std::to_string((rpc.parts.clock.wall() + state_ms).ms);
  return keys + " " + expires + " " + seal(rpc.parts.secret, "request state", bound_to(rpc, keys, expires));
}

// The keys that a state of ours holds for.
std::optional<std::vector<std::string>> read_state(const Rpc& rpc, std::string_view state) {
  const auto parts = split(state, ' ');
  if (parts.size() != 3 || state.size() > state_max) return std::nullopt;
  if (!equal_secret(parts[2], seal(rpc.parts.secret, "request state", bound_to(rpc, parts[0], parts[1]))))
    return std::nullopt;
  int64_t expires = 0;
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), expires);
  if (expires <= rpc.parts.clock.wall().ms) return std::nullopt;
  std::vector<std::string> keys;
  for (const std::string_view key : split(parts[0], ',')) keys.emplace_back(key);
  return keys;
}

}  // namespace

std::string ask_key(const TaskId& task, const Ask& ask) {
  // A driver's own id may have anything in it.
  const bool plain = std::ranges::all_of(
      ask.request_id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
  return task.value + "/" + (plain ? ask.request_id : "d:" + digest(ask.request_id));
}

void write_ask(JsonOut& out, const Task& task, const Ask& ask) {
  const bool permission = ask.kind == AskKind::permission;
  out.object().field("method", "elicitation/create").key("params").object().field("mode", "form");
  out.field("message", task.title + ": " + std::string(first_characters(asked_text(ask), message_max)));
  out.key("requestedSchema").object().field("type", "object").key("properties").object();
  out.key(permission ? std::string_view("decision") : std::string_view("answer")).object().field("type", "string");
  out.field("title", permission ? "May it?" : "Answer");
  if (permission) {
    out.key("enum").array();
    for (const std::string_view decision : decisions) out.value(decision);
    out.end();
  } else if (!ask.options.empty()) {
    out.field(
        "description", "Suggested: " + [&] {
          std::string list;
          for (const std::string& option : ask.options) list += (list.empty() ? "" : ", ") + option;
          return list;
        }());
  }
  out.end().end().key("required").array().value(permission ? "decision" : "answer").end().end().end().end();
}

std::optional<input::Answered> read_answer(const json::value& response, const Ask& ask) {
  const json::object* object = response.if_object();
  if (!object) return std::nullopt;
  const auto text = [](const json::object& in, std::string_view name) {
    const json::value* value = in.if_contains(name);
    return value && value->is_string() ? std::string(value->as_string()) : std::string();
  };
  const std::string action = text(*object, "action");
  const bool permission = ask.kind == AskKind::permission;
  input::Answered answered{.request_id = ask.request_id, .decision = "answer", .message = {}, .by = "user"};
  if (action == "decline" && permission) {
    answered.decision = "deny";
    return answered;
  }
  const json::value* content = object->if_contains("content");
  if (action != "accept" || !content || !content->is_object()) return std::nullopt;
  const std::string given = text(content->as_object(), permission ? "decision" : "answer");
  if (given.empty()) return std::nullopt;
  if (!permission) {
    answered.message = given;
    return answered;
  }
  if (std::ranges::find(decisions, given) == std::end(decisions)) return std::nullopt;
  answered.decision = given;
  return answered;
}

std::string input_required_result(const Rpc& rpc, const std::vector<tools::OpenAsk>& asks) {
  std::string text;
  JsonOut out(text);
  begin_result(out, rpc, "input_required");
  out.key("inputRequests").object();
  for (const tools::OpenAsk& one : asks) {
    out.key(ask_key(one.task.id, one.ask));
    write_ask(out, one.task, one.ask);
  }
  out.end().field("requestState", make_state(rpc, asks)).end();
  return text;
}

void take_answers(const RpcPtr& rpc, std::move_only_function<void(bool dismissed)> then) {
  const json::value* responses = rpc->message.param("inputResponses");
  const json::value* state = rpc->message.param("requestState");
  if (!responses && !state) return then(false);
  const auto keys = state && state->is_string() ? read_state(*rpc, state->as_string()) : std::nullopt;
  if (responses && !rpc->peer.rights.approve)
    return rpc->refuse(RpcError{code::invalid_params, tools::lacks_scope("approve", "this needs").error().message, {}});
  if (!keys || (responses && !responses->is_object()))
    return rpc->refuse(RpcError{code::invalid_params,
                                "`requestState` is not what this call was given, or is too old: call again without "
                                "`inputResponses` and `requestState`.",
                                {}});
  struct Left {
    size_t count = 1;
    bool dismissed = false;
    std::move_only_function<void(bool)> then;
    void done() {
      if (--count == 0) then(dismissed);
    }
  };
  auto left = std::make_shared<Left>();
  left->then = std::move(then);
  for (const std::string& key : *keys) {
    const json::value* response = responses ? responses->as_object().if_contains(key) : nullptr;
    if (!response) continue;
    ++left->count;
    const TaskId task(key.substr(0, key.find('/')));
    rpc->parts.engine.tasks().get(task, [rpc, key, left, answer = *response](Result<TaskView> view) {
      if (!view) return left->done();
      const auto ask = std::ranges::find_if(
          view->task.asks, [&](const Ask& one) { return one.decision.empty() && ask_key(view->task.id, one) == key; });
      // Somebody was faster.
      if (ask == view->task.asks.end()) return left->done();
      std::optional<input::Answered> answered = read_answer(answer, *ask);
      if (!answered) {
        left->dismissed = true;
        return left->done();
      }
      rpc->parts.engine.tasks().answer(view->task.id, std::move(*answered),
                                       [left](const Result<TaskView>&) { left->done(); });
    });
  }
  left->done();
}

}  // namespace errand::mcp

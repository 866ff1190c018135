// OpenCode's HTTP API (v1) as plain values: what of its events, messages and parts counts here, and the bodies that are
// sent to it. Reading is lenient: a field that is absent or of another type is as if it were empty, an event that is
// not known is `other`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "driver/model_list.h"

namespace errand::opencode {

// A part of a message; which fields count depends on the type.
struct Part {
  std::string id, session_id, message_id;
  std::string type;                   // text, reasoning, tool, and others that are not shown.
  std::string text;                   // text, reasoning.
  std::string call_id, tool, status;  // tool: pending, running, completed, error.
  std::string input;                  // tool: JSON.
  std::string output;                 // tool: what came of it, or the error.
  std::string title;                  // tool: one line for people; empty until it has ended.
  int64_t ms = 0;                     // tool: how long it took.
  std::string name, media_type, url;  // file.
  std::string json;                   // All of it as it came, where it was read from a list of messages.
};

struct Info {
  std::string id, session_id;
  std::string role;
  Time created, completed;                      // Wall time; an answer that is not complete has no second.
  std::string error_name, error_text;           // Where the answer failed.
  int error_status = 0;                         // The provider's HTTP status, where known.
  int64_t input_tokens = 0, output_tokens = 0;  // Input with what a cache was read and written for.
  int64_t cache_read_tokens = 0, cache_write_tokens = 0;
  double cost_usd = 0;
  std::string agent, provider, model;
};

struct MessageSeen {
  Info info;
  std::vector<Part> parts;
};

struct Event {
  enum class Type : uint8_t {
    other,
    connected,
    message,  // info
    part,     // part
    delta,    // part.id, part.message_id, part.text: more of its text
    busy,
    retry,  // text, attempt, next
    idle,
    error,            // info.error_…
    permission,       // request
    question,         // request
    session_created,  // session_id has `parent` as its parent
    session_deleted,
  } type = Type::other;
  std::string session_id;
  std::string parent;
  Info info;
  Part part;
  std::string text;
  int64_t attempt = 0;
  Time next;  // Wall time.
  struct Request {
    std::string id;
    std::string permission;             // permission: what for ("bash"),
    std::vector<std::string> patterns;  // and on what.
    std::string diff;                   // Of an edit.
    std::vector<std::string> options;   // question: its choices.
  } request;
};

// One event of GET /global/event; nothing where it is none, or the repetition of one ("sync").
std::optional<Event> parse_event(std::string_view json);
// GET /session/{id}/message.
Result<std::vector<MessageSeen>> parse_messages(std::string_view json);
// GET /config/providers: the models of the providers that it has a login or a key for, as PROVIDER/MODEL.
Result<std::vector<ListedModel>> parse_models(std::string_view json);
// GET /permission and GET /question: those that are open, as events.
std::vector<Event> parse_requests(std::string_view json, Event::Type type);
// GET /session/{id}/children: their ids.
std::vector<std::string> parse_ids(std::string_view json);
// The value of a top-level field that is a text ("id" of a session); empty where there is none.
std::string text_field(std::string_view json, std::string_view name);
// GET /session/status: whether the session is at work.
bool is_busy(std::string_view json, std::string_view session);
// What an error reply says, as a sentence.
std::string error_text(int status, std::string_view body);

// For a place in a URL.
std::string url_encode(std::string_view text);
// "?directory=...": the project that a request is about.
std::string in_directory(std::string_view directory);

struct Prompt {
  std::string message_id;
  std::string text;
  std::string model;   // "provider/model"; empty: the session's.
  std::string agent;   // Empty: the session's.
  std::string system;  // Empty: none.
  bool no_reply = false;
};
std::string prompt_body(const Prompt& prompt);
// For a new session, and for one that was copied.
std::string session_body(std::string_view title, const TaskId& task);

// A message's id in OpenCode's form. They are ordered by time, so one is made when it is needed, never before.
std::string make_message_id(Time wall, Random& random);

// Its version, by the answer of /global/health; empty where it does not say.
std::string version_in(std::string_view health);

}  // namespace errand::opencode

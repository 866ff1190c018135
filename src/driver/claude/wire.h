// What the `claude` program says and is told over its pipes (stream-json), as values: one line, one value. Fields and
// kinds of lines that are not known here are left out, for the program changes every week. Everything that comes is
// hostile: a line that is no JSON is an event of the kind `other`. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "task/task.h"

namespace errand::claude {

// A piece of a message.
struct Block {
  enum class Type : uint8_t { text, thinking, tool_use, tool_result, other } type = Type::other;
  std::string text;   // text, thinking; tool_result: the output.
  std::string id;     // tool_use, tool_result: of the call.
  std::string name;   // tool_use.
  std::string input;  // tool_use: JSON, an object.
  bool is_error = false;
};

struct Event {
  enum class Type : uint8_t {
    other,          // Also all that is said only to show that it lives.
    init,           // A turn of the program begins.
    message_start,  // Partial messages: message_id,
    block_start,    // index and blocks[0],
    delta,          // index and blocks[0], whose text is a further piece.
    assistant,      // A complete block (or several) of message_id.
    user,           // Results of tools.
    result,         // A turn of the program is over.
    asks,           // It asks before it uses a tool: request_id, blocks[0].
    unasked,        // It no longer wants to know request_id.
    requests,       // It wants something else: request_id.
    lifecycle,      // What became of the message `uuid`: `state`.
    retry,          // The model is asked again: attempt, delay_ms, error, status.
    background,     // `count` helpers and `shells` of its own are at work.
    notification,   // One of these has ended: `text`, one line or more. It goes on because of it.
    limit,          // What it knows of the account's limits: rejected, resets.
  } type = Type::other;
  std::string session_id;
  std::string version;  // init: the program's.
  bool inner = false;   // Of an agent that this one has started for itself.
  std::string message_id;
  int64_t index = 0;
  std::vector<Block> blocks;
  bool api_error = false;  // assistant: not the model's words, but the program's about an error.
  std::string request_id;
  std::string about;  // asks: one line, the program's own.
  std::string uuid, state;
  int64_t attempt = 0;
  Millis delay_ms = 0;
  std::string error;   // retry, assistant: the kind of error.
  int64_t status = 0;  // retry, result: of HTTP.
  int64_t count = 0;
  int64_t shells = 0;
  bool rejected = false;
  Time resets;
  // result:
  bool is_error = false;
  std::string subtype;
  std::string text;             // What it said last, or what went wrong. notification: what has ended, and how.
  std::string terminal_reason;  // "completed", "api_error", "aborted_tools", ...
  int64_t queued = 0;           // Messages that it goes on with by itself.
  bool idle = false;            // The model was not asked: what it took asked for no answer.
  bool has_used = false;
  Usage used;  // Since the result before: the sum of `models`, where there are any.
  struct ModelUsed {
    std::string model;
    Usage used;
  };
  std::vector<ModelUsed> models;
  double total_cost = 0;  // Of the conversation, from its beginning.
};

Event parse_line(std::string_view line);

// What it is told, each one line without its end.
// `asks` false: it is part of the conversation from then on, and the model is not asked because of it.
std::string user_line(std::string_view text, std::string_view uuid, bool asks = true);
std::string interrupt_line(std::string_view request_id);
std::string allow_line(std::string_view request_id);
// A question's: what was answered to each of the questions in `input` (the input of the call).
std::string answers_line(std::string_view request_id, std::string_view input, std::string_view answer);
std::string deny_line(std::string_view request_id, std::string_view message);
// Something that it asked for is not to be had here.
std::string unsupported_line(std::string_view request_id);

// The questions in the input of an AskUserQuestion: as text for people, and the choices where it is one question.
struct Question {
  std::string text;
  std::vector<std::string> options;
};
Question read_question(std::string_view input);

// What a call is about, for rules and for people: its command, path, address, or whatever is its first text.
// Bounded for people.
std::string subject_of(std::string_view input);
// The command of a call, whole: what stands behind the part that people are shown is run too.
std::string command_of(std::string_view input);
// What an edit changes or a file is to hold, as a diff; empty for other calls.
std::string change_of(std::string_view input);

}  // namespace errand::claude

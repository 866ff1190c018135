// Reads back what the stores keep as JSON text. Everything here was written by our own code; a text that does not
// parse is a damaged store, and is answered as an internal error, never a crash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "task/agent.h"
#include "task/event.h"
#include "task/message.h"
#include "task/task.h"

namespace errand {

// Launch, asks, waiting messages, progress and error as JSON texts, for the columns of a store. Lossless:
// decode(encode(x)) == x.
std::string encode_launch(const Launch& launch);
Result<Launch> decode_launch(std::string_view json);
// What it is to do, for those who need no more of it. Empty where it cannot be read.
struct LaunchWork {
  std::string prompt, command;
};
LaunchWork decode_launch_work(std::string_view json);
// The progress, and with it what else moves while a turn works: what it waits for, what was granted, repeated calls.
// Empty: nothing to say.
std::string encode_progress(const Task& task);
Status decode_progress(std::string_view json, Task& into);
std::string encode_asks(const std::vector<Ask>& asks);
Result<std::vector<Ask>> decode_asks(std::string_view json);
std::string encode_waiting(const std::vector<WaitingMessage>& waiting);
Result<std::vector<WaitingMessage>> decode_waiting(std::string_view json);
std::string encode_error(const TaskError& error);
Result<TaskError> decode_error(std::string_view json);
std::string encode_parts(const std::vector<Part>& parts);
Result<std::vector<Part>> decode_parts(std::string_view json);

std::string encode_agent(const Agent& agent);
Result<Agent> decode_agent(std::string_view json);

// Puts an event of an open assistant message (message.delta, tool.started, tool.completed) into it, so that a message
// that was cut, or is still being written, can be shown from its events. Others are ignored.
void apply_event(Message& open, const Event& event);

// The range that a stored `output` event names.
struct OutputRange {
  std::string stream;
  int run = 0;
  int64_t offset = 0;
  int64_t length = 0;
};
Result<OutputRange> decode_output(std::string_view data);

}  // namespace errand

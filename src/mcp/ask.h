// What a task asks, as MCP asks a person: a form (elicitation), and what came back.
//
// In 2026-07-28 a call that cannot go on without a person is answered with what to ask (`input_required`) and comes
// again with the answers. What we sent with it, `requestState`, is sealed: it holds for the same caller, the same call
// and the same questions, for ten minutes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/rpc.h"

namespace errand {
class JsonOut;
}

namespace errand::mcp {

// "TASK/REQUEST": names a question among those of all tasks.
std::string ask_key(const TaskId& task, const Ask& ask);

// {"method":"elicitation/create","params":{...}}
void write_ask(JsonOut& out, const Task& task, const Ask& ask);

// What somebody said to a question. Absent: nothing (dismissed, or no such answer); the question stays open.
std::optional<input::Answered> read_answer(const boost::json::value& response, const Ask& ask);

// The whole result that asks.
std::string input_required_result(const Rpc& rpc, const std::vector<tools::OpenAsk>& asks);

// The answers in a call that comes again, given to the tasks; `then` when that is done. `dismissed`: the person wants
// not to be asked. A call without answers goes on at once. One whose requestState is not ours is refused.
void take_answers(const RpcPtr& rpc, std::move_only_function<void(bool dismissed)> then);

}  // namespace errand::mcp

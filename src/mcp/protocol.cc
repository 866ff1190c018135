#include "mcp/protocol.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "task/notice.h"
#include "tools/family.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr int notices_told_max = 10;

constexpr std::string_view instructions =
    "errand runs background tasks: agents (background_task) and commands (background_execute) that go on while you do "
    "other things. Starting one returns at once. You are told of tasks that ended with the answer to your next call, "
    "so "
    "do not poll; background_output with block=true waits where you cannot go on without a result. background_list "
    "shows your tasks, look_at their logs and files; session_manager keeps notes across turns.";

std::string call_key(const Peer& peer, std::string_view id) { return peer.connection + "\n" + std::string(id); }

void write_text_block(JsonOut& out, std::string_view text) {
  out.object().field("type", "text").field("text", text).end();
}

std::string initialize_result(const Incoming& message, const ProtocolParts& parts) {
  std::string text;
  JsonOut out(text);
  out.object().field("protocolVersion", negotiate(message.text("protocolVersion")));
  out.key("capabilities").object().key("tools").object().end().key("logging").object().end().end();
  out.key("serverInfo").object().field("name", "errand").field("title", "errand: background tasks");
  out.field("version", parts.version).end();
  out.field("instructions", tools::in_family(instructions, parts.tools.family())).end();
  return text;
}

std::string list_result(const tools::Toolbox& tools) {
  std::string text;
  JsonOut out(text);
  out.object().key("tools").array();
  for (const tools::ToolInfo& tool : tools.list()) {
    out.object().field("name", tool.name).field("title", tool.title).field("description", tool.description);
    out.key("inputSchema").raw(tool.input_schema).key("outputSchema").raw(tool.output_schema);
    out.key("annotations").object().field("title", tool.title).field("readOnlyHint", tool.annotations.read_only);
    out.field("destructiveHint", tool.annotations.destructive);
    out.field("idempotentHint", tool.annotations.idempotent).field("openWorldHint", tool.annotations.open_world);
    out.end().end();
  }
  out.end().end();
  return text;
}

std::string call_result(const tools::ToolResult& result, const std::vector<Notice>& notices) {
  std::string text;
  JsonOut out(text);
  out.object().key("content").array();
  write_text_block(out, result.text);
  const size_t share = result_cap / std::max<size_t>(1, notices.size());
  for (const Notice& notice : notices)
    write_text_block(out, "[Notice]\n" + bounded(notice.text, share, "background_output reads the whole."));
  out.end();
  // An error's data is not what the output schema says, and its text says all of it.
  if (!result.is_error) out.key("structuredContent").raw(result.data);
  out.field("isError", result.is_error).end();
  return text;
}

RpcError to_rpc(const Error& error) {
  return {error.code == Code::not_found || error.code == Code::invalid_argument ? code::invalid_params : code::internal,
          error.message,
          {}};
}

}  // namespace

bool is_version(std::string_view version) { return std::ranges::find(versions, version) != std::end(versions); }

std::string_view negotiate(std::string_view requested) {
  const auto known = std::ranges::find(versions, requested);
  return known == std::end(versions) ? versions[0] : *known;
}

void Protocol::request(const Incoming& message, const Peer& peer,
                       const std::shared_ptr<tools::Cancellation>& cancellation, Answer answer) {
  if (message.method == "initialize") return answer(result_message(message.id, initialize_result(message, parts_)));
  if (message.method == "ping" || message.method == "logging/setLevel") return answer(result_message(message.id, "{}"));
  if (message.method == "tools/list") {
    if (!message.text("cursor").empty())
      return answer(
          error_message(message.id, {code::invalid_params, "The list has one page: leave out `cursor`.", {}}));
    return answer(result_message(message.id, list_result(parts_.tools)));
  }
  if (message.method == "tools/call") return call_tool(message, peer, cancellation, std::move(answer));
  answer(error_message(message.id, {code::method_not_found, "errand does not know this method.", {}}));
}

void Protocol::call_tool(const Incoming& message, const Peer& peer,
                         const std::shared_ptr<tools::Cancellation>& cancellation, Answer answer) {
  const std::string name = message.text("name");
  if (name.empty())
    return answer(error_message(message.id, {code::invalid_params, "`params.name` must name a tool.", {}}));
  const json::value* arguments = message.params().if_contains("arguments");
  const std::string key = call_key(peer, message.id);
  if (!calls_.try_emplace(key, cancellation).second)
    return answer(error_message(message.id, {code::invalid_request, "A request with this `id` is under way.", {}}));
  parts_.tools.call(
      name, {.session = peer.session, .message = {}, .cancellation = cancellation},
      arguments ? json::serialize(*arguments) : "{}",
      [this, key, peer, id = message.id, cancellation,
       answer = std::move(answer)](Result<tools::ToolResult> result) mutable {
        calls_.erase(key);
        if (!result) return answer(error_message(id, to_rpc(result.error())));
        // Nobody reads this answer: it must not take anything.
        if (cancellation && cancellation->cancelled()) return answer(result_message(id, call_result(*result, {})));
        with_notices(peer, [id, result = std::move(*result),
                            answer = std::make_shared<Answer>(std::move(answer))](const std::vector<Notice>& notices) {
          (*answer)(result_message(id, call_result(result, notices)));
        });
      });
}

void Protocol::with_notices(const Peer& peer, std::function<void(std::vector<Notice>)> then) {
  if (peer.session.empty()) return then({});
  parts_.engine.notices(
      peer.session, 0, notices_told_max, 0, [this, peer, then = std::move(then)](Result<std::vector<Notice>> found) {
        // A session that nobody knows yet has none.
        if (!found || found->empty()) return then({});
        auto left = std::make_shared<size_t>(found->size());
        auto told = std::make_shared<std::vector<Notice>>(std::move(*found));
        for (const Notice& notice : *told)
          parts_.engine.take_notice(peer.session, notice.id, [left, told, then](const Result<Notice>&) {
            if (--*left == 0) then(std::move(*told));
          });
      });
}

void Protocol::notification(const Incoming& message, const Peer& peer) {
  if (message.method != "notifications/cancelled") return;
  const json::value* request = message.params().if_contains("requestId");
  if (!request) return;
  const auto call = calls_.find(call_key(peer, json::serialize(*request)));
  if (call == calls_.end()) return;
  if (const auto cancellation = call->second.lock()) cancellation->cancel();
}

}  // namespace errand::mcp

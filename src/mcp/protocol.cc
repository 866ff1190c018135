#include "mcp/protocol.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "mcp/ask.h"
#include "mcp/prompts.h"
#include "mcp/resources.h"
#include "mcp/shapes.h"
#include "mcp/tasks.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr int notices_told_max = 10;

std::string call_key(const Peer& peer, std::string_view id) { return peer.connection + "\n" + std::string(id); }

void list_tools(const RpcPtr& rpc) {
  if (!rpc->message.text("cursor").empty())
    return rpc->refuse(RpcError{code::invalid_params, "The list has one page: leave out `cursor`.", {}});
  rpc->result(tools_result(*rpc));
}

struct Method {
  std::string_view name;
  void (*handle)(const RpcPtr&);
};

// Of both eras.
constexpr Method methods[] = {
    {"tools/list", list_tools},        {"resources/list", list_resources}, {"resources/templates/list", list_templates},
    {"resources/read", read_resource}, {"prompts/list", list_prompts},     {"prompts/get", get_prompt},
    {"completion/complete", complete},
};

bool waits(std::string_view tool, const json::value* arguments) {
  if (!arguments || !arguments->is_object() || tools::role_of(tool) != tools::Role::waits) return false;
  const json::value* block = arguments->as_object().if_contains("block");
  return block && block->is_bool() && block->as_bool();
}

// A tool after which the list of tasks may be another.
bool changes_list(tools::Role role) { return role == tools::Role::starts || role == tools::Role::clears; }

}  // namespace

bool Protocol::may_wait(const Incoming& message) {
  if (message.kind != Incoming::Kind::request) return false;
  if (message.method == "tasks/result") return true;
  return message.method == "tools/call" && waits(message.text("name"), message.param("arguments"));
}

void Protocol::request(Incoming message, Peer peer, std::shared_ptr<tools::Cancellation> cancellation,
                       Answering answer) {
  const std::string key = call_key(peer, message.id);
  if (!calls_.try_emplace(key, cancellation).second) {
    const RpcError error{code::invalid_request, "A request with this `id` is under way.", {}};
    return answer({error_message(message.id, error), error.code});
  }
  const auto rpc = std::make_shared<Rpc>(parts_, std::move(message), std::move(peer), std::move(cancellation),
                                         [this, key, answer = std::move(answer)](Answer said) mutable {
                                           calls_.erase(key);
                                           answer(std::move(said));
                                         });
  const std::string& method = rpc->message.method;
  if (method == "tools/call") return call_tool(rpc);
  if (const auto known = std::ranges::find(methods, method, &Method::name); known != std::end(methods))
    return known->handle(rpc);
  if (handle_tasks(rpc)) return;
  if (rpc->modern()) {
    if (method == "server/discover") return rpc->result(discover_result(*rpc));
  } else {
    if (method == "initialize") return rpc->result(initialize_result(*rpc));
    if (method == "ping" || method == "logging/setLevel") return rpc->result("{}");
  }
  rpc->refuse(RpcError{code::method_not_found, "errand does not know this method.", {}});
}

void Protocol::call_tool(const RpcPtr& rpc) {
  if (rpc->message.text("name").empty())
    return rpc->refuse(RpcError{code::invalid_params, "`params.name` must name a tool.", {}});
  take_answers(rpc, [this, rpc](bool dismissed) { run_tool(rpc, rpc->peer.elicits && !dismissed); });
}

void Protocol::run_tool(const RpcPtr& rpc, bool ask_person) {
  const std::string name = rpc->message.text("name");
  const tools::Role role = tools::role_of(name);
  if (!rpc->modern() && rpc->message.param("task") && !wants_task(*rpc, role))
    return rpc->refuse(RpcError{code::method_not_found, "This tool cannot be called as a task.", {}});
  const json::value* arguments = rpc->message.param("arguments");
  parts_.tools.call(
      name,
      {.session = rpc->peer.session,
       .message = {},
       .cancellation = rpc->cancellation,
       .rights = rpc->peer.rights,
       .key = rpc->peer.key,
       .asks_person = rpc->peer.elicits,
       .work_dir = rpc->peer.work_dir},
      arguments ? json::serialize(*arguments) : "{}", [this, rpc, role, ask_person](Result<tools::ToolResult> result) {
        if (!result) return rpc->refuse(result.error());
        if (on_change && !result->is_error && changes_list(role)) on_change(rpc->peer.session);
        // Nobody reads this answer: it must not take anything.
        if (rpc->given_up()) return rpc->result(call_result(*rpc, *result, {}));
        // A question to the agent is the agent's own to answer; what a task may do is a person's.
        std::erase_if(result->asks, [](const tools::OpenAsk& one) { return one.ask.kind != AskKind::permission; });
        if (rpc->modern() && ask_person && !result->asks.empty() && may_wait(rpc->message))
          return rpc->result(input_required_result(*rpc, result->asks));
        if (!wants_task(*rpc, role)) return answer_call(rpc, *result);
        if (!result->is_error) return answer_with_task(rpc, *result);
        if (rpc->modern()) return answer_call(rpc, *result);
        rpc->refuse(RpcError{code::invalid_params, result->text, {}});
      });
}

void Protocol::answer_call(const RpcPtr& rpc, const tools::ToolResult& result) {
  with_notices(rpc->peer,
               [rpc, result](const std::vector<Notice>& notices) { rpc->result(call_result(*rpc, result, notices)); });
}

void Protocol::with_notices(const Peer& peer, std::function<void(std::vector<Notice>)> then) {
  if (peer.session.empty() || peer.rights.only_looks()) return then({});
  parts_.engine.sessions().notices(
      peer.session, 0, notices_told_max, 0, [this, peer, then = std::move(then)](Result<std::vector<Notice>> found) {
        // A session that nobody knows yet has none.
        if (!found || found->empty()) return then({});
        auto left = std::make_shared<size_t>(found->size());
        auto told = std::make_shared<std::vector<Notice>>(std::move(*found));
        for (const Notice& notice : *told)
          parts_.engine.sessions().take_notice(peer.session, notice.id, [left, told, then](const Result<Notice>&) {
            if (--*left == 0) then(std::move(*told));
          });
      });
}

void Protocol::notification(const Incoming& message, const Peer& peer) {
  if (message.method != "notifications/cancelled") return;
  const json::value* request = message.param("requestId");
  if (!request) return;
  const auto call = calls_.find(call_key(peer, json::serialize(*request)));
  if (call == calls_.end()) return;
  if (const auto cancellation = call->second.lock()) cancellation->cancel();
}

}  // namespace errand::mcp

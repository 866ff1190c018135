#include "net/routes/routes.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "net/routes/attempts.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"
#include "net/routes/task_stream.h"

namespace errand::net {
namespace {

void login(Context& context, Call call) {
  if (context.parts.login && context.parts.login(call.exchange)) return;
  call.refuse({Code::not_found, "This server has no browser sessions.", "unknown_path"});
}

void mcp(Context& context, Call call) {
  if (context.parts.mcp) return context.parts.mcp(std::move(call.exchange));
  call.refuse({Code::not_found, "This server does not serve MCP.", "unknown_path"});
}

struct Route {
  Method method;
  std::string_view pattern;
  RouteHandler handler;
  Needs needs;
};

// A fixed segment stands before one that takes anything in its place.
constexpr Route routes[] = {
    {Method::get, "/api/tasks", list_tasks, Scope::read},
    {Method::post, "/api/tasks", create_task, handler_decides},
    {Method::get, "/api/tasks/running/count", count_running, Scope::read},
    {Method::post, "/api/tasks/clear", clear_tasks, Scope::tasks},
    {Method::get, "/api/tasks/{id}", get_task, Scope::read},
    {Method::patch, "/api/tasks/{id}", edit_task, Scope::tasks},
    {Method::del, "/api/tasks/{id}", delete_task, Scope::tasks},
    {Method::post, "/api/tasks/{id}/cancel", cancel_task, Scope::tasks},
    {Method::post, "/api/tasks/{id}/message", message_task, Scope::tasks},
    {Method::post, "/api/tasks/{id}/resume", resume_task, Scope::tasks},
    {Method::post, "/api/tasks/{id}/retry", retry_task, Scope::tasks},
    {Method::post, "/api/tasks/{id}/answer", answer_task, handler_decides},
    {Method::get, "/api/tasks/{id}/result", task_result, Scope::read},
    {Method::get, "/api/tasks/{id}/messages", task_messages, Scope::read},
    {Method::get, "/api/tasks/{id}/events", task_events, Scope::read},
    {Method::get, "/api/tasks/{id}/export", export_task, Scope::read},
    {Method::get, "/api/tasks/{id}/stream", task_stream, Scope::read},
    {Method::get, "/api/tasks/{id}/log", task_log, Scope::read},
    {Method::get, "/api/tasks/{id}/artifacts", task_artifacts, Scope::read},
    {Method::post, "/api/tasks/{id}/artifacts", gather_artifacts, Scope::tasks},
    {Method::get, "/api/tasks/{id}/artifacts/{name}", task_artifact, Scope::read},
    {Method::get, "/api/tasks/{id}/changes", task_changes, Scope::read},
    {Method::get, "/api/tasks/{id}/changes/{name}", task_change, Scope::read},
    {Method::post, "/api/tasks/{id}/merge", merge_changes, Scope::approve},
    {Method::post, "/api/tasks/{id}/merge/undo", undo_merge, Scope::approve},
    {Method::post, "/api/tasks/{id}/publish", publish_changes, Scope::approve},
    {Method::get, "/api/tasks/{id}/commit-text", commit_text, Scope::read},
    {Method::post, "/api/tasks/{id}/commit-text", ask_commit_text, Scope::tasks},
    {Method::post, "/api/tasks/{id}/discard", discard_changes, Scope::tasks},
    {Method::post, "/api/tasks/{id}/discard/undo", restore_changes, Scope::tasks},
    {Method::get, "/api/stream", shared_stream, Scope::read},
    {Method::get, "/api/inbox", get_inbox, Scope::read},
    {Method::get, "/api/folders", list_folders, Scope::admin},
    {Method::get, "/api/usage", get_usage, Scope::read},
    {Method::get, "/api/batches", list_batches, Scope::read},
    {Method::post, "/api/batches", create_attempts, handler_decides},
    {Method::get, "/api/batches/{id}", get_batch, Scope::read},
    {Method::del, "/api/batches/{id}", delete_batch, Scope::tasks},
    {Method::post, "/api/batches/{id}/cancel", cancel_batch, Scope::tasks},
    {Method::post, "/api/batches/{id}/retry", retry_batch, Scope::tasks},
    {Method::post, "/api/batches/{id}/clear", clear_batch, Scope::tasks},
    {Method::get, "/api/batches/{id}/attempts", compare_attempts, Scope::read},
    {Method::post, "/api/batches/{id}/test", test_attempts, Scope::exec},
    {Method::get, "/api/batches/{id}/results", batch_results, Scope::read},
    {Method::post, "/api/sessions", create_session, Scope::tasks},
    {Method::get, "/api/sessions/{id}", get_session, Scope::read},
    {Method::del, "/api/sessions/{id}", delete_session, Scope::tasks},
    {Method::get, "/api/sessions/{id}/messages", session_messages, Scope::read},
    {Method::get, "/api/sessions/{id}/notices", session_notices, Scope::read},
    {Method::get, "/api/sessions/{id}/stream", session_stream, Scope::read},
    {Method::post, "/api/sessions/{id}/notices/{notice}/taken", take_notice, Scope::tasks},
    {Method::get, "/api/agents", list_agents, Scope::read},
    {Method::post, "/api/agents", create_agent, Scope::admin},
    {Method::get, "/api/agents/{id}", get_agent, Scope::read},
    {Method::put, "/api/agents/{id}", change_agent, Scope::admin},
    {Method::get, "/api/agents/{id}/models", list_models, Scope::read},
    {Method::del, "/api/agents/{id}", delete_agent, Scope::admin},
    {Method::del, "/api/agents/{id}/granted", revoke_agent, Scope::admin},
    {Method::get, "/api/quotas", list_quotas, Scope::read},
    {Method::del, "/api/quotas", clear_quotas, Scope::tasks},
    {Method::get, "/api/tools", list_tools, Scope::read},
    {Method::post, "/api/tools/{name}", call_tool, handler_decides},
    {Method::get, "/api/tokens", list_tokens, Scope::admin},
    {Method::post, "/api/tokens", add_token, Scope::admin},
    {Method::del, "/api/tokens/{id}", remove_token, Scope::admin},
    {Method::get, "/api/devices", list_devices, Scope::admin},
    {Method::post, "/api/devices/codes", open_pairing, Scope::admin},
    {Method::get, "/api/devices/codes/{id}", get_pairing, Scope::admin},
    {Method::get, "/api/devices/{id}", get_device, handler_decides},
    {Method::del, "/api/devices/{id}", remove_device, handler_decides},
    {Method::get, "/api/devices/{id}/push", get_push, handler_decides},
    {Method::put, "/api/devices/{id}/push", put_push, handler_decides},
    {Method::del, "/api/devices/{id}/push", remove_push, handler_decides},
    {Method::post, "/api/devices/{id}/push/test", test_push, handler_decides},
    {Method::get, "/api/webhooks", list_webhooks, Scope::admin},
    {Method::post, "/api/webhooks", add_webhook, Scope::admin},
    {Method::patch, "/api/webhooks/{id}", change_webhook, Scope::admin},
    {Method::del, "/api/webhooks/{id}", remove_webhook, Scope::admin},
    {Method::post, "/api/webhooks/{id}/rotate", rotate_webhook, Scope::admin},
    {Method::post, "/api/webhooks/{id}/test", test_webhook, Scope::admin},
    {Method::get, "/api/settings", get_settings, Scope::read},
    {Method::patch, "/api/settings", change_settings, Scope::admin},
    {Method::post, "/api/login", login, no_login},
    {Method::post, "/api/login/codes", login, Scope::admin},
    {Method::post, "/api/login/challenge", login, no_login},
    {Method::post, "/api/login/device", login, no_login},
    {Method::post, "/api/pair", login, no_login},
    {Method::post, "/api/logout", login, no_login},
    {Method::get, "/api/health", health, no_login},
    {Method::get, "/api/openapi.json", openapi, Scope::read},
    {Method::get, "/metrics", metrics, Scope::read},
    {Method::post, "/mcp", mcp, handler_decides},
    {Method::get, "/mcp", mcp, Scope::read},
    {Method::del, "/mcp", mcp, handler_decides},
};

bool is_name(std::string_view segment) { return segment.starts_with('{'); }

// Does the path have this pattern? Then `args` are what it names.
bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& args) {
  args.clear();
  while (!pattern.empty() && !path.empty()) {
    // Both begin with '/'.
    const size_t pattern_end = std::min(pattern.find('/', 1), pattern.size());
    const size_t path_end = std::min(path.find('/', 1), path.size());
    const std::string_view expected = pattern.substr(1, pattern_end - 1);
    const std::string_view segment = path.substr(1, path_end - 1);
    // A name is a path of its own: dist/app.js.
    if (expected == "{name}" && pattern_end == pattern.size() && path.size() > 1) {
      args.emplace_back(path.substr(1));
      return true;
    }
    if (is_name(expected) && !segment.empty()) {
      args.emplace_back(segment);
    } else if (expected != segment) {
      return false;
    }
    pattern.remove_prefix(pattern_end);
    path.remove_prefix(path_end);
  }
  return pattern.empty() && path.empty();
}

// HEAD is GET without the body, which the connection leaves out.
Method served_as(Method method) { return method == Method::head ? Method::get : method; }

// "task_" and the eight characters that tell the second.
constexpr size_t task_prefix_min = 13;

bool is_api_path(std::string_view path) {
  return path == "/api" || path.starts_with("/api/") || path == "/metrics" || path == "/mcp";
}

}  // namespace

std::shared_ptr<TaskChannel> Context::channel(const TaskId& id) {
  std::weak_ptr<TaskChannel>& known = channels_[id];
  if (auto channel = known.lock()) return channel;
  // The last stream of a task takes its channel with it.
  auto channel =
      std::shared_ptr<TaskChannel>(new TaskChannel(parts.engine.streams().feed(id)), [this, id](TaskChannel* gone) {
        channels_.erase(id);
        delete gone;
      });
  known = channel;
  return channel;
}

void with_task(Context& context, Call call, std::move_only_function<void(Call, TaskId)> then) {
  std::string text = call.args[0];
  if (is_id(text, "task_")) return then(std::move(call), TaskId(std::move(text)));
  // Fewer characters only tell the year: whoever sends those made a mistake, and must not hit the one task there is.
  if (!text.starts_with("task_") || text.size() < task_prefix_min) {
    return call.refuse({Code::not_found, "No task has this id. GET /api/tasks lists the tasks.", {}});
  }
  context.parts.engine.tasks().resolve(std::move(text),
                                       [call = std::move(call), then = std::move(then)](Result<TaskId> id) mutable {
                                         if (!id) return call.refuse(id.error());
                                         then(std::move(call), std::move(*id));
                                       });
}

Routes::Routes(RouteParts parts) : context_(std::make_unique<Context>(std::move(parts))) {}
Routes::~Routes() = default;

std::vector<RouteInfo> Routes::table() {
  std::vector<RouteInfo> table;
  for (const Route& route : routes)
    table.push_back({route.method, route.pattern, route.needs ? name(*route.needs) : std::string_view()});
  return table;
}

void Routes::handle(ExchangePtr exchange) {
  const Request& request = exchange->request;
  const Method method = served_as(request.method);
  std::vector<std::string> args;
  std::string allowed;
  // A path that a fixed pattern has is not also an {id}: "clear" and "running" are no tasks.
  std::string_view pattern;
  for (const Route& route : routes) {
    if (!pattern.empty() && route.pattern != pattern) continue;
    if (!matches(route.pattern, request.path, args)) continue;
    pattern = route.pattern;
    if (route.method == method)
      return guard(*context_, route.needs, route.pattern, {std::move(exchange), std::move(args)},
                   [this, handler = route.handler](Call call) { handler(*context_, std::move(call)); });
    allowed += (allowed.empty() ? "" : ", ") + std::string(name(route.method));
    if (route.method == Method::get) allowed += ", HEAD";
  }
  if (!allowed.empty()) {
    Response response = problem(405, "method_not_allowed", "This path takes only " + allowed + ".");
    response.headers.emplace_back("Allow", allowed);
    return exchange->reply(std::move(response));
  }
  if (!is_api_path(request.path) && context_->parts.page) return context_->parts.page(std::move(exchange));
  exchange->reply(
      problem({Code::not_found, "No route has this path. GET /api/openapi.json lists the routes.", "unknown_path"}));
}

}  // namespace errand::net

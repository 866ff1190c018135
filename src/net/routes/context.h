// What every handler works with. Inside net/routes/ only.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/beside.h"
#include "net/http.h"
#include "net/problem.h"
#include "net/routes/routes.h"

namespace errand::net {

class TaskChannel;

class Context {
 public:
  explicit Context(RouteParts route_parts) : parts(std::move(route_parts)) {}

  // What the streams of a task share, while there are any.
  std::shared_ptr<TaskChannel> channel(const TaskId& id);

  RouteParts parts;
  int folders_under_way = 0;  // Of folders.cc.

 private:
  std::unordered_map<TaskId, std::weak_ptr<TaskChannel>> channels_;
};

// One request and what its path named.
struct Call {
  ExchangePtr exchange;
  std::vector<std::string> args;  // The values of the pattern's {names}, in order.

  const Request& request() const { return exchange->request; }
  void refuse(const Error& error) const { exchange->reply(problem(error)); }
  void answer(int status, std::string json) const {
    exchange->reply({.status = status, .content_type = "application/json", .body = std::move(json), .headers = {}});
  }
};

using RouteHandler = void (*)(Context&, Call);

// Calls `then(call, id)` with the task that the first argument names: a whole id, or a prefix that only one task has.
void with_task(Context& context, Call call, std::move_only_function<void(Call, TaskId)> then);

// The same with the task itself.
void with_record(Context& context, Call call, std::move_only_function<void(Call, const Task&)> then);

// A reply that answers the call with `write(value)`.
template <class T, class Write>
Reply<T> answering(Call call, int status, Write write) {
  return [call = std::move(call), status, write = std::move(write)](Result<T> result) {
    if (result) {
      call.answer(status, write(*result));
    } else {
      call.refuse(result.error());
    }
  };
}

// Runs `read()` (a Result) on a reader thread, then `then(call, value)` on the loop; an error answers the call.
template <class Read, class Then>
void read_then(Context& context, Call call, Read read, Then then) {
  run_then(context.parts.readers, context.parts.loop, std::move(read),
           [call = std::move(call), then = std::move(then)](auto result) mutable {
             if (!result) return call.refuse(result.error());
             then(std::move(call), std::move(*result));
           });
}

// Parses the body by `parse(body)`, large ones on a reader thread, then `then(call, value)`.
template <class Parse, class Then>
void parse_then(Context& context, Call call, Parse parse, Then then) {
  constexpr size_t inline_bytes_max = 64 * 1024;
  if (call.request().body.size() > inline_bytes_max) {
    const ExchangePtr exchange = call.exchange;  // Keeps the body alive, which nobody changes.
    return read_then(
        context, std::move(call), [exchange, parse] { return parse(exchange->request.body); }, std::move(then));
  }
  auto parsed = parse(call.request().body);
  if (!parsed) return call.refuse(parsed.error());
  then(std::move(call), std::move(*parsed));
}

// --- the handlers, by file
// tasks.cc
void list_tasks(Context&, Call);
void create_task(Context&, Call);
void count_running(Context&, Call);
void clear_tasks(Context&, Call);
void get_task(Context&, Call);
void delete_task(Context&, Call);
void cancel_task(Context&, Call);
void message_task(Context&, Call);
void resume_task(Context&, Call);
void retry_task(Context&, Call);
void edit_task(Context&, Call);
void answer_task(Context&, Call);
// task_reads.cc
void task_result(Context&, Call);
void task_messages(Context&, Call);
void task_events(Context&, Call);
// records.cc
void export_task(Context&, Call);
void get_usage(Context&, Call);
// logs.cc
void task_log(Context&, Call);
// artifacts.cc
void task_artifacts(Context&, Call);
void gather_artifacts(Context&, Call);
void task_artifact(Context&, Call);
// changes.cc
void task_changes(Context&, Call);
void task_change(Context&, Call);
void merge_changes(Context&, Call);
void undo_merge(Context&, Call);
void discard_changes(Context&, Call);
void restore_changes(Context&, Call);
// folders.cc
void list_folders(Context&, Call);
// inbox.cc
void get_inbox(Context&, Call);
// batches.cc
void list_batches(Context&, Call);
void get_batch(Context&, Call);
void delete_batch(Context&, Call);
void cancel_batch(Context&, Call);
void retry_batch(Context&, Call);
void clear_batch(Context&, Call);
void batch_results(Context&, Call);
// sessions.cc
void create_session(Context&, Call);
void get_session(Context&, Call);
void delete_session(Context&, Call);
void session_messages(Context&, Call);
void session_notices(Context&, Call);
void take_notice(Context&, Call);
// streams.cc
void task_stream(Context&, Call);
void shared_stream(Context&, Call);
void session_stream(Context&, Call);
// tools.cc
void list_tools(Context&, Call);
void call_tool(Context&, Call);
// agents.cc
void list_agents(Context&, Call);
void get_agent(Context&, Call);
void list_models(Context&, Call);
void create_agent(Context&, Call);
void change_agent(Context&, Call);
void delete_agent(Context&, Call);
void revoke_agent(Context&, Call);
void get_settings(Context&, Call);
void change_settings(Context&, Call);
// quotas.cc
void list_quotas(Context&, Call);
void clear_quotas(Context&, Call);
// tokens.cc
void list_tokens(Context&, Call);
void add_token(Context&, Call);
void remove_token(Context&, Call);
// devices.cc
void list_devices(Context&, Call);
void open_pairing(Context&, Call);
void get_pairing(Context&, Call);
void get_device(Context&, Call);
void remove_device(Context&, Call);
void get_push(Context&, Call);
void put_push(Context&, Call);
void remove_push(Context&, Call);
void test_push(Context&, Call);
// webhooks.cc
void list_webhooks(Context&, Call);
void add_webhook(Context&, Call);
void change_webhook(Context&, Call);
void remove_webhook(Context&, Call);
void rotate_webhook(Context&, Call);
void test_webhook(Context&, Call);
// info.cc
void health(Context&, Call);
void metrics(Context&, Call);
void openapi(Context&, Call);

}  // namespace errand::net

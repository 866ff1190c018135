#include "mcp/tasks.h"

#include <algorithm>
#include <charconv>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"
#include "mcp/ask.h"
#include "mcp/seal.h"
#include "mcp/shapes.h"
#include "tools/words.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr int poll_ms = 1'000;
constexpr int page_size = 50;
constexpr Millis wait_ms = 3'600'000;  // Then it is waited again.

std::string handle_of(const Rpc& rpc, const Task& task) {
  const std::string plain = task.id.value + "." + std::to_string(task.turn) + "." + std::to_string(task.attempt);
  return plain + "." + seal(rpc.parts.secret, "task", rpc.peer.who + "\n" + plain);
}

// The questions that this client could have answered.
std::vector<Ask> open_asks(const Rpc& rpc, const Task& task) {
  std::vector<Ask> open;
  if (!at_work(task.state) || !rpc.peer.elicits) return open;
  for (const Ask& ask : task.asks)
    if (ask.decision.empty()) open.push_back(ask);
  return open;
}

std::string status_message(const Task& task, const TaskHandle& handle) {
  if (task.turn > handle.turn) return "This turn is over; the task has gone on since.";
  if (task.attempt > handle.attempt) return "It was retried since.";
  if (task.error) return task.error->message;
  if (const Ask* const ask = open_ask(task)) return "It asks: " + std::string(first_characters(ask->text, 500));
  if (task.state == TaskState::pending) return "It waits for a slot.";
  if (!at_work(task.state)) return std::string(tools::status_word(task.state)) + " (" + task.reason + ")";
  const std::vector<ToolUse>& used = task.progress.recent_tools;
  if (!used.empty()) return std::to_string(task.progress.tool_calls) + " tool calls; last: " + used.back().summary;
  return task.progress.output_lines > 0 ? std::to_string(task.progress.output_lines) + " lines of output" : "At work.";
}

// What both generations say of a task; the names of two of its members differ.
void write_members(JsonOut& out, const Rpc& rpc, const Task& task, const TaskHandle& handle, std::string_view id) {
  out.field("taskId", id).field("status", task_status(rpc, task, handle));
  out.field("statusMessage", to_utf8(status_message(task, handle)));
  out.field("createdAt", task.created_at).field("lastUpdatedAt", task.updated_at);
  out.key(rpc.modern() ? std::string_view("ttlMs") : std::string_view("ttl"));
  if (task.expires_at)
    out.value(task.expires_at - task.created_at);
  else
    out.null();
  out.key(rpc.modern() ? std::string_view("pollIntervalMs") : std::string_view("pollInterval")).value(poll_ms);
}

bool is_over(std::string_view status) { return status != "working" && status != "input_required"; }

// What the call that made the task would have answered, had it waited.
void with_result(const RpcPtr& rpc, const TaskHandle& handle, std::move_only_function<void(tools::ToolResult)> then) {
  rpc->parts.engine.tasks().get(handle.task, [rpc, handle, then = std::move(then)](Result<TaskView> view) mutable {
    if (!view) return rpc->refuse(view.error());
    tools::ToolResult result;
    JsonOut out(result.data);
    tools::write_task(out, *view);
    result.is_error = view->task.state != TaskState::completed;
    if (view->task.turn > handle.turn || view->task.attempt > handle.attempt) {
      result.is_error = view->task.turn == handle.turn;
      result.text = status_message(view->task, handle) + "\n" + tools::describe(*view);
      return then(std::move(result));
    }
    // As background_output reads it: it is marked as read, and need not be told again.
    std::string arguments;
    JsonOut(arguments).object().field("task_id", handle.task).field("block", true).field("timeout", 1).end();
    rpc->parts.tools.call(
        "background_output",
        {.session = view->task.launch.parent_session_id,
         .message = {},
         .cancellation = nullptr,
         .rights = rpc->peer.rights},
        std::move(arguments),
        [rpc, result = std::move(result), then = std::move(then)](Result<tools::ToolResult> read) mutable {
          if (!read) return rpc->refuse(read.error());
          result.text = std::move(read->text);
          then(std::move(result));
        });
  });
}

void refuse_unknown(const RpcPtr& rpc) {
  rpc->refuse(RpcError{code::invalid_params,
                       "This caller has no task with this id: it was removed, or belongs to another session.",
                       {}});
}

// The task that `taskId` names; what is none answers the request.
void with_handle(const RpcPtr& rpc, std::move_only_function<void(TaskHandle, std::string, Task)> then) {
  const std::string id = rpc->message.text("taskId");
  const std::optional<TaskHandle> handle = parse_handle(*rpc, id);
  if (!handle) return refuse_unknown(rpc);
  rpc->parts.engine.tasks().get(handle->task,
                                [rpc, id, handle = *handle, then = std::move(then)](Result<TaskView> view) mutable {
                                  if (!view) return refuse_unknown(rpc);
                                  then(handle, id, view->task);
                                });
}

void answer_plain(const RpcPtr& rpc, const Task& task, const TaskHandle& handle, std::string_view id) {
  std::string text;
  JsonOut out(text);
  begin_result(out, *rpc);
  write_members(out, *rpc, task, handle, id);
  out.end();
  rpc->result(text);
}

void get_task(const RpcPtr& rpc) {
  with_handle(rpc, [rpc](const TaskHandle& handle, const std::string& id, const Task& task) {
    if (!rpc->modern()) return answer_plain(rpc, task, handle, id);
    describe_task(rpc, id, [rpc](const std::string& members) {
      if (members.empty()) return refuse_unknown(rpc);
      std::string text;
      JsonOut out(text);
      begin_result(out, *rpc);
      out.end();
      text.insert(text.size() - 1, "," + members);
      rpc->result(text);
    });
  });
}

void list_tasks(const RpcPtr& rpc) {
  TaskFilter filter;
  filter.parent_session_id = rpc->peer.session;
  const Page page{.limit = page_size, .cursor = rpc->message.text("cursor"), .offset = 0, .sort = Sort::newest};
  read_then(
      rpc, [&store = rpc->parts.store, filter, page] { return store.list(filter, page); },
      [rpc](const TaskPage& found) {
        std::string text;
        JsonOut out(text);
        begin_result(out, *rpc);
        out.key("tasks").array();
        for (const Task& task : found.tasks) {
          out.object();
          write_members(out, *rpc, task, {task.id, task.turn, task.attempt}, handle_of(*rpc, task));
          out.end();
        }
        out.end();
        if (!found.next_cursor.empty()) out.field("nextCursor", found.next_cursor);
        out.end();
        rpc->result(text);
      });
}

// Blocks until the turn is over.
void task_result(const RpcPtr& rpc) {
  with_handle(rpc, [rpc](const TaskHandle& handle, const std::string& id, const Task& task) {
    if (is_over(task_status(*rpc, task, handle)))
      return with_result(rpc, handle, [rpc, id](const tools::ToolResult& result) {
        std::string meta = R"("io.modelcontextprotocol/related-task":)";
        JsonOut(meta).object().field("taskId", id).end();
        rpc->result(call_result(*rpc, result, {}, meta));
      });
    const uint64_t wait =
        rpc->parts.engine.tasks().wait({task.id}, Until::all, wait_ms, [rpc](const Result<void>& over) {
          if (rpc->cancellation) rpc->cancellation->on_cancel(nullptr);
          if (!over) return rpc->refuse(over.error());
          task_result(rpc);
        });
    if (!rpc->cancellation) return;
    rpc->cancellation->on_cancel([rpc, wait] {
      rpc->parts.engine.tasks().give_up(wait);
      rpc->refuse(RpcError{code::internal, "The wait was cancelled; the task goes on.", {}});
    });
  });
}

void cancel_task(const RpcPtr& rpc) {
  with_handle(rpc, [rpc](const TaskHandle& handle, const std::string& id, const Task& task) {
    if (is_over(task_status(*rpc, task, handle))) {
      if (rpc->modern()) return rpc->result(empty_result(*rpc));
      return rpc->refuse(RpcError{code::invalid_params, "The task has ended already; nothing was changed.", {}});
    }
    rpc->parts.engine.tasks().cancel(task.id, "parent", [rpc, handle, id](Result<TaskView> after) {
      if (rpc->modern()) return rpc->result(empty_result(*rpc));  // Where it ended by itself meanwhile, too.
      if (!after) return rpc->refuse(after.error());
      answer_plain(rpc, after->task, handle, id);
    });
  });
}

// Answers to what a task asks; those for what it does not ask (any more) are dropped.
void update_task(const RpcPtr& rpc) {
  const json::value* given = rpc->message.param("inputResponses");
  if (!given || !given->is_object())
    return rpc->refuse(RpcError{code::invalid_params, "`inputResponses` must be an object.", {}});
  with_handle(
      rpc, [rpc, responses = given->as_object()](const TaskHandle& handle, const std::string&, const Task& task) {
        auto left = std::make_shared<size_t>(1);
        const auto done = [rpc, left] {
          if (--*left == 0) rpc->result(empty_result(*rpc));
        };
        const bool current = task.turn == handle.turn && task.attempt == handle.attempt;
        for (const Ask& ask : current ? open_asks(*rpc, task) : std::vector<Ask>()) {
          const json::value* response = responses.if_contains(ask_key(task.id, ask));
          std::optional<input::Answered> answered = response ? read_answer(*response, ask) : std::nullopt;
          if (!answered) continue;
          ++*left;
          rpc->parts.engine.tasks().answer(task.id, std::move(*answered), [done](const Result<TaskView>&) { done(); });
        }
        done();
      });
}

}  // namespace

std::optional<TaskHandle> parse_handle(const Rpc& rpc, std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 4 || !is_id(parts[0], "task_")) return std::nullopt;
  const std::string plain(text.substr(0, text.rfind('.')));
  if (!equal_secret(parts[3], seal(rpc.parts.secret, "task", rpc.peer.who + "\n" + plain))) return std::nullopt;
  TaskHandle handle{.task = TaskId(parts[0])};
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), handle.turn);
  std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), handle.attempt);
  return handle;
}

std::string_view task_status(const Rpc& rpc, const Task& task, const TaskHandle& handle) {
  // A tool that failed is a failed task in the first generation, and a completed one with isError in the second.
  const std::string_view failed = rpc.modern() ? "completed" : "failed";
  if (task.turn > handle.turn) return "completed";
  if (task.attempt > handle.attempt) return failed;
  if (at_work(task.state)) return open_asks(rpc, task).empty() ? "working" : "input_required";
  if (task.state == TaskState::cancelled) return "cancelled";
  return task.state == TaskState::completed ? "completed" : failed;
}

void describe_task(const RpcPtr& rpc, std::string id, std::move_only_function<void(std::string members)> then) {
  const std::optional<TaskHandle> handle = parse_handle(*rpc, id);
  if (!handle) return then({});
  rpc->parts.engine.tasks().get(
      handle->task, [rpc, id = std::move(id), handle = *handle, then = std::move(then)](Result<TaskView> view) mutable {
        if (!view) return then({});
        const Task& task = view->task;
        const std::string_view status = task_status(*rpc, task, handle);
        std::string text;
        JsonOut out(text);
        out.object();
        write_members(out, *rpc, task, handle, id);
        if (status == "input_required") {
          out.key("inputRequests").object();
          for (const Ask& ask : open_asks(*rpc, task)) {
            out.key(ask_key(task.id, ask));
            write_ask(out, task, ask);
          }
          out.end();
        }
        // Without its braces.
        if (status != "completed") return then(text.substr(1));
        with_result(rpc, handle,
                    [rpc, text = text.substr(1), then = std::move(then)](const tools::ToolResult& result) mutable {
                      then(text + ",\"result\":" + call_result(*rpc, result, {}));
                    });
      });
}

bool wants_task(const Rpc& rpc, tools::Role role) {
  if (role != tools::Role::starts) return false;
  return rpc.modern() ? rpc.peer.takes_tasks : rpc.message.param("task") != nullptr;
}

void answer_with_task(const RpcPtr& rpc, const tools::ToolResult& result) {
  const TaskId id(std::string_view(json::parse(result.data).at("task_id").as_string()));
  rpc->parts.engine.tasks().get(id, [rpc, said = result.text](Result<TaskView> view) {
    if (!view) return rpc->refuse(view.error());
    const Task& task = view->task;
    const TaskHandle handle{task.id, task.turn, task.attempt};
    std::string text;
    JsonOut out(text);
    if (rpc->modern()) {
      begin_result(out, *rpc, "task");
      write_members(out, *rpc, task, handle, handle_of(*rpc, task));
      out.end();
    } else {
      std::string meta = R"("io.modelcontextprotocol/model-immediate-response":)";
      append_json_string(meta, said);
      begin_result(out, *rpc, "complete", meta);
      out.key("task").object();
      write_members(out, *rpc, task, handle, handle_of(*rpc, task));
      out.end().end();
    }
    rpc->result(text);
  });
}

bool handle_tasks(const RpcPtr& rpc) {
  const std::string& method = rpc->message.method;
  const bool modern = rpc->modern();
  void (*handler)(const RpcPtr&) = nullptr;
  if (method == "tasks/get") handler = get_task;
  if (method == "tasks/cancel") handler = cancel_task;
  if (method == "tasks/update" && modern) handler = update_task;
  if (method == "tasks/list" && !modern) handler = list_tasks;
  if (method == "tasks/result" && !modern) handler = task_result;
  if (!handler) return false;
  if (modern && !rpc->peer.takes_tasks) {
    std::string data;
    JsonOut out(data);
    out.object().key("requiredCapabilities").object().key("extensions").object();
    out.key(tasks_extension).object().end().end().end().end();
    rpc->refuse(RpcError{code::missing_capability, "The client must declare the tasks extension to use it.", data});
    return true;
  }
  if (!rpc->peer.rights.change && (handler == cancel_task || handler == update_task)) {
    rpc->refuse(RpcError{code::invalid_params, tools::lacks_scope("tasks", "this needs").error().message, {}});
    return true;
  }
  handler(rpc);
  return true;
}

}  // namespace errand::mcp

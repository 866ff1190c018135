#include "tools/call.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"

namespace errand::tools {
namespace {

namespace json = boost::json;

constexpr int page_size = 200;
constexpr size_t candidates_max = 8;
// "task_" and the eight characters that tell the second: what is shorter is nobody else's id, but a guess.
constexpr size_t others_prefix_min = 13;

std::string error_data(const Error& error) {
  std::string data;
  JsonOut out(data);
  out.object().key("error").object().field("code", name(error.code)).text_or_null("reason", error.reason);
  out.field("message", error.message).end().end();
  return data;
}

// "command (required), description, ...": from the schema, so that it cannot be out of date.
std::string takes(const ToolInfo& info) {
  const json::value schema = json::parse(info.input_schema);
  const json::object& object = schema.as_object();
  std::string list;
  for (const auto& property : object.at("properties").as_object()) {
    list += (list.empty() ? "" : ", ") + std::string(property.key());
    const json::value* required = object.if_contains("required");
    if (!required) continue;
    for (const json::value& name : required->as_array())
      if (name.as_string() == property.key()) list += " (required)";
  }
  return list;
}

std::unexpected<Error> ambiguous(const std::string& text, std::vector<TaskId> ids) {
  std::ranges::sort(ids, {}, &TaskId::value);
  std::string names;
  for (size_t i = 0; i < std::min(ids.size(), candidates_max); ++i) names += (i == 0 ? "" : ", ") + ids[i].value;
  if (ids.size() > candidates_max) names += " and " + std::to_string(ids.size() - candidates_max) + " more";
  return fail(Code::conflict, "Several ids begin with \"" + text + "\": " + names + ". Give more of the id.",
              "ambiguous");
}

}  // namespace

void Call::answer(std::string text, std::string data, std::vector<OpenAsk> asks) {
  if (!reply_) return;
  if (caller.cancellation) caller.cancellation->on_cancel(nullptr);
  std::exchange(reply_, nullptr)(ToolResult{std::move(text), std::move(data), false, std::move(asks)});
}

void Call::refuse(const Error& error) {
  if (!reply_) return;
  if (caller.cancellation) caller.cancellation->on_cancel(nullptr);
  std::string text = error.message;
  if (error.code == Code::invalid_argument) {
    const std::string own = in_words(tool.info.name);
    text = own + ": " + text + "\nIt takes: " + takes(tool.info) + ".\nExample: " + own + " " +
           in_words(tool.info.example);
  } else if (error.code == Code::not_found && error.reason != "unknown_agent" && error.reason != "no_key") {
    text += "\n" + name("list") + " shows the tasks that this session has.";
  }
  std::exchange(reply_, nullptr)(ToolResult{std::move(text), error_data(error), true});
}

bool Call::refused(api::Fields& fields) {
  const Status status = fields.done();
  if (!status) refuse(status.error());
  return !status;
}

void find_task(const CallPtr& call, std::string text, std::move_only_function<void(Result<TaskView>)> then) {
  if (!text.starts_with("task_")) text = "task_" + text;
  auto found = [call, then = std::move(then)](Result<TaskView> view) mutable {
    if (view && !call->owns(view->task))
      return then(fail(Code::not_found,
                       view->task.id.value + " belongs to another session; a session sees only its own tasks.",
                       "other_session"));
    then(std::move(view));
  };
  if (is_id(text, "task_")) return call->parts.engine.tasks().get(TaskId(std::move(text)), std::move(found));
  if (text == "task_")
    return found(fail(Code::invalid_argument, "`task_id` must be a task's id, or the beginning of one."));
  auto get = [call, found = std::move(found)](Result<TaskId> id) mutable {
    if (!id) return found(std::unexpected(id.error()));
    call->parts.engine.tasks().get(std::move(*id), std::move(found));
  };
  if (call->caller.session.empty()) return call->parts.engine.tasks().resolve(std::move(text), std::move(get));
  // A session means its own tasks, and is not told of others' ids.
  read_then(
      call, [&store = call->parts.store, session = call->caller.session] { return store.tasks_of_parent(session); },
      [call, text, get = std::move(get)](std::vector<TaskId> own) mutable {
        std::erase_if(own, [&](const TaskId& id) { return !id.value.starts_with(text); });
        if (own.size() == 1) return get(std::move(own.front()));
        if (!own.empty()) return get(ambiguous(text, own));
        if (text.size() >= others_prefix_min)
          return call->parts.engine.tasks().resolve(std::move(text), std::move(get));
        get(fail(Code::not_found,
                 "No task of this session begins with \"" + std::string(first_characters(text, 40)) + "\"."));
      });
}

void with_task(const CallPtr& call, std::string text, std::move_only_function<void(TaskView)> then) {
  find_task(call, std::move(text), [call, then = std::move(then)](Result<TaskView> view) mutable {
    if (!view) return call->refuse(view.error());
    then(std::move(*view));
  });
}

void with_members(const CallPtr& call, TaskFilter filter, size_t max, std::move_only_function<void(Members)> then) {
  filter.parent_session_id = call->caller.session;
  read_then(
      call,
      [&store = call->parts.store, filter = std::move(filter), max]() -> Result<Members> {
        Members members;
        Page page{.limit = page_size, .cursor = {}, .offset = 0, .sort = Sort::oldest};
        do {
          Result<TaskPage> found = store.list(filter, page);
          if (!found) return std::unexpected(found.error());
          for (Task& task : found->tasks) {
            members.more = members.tasks.size() >= max;
            if (members.more) return members;
            members.tasks.push_back(std::move(task));
          }
          page.cursor = found->next_cursor;
        } while (!page.cursor.empty());
        return members;
      },
      std::move(then));
}

void with_batch(const CallPtr& call, const BatchId& batch, size_t max, std::move_only_function<void(Members)> then) {
  TaskFilter filter;
  filter.batch_id = batch;
  with_members(call, std::move(filter), max, [call, batch, then = std::move(then)](Members members) mutable {
    if (members.tasks.empty())
      return call->refuse({Code::not_found, "This session has no batch \"" + batch.value + "\".", "unknown_batch"});
    then(std::move(members));
  });
}

}  // namespace errand::tools

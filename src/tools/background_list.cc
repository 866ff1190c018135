// background_list (R8.3): the direct children of the calling session.
#include "base/json_out.h"
#include "base/text.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

constexpr int limit_default = 50;
constexpr int limit_max = 200;

struct Request {
  TaskFilter filter;
  Page page;
};

void read_statuses(api::Fields& fields, std::vector<TaskState>& into) {
  std::string words;
  fields.text("status", words, {.bytes_max = 200});
  if (words.empty()) return;
  for (const std::string_view word : split(words, ',')) {
    const std::optional<TaskState> state = parse_status_word(trim(word));
    if (!state) return fields.refuse("status", "must be of: " + std::string(status_words()), "out_of_range");
    into.push_back(*state);
  }
}

void answer(const CallPtr& call, const TaskPage& page) {
  std::string text, data;
  JsonOut out(data);
  out.object().key("tasks").array();
  for (const Task& task : page.tasks) {
    const TaskView view{task, call->parts.engine.tasks().moment(task)};
    write_task(out, view);
    text += (text.empty() ? "" : "\n") + list_line(view);
  }
  out.end().text_or_null("next_cursor", page.next_cursor).end();
  if (page.tasks.empty()) text = "No background tasks found";
  if (!page.next_cursor.empty()) text += "\nThere are more: call again with cursor=\"" + page.next_cursor + "\".";
  call->answer(std::move(text), std::move(data));
}

void handle(const CallPtr& call, api::Fields fields) {
  Request request;
  request.page.limit = limit_default;
  read_statuses(fields, request.filter.states);
  fields.text("batch_id", request.filter.batch_id.value, id_rule);
  fields.integer("limit", request.page.limit, 1, limit_max);
  fields.text("cursor", request.page.cursor, {.bytes_max = 1024, .one_line = true});
  if (call->refused(fields)) return;
  request.filter.parent_session_id = call->caller.session;
  read_then(
      call, [&store = call->parts.store, request] { return store.list(request.filter, request.page); },
      [call](const TaskPage& page) { answer(call, page); });
}

}  // namespace

Tool background_list() {
  return {
      {.name = "background_list",
       .title = "List background tasks",
       .description =
           "Lists the tasks that this session launched, newest first, with status and progress. (resumed) and (forked) "
           "after an id say how it began.",
       .input_schema =
           R"({"type":"object","properties":{
"status":{"type":"string","description":"Only these, with commas: pending, running, completed, error, cancelled, resumed."},
"batch_id":{"type":"string","description":"Only this batch."},
"limit":{"type":"integer","maximum":200,"description":"Default: 50."},
"cursor":{"type":"string","description":"next_cursor of the last answer."}},"additionalProperties":false})",
       .output_schema = object_schema(R"("tasks":{"type":"array","items":)" + task_schema() +
                                      R"(},"next_cursor":{"type":["string","null"]})"),
       .example = R"({"status":"running,pending"})",
       .annotations = {.read_only = true, .idempotent = true}},
      handle};
}

}  // namespace errand::tools

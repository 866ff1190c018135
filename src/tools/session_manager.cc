// session_manager (R8.6): what the calling session keeps across turns, and its tasks.
#include <algorithm>

#include "base/json_out.h"
#include "base/text.h"
#include "tools/call.h"
#include "tools/words.h"

namespace errand::tools {
namespace {

constexpr size_t tasks_shown = 50;

enum class Action : uint8_t { keep, read, list, drop, tasks };

std::optional<Action> parse_action(std::string_view word) {
  if (word == "keep") return Action::keep;
  if (word == "read") return Action::read;
  if (word == "list") return Action::list;
  if (word == "drop") return Action::drop;
  if (word == "tasks") return Action::tasks;
  return std::nullopt;
}

// The members of the answer that an action has nothing to say of are null or empty.
struct Answer {
  std::string_view action;
  std::optional<StatePiece> piece;
  std::vector<StatePiece> pieces;
  std::vector<TaskView> tasks;
};

void write_piece(JsonOut& out, const StatePiece& piece, bool with_value) {
  out.object().field("key", piece.key).field("bytes", static_cast<int64_t>(piece.value.size()));
  out.field("updated_at", piece.updated_at);
  if (with_value) out.field("value", piece.value);
  out.end();
}

void answer(const CallPtr& call, std::string text, const Answer& answer) {
  std::string data;
  JsonOut out(data);
  out.object().field("action", answer.action).key("entry");
  if (answer.piece) {
    write_piece(out, *answer.piece, true);
  } else {
    out.null();
  }
  out.key("entries").array();
  for (const StatePiece& piece : answer.pieces) write_piece(out, piece, false);
  out.end().key("tasks").array();
  for (const TaskView& view : answer.tasks) write_task(out, view);
  out.end().end();
  call->answer(std::move(text), std::move(data));
}

std::string keys_of(const std::vector<StatePiece>& pieces) {
  std::string keys;
  for (const StatePiece& piece : pieces) keys += (keys.empty() ? "" : ", ") + piece.key;
  return keys.empty() ? "nothing" : keys;
}

void change(const CallPtr& call, Action action, const std::string& key, std::optional<std::string> value) {
  call->parts.engine.sessions().keep_state(
      call->caller.session, key, std::move(value), [call, action, key](Result<void> done) {
        if (!done) return call->refuse(done.error());
        answer(call, (action == Action::keep ? "Kept \"" : "Dropped \"") + key + "\".",
               {.action = action == Action::keep ? "keep" : "drop", .piece = {}, .pieces = {}, .tasks = {}});
      });
}

void read(const CallPtr& call, Action action, const std::string& key) {
  call->parts.engine.sessions().session_state(call->caller.session, [call, action,
                                                                     key](Result<std::vector<StatePiece>> pieces) {
    if (!pieces) return call->refuse(pieces.error());
    if (action == Action::list) {
      std::string text = pieces->empty() ? "This session keeps nothing." : "This session keeps:";
      for (const StatePiece& piece : *pieces)
        text += "\n- " + piece.key + " (" + std::to_string(piece.value.size()) + " bytes, " +
                format_time(piece.updated_at) + ")";
      return answer(call, std::move(text), {.action = "list", .piece = {}, .pieces = std::move(*pieces), .tasks = {}});
    }
    const auto piece = std::ranges::find(*pieces, key, &StatePiece::key);
    if (piece == pieces->end())
      return call->refuse({Code::not_found,
                           "This session keeps nothing under \"" + key + "\". It keeps: " + keys_of(*pieces) + ".",
                           "no_key"});
    std::string text = piece->value;
    answer(call, std::move(text), {.action = "read", .piece = *piece, .pieces = {}, .tasks = {}});
  });
}

void list_tasks(const CallPtr& call) {
  TaskFilter filter;
  filter.parent_session_id = call->caller.session;
  read_then(
      call,
      [&store = call->parts.store, filter] {
        return store.list(filter, {.limit = static_cast<int>(tasks_shown), .cursor = {}, .offset = 0});
      },
      [call](TaskPage page) {
        Answer all{.action = "tasks", .piece = {}, .pieces = {}, .tasks = {}};
        std::string text;
        for (Task& task : page.tasks) {
          const TaskMoment moment = call->parts.engine.tasks().moment(task);
          all.tasks.push_back({std::move(task), moment});
          text += (text.empty() ? "" : "\n") + list_line(all.tasks.back());
        }
        if (text.empty()) text = "No background tasks found";
        if (!page.next_cursor.empty()) text += "\nThere are more: " + call->name("list") + " shows them all.";
        answer(call, std::move(text), all);
      });
}

void handle(const CallPtr& call, api::Fields fields) {
  Action action = Action::list;
  std::string key, value;
  if (!fields.has("action"))
    fields.refuse("action", "must be given: `keep`, `read`, `list`, `drop` or `tasks`", "missing_field");
  fields.name_of("action", action, parse_action, "`keep`, `read`, `list`, `drop` or `tasks`");
  fields.text("key", key, {.bytes_max = state_key_bytes_max, .one_line = true});
  fields.text("value", value, {.bytes_max = state_value_bytes_max, .may_be_blank = true});
  const bool about_one = action == Action::keep || action == Action::read || action == Action::drop;
  if (about_one && !fields.has("key")) fields.refuse("key", "must be given for this action", "missing_field");
  if (action == Action::keep && !fields.has("value"))
    fields.refuse("value", "must be given for `keep`: a text", "missing_field");
  if (call->caller.session.empty())
    fields.refuse_all("This call names no session, and what is kept belongs to one.", "no_session");
  if (call->refused(fields)) return;
  switch (action) {
    case Action::keep:
      return change(call, action, key, std::move(value));
    case Action::drop:
      return change(call, action, key, std::nullopt);
    case Action::read:
    case Action::list:
      return read(call, action, key);
    case Action::tasks:
      return list_tasks(call);
  }
}

}  // namespace

Tool session_manager() {
  const std::string piece = R"("key":{"type":"string"},"bytes":{"type":"integer"},"updated_at":{"type":"string"})";
  const std::string entry = object_schema(piece + R"(,"value":{"type":"string"})");
  return {
      {.name = "session_manager",
       .title = "Keep state across turns",
       .description =
           "Keeps small texts for this session across turns, restarts and compaction: ids of tasks and what they are "
           "for, a plan, decisions. keep stores (and replaces) `value` under `key`, read gives it back, list names the "
           "keys, drop forgets one, tasks lists this session's tasks. At most 100 texts, 262,144 bytes together; "
           "deleted "
           "when the session ends.",
       .input_schema =
           R"({"type":"object","properties":{
"action":{"type":"string","enum":["keep","read","list","drop","tasks"]},
"key":{"type":"string","maxLength":100,"description":"Its name."},
"value":{"type":"string","description":"At most 16,384 bytes."}},"required":["action"],"additionalProperties":false})",
       .output_schema =
           object_schema(R"("action":{"type":"string"},"entry":{"anyOf":[{"type":"null"},)" + entry +
                         R"(],"description":"For read."},"entries":{"type":"array","items":)" + object_schema(piece) +
                         R"(,"description":"For list."},"tasks":{"type":"array","items":)" + task_schema() +
                         R"(,"description":"For tasks: the newest 50."})"),
       .example =
           R"({"action":"keep","key":"build task","value":"task_01k9z3s5x7e8: the nightly build; report to the user when it ends"})",
       .annotations = {.idempotent = true}},
      handle};
}

}  // namespace errand::tools

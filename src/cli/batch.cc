// errand batch: the tasks that share a batch id, as one.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "cli/duration.h"
#include "cli/resolve.h"
#include "cli/task_text.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// All of them, page by page.
int list_batches(Context& context) {
  const Screen& screen = context.screen;
  std::vector<std::vector<Cell>> rows;
  std::string cursor, json;
  JsonOut out(json);
  out.object().key("batches").array();
  do {
    const Result<std::string> body =
        context.client.get("/api/batches" + Query().add("limit", "500").add("cursor", cursor).text());
    if (!body) return screen.fail(body.error());
    for (const std::string& batch : elements(*body, "batches")) {
      out.raw(batch);
      const Result<BatchInfo> info = parse_batch(batch);
      if (!info) return screen.fail(info.error());
      const Result<Time> created = parse_time(member(batch, "created_at"));
      rows.push_back(
          {{info->id, "1"},
           {member(batch, "total"), ""},
           {counts_text(info->counts), info->counts.contains("failed") && info->counts.at("failed") > 0 ? "31" : ""},
           {member(batch, "title"), ""},
           {created ? short_duration(wall_now() - *created) : "", "2"}});
    }
    cursor = member(*body, "next_cursor");
  } while (!cursor.empty() && cursor != "null");
  out.end().end();
  if (screen.json()) {
    screen.out_line(json);
  } else if (!screen.out_is_terminal()) {
    screen.out(render_tabs(rows));
  } else if (rows.empty()) {
    screen.out("No batches yet. Start tasks together with: errand run --batch new -- COMMAND\n");
  } else {
    screen.out(render_table({{"BATCH"}, {"TASKS", 0, true}, {"STATUS", 12}, {"FIRST TASK", 16}, {"AGE", 0, true}}, rows,
                            {screen.width(), screen.colours(), true}));
  }
  return code(Exit::ok);
}

int show_batch(Context& context, const std::string& id) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get(batch_path(id));
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  Result<BatchInfo> batch = parse_batch(*body);
  if (!batch) return screen.fail(batch.error());
  Result<std::string> list =
      context.client.get("/api/tasks" + Query().add("batch_id", id).add("archived", "all").add("limit", "500").text());
  Result<TaskPage> page = list ? parse_tasks(*list) : std::unexpected(list.error());
  if (!page) return screen.fail(page.error());
  if (!screen.out_is_terminal()) {
    screen.out(render_tabs(task_fields(page->tasks)));
    return code(Exit::ok);
  }
  screen.out(styled(id, "1", screen.colours()) + "  " + counts_text(batch->counts) + "\n");
  screen.out(
      render_table(task_columns(), task_rows(page->tasks, wall_now()), {screen.width(), screen.colours(), true}));
  return code(Exit::ok);
}

int print_results(Context& context, const std::string& id) {
  const Screen& screen = context.screen;
  Result<std::string> body = context.client.get(batch_path(id, "/results"));
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  for (const std::string& result : elements(*body, "results")) {
    screen.out(
        styled(fmt::format("== {}  {}", member(result, "task_id"), member(result, "status")), "1", screen.colours()) +
        "\n");
    std::string text = member(result, "result");
    if (text.empty()) text = member(member(result, "error"), "message");
    screen.out_task_text(text);
    screen.out(text.empty() || text.ends_with('\n') ? "\n" : "\n\n");
  }
  return code(Exit::ok);
}

// What the server counts: {"cancelled":3}, {"retried":1}, {"removed":4,"left":0}.
int act(Context& context, const std::string& id, std::string_view action) {
  const Screen& screen = context.screen;
  Result<std::string> reply = action == "delete" ? context.client.call("DELETE", batch_path(id))
                                                 : context.client.post(batch_path(id, fmt::format("/{}", action)));
  if (!reply) return screen.fail(reply.error());
  if (screen.json()) {
    screen.out_line(*reply);
    return code(Exit::ok);
  }
  std::string counts;
  for (const char* name : {"cancelled", "retried", "removed", "left"})
    if (std::string count = member(*reply, name); !count.empty())
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name);
  screen.say(counts.empty() ? "done." : counts + ".");
  return code(Exit::ok);
}

}  // namespace

int batch(Context& context, const BatchArgs& args) {
  if (args.action == BatchAction::list) return list_batches(context);
  Result<std::string> id = resolve_batch(context, args.id);
  if (!id) return context.screen.fail(id.error());
  switch (args.action) {
    case BatchAction::list:
    case BatchAction::show:
      return show_batch(context, *id);
    case BatchAction::results:
      return print_results(context, *id);
    case BatchAction::cancel:
      return act(context, *id, "cancel");
    case BatchAction::retry:
      return act(context, *id, "retry");
    case BatchAction::clear:
      return act(context, *id, "clear");
    case BatchAction::remove:
      return act(context, *id, "delete");
  }
  return code(Exit::usage);
}

}  // namespace errand::cli

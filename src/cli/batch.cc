// errand batch: the tasks that share a batch id, as one.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "cli/resolve.h"
#include "cli/task_text.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

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
  Result<std::string> list = context.client.get("/api/tasks" + Query().add("batch_id", id).add("limit", "500").text());
  Result<TaskPage> page = list ? parse_tasks(*list) : std::unexpected(list.error());
  if (!page) return screen.fail(page.error());
  if (!screen.out_is_terminal()) {
    screen.out(render_tabs(task_fields(page->tasks)));
    return code(Exit::ok);
  }
  std::string counts;
  for (const auto& [status, count] : batch->counts)
    if (count > 0) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, status);
  screen.out(styled(id, "1", screen.colours()) + "  " + counts + "\n");
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
  Result<std::string> id = resolve_batch(context, args.id);
  if (!id) return context.screen.fail(id.error());
  switch (args.action) {
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

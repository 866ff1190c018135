// errand compare: what several attempts at the same work came to, side by side.
#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/commit_text.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr Millis compare_patience_ms = 300'000;  // Every work tree is looked at.

// Absent, or not JSON's null.
std::string given(std::string_view json, std::string_view name) {
  std::string text = member(json, name);
  return text == "null" ? std::string() : text;
}

// What is not known is not nothing.
std::string cost_text(const ProgressInfo& progress) {
  const bool silent = progress.cost_usd <= 0 && progress.input_tokens + progress.output_tokens == 0;
  if (silent || (progress.unpriced && progress.cost_usd <= 0)) return "?";
  return fmt::format("{}${:.4f}", progress.unpriced ? "≥" : "", progress.cost_usd);
}

Cell test_cell(const std::string& json) {
  if (json.empty()) return {"-", "2"};
  const Result<TaskInfo> test = parse_task(json);
  if (!test) return {"?", ""};
  if (test->status == "completed") return {"✓ passed", "32"};
  if (test->status == "failed" && test->exit_code) return {fmt::format("✗ exit {}", *test->exit_code), "31"};
  if (test->status == "failed" && test->signal) return {fmt::format("✗ signal {}", *test->signal), "31"};
  if (test->status == "failed") return {"✗ " + test->error_code, "31"};
  return {status_text(*test), status_style(*test)};
}

std::string state_text(const TaskInfo& task) {
  const std::string& tree = task.isolation_state;
  const bool told = tree == "merged" || tree == "discarded" || tree == "conflict" || tree == "lost";
  return told ? fmt::format("{}, {}", status_text(task), tree) : status_text(task);
}

int print_comparison(Context& context, const std::string& batch) {
  const Screen& screen = context.screen;
  context.client.set_patience(compare_patience_ms);
  const Result<std::string> body = context.client.get(batch_path(batch, "/attempts"));
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  const std::vector<std::string> attempts = elements(*body, "attempts");
  std::vector<std::string> ids;
  ids.reserve(attempts.size());
  for (const std::string& attempt : attempts) ids.push_back(member(member(attempt, "task"), "id"));
  const std::vector<std::string> shortened = short_ids(ids);
  const bool people = screen.out_is_terminal();
  std::vector<std::vector<Cell>> rows;
  bool open = false;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Result<TaskInfo> task = parse_task(member(attempts[i], "task"));
    if (!task) return screen.fail(task.error());
    const std::string changes = given(attempts[i], "changes");
    const auto sum = [&](const char* name, const char* sign) {
      return changes.empty() ? std::string("?") : sign + member(changes, name);
    };
    open = open || task->isolation_state == "ready" || task->isolation_state == "conflict";
    const std::string agent = task->agent.empty() ? task->agent_id : task->agent;
    const std::string time = duration_text(*task, wall_now());
    rows.push_back({{people ? shortened[i] : task->id, "1"},
                    {task->model.empty() ? agent : agent + ":" + task->model, ""},
                    {people ? state_text(*task) : task->status, people ? status_style(*task) : ""},
                    {sum("files", ""), ""},
                    {sum("added", "+"), "32"},
                    {sum("removed", "-"), "31"},
                    test_cell(given(attempts[i], "test")),
                    {time.empty() ? "?" : time, ""},
                    {cost_text(task->progress), ""}});
    if (!people) rows.back().push_back({task->isolation_state, ""});
  }
  screen.out(people ? render_table({{"ID"},
                                    {"AGENT", 8},
                                    {"STATUS", 10},
                                    {"FILES", 0, true},
                                    {"ADDED", 0, true},
                                    {"REMOVED", 0, true},
                                    {"TEST"},
                                    {"TIME", 0, true},
                                    {"COST", 0, true}},
                                   rows, {screen.width(), screen.colours(), true})
                    : render_tabs(rows));
  if (open && people)
    screen.say(
        "errand diff ID shows the changes of one. errand merge ID --discard-others takes it and discards the rest.");
  return code(Exit::ok);
}

// 0, or the exit code where it could not be done. `passed`: how many tests did.
int run_tests(Context& context, const std::string& batch, const CompareArgs& args, size_t& passed) {
  const Screen& screen = context.screen;
  std::string body;
  JsonOut out(body);
  out.object().field("command", args.test);
  if (args.timeout) out.field("timeout_s", static_cast<double>(*args.timeout) / 1000);
  out.end();
  const Result<std::string> begun = context.client.post(batch_path(batch, "/test"), body);
  if (!begun) return screen.fail(begun.error());
  if (!screen.json())
    for (const std::string& left : elements(*begun, "left"))
      screen.say(fmt::format("not tested: {} ({})", short_id(member(left, "task_id")), member(left, "why")));
  std::vector<std::string> ids;
  for (const std::string& test : elements(*begun, "tests")) ids.push_back(member(test, "id"));
  if (const int exit = wait_for_all(context, ids); exit != 0) return exit;
  for (const std::string& id : ids) {
    const Result<TaskInfo> test = get_task(context, id);
    if (test && test->status == "completed") ++passed;
    if (test && test->status != "completed" && !screen.json())
      screen.say(fmt::format("the test of {} failed; errand logs {} shows what it printed.",
                             short_id(test->labels.contains("attempt") ? test->labels.at("attempt") : id),
                             short_id(id)));
  }
  return 0;
}

}  // namespace

int compare(Context& context, const CompareArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> batch = resolve_batch(context, args.batch);
  if (!batch) return screen.fail(batch.error());
  if (args.wait) {
    const Result<std::string> list = context.client.get(
        "/api/tasks" + Query().add("batch_id", *batch).add("archived", "all").add("limit", "500").text());
    const Result<TaskPage> page = list ? parse_tasks(*list) : std::unexpected(list.error());
    if (!page) return screen.fail(page.error());
    std::vector<std::string> ids;
    for (const TaskInfo& task : page->tasks) ids.push_back(task.id);
    if (!ids.empty())
      if (const int exit = wait_for_all(context, ids); exit != 0) return exit;
  }
  size_t passed = 0;
  if (!args.test.empty())
    if (const int exit = run_tests(context, *batch, args, passed); exit != 0) return exit;
  if (const int exit = print_comparison(context, *batch); exit != 0) return exit;
  return code(args.test.empty() || passed > 0 ? Exit::ok : Exit::failed);
}

}  // namespace errand::cli

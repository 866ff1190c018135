#include "cli/task_text.h"

#include "base/home.h"
#include "cli/duration.h"
#include "cli/progress_line.h"
#include "cli/short_id.h"

namespace errand::cli {

bool needs_input(const TaskInfo& task) {
  return task.waiting_for && (task.waiting_for->kind == "permission" || task.waiting_for->kind == "answer");
}

std::string status_text(const TaskInfo& task) {
  if (task.stopping) return "◌ stopping";
  if (needs_input(task)) return "? asks";
  if (task.waiting_for) return "◷ waiting";
  if (task.status == "pending") return "◷ pending";
  if (task.status == "running" || task.status == "resumed") return "● " + task.status;
  if (task.status == "completed") return "✓ completed";
  if (task.status == "failed") return "✗ failed";
  if (task.status == "cancelled") return "⊘ cancelled";
  return task.status;
}

std::string_view status_style(const TaskInfo& task) {
  if (task.stopping) return "2";
  if (needs_input(task)) return "1;33";
  if (task.waiting_for || task.status == "pending") return "33";
  if (task.status == "running" || task.status == "resumed") return "34";
  if (task.status == "completed") return "32";
  if (task.status == "failed") return "31";
  return "2";
}

std::string duration_text(const TaskInfo& task, Time now) {
  if (!task.started_at) return {};
  Time end = task.at_work() ? now : task.completed_at;
  return end ? clock_duration(end - task.started_at) : std::string();
}

constexpr int folder_columns_min = 100;  // In less the title would be cut for it.

std::vector<Column> task_columns(int columns) {
  std::vector<Column> all = {{"ID"},           {"STATUS"},        {"TITLE", 16}, {"AGENT", 6},
                             {"AGE", 0, true}, {"TIME", 0, true}, {"NOW", 12}};
  if (columns >= folder_columns_min) all.insert(all.begin() + 4, {"FOLDER", 12});
  return all;
}

std::vector<std::vector<Cell>> task_rows(const std::vector<TaskInfo>& tasks, Time now, int columns) {
  std::vector<std::string> ids;
  ids.reserve(tasks.size());
  for (const TaskInfo& task : tasks) ids.push_back(task.id);
  std::vector<std::string> shortened = short_ids(ids);
  std::vector<std::vector<Cell>> rows;
  rows.reserve(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TaskInfo& task = tasks[i];
    rows.push_back({{shortened[i], "1"},
                    {status_text(task), status_style(task)},
                    {task.title, ""},
                    {task.agent.empty() ? task.agent_id : task.agent, ""},
                    {task.created_at ? short_duration(now - task.created_at) : "", "2"},
                    {duration_text(task, now), ""},
                    {activity(task), "2"}});
    if (columns >= folder_columns_min) rows.back().insert(rows.back().begin() + 4, {to_home(task.work_dir), "2"});
  }
  return rows;
}

std::vector<std::vector<Cell>> task_fields(const std::vector<TaskInfo>& tasks) {
  std::vector<std::vector<Cell>> rows;
  rows.reserve(tasks.size());
  auto when = [](Time time) { return time ? format_time(time) : std::string(); };
  for (const TaskInfo& task : tasks)
    rows.push_back({{task.id, ""},
                    {task.status, ""},
                    {task.title, ""},
                    {task.agent.empty() ? task.agent_id : task.agent, ""},
                    {when(task.created_at), ""},
                    {when(task.completed_at), ""},
                    {activity(task), ""}});
  return rows;
}

}  // namespace errand::cli

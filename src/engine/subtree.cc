#include "engine/subtree.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "engine/find_session.h"
#include "task/permission.h"

namespace errand {
namespace {

bool inside(const std::string& path, const std::string& root) {
  const std::filesystem::path below = std::filesystem::path(path).lexically_normal();
  std::filesystem::path above = std::filesystem::path(root).lexically_normal();
  if (!above.has_filename()) above = above.parent_path();  // "/a/" is "/a".
  return std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

Status check_folders(const Launch& launch, const Task& parent) {
  const auto allowed = [&](const std::string& folder) {
    return inside(folder, folder_of(parent)) ||
           std::ranges::any_of(parent.launch.add_dirs, [&](const std::string& root) { return inside(folder, root); });
  };
  std::vector<std::string> asked = launch.add_dirs;
  asked.push_back(launch.work_dir);
  for (const std::string& folder : asked)
    if (!allowed(folder))
      return fail(Code::forbidden,
                  fmt::format("{} is outside the folders of the launching task: {}{}.", folder, folder_of(parent),
                              parent.launch.add_dirs.empty() ? "" : " and its added folders"),
                  "beyond_parent");
  return {};
}

}  // namespace

// A child may do no more than its parent.
Status Subtree::bound_by(Launch& launch, const Task& parent) const {
  const Launch& above = parent.launch;
  if (above.ancestors.size() >= depth_max)
    return fail(Code::forbidden,
                fmt::format("Tasks launch tasks at most {} deep, and this one would be deeper; do the work in the task "
                            "at hand, or let the one that launched it launch this one.",
                            depth_max),
                "too_deep");
  if (parent.state == TaskState::cancelled)
    return fail(Code::conflict, "The launching task was cancelled, so it cannot start new tasks.");
  launch.ancestors = {parent.id};
  launch.ancestors.insert(launch.ancestors.end(), above.ancestors.begin(), above.ancestors.end());
  launch.payers = above.payers;
  if (above.budget != Budget{}) launch.payers.insert(launch.payers.begin(), parent.id);
  if (const std::optional<TaskError> over = purses_.over(launch.payers))
    return fail(Code::exhausted, over->message, "budget");
  const bool by_agent = launched_by_agent(launch);
  launch.bounds.clear();
  if (launch.work_dir.empty()) launch.work_dir = folder_of(parent);  // Its own work tree, where it has one.
  if (!by_agent) return {};
  launch.sandbox = std::max(launch.sandbox, above.sandbox);
  // A command may do what its user may, unless it is in a sandbox; an agent is held to its permissions and folders.
  const bool agent = above.kind == TaskKind::agent;
  if (agent) launch.bounds = bounds_for_children(parent);
  if (!agent && above.sandbox == Sandbox::off) return {};
  return check_folders(launch, parent);
}

bool Subtree::may_be_bound(const Launch& launch) const {
  return launch.parent_session_id && !parents_.knows(launch.parent_session_id);
}

void Subtree::bind(Launch& launch, std::move_only_function<void(Status)> then) {
  shared_.read(
      [session = launch.parent_session_id](Store& store) -> Result<std::optional<Task>> {
        Result<Session> found = find_session(store, session);
        // One that was never there is a foreign program's, and is made with its first task. One that has ended stays
        // so.
        if (!found && found.error().code == Code::not_found && found.error().reason != "session_ended")
          return std::optional<Task>();
        if (!found) return std::unexpected(found.error());
        if (found->task_id.empty()) return std::optional<Task>();
        Result<Task> task = store.get(found->task_id);
        if (!task) return std::unexpected(task.error());
        return std::optional(std::move(*task));
      },
      [this, &launch, then = std::move(then)](Result<std::optional<Task>> parent) mutable {
        if (!parent) return then(std::unexpected(parent.error()));
        if (*parent) return then(bound_by(launch, **parent));
        // A task's own session ends with the task.
        if (parents_.has_ended(launch.parent_session_id)) return then(session_ended(launch.parent_session_id));
        launch.bounds.clear();
        then({});
      });
}

void Subtree::cancel_children(const SessionId& session) {
  shared_.read([session](Store& store) { return store.tasks_of_parent(session); },
               [this, session](Result<std::vector<TaskId>> children) {
                 if (!children) {
                   shared_.timers.add(store_retry_ms, [this, session] { cancel_children(session); });
                   return shared_.schedule();
                 }
                 each_.act(
                     std::move(*children),
                     [this](const TaskId& id, Each::Done done) {
                       Action action{.input = input::Cancel{"parent"}};
                       action.reply = [this, id, done = std::move(done)](const Result<TaskPtr>& cancelled) mutable {
                         const bool failed = !cancelled && cancelled.error().code != Code::conflict &&
                                             cancelled.error().code != Code::not_found;
                         if (failed)
                           lives_.submit(id, {.input = input::Cancel{"parent"}});  // Our own: tried until it is stored.
                         done(cancelled.has_value());
                       };
                       lives_.submit(id, std::move(action));
                     },
                     [](int64_t) {});
               });
}

Result<bool> is_orphaned(Store& store, const Task& task) {
  if (task.launch.ancestors.empty()) return false;
  const Result<Task> parent = store.get(task.launch.ancestors.front());
  if (!parent && parent.error().code == Code::not_found) return true;
  if (!parent) return std::unexpected(parent.error());
  if (parent->state != TaskState::cancelled) return false;
  return (task.attempt == 1 && task.turn == 1) || task.queued_at <= parent->completed_at;
}

}  // namespace errand

#include "cli/watch.h"

#include <map>

#include "cli/connection.h"

namespace errand::cli {

namespace {
// A watched task is also read again every so often: waiting must end even if an event is missed by a mistake.
constexpr Millis recheck_ms = 5'000;
}  // namespace

Result<StreamEnd> watch_tasks(Client& client, const std::vector<std::string>& ids, const WatchCalls& calls) {
  std::map<std::string, TaskInfo> open;  // As last seen.
  for (const std::string& id : ids) open[id].id = id;
  Time rechecked;
  bool stop = false;

  auto take = [&](const TaskInfo& task) {
    if (!open.contains(task.id)) return;
    open[task.id] = task;
    if (calls.changed(task)) {
      open.erase(task.id);
      stop = stop || calls.first_only;
    }
  };
  auto lose = [&](const std::string& id, const Error& error) {
    open.erase(id);
    if (calls.gone) calls.gone(id, error);
  };
  auto read_again = [&]() -> Status {
    rechecked = steady_now();
    std::vector<std::string> now;
    now.reserve(open.size());
    for (const auto& [id, task] : open) now.push_back(id);
    for (const std::string& id : now) {
      if (stop) break;
      Result<std::string> body = client.get("/api/tasks/" + url_encode(id));
      Result<TaskInfo> task = body ? parse_task(*body) : std::unexpected(body.error());
      if (task) {
        take(*task);
      } else if (task.error().code == Code::not_found) {
        lose(id, task.error());
      } else {
        return std::unexpected(task.error());
      }
    }
    return {};
  };

  // Most waits end at once: then no stream is opened.
  if (Status read = read_again(); !read) return std::unexpected(read.error());
  if (stop || open.empty()) return StreamEnd::stopped;

  StreamCalls stream;
  stream.deadline = calls.deadline;
  stream.lost = calls.lost;
  auto going = [&] { return !stop && !open.empty(); };
  stream.connected = [&]() -> Result<bool> {
    if (Status read = read_again(); !read) return std::unexpected(read.error());
    return going();
  };
  stream.tick_ms = calls.tick ? 100 : recheck_ms;
  stream.tick = [&] {
    if (calls.tick) calls.tick();
    // A server that is away just now is the stream's business.
    if (steady_now() - rechecked >= recheck_ms) static_cast<void>(read_again());
    return going();
  };
  stream.event = [&](const SseEvent& event) {
    if (Result<EventInfo> info = parse_event(event.data)) {
      if (info->task) take(*info->task);
      if (auto at = open.find(info->task_id); info->progress && at != open.end()) {
        TaskInfo task = at->second;
        task.progress = *info->progress;
        take(task);
      }
      if (event.type == "task.deleted" && open.contains(info->task_id))
        lose(info->task_id, {Code::not_found, "The task " + info->task_id + " was removed.", "deleted"});
    }
    return going();
  };
  return client.stream("/api/stream", "", stream);
}

}  // namespace errand::cli

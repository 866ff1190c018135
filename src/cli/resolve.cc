#include "cli/resolve.h"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/id.h"
#include "cli/short_id.h"

namespace errand::cli {

namespace {

constexpr size_t candidates_max = 8;
constexpr int pages_max = 40;
constexpr Time latest_time = {
    253'000'000'000'000};  // In the year 9987: RFC 3339 ends with 9999, the times of ids do not.

using Candidates = std::map<std::string, std::string>;  // Id to title.

// Walks the tasks of `query`, newest first, until `take` has enough.
Status walk(Context& context, const Query& query, const std::function<bool(const TaskInfo&)>& take) {
  std::string cursor;
  for (int page = 0; page < pages_max; ++page) {
    Result<std::string> body =
        context.client.get("/api/tasks" + Query(query).add("archived", "all").add("cursor", cursor).text());
    if (!body) return std::unexpected(body.error());
    Result<TaskPage> tasks = parse_tasks(*body);
    if (!tasks) return std::unexpected(tasks.error());
    for (const TaskInfo& task : tasks->tasks)
      if (!take(task)) return {};
    cursor = tasks->next_cursor;
    if (cursor.empty()) return {};
  }
  return {};
}

Result<std::string> choose(const std::string& text, const char* what, const Candidates& found) {
  if (found.size() == 1) return found.begin()->first;
  if (found.empty())
    return fail(Code::not_found,
                fmt::format("No {0} has the id \"{1}\", and no id begins with it. errand list shows your tasks.", what,
                            shown_line(text)),
                "not_found");
  std::string message = fmt::format("Several ids begin with \"{}\". Type more of the id:", shown_line(text));
  size_t shown = 0;
  for (const auto& [id, title] : found) {
    if (shown++ == candidates_max) {
      message += "\n  …";
      break;
    }
    message += fmt::format("\n  {}  {}", id, shown_line(title));
  }
  return fail(Code::invalid_argument, message, "ambiguous");
}

}  // namespace

std::string task_path(const std::string& id, std::string_view rest) {
  return fmt::format("/api/tasks/{}{}", url_encode(id), rest);
}
std::string batch_path(const std::string& id, std::string_view rest) {
  return fmt::format("/api/batches/{}{}", url_encode(id), rest);
}

Result<TaskInfo> get_task(Context& context, const std::string& id) {
  Result<std::string> body = context.client.get(task_path(id));
  if (!body) return std::unexpected(body.error());
  return parse_task(*body);
}

Result<std::string> resolve_task(Context& context, const std::string& text) {
  std::string prefix = with_kind(text, "task_");
  if (is_id(prefix, "task_")) return prefix;
  std::optional<IdSpan> span = span_of(prefix, "task_");
  if (!span || text.empty() || span->first > latest_time) return choose(text, "task", {});
  Candidates found;
  auto take = [&](const TaskInfo& task) {
    if (task.id.starts_with(prefix)) found[task.id] = task.title;
    return found.size() <= candidates_max;
  };
  // Ids begin with the time at which they were made, so only tasks of that time need be looked at.
  Query query;
  query.add("limit", "500").add("created_after", format_time(span->first - 1));
  if (span->last < latest_time) query.add("created_before", format_time(span->last + 1));
  if (Status walked = walk(context, query, take); !walked) return std::unexpected(walked.error());
  // A clock that was set back makes ids that are later than their task.
  if (found.empty())
    if (Status walked = walk(context, Query().add("limit", "500"), take); !walked)
      return std::unexpected(walked.error());
  return choose(text, "task", found);
}

Result<std::string> resolve_batch(Context& context, const std::string& text) {
  std::string prefix = with_kind(text, "batch_");
  if (is_id(prefix, "batch_")) return prefix;
  Result<Reply> reply = context.client.request("GET", batch_path(text));
  if (!reply) return std::unexpected(reply.error());
  if (reply->status < 400) return text;
  if (reply->status != 404) return std::unexpected(parse_problem(reply->status, reply->body));
  std::optional<IdSpan> span = span_of(prefix, "batch_");
  if (!span || text.empty() || span->first > latest_time) return choose(text, "batch", {});
  Candidates found;
  auto take = [&](const TaskInfo& task) {
    if (task.batch_id.starts_with(prefix)) found[task.batch_id] = task.title;
    return found.size() <= candidates_max;
  };
  // Its tasks are not older than the batch.
  if (Status walked =
          walk(context, Query().add("limit", "500").add("created_after", format_time(span->first - 1)), take);
      !walked)
    return std::unexpected(walked.error());
  return choose(text, "batch", found);
}

}  // namespace errand::cli

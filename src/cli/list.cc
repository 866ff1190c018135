// errand list: the tasks, once or as they change.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/home.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/task_text.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

constexpr int page_max = 500;

// Whether a task that an event tells of is one of those that were asked for. (Words are searched for by the server
// alone: with --query a change of any task is told.)
bool is_wanted(const TaskInfo& task, const ListArgs& args, const std::string& batch) {
  auto one_of = [](const std::vector<std::string>& list, const std::string& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  };
  for (const std::string& label : args.labels) {
    size_t separator = label.find_first_of("=:");
    auto found = task.labels.find(label.substr(0, separator));
    if (separator == std::string::npos || found == task.labels.end() || found->second != label.substr(separator + 1))
      return false;
  }
  return one_of(args.status, task.status) && (!args.waiting || needs_input(task)) &&
         (args.agent.empty() || args.agent == task.agent_id || args.agent == task.agent) &&
         (args.kind.empty() || args.kind == task.kind) && (batch.empty() || batch == task.batch_id) &&
         (args.parent.empty() || args.parent == task.parent_session_id);
}

struct Listed {
  TaskPage page;
  std::string body;  // The server's own answer; of several pages the tasks of all.
};

Query query_of(const ListArgs& args, const std::string& batch) {
  Query query;
  std::string status;
  for (const std::string& one : args.status) status.append(status.empty() ? "" : ",").append(one);
  query.add("status", status)
      .add("agent_id", args.agent)
      .add("kind", args.kind)
      .add("parent_session_id", args.parent)
      .add("q", args.query);
  query.add("batch_id", batch);
  if (args.waiting) query.add("waiting_for", "permission,answer");
  if (args.archived) query.add("archived", "true");
  if (args.pinned) query.add("pinned", "true");
  for (std::string label : args.labels) {
    if (size_t equals = label.find('='); equals != std::string::npos && label.find(':') > equals) label[equals] = ':';
    query.add("label", label);
  }
  return query;
}

std::string group_of(const TaskInfo& task, const std::string& by) {
  return by == "folder" ? task.work_dir : by == "batch" ? task.batch_id : task.parent_session_id;
}

// A control character in a folder's name is the table's to make harmless; a heading is made so here.
std::string heading_of(const std::string& group, const std::string& by) {
  if (group.empty()) return by == "folder" ? "no folder" : by == "batch" ? "no batch" : "no session";
  return by == "folder" ? shown_line(to_home(group)) : short_id(group);
}

// The tasks of a group behind each other, in the order of the list; groups in the order of their first task.
void put_together(std::vector<TaskInfo>& tasks, const std::string& by) {
  std::map<std::string, size_t> places;
  std::vector<std::vector<TaskInfo>> groups;
  for (TaskInfo& task : tasks) {
    const auto place = places.emplace(group_of(task, by), groups.size());
    if (place.second) groups.emplace_back();
    groups[place.first->second].push_back(std::move(task));
  }
  tasks.clear();
  for (std::vector<TaskInfo>& group : groups) std::ranges::move(group, std::back_inserter(tasks));
}

Result<Listed> read_list(Context& context, const Query& base, const ListArgs& args) {
  Listed listed;
  std::vector<std::string> bodies;
  std::string cursor;
  size_t wanted = args.all ? SIZE_MAX : static_cast<size_t>(args.limit);
  do {
    Query query = base;
    query.add("limit", std::to_string(std::min<size_t>(wanted - listed.page.tasks.size(), page_max)))
        .add("cursor", cursor);
    Result<std::string> body = context.client.get("/api/tasks" + query.text());
    if (!body) return std::unexpected(body.error());
    Result<TaskPage> page = parse_tasks(*body);
    if (!page) return std::unexpected(page.error());
    cursor = listed.page.next_cursor = page->next_cursor;
    std::ranges::move(page->tasks, std::back_inserter(listed.page.tasks));
    listed.page.batches.merge(page->batches);
    bodies.push_back(std::move(*body));
  } while (!cursor.empty() && listed.page.tasks.size() < wanted);
  if (!args.group.empty()) put_together(listed.page.tasks, args.group);
  if (bodies.size() == 1) {
    listed.body = std::move(bodies[0]);
    return listed;
  }
  JsonOut out(listed.body);
  out.object().key("tasks").array();
  for (const std::string& body : bodies)
    for (const std::string& task : elements(body, "tasks")) out.raw(task);
  out.end().text_or_null("next_cursor", cursor).end();
  return listed;
}

bool is_filtered(const ListArgs& args) {
  return !args.status.empty() || !args.agent.empty() || !args.kind.empty() || !args.batch.empty() ||
         !args.parent.empty() || !args.query.empty() || !args.labels.empty() || args.waiting || args.archived ||
         args.pinned;
}

// R15.1: a batch is one row with its counts, in the place of the one of its tasks that needs somebody most.
void fold_rows(const TaskPage& page, std::vector<std::vector<Cell>>& rows) {
  for (size_t i = 0; i < page.tasks.size(); ++i) {
    const auto batch = page.batches.find(page.tasks[i].batch_id);
    if (batch == page.batches.end() || batch->second.total < 2) continue;
    std::vector<Cell>& row = rows[i];
    row[0].text = short_id(batch->first);
    row[2].text = fmt::format("batch of {}: {}", batch->second.total, row[2].text);
    row[6].text = counts_text(batch->second.counts);
    if (const auto failed = batch->second.counts.find("failed");
        failed != batch->second.counts.end() && failed->second > 0)
      row[6].style = "31";
  }
}

// The lines of a table (a header, and one for each task) with a heading before each group.
std::string with_headings(const std::string& table, const std::vector<TaskInfo>& tasks, const std::string& by,
                          bool colours) {
  std::string out;
  std::map<std::string, int> counts;
  for (const TaskInfo& task : tasks) ++counts[group_of(task, by)];
  const std::vector<std::string_view> lines = split(table, '\n');
  for (size_t i = 0; i < lines.size() && !lines[i].empty(); ++i) {
    const size_t task = i - 1;
    if (i > 0 && task < tasks.size()) {
      const std::string group = group_of(tasks[task], by);
      if (task == 0 || group != group_of(tasks[task - 1], by))
        out += styled(fmt::format("{} ({})", heading_of(group, by), counts[group]), "1", colours) + "\n";
    }
    out.append(lines[i]).append("\n");
  }
  return out;
}

std::string table_of(Context& context, const Listed& listed, const ListArgs& args) {
  const Screen& screen = context.screen;
  if (!screen.out_is_terminal()) return render_tabs(task_fields(listed.page.tasks));
  if (listed.page.tasks.empty())
    return is_filtered(args) ? "No task matches. errand list shows all tasks.\n"
                             : "No tasks yet. Start one with: errand run -- COMMAND, or: errand ask \"PROMPT\"\n";
  std::vector<std::vector<Cell>> rows = task_rows(listed.page.tasks, wall_now(), screen.width());
  fold_rows(listed.page, rows);
  std::string out = render_table(task_columns(screen.width()), rows, {screen.width(), screen.colours(), true});
  if (!args.group.empty()) out = with_headings(out, listed.page.tasks, args.group, screen.colours());
  if (!listed.page.next_cursor.empty() && !screen.quiet())
    out += styled(fmt::format("{} shown of more; --limit N or --all shows the others", listed.page.tasks.size()), "2",
                  screen.colours()) +
           "\n";
  return out;
}

// On a terminal the table is drawn anew in its place; else each change is a line of its own.
int watch(Context& context, const Query& query, const ListArgs& args, const std::string& batch) {
  const Screen& screen = context.screen;
  Interrupt interrupt;
  bool table = screen.out_is_terminal() && !screen.json();
  bool dirty = true;
  Time drawn;
  int lines = 0;
  std::optional<Error> failed;
  constexpr Millis redraw_ms = 200;
  constexpr Millis clock_ms = 1'000;  // Ages go on without an event.

  auto draw = [&] {
    Time now = steady_now();
    if (!table || !(dirty ? now - drawn >= redraw_ms : now - drawn >= clock_ms)) return !failed;
    Result<Listed> listed = read_list(context, query, args);
    if (!listed) {
      if (listed.error().code != Code::unavailable) failed = listed.error();
      return !failed;
    }
    // No more than fits, or the cursor could not go back to its beginning.
    auto room = static_cast<size_t>(std::max(3, screen.height() - 3));
    if (listed->page.tasks.size() > room) listed->page.tasks.resize(room);
    std::string text = table_of(context, *listed, args);
    // Headings of groups are lines too.
    size_t end = 0;
    for (int line = 1; line < screen.height() && end < text.size(); ++line) end = text.find('\n', end) + 1;
    text.resize(end);
    screen.out((lines ? fmt::format("\x1b[{}A\r", lines) : std::string()) + "\x1b[J" + text);
    lines = static_cast<int>(std::ranges::count(text, '\n'));
    dirty = false;
    drawn = now;
    return true;
  };

  StreamCalls calls;
  calls.connected = [&]() -> Result<bool> {
    dirty = true;
    return true;
  };
  calls.tick = draw;
  calls.event = [&](const SseEvent& event) {
    dirty = true;
    if (table) return true;
    Result<EventInfo> info = parse_event(event.data);
    if (!info || !info->task || !is_wanted(*info->task, args, batch)) return true;
    screen.out(screen.json() ? event.data + "\n" : render_tabs(task_fields({*info->task})));
    return true;
  };
  if (!table) {
    Result<Listed> listed = read_list(context, query, args);
    if (!listed) return screen.fail(listed.error());
    screen.out(screen.json() ? listed->body + "\n" : render_tabs(task_fields(listed->page.tasks)));
  }
  Result<StreamEnd> end = context.client.stream("/api/stream", "", calls);
  if (failed) return screen.fail(*failed);
  if (!end) return screen.fail(end.error());
  return code(*end == StreamEnd::interrupted ? Exit::interrupted : Exit::ok);
}

}  // namespace

int list(Context& context, const ListArgs& args) {
  std::string batch;
  if (!args.batch.empty()) {
    Result<std::string> found = resolve_batch(context, args.batch);
    if (!found) return context.screen.fail(found.error());
    batch = *found;
  }
  Query query = query_of(args, batch);
  const bool for_people = context.screen.out_is_terminal() && !context.screen.json();
  query.add("sort", args.sort.empty() && for_people ? "attention" : args.sort);
  if (for_people && !args.flat && batch.empty() && args.group.empty()) query.add("fold_batches", "true");
  if (args.watch) return watch(context, query, args, batch);
  Result<Listed> listed = read_list(context, query, args);
  if (!listed) return context.screen.fail(listed.error());
  context.screen.out(context.screen.json() ? listed->body + "\n" : table_of(context, *listed, args));
  return code(Exit::ok);
}

}  // namespace errand::cli

// errand completion: what a shell loads. errand __complete: what that asks at every TAB. The latter is quick or silent:
// it starts nothing, says nothing of errors, and ends itself when a server does not answer.
#include "cli/completion.h"

#include <algorithm>
#include <set>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/time.h>

#include "base/escape_filter.h"
#include "cli/complete.h"
#include "cli/files.h"
#include "cli/short_id.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

constexpr Millis patience_ms = 400;  // A shell that hangs at TAB is worse than one without ids.
constexpr const char* tasks_max = "100";

// Which tasks a verb can be about; empty: all.
std::string_view states_for(std::string_view verb) {
  if (verb == "cancel") return "pending,running,resumed";
  if (verb == "retry") return "failed,cancelled";
  if (verb == "resume") return "completed";
  if (verb == "clear") return "completed,failed,cancelled";
  return {};
}

// The value of an option of every verb, where the line has it.
std::string told(const std::vector<std::string>& line, const std::string& option) {
  for (size_t i = 0; i + 1 < line.size() && line[i] != "--"; ++i) {
    if (line[i] == option) return line[i + 1];
    if (line[i].starts_with(option + "=")) return line[i].substr(option.size() + 1);
  }
  return {};
}

void print(const Screen& screen, const std::string& word, std::string_view help) {
  // What is no single line of plain text cannot be typed either.
  if (word.empty() || one_line(word) != word) return;
  screen.out_bytes(word + (help.empty() ? "" : "\t" + shown_line(help)) + "\n");
}

// Without the kind, as lists show them, unless it was begun.
std::string as_typed(const std::string& id, const std::string& typed, std::string_view kind) {
  const bool with_it = !typed.empty() && (typed.starts_with(kind) || kind.starts_with(typed));
  return id.starts_with(kind) && !with_it ? id.substr(kind.size()) : id;
}

Result<std::vector<TaskInfo>> tasks_like(Context& context, const Suggestions& wanted, bool batches) {
  Query query;
  query.add("limit", tasks_max);
  if (!batches) {
    query.add("status", states_for(wanted.verb));
    if (wanted.verb == "answer") query.add("waiting_for", "permission,answer");
    const std::string typed = with_kind(wanted.typed, "task_");
    // Ids begin with the time at which they were made.
    if (std::optional<IdSpan> span = span_of(typed, "task_"); span && typed.size() > std::string_view("task_").size()) {
      query.add("created_after", format_time(span->first - 1));
      query.add("created_before", format_time(span->last + 1));
    }
  }
  Result<std::string> body = context.client.get("/api/tasks" + query.text());
  if (!body) return std::unexpected(body.error());
  Result<TaskPage> page = parse_tasks(*body);
  if (!page) return std::unexpected(page.error());
  return std::move(page->tasks);
}

void print_tasks(Context& context, const Suggestions& wanted) {
  Result<std::vector<TaskInfo>> tasks = tasks_like(context, wanted, false);
  if (!tasks) return;
  for (const TaskInfo& task : *tasks) {
    const std::string word = as_typed(task.id, wanted.typed, "task_");
    if (word.starts_with(wanted.typed))
      print(context.screen, wanted.before + word, fmt::format("{}: {}", task.status, task.title));
  }
}

void print_batches(Context& context, const Suggestions& wanted) {
  Result<std::vector<TaskInfo>> tasks = tasks_like(context, wanted, true);
  if (!tasks) return;
  std::set<std::string> seen;
  for (const TaskInfo& task : *tasks) {
    const std::string word = as_typed(task.batch_id, wanted.typed, "batch_");
    if (word.starts_with(wanted.typed) && seen.insert(word).second)
      print(context.screen, wanted.before + word, "with: " + task.title);
  }
}

void print_agents(Context& context, const Suggestions& wanted) {
  Result<std::string> body = context.client.get("/api/agents");
  if (!body) return;
  for (const AgentInfo& agent : parse_agents(*body).value_or(std::vector<AgentInfo>{})) {
    const std::string& word = agent.id.starts_with("agent_") ? agent.name : agent.id;
    if (agent.unavailable.empty() && word.starts_with(wanted.typed))
      print(context.screen, wanted.before + word, agent.description);
  }
}

void print_tools(Context& context, const Suggestions& wanted) {
  for (const std::string& tool : elements("{\"tools\":" + context.programs.tools_json("background") + "}", "tools"))
    if (const std::string name = member(tool, "name"); name.starts_with(wanted.typed))
      print(context.screen, wanted.before + name, "");
}

// What the shell itself is to look up.
std::string_view directive(Lookup lookup) {
  switch (lookup) {
    case Lookup::files:
      return "files";
    case Lookup::folders:
      return "folders";
    case Lookup::commands:
      return "commands";
    default:
      return "-";
  }
}

void give_up_later() {
  ::signal(SIGALRM, [](int) { ::_exit(0); });
  const itimerval when = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = patience_ms * 1000}};
  ::setitimer(ITIMER_REAL, &when, nullptr);
}

}  // namespace

int completion(Context& context, const CompletionArgs& args) {
  context.screen.out_bytes(args.shell == "bash"  ? bash_completion()
                           : args.shell == "zsh" ? zsh_completion()
                                                 : fish_completion());
  return code(Exit::ok);
}

int complete(Context& context, const CompleteArgs& args) {
  const Suggestions wanted = suggest(args.line);
  context.screen.out_bytes(fmt::format("{}\n", directive(wanted.lookup)));
  for (const Suggestion& one : wanted.words) print(context.screen, one.word, one.help);

  Globals globals = context.globals;
  if (const std::string folder = told(args.line, "--data-dir"); !folder.empty()) globals.data_dir = absolute(folder);
  if (const std::string url = told(args.line, "--url"); !url.empty()) globals.url = url;
  if (const std::string file = told(args.line, "--token-file"); !file.empty()) globals.token_file = file;
  Context asked(globals, context.programs);
  asked.client.set_start(Start::never);
  give_up_later();
  switch (wanted.lookup) {
    case Lookup::tasks:
      print_tasks(asked, wanted);
      break;
    case Lookup::batches:
      print_batches(asked, wanted);
      break;
    case Lookup::agents:
      print_agents(asked, wanted);
      break;
    case Lookup::tools:
      print_tools(asked, wanted);
      break;
    default:
      break;
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

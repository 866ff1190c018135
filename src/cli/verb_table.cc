#include "cli/verb_table.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/duration.h"
#include "settings/table.h"
#include "task/tool_families.h"

namespace errand::cli {
namespace {

void duration(CLI::App& app, const std::string& name, std::optional<Millis>& into, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&into, name](const std::string& text) {
           Result<Millis> span = parse_duration(text);
           if (!span) throw CLI::ValidationError(name, span.error().message);
           into = *span;
         },
         help)
      ->type_name("DURATION");
}

void size(CLI::App& app, const std::string& name, std::optional<int64_t>& into, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&into, name](const std::string& text) {
           Result<int64_t> bytes = parse_size(text);
           if (!bytes) throw CLI::ValidationError(name, bytes.error().message);
           into = *bytes;
         },
         help)
      ->type_name("SIZE");
}

void words(CLI::App& app, const std::string& name, std::string& into, const std::string& help, bool required) {
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      name,
      [&into](const std::vector<std::string>& given) {
        for (const std::string& word : given) into.append(into.empty() ? "" : " ").append(word);
      },
      help);
  option->type_name("")->required(required);
}

void stay(CLI::App& app, Stay& into, const char* wait_help) {
  auto* wait = app.add_flag_callback("-w,--wait", [&into] { into = Stay::wait; }, wait_help);
  app.add_flag_callback(
         "-f,--follow", [&into] { into = Stay::follow; }, "Show what it does, live, until it is at rest")
      ->excludes(wait);
}

void launch(CLI::App& app, LaunchArgs& args) {
  app.add_option("-t,--title", args.title, "What lists show (default: the first line)");
  app.add_option("--description", args.description, "A longer description");
  app.add_option("-m,--model", args.model, "The model to use");
  app.add_option("-C,--work-dir", args.work_dir, "Where it works (default: the current folder)");
  app.add_option("-e,--env", args.env, "A variable for it; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--pass-env", args.pass_env, "A variable to take from the server's environment; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("-b,--batch", args.batch, "The batch it belongs to; \"new\" makes one")->type_name("ID|new");
  duration(app, "--timeout", args.timeout, "The longest it may take: 90, 90s, 5m, 2h; 0 is no limit");
  duration(app, "--idle-timeout", args.idle_timeout, "The longest it may show no sign of life; 0 is no limit");
  app.add_option("--priority", args.priority, "Higher goes first among those that wait");
  app.add_option("-l,--label", args.labels, "A label; repeatable")->type_name("NAME=VALUE")->allow_extra_args(false);
  app.add_option("--parent", args.parent, "The session that is told when it ends")->type_name("SESSION");
  duration(app, "--retention", args.retention, "Remove it by itself this long after its end; 0 keeps it");
  app.add_option("--on-hang", args.on_hang, "What to do when it hangs")
      ->type_name("fail|restart")
      ->check(CLI::IsMember({"fail", "restart"}));
  app.add_option("--max-restarts", args.max_restarts, "With --on-hang restart: how often it is begun again")
      ->check(CLI::Range(1, 100));
  duration(app, "--progress-every", args.progress_every, "Tell the parent session so often how far it is");
}

Made run_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<RunArgs>();
  launch(app, args->launch);
  app.add_option("--notify-on", args->launch.notify_on,
                 "Tell --parent of a line of its output with this text (or /expression/); repeatable")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--shell", args->shell, "Join the words and give them to /bin/sh -c");
  app.add_flag("--allow-interactive", args->allow_interactive, "Start it even if it looks as if it would ask a person");
  duration(app, "--cpu", args->cpu, "CPU time that all its processes may use: 90s, 10m; 0 is no limit");
  size(app, "--memory", args->memory, "Memory that all its processes may use: 512M, 4G; 0 is no limit");
  app.add_option("--processes", args->processes, "Processes that it may have at once; 0 is no limit")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--open-files", args->open_files, "Files that each process may have open; 0 is no limit")
      ->check(CLI::Range(0, 1'000'000'000));
  size(app, "--max-output", args->max_output, "Output that is kept; past it the beginning and the end");
  app.add_option("--nice", args->nice, "How far it steps back for others: 0 to 19")->check(CLI::Range(-20, 19));
  app.add_option("--sandbox", args->sandbox,
                 "What it may touch: all that you may; its work dir alone; that, and no network")
      ->type_name("off|workspace|strict")
      ->check(CLI::IsMember({"off", "workspace", "strict"}));
  app.add_option("--artifacts", args->artifacts,
                 "Keep what it leaves in files like out/*.txt or **/*.log, below its work dir; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--add-dir", args->add_dirs, "With --sandbox: a further folder that it may write to; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  stay(app, args->launch.stay, "Show its output until it ends, then exit as it did (128+n for a signal)");
  // For the help only: the words of the command are taken off the line before it is parsed.
  app.add_option("command", args->command,
                 "The command and its arguments, best after --; one argument with blanks is a line for sh")
      ->type_name("");
  return [args] { return *args; };
}

Made ask_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AskArgs>();
  words(app, "prompt", args->prompt, "What to do; \"-\" reads it from standard input", true);
  app.add_option("-a,--agent", args->agent, "Who does it: see errand agents (default: the first that is installed)");
  app.add_option("--permission", args->permission, "What it may do without asking")
      ->type_name("ask|allow|deny")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  launch(app, args->launch);
  stay(app, args->launch.stay, "Wait until it is at rest, then print its answer");
  return [args] { return *args; };
}

Made list_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ListArgs>();
  app.add_option("-s,--status", args->status,
                 "Only these, separated by commas: pending, running, completed, failed, cancelled, resumed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pending", "running", "completed", "failed", "cancelled", "resumed"}))
      ->type_name("STATUS");
  app.add_option("-a,--agent", args->agent, "Only this agent's");
  app.add_option("--kind", args->kind, "Only agents' or only commands")
      ->type_name("agent|command")
      ->check(CLI::IsMember({"agent", "command"}));
  app.add_option("-b,--batch", args->batch, "Only this batch");
  app.add_option("--parent", args->parent, "Only those that this session launched")->type_name("SESSION");
  app.add_option("-l,--label", args->labels, "Only those with this label")->type_name("NAME=VALUE")->expected(1);
  app.add_option("--query", args->query, "Only those whose title, prompt or result has these words");
  app.add_option("-n,--limit", args->limit, "How many, newest first")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--all", args->all, "All of them");
  app.add_flag("-w,--watch", args->watch, "Stay, and show changes as they happen");
  return [args] { return *args; };
}

Made show_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ShowArgs>();
  app.add_option("id", args->id, "The task")->required();
  return [args] { return *args; };
}

Made output_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<OutputArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_flag("-w,--wait", args->wait, "Wait until it is at rest");
  duration(app, "--timeout", args->timeout, "With --wait: no longer than this, then exit 8");
  app.add_flag("--raw", args->raw, "As it was written, also to a terminal");
  return [args] { return *args; };
}

Made logs_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<LogsArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_flag("-f,--follow", args->follow, "Go on as it is written, until the task is at rest");
  app.add_option("-n,--tail", args->tail, "Only the last lines")->type_name("LINES")->check(CLI::Range(0, 100'000));
  app.add_option("--grep", args->grep, "Only lines that contain this")->type_name("TEXT");
  app.add_option("--since", args->since, "Only what was printed since: 5m (ago), or 2026-11-15T09:52:03Z")
      ->type_name("TIME");
  auto* out = app.add_flag("--stdout", args->only_out, "Only standard output");
  app.add_flag("--stderr", args->only_err, "Only standard error")->excludes(out);
  auto* attempt = app.add_option("--attempt", args->attempt, "Of an earlier attempt")->check(CLI::Range(1, 1'000'000));
  app.add_option("--run", args->run, "Of one start of work exactly, such as before a restart after a hang")
      ->check(CLI::Range(1, 1'000'000))
      ->excludes(attempt);
  app.add_flag("--raw", args->raw, "As it was written, also to a terminal");
  app.add_flag("--timestamps", args->timestamps, "Each line with its time");
  return [args] { return *args; };
}

Made artifacts_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ArtifactsArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_option("name", args->name, "One of them, by its name or id: prints it, to a terminal as a preview");
  auto* out = app.add_option("-o,--output", args->out, "Save it there")->type_name("FILE");
  app.add_flag("--preview", args->preview, "The beginning of it as text")->excludes(out);
  app.add_flag("--gather", args->gather, "Gather them now: what the patterns name is copied as it is at this moment");
  return [args] { return *args; };
}

Made send_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<SendArgs>();
  app.add_option("id", args->id, "The task")->required();
  words(app, "message", args->message, "What to say; \"-\" reads it from standard input", true);
  app.add_option("--when", args->when, "At its next step, after its turn, or at once")
      ->type_name("steer|queue|interrupt")
      ->check(CLI::IsMember({"steer", "queue", "interrupt"}));
  stay(app, args->stay, "Wait until it is at rest, then print its answer");
  return [args] { return *args; };
}

Made resume_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ResumeArgs>();
  app.add_option("id", args->id, "The task, which must be completed")->required();
  words(app, "message", args->message, "What to do next; \"-\" reads it from standard input", true);
  stay(app, args->stay, "Wait until it is at rest, then print its answer");
  return [args] { return *args; };
}

Made fork_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ForkArgs>();
  app.add_option("id", args->id, "The task whose conversation it begins with")->required();
  words(app, "prompt", args->prompt, "What to do; \"-\" reads it from standard input", true);
  app.add_option("--at", args->at, "Only up to and with this message (errand logs --json shows ids)")
      ->type_name("MESSAGE");
  app.add_option("-a,--agent", args->agent, "Who does it (default: the task's own agent)");
  app.add_option("--permission", args->permission, "What to do where it asks for permission")
      ->type_name("ask|allow|deny")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  launch(app, args->launch);
  app.remove_option(app.get_option("--parent"));
  app.get_option("--work-dir")->description("Where it works (default: where the task works)");
  app.get_option("--model")->description("The model to use (default: the task's own)");
  stay(app, args->launch.stay, "Wait until it is at rest, then print its answer");
  return [args] { return *args; };
}

Made attach_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AttachArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_option("--tail", args->tail, "Show only the last lines of what was said before")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  return [args] { return *args; };
}

Made answer_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AnswerArgs>();
  app.add_option("id", args->id, "The task that asks; without it the open questions are listed");
  words(app, "answer", args->answer,
        "allow, always or deny for a permission, else the answer itself (\"-\" reads it from standard input); where "
        "there are options, the number of one",
        false);
  app.add_option("--request", args->request, "Which question, where it asks several")->type_name("ID");
  app.add_option("--message", args->message, "With allow or deny: a word to the agent");
  app.add_flag("--literal", args->literal, "Send a number as it is, though there are options");
  return [args] { return *args; };
}

Made cancel_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<CancelArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All of a batch");
  app.add_flag("--all", args->all, "All that are at work");
  app.add_option("-s,--status", args->status, "All that are pending, running or resumed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pending", "running", "resumed"}))
      ->type_name("STATUS");
  app.add_flag("--no-wait", args->no_wait, "Do not wait until its processes are gone");
  return [args] { return *args; };
}

Made retry_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<RetryArgs>();
  app.add_option("ids", args->ids, "The tasks, which must be failed or cancelled")->required();
  app.add_option("--message", args->message, "A word to the agent for this attempt");
  stay(app, args->stay, "Wait until it is at rest, then print its answer");
  return [args] { return *args; };
}

Made clear_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ClearArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All of a batch");
  app.add_option("--parent", args->parent, "All that this session launched")->type_name("SESSION");
  app.add_flag("--all", args->all, "All that have ended");
  return [args] { return *args; };
}

Made wait_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<WaitArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All of a batch");
  app.add_flag("--any", args->any, "Until the first is at rest, not all");
  duration(app, "--timeout", args->timeout, "No longer than this, then exit 8");
  return [args] { return *args; };
}

Made batch_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<BatchArgs>();
  app.add_option("id", args->id, "The batch")->required();
  app.add_option_function<std::string>(
         "action",
         [args](const std::string& word) {
           args->action = word == "cancel"    ? BatchAction::cancel
                          : word == "retry"   ? BatchAction::retry
                          : word == "clear"   ? BatchAction::clear
                          : word == "results" ? BatchAction::results
                          : word == "delete"  ? BatchAction::remove
                                              : BatchAction::show;
         },
         "cancel, retry (the failed), clear (the ended), delete (all of it) or results; without one it is shown")
      ->check(CLI::IsMember({"show", "cancel", "retry", "clear", "delete", "results"}))
      ->type_name("");
  return [args] { return *args; };
}

Made agents_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AgentsArgs>();
  auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("action", *words, "add JSON, edit NAME JSON or remove NAME; \"-\" reads the JSON from standard input")
      ->type_name("")
      ->expected(0, CLI::detail::expected_max_vector_size);
  app.callback([args, words] {
    if (words->empty()) return;
    const std::string& action = words->front();
    const size_t given = words->size() - 1;
    if (action == "add" && given == 1) {
      args->action = AgentsAction::add;
      args->setup = words->at(1);
    } else if (action == "edit" && given == 2) {
      args->action = AgentsAction::edit;
      args->name = words->at(1);
      args->setup = words->at(2);
    } else if (action == "remove" && given == 1) {
      args->action = AgentsAction::remove;
      args->name = words->at(1);
    } else {
      throw CLI::ValidationError("action", "must be: add JSON, edit NAME JSON, or remove NAME");
    }
  });
  return [args] { return *args; };
}

Made settings_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<SettingsArgs>();
  app.add_option("change", args->changes, "What to change, as NAME=VALUE; without any they are shown")
      ->type_name("NAME=VALUE");
  return [args] { return *args; };
}

Made tool_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ToolArgs>();
  app.add_option("name", args->name, "The tool: see errand tools")->required();
  app.add_option("arguments", args->arguments, "Its arguments, a JSON object; \"-\" reads them from standard input")
      ->type_name("JSON");
  app.add_option("--session", args->session, "The session that calls: it sees only what it launched itself")
      ->type_name("ID");
  app.add_option("--message", args->message, "The message of that session that calls")->type_name("ID");
  return [args] { return *args; };
}

Made mcp_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<McpArgs>();
  app.add_option("--session", args->session,
                 "Whose tasks the client sees (default: CLAUDE_CODE_SESSION_ID, else a session of its own)")
      ->type_name("ID");
  return [args] { return *args; };
}

Made token_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<TokenArgs>();
  app.add_option_function<std::string>(
         "action",
         [args](const std::string& word) {
           args->action = word == "create"   ? TokenAction::create
                          : word == "revoke" ? TokenAction::revoke
                                             : TokenAction::list;
         },
         "create, list (the default) or revoke")
      ->check(CLI::IsMember({"create", "list", "revoke"}))
      ->type_name("");
  app.add_option("name", args->name, "Who a new one is for; of one to revoke, its id");
  app.add_option("--scope", args->scopes,
                 "What it may do, separated by commas: read (the default), tasks (agents' tasks), exec (commands), "
                 "approve (permissions), admin (everything)")
      ->type_name("SCOPES");
  duration(app, "--expires", args->expires, "After how long it ends (default: never)");
  app.callback([args] {
    if (args->action != TokenAction::list && args->name.empty())
      throw CLI::ValidationError("name", "must be given: who it is for, or the id of the one to revoke");
  });
  return [args] { return *args; };
}

Made quota_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<QuotaArgs>();
  app.add_option_function<std::string>(
         "action", [args](const std::string& word) { args->clear = word == "clear"; },
         "list (the default), or clear: whoever waits asks again now")
      ->check(CLI::IsMember({"list", "clear"}))
      ->type_name("");
  app.add_option("account", args->account, "Only this account's limit, as the list names it (default: all)");
  app.callback([args] {
    if (!args->clear && !args->account.empty())
      throw CLI::ValidationError("account", "goes with clear: errand quota clear " + args->account);
  });
  return [args] { return *args; };
}

Made open_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<OpenArgs>();
  app.add_option("id", args->id, "A task to open");
  app.add_flag("--print", args->print, "Print the link instead of opening a browser; it works once, for a short time");
  return [args] { return *args; };
}

Made opencode_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<OpencodeArgs>();
  app.add_option_function<std::string>(
         "action", [args](const std::string& word) { args->install = word == "install"; },
         "install: give OpenCode errand's tools, or bring them up to date; uninstall: take them away")
      ->required()
      ->check(CLI::IsMember({"install", "uninstall"}))
      ->type_name("");
  app.add_flag("--wake", args->wake, "The session's agent answers when a task has ended, instead of at your next word");
  app.add_option("--family", args->family, "Under which names (default: the setting tools.family)")
      ->type_name(fmt::format("{}", fmt::join(tool_families, "|")))
      ->check(CLI::IsMember(std::vector<std::string>(tool_families.begin(), tool_families.end())));
  return [args] { return *args; };
}

// A setting's help without the marks of the documentation, and what it is where nobody says.
std::string flag_help(const Setting& setting) {
  std::string help =
      fmt::format("{} (default {})", setting.help.substr(0, setting.help.size() - 1), default_text(setting));
  std::erase(help, '`');
  return help;
}

void add_flag(CLI::App& app, const Setting& setting, std::vector<std::pair<std::string, std::string>>& flags) {
  const std::string flag(setting.flag);
  const auto take = [&flags, &setting](const std::string& text) { flags.emplace_back(setting.wire, text); };
  if (std::holds_alternative<At<bool>>(setting.field)) {
    app.add_flag_callback(flag, [take] { take("true"); }, flag_help(setting));
    return;
  }
  CLI::Option* option = nullptr;
  if (std::holds_alternative<At<std::vector<std::string>>>(setting.field)) {
    option = app.add_option_function<std::vector<std::string>>(
                    flag, [take](const std::vector<std::string>& texts) { std::ranges::for_each(texts, take); },
                    flag_help(setting))
                 ->allow_extra_args(false);
  } else {
    option = app.add_option_function<std::string>(flag, take, flag_help(setting));
  }
  option->type_name(std::string(setting.flag_value));
  if (setting.least < setting.most) option->check(CLI::Range(setting.least, setting.most));
  if (!setting.choices.empty())
    option->check(CLI::IsMember(std::vector<std::string>(setting.choices.begin(), setting.choices.end())));
}

Made serve_setup(CLI::App& app, Globals& globals) {
  auto args = std::make_shared<ServeArgs>();
  for (const Setting& setting : all_settings())
    if (!setting.flag.empty()) add_flag(app, setting, args->sources.flags);
  app.add_option("--config", args->sources.config, "Settings (default: errand.toml in the data folder)")
      ->type_name("FILE");
  return [args, &globals] {
    args->sources.data_dir = globals.data_dir;
    args->json = globals.screen.json;
    return *args;
  };
}

Made supervisor_setup(CLI::App&, Globals& globals) {
  return [&globals] { return SupervisorArgs{globals.data_dir}; };
}

template <class Args>
Made no_setup(CLI::App&, Globals&) {
  return [] { return Args{}; };
}

constexpr const char* start = "Start work";
constexpr const char* look = "See it";
constexpr const char* talk = "Talk to it";
constexpr const char* control = "Steer it";
constexpr const char* around = "Around it";

constexpr Verb all[] = {
    {"run", start, "Run a command in the background", "errand run --timeout 20m -- make -j4 test", run_setup},
    {"ask", start, "Give an agent something to do", "errand ask \"Find out why the build is slow\" --follow",
     ask_setup},
    {"list", look, "List tasks", "errand list --status running,pending --watch", list_setup},
    {"show", look, "Show everything about a task", "errand show 01jcq5x7k2", show_setup},
    {"output", look, "Print a task's result", "errand output --wait 01jcq5x7k2", output_setup},
    {"logs", look, "Print a task's log or conversation", "errand logs -f --tail 20 01jcq5x7k2", logs_setup},
    {"artifacts", look, "List the files that a task left, or get one",
     "errand artifacts 01jcq5x7k2 report.html -o report.html", artifacts_setup},
    {"send", talk, "Send a message to a task", "errand send 01jcq5x7k2 \"Look at the tests first\"", send_setup},
    {"resume", talk, "Go on with a completed task", "errand resume 01jcq5x7k2 \"Now write the fix\" --wait",
     resume_setup},
    {"attach", talk, "Talk with a task, live", "errand attach 01jcq5x7k2", attach_setup},
    {"fork", talk, "Start a task with the conversation of another",
     "errand fork 01jcq5x7k2 \"Try it without the cache\"", fork_setup},
    {"answer", talk, "Answer what a task asks", "errand answer 01jcq5x7k2 allow", answer_setup},
    {"cancel", control, "Stop tasks and all their processes", "errand cancel 01jcq5x7k2", cancel_setup},
    {"retry", control, "Start a failed or cancelled task again", "errand retry 01jcq5x7k2 --follow", retry_setup},
    {"wait", control, "Wait until tasks are at rest", "errand wait --batch 01jcq5x7k2 --any --timeout 10m", wait_setup},
    {"clear", control, "Remove tasks that have ended", "errand clear --all", clear_setup},
    {"batch", control, "Show a batch, or act on all of it", "errand batch 01jcq5x7k2 results", batch_setup},
    {"quota", control, "List the usage limits that tasks wait for, or end one", "errand quota clear", quota_setup},
    {"agents", around, "List the agents that can be asked; add, edit or remove one",
     "errand agents add '{\"name\":\"reviewer\",\"driver\":\"builtin\",\"prompt\":\"You review.\"}'", agents_setup},
    {"settings", around, "Show the server's settings, or change some", "errand settings max_concurrent=5 wake=true",
     settings_setup},
    {"tools", around, "List the tools that agents can call", "errand tools", no_setup<ToolsArgs>},
    {"tool", around, "Call a tool as an agent would", "errand tool background_list '{\"status\":\"running\"}'",
     tool_setup},
    {"mcp", around, "Serve the tools to an MCP client on standard input and output",
     "claude mcp add errand -- errand mcp", mcp_setup},
    {"token", around, "Create, list or revoke tokens that may do less than the owner's",
     "errand token create ci --scope tasks,exec --expires 30d", token_setup},
    {"open", around, "Open the page in a browser", "errand open --print", open_setup},
    {"opencode", around, "Give OpenCode errand's tools, or take them away", "errand opencode install", opencode_setup},
    {"serve", around, "Run the server", "errand serve --listen 127.0.0.1:4747 --max-concurrent 5", serve_setup},
    {"doctor", around, "Check that all is well, and say what is not", "errand doctor", no_setup<DoctorArgs>},
    {"version", around, "Print the version", "errand version --json", no_setup<VersionArgs>},
    {"supervisor", "", "Own the processes of a server's tasks; the server starts it", "errand supervisor",
     supervisor_setup},
};

}  // namespace

std::span<const Verb> verbs() { return all; }

}  // namespace errand::cli

#include "cli/verb_table.h"

#include <memory>
#include <utility>

#include <CLI/App.hpp>

#include "cli/duration.h"
#include "cli/set_up_verbs.h"

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
         "-f,--follow", [&into] { into = Stay::follow; }, "Show what it does, live, until it ends")
      ->excludes(wait);
}

void launch(CLI::App& app, LaunchArgs& args) {
  app.add_option("-t,--title", args.title, "The title in lists (default: the first line of the command or prompt)");
  app.add_option("--description", args.description, "A longer description");
  app.add_option("-m,--model", args.model, "The model to use");
  app.add_option("-C,--work-dir", args.work_dir, "The folder it works in (default: the current folder)")
      ->type_name("DIR");
  app.add_option("-e,--env", args.env, "Set an environment variable for it; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--pass-env", args.pass_env, "Give it this variable of the server's environment; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("-b,--batch", args.batch, "Put it into this batch; \"new\" makes one")->type_name("ID|new");
  duration(app, "--timeout", args.timeout, "Fail it after this time: 90 (seconds), 90s, 5m, 2h; 0: no limit");
  duration(app, "--idle-timeout", args.idle_timeout,
           "Treat it as hung after this time without output, CPU use or I/O; 0: never");
  app.add_option("--priority", args.priority, "Its place among waiting tasks: higher numbers start first");
  app.add_option("-l,--label", args.labels, "Add a label; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--parent", args.parent, "Tell this session when it ends")->type_name("SESSION");
  duration(app, "--retention", args.retention, "Delete it this long after it ends; 0 keeps it");
  app.add_option("--on-hang", args.on_hang, "When it hangs: fail it, or stop it and start it again")
      ->type_name("fail|restart")
      ->check(CLI::IsMember({"fail", "restart"}));
  app.add_option("--max-restarts", args.max_restarts, "With --on-hang restart: start it again at most this often")
      ->check(CLI::Range(1, 100));
  duration(app, "--progress-every", args.progress_every, "Report its progress to --parent this often");
  app.add_flag("--isolate", args.isolate,
               "Let it work in a git work tree of its own; errand diff, merge and discard decide about it later");
  app.add_option("--isolate-base", args.isolate_base,
                 "With --isolate: begin with the last commit (head), or also with what is uncommitted (dirty)")
      ->type_name("head|dirty")
      ->check(CLI::IsMember({"head", "dirty"}));
  app.add_option("--isolate-setup", args.isolate_setup,
                 "With --isolate: run this in the new work tree first (errand logs --setup shows its output)")
      ->type_name("COMMAND");
}

Made run_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<RunArgs>();
  launch(app, args->launch);
  app.add_option("--notify-on", args->launch.notify_on,
                 "Tell --parent of each output line that contains this text (or matches /expression/); repeatable")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--shell", args->shell, "Join the words and run them with /bin/sh -c");
  app.add_flag("--allow-interactive", args->allow_interactive,
               "Run it even if it looks like a command that waits for a person's input");
  duration(app, "--cpu", args->cpu, "CPU time of all its processes together: 90s, 10m; 0: no limit");
  size(app, "--memory", args->memory, "Memory of all its processes together: 512M, 4G; 0: no limit");
  app.add_option("--processes", args->processes, "How many processes it may have at once; 0: no limit")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--open-files", args->open_files, "How many files each process may have open; 0: no limit")
      ->check(CLI::Range(0, 1'000'000'000));
  size(app, "--max-output", args->max_output, "How much output to keep; of more, the beginning and the end are kept");
  app.add_option("--nice", args->nice, "Scheduling priority as for nice(1): 0 is normal, 19 is lowest")
      ->check(CLI::Range(-20, 19));
  app.add_option("--sandbox", args->sandbox,
                 "off: no restriction; workspace: it writes only to its work dir and cannot read your keys; strict: "
                 "also no network and empty home folders")
      ->type_name("off|workspace|strict")
      ->check(CLI::IsMember({"off", "workspace", "strict"}));
  app.add_option("--artifacts", args->artifacts,
                 "Keep the files below its work dir that match, such as out/*.txt or **/*.log; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--add-dir", args->add_dirs, "With --sandbox: it may also write to this folder; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  stay(app, args->launch.stay, "Show its output until it ends, then exit with its exit code (128+n for a signal)");
  // For the help only: the words of the command are taken off the line before it is parsed.
  app.add_option("command", args->command,
                 "The command and its arguments, best after --. One argument with spaces runs in /bin/sh")
      ->type_name("");
  return [args] { return *args; };
}

Made ask_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AskArgs>();
  words(app, "prompt", args->prompt, "What to do; \"-\" reads it from standard input", true);
  app.add_option("-a,--agent", args->agent,
                 "The agent that does it; errand agents lists them (default: the setting default_agent)");
  app.add_option("--agents", args->agents,
                 "Let several agents or models do it, each in a git work tree of its own (commas between); errand "
                 "compare shows what came of it")
      ->type_name("NAME[:MODEL],...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes("--agent");
  app.add_option("--permission", args->permission, "When it wants to change something: ask you, allow it or deny it")
      ->type_name("ask|allow|deny")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  launch(app, args->launch);
  stay(app, args->launch.stay, "Wait until it ends, then print its answer");
  app.get_option("--agents")->excludes("--model")->excludes("--follow");
  return [args] { return *args; };
}

Made list_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ListArgs>();
  app.add_option("-s,--status", args->status,
                 "Only tasks in these states: pending, running, completed, failed, cancelled, resumed (commas between)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pending", "running", "completed", "failed", "cancelled", "resumed"}))
      ->type_name("STATUS");
  app.add_flag("--waiting", args->waiting, "Only tasks that wait for your answer or permission");
  app.add_option("-a,--agent", args->agent, "Only tasks of this agent");
  app.add_option("--kind", args->kind, "Only tasks of agents, or only commands")
      ->type_name("agent|command")
      ->check(CLI::IsMember({"agent", "command"}));
  app.add_option("-b,--batch", args->batch, "Only tasks of this batch");
  app.add_option("--parent", args->parent, "Only tasks that this session launched")->type_name("SESSION");
  app.add_option("-l,--label", args->labels, "Only tasks with this label")->type_name("NAME=VALUE")->expected(1);
  app.add_option("--query", args->query, "Only tasks with these words in title, prompt or result");
  app.add_flag("--archived", args->archived, "Only archived tasks, which are not listed otherwise");
  app.add_flag("--pinned", args->pinned, "Only pinned tasks");
  app.add_flag("--flat", args->flat, "List the tasks of a batch one by one (on a terminal a batch is one line)");
  app.add_option(
         "--sort", args->sort,
         "attention: what needs you first (the default on a terminal); newest; oldest; updated: last change first")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"attention", "newest", "oldest", "updated"}));
  app.add_option("--group", args->group, "List the tasks of one folder, batch or session together")
      ->type_name("folder|batch|session")
      ->check(CLI::IsMember({"folder", "batch", "session"}));
  app.add_option("-n,--limit", args->limit, "At most this many")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--all", args->all, "All tasks, however many");
  app.add_flag("-w,--watch", args->watch, "Keep running and show changes as they happen");
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
  app.add_flag("-w,--wait", args->wait, "Wait until it ends");
  duration(app, "--timeout", args->timeout, "With --wait: give up after this time with exit code 8");
  app.add_flag("--raw", args->raw, "Print it unchanged, also to a terminal");
  return [args] { return *args; };
}

Made logs_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<LogsArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_flag("-f,--follow", args->follow, "Print new lines as they come, until the task ends");
  app.add_option("-n,--tail", args->tail, "Only the last LINES lines")
      ->type_name("LINES")
      ->check(CLI::Range(0, 100'000));
  app.add_option("--grep", args->grep, "Only lines that contain this text")->type_name("TEXT");
  app.add_option("--since", args->since, "Only lines since this time: 5m (ago), or 2026-11-15T09:52:03Z")
      ->type_name("TIME");
  auto* out = app.add_flag("--stdout", args->only_out, "Only standard output");
  app.add_flag("--stderr", args->only_err, "Only standard error")->excludes(out);
  auto* attempt =
      app.add_option("--attempt", args->attempt, "The log of an earlier attempt")->check(CLI::Range(1, 1'000'000));
  auto* run = app.add_option("--run", args->run, "The log of one run, such as the one before a restart after a hang")
                  ->check(CLI::Range(1, 1'000'000))
                  ->excludes(attempt);
  app.add_flag("--setup", args->setup, "What the set-up command of its work tree printed")
      ->excludes(attempt)
      ->excludes(run)
      ->excludes("--follow");
  app.add_flag("--raw", args->raw, "Print it unchanged, also to a terminal");
  app.add_flag("--timestamps", args->timestamps, "Print the time before each line");
  return [args] { return *args; };
}

Made artifacts_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ArtifactsArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_option("name", args->name, "Print this one (its name or id); on a terminal, a preview of it");
  auto* out = app.add_option("-o,--output", args->out, "Save it to this file")->type_name("FILE");
  app.add_flag("--preview", args->preview, "Print its beginning as text")->excludes(out);
  app.add_flag("--gather", args->gather, "First copy the files that match the task's patterns now");
  return [args] { return *args; };
}

Made diff_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<DiffArgs>();
  app.add_option("id", args->id, "The task")->required();
  auto* path = app.add_option("path", args->path, "Only this file");
  auto* stat =
      app.add_flag("--stat", args->stat, "Only the files, with the lines that were added and removed")->excludes(path);
  app.add_flag("--name-only", args->name_only, "Only the files' names")->excludes(path)->excludes(stat);
  return [args] { return *args; };
}

Made merge_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<MergeArgs>();
  app.add_option("id", args->id, "The task, which worked with --isolate")->required();
  auto* mode = app.add_option("--mode", args->mode,
                              "squash: one commit (the default); merge: a merge commit; patch: into your files, "
                              "uncommitted")
                   ->type_name("squash|merge|patch")
                   ->check(CLI::IsMember({"squash", "merge", "patch"}));
  auto* message =
      app.add_option("-m,--message", args->message, "The commit's message (default: the task's title and answer)");
  auto* ask = app.add_flag("--ask", args->ask, "First ask the agent for the commit's message")->excludes(message);
  auto* others = app.add_flag("--discard-others", args->discard_others,
                              "Of several attempts: merge this one as it ended, and discard the others of its batch");
  auto* later = app.add_flag("--with-later", args->with_later,
                             "Also merge what was changed in its work tree since a test ran there (errand compare)");
  app.add_flag("--undo", args->undo, "Take the merge back, as long as nothing was built on it")
      ->excludes(mode)
      ->excludes(message)
      ->excludes(ask)
      ->excludes(others)
      ->excludes(later);
  return [args] { return *args; };
}

Made discard_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<DiscardArgs>();
  app.add_option("ids", args->ids, "Tasks that worked with --isolate")->required();
  app.add_flag("--restore", args->restore, "Make a discarded work tree again, as the task left it");
  return [args] { return *args; };
}

Made compare_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<CompareArgs>();
  app.add_option("batch", args->batch, "The batch of the attempts, as errand ask --agents printed it")->required();
  app.add_flag("-w,--wait", args->wait, "First wait until all attempts have ended");
  auto* test = app.add_option("--test", args->test,
                              "Run this command with /bin/sh in the work tree of each attempt that has ended, and wait "
                              "for the results")
                   ->type_name("COMMAND");
  duration(app, "--timeout", args->timeout, "With --test: fail a test after this time (default: 30m); 0: no limit");
  app.get_option("--timeout")->needs(test);
  return [args] { return *args; };
}

Made pr_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<PrArgs>();
  app.add_option("id", args->id, "The task, which worked with --isolate")->required();
  auto* title = app.add_option("-t,--title", args->title, "Its title (default: from the task)");
  auto* body = app.add_option("--body", args->body, "Its text (default: from the task)");
  app.add_flag("--ask", args->ask, "First ask the agent for title and text")->excludes(title)->excludes(body);
  app.add_option("--remote", args->remote, "Push to this remote of the repository (default: where your branch goes)");
  app.add_option("--base", args->base, "The branch that it is to be merged into (default: the one the task began on)")
      ->type_name("BRANCH");
  app.add_flag("--draft", args->draft, "Mark it as a draft");
  app.add_option("--with", args->with, "The program that makes it (default: by the remote's address)")
      ->type_name("gh|glab")
      ->check(CLI::IsMember({"gh", "glab"}));
  return [args] { return *args; };
}

Made send_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<SendArgs>();
  app.add_option("id", args->id, "The task")->required();
  words(app, "message", args->message, "What to say; \"-\" reads it from standard input", true);
  app.add_option("--when", args->when, "steer: at its next step; queue: after its turn; interrupt: at once")
      ->type_name("steer|queue|interrupt")
      ->check(CLI::IsMember({"steer", "queue", "interrupt"}));
  stay(app, args->stay, "Wait until it ends, then print its answer");
  return [args] { return *args; };
}

Made resume_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ResumeArgs>();
  app.add_option("id", args->id, "The task, which must be completed")->required();
  words(app, "message", args->message, "What to do next; \"-\" reads it from standard input", true);
  stay(app, args->stay, "Wait until it ends, then print its answer");
  return [args] { return *args; };
}

Made fork_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ForkArgs>();
  app.add_option("id", args->id, "The task whose conversation to copy")->required();
  words(app, "prompt", args->prompt, "What to do; \"-\" reads it from standard input", true);
  app.add_option("--at", args->at, "Copy up to this message and no further (errand logs --json shows ids)")
      ->type_name("MESSAGE");
  app.add_option("-a,--agent", args->agent, "The agent that does it (default: the agent of the copied task)");
  app.add_option("--permission", args->permission, "When it wants to change something: ask you, allow it or deny it")
      ->type_name("ask|allow|deny")
      ->check(CLI::IsMember({"ask", "allow", "deny"}));
  launch(app, args->launch);
  app.remove_option(app.get_option("--parent"));
  app.get_option("--work-dir")->description("The folder it works in (default: that of the copied task)");
  app.get_option("--model")->description("The model to use (default: that of the copied task)");
  stay(app, args->launch.stay, "Wait until it ends, then print its answer");
  return [args] { return *args; };
}

Made attach_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AttachArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_option("--tail", args->tail, "Begin with the last N lines of the conversation")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  return [args] { return *args; };
}

Made answer_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<AnswerArgs>();
  app.add_option("id", args->id, "The task that asks (default: list all open questions)");
  words(app, "answer", args->answer,
        "To a permission request: allow (once), always (this very call), pattern (what it offers), task (all that the "
        "task asks for), agent (from now on), or deny. To a question: your answer, or the number of an option; \"-\" "
        "reads it from standard input",
        false);
  app.add_option("--request", args->request, "Which question, if it asks several")->type_name("ID");
  app.add_option("--message", args->message, "With allow or deny: a message to the agent");
  app.add_option("--scope", args->scope, "How far an allowance goes (default: once)")
      ->type_name("once|call|pattern|task|agent")
      ->check(CLI::IsMember({"once", "call", "pattern", "task", "agent"}));
  app.add_option("--pattern", args->pattern, "With --scope pattern or agent: one of the patterns that it offers");
  app.add_flag("--literal", args->literal, "Send a number as text, not as the number of an option");
  return [args] { return *args; };
}

Made cancel_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<CancelArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All tasks of this batch");
  app.add_flag("--all", args->all, "All tasks that are pending, running or resumed");
  app.add_option("-s,--status", args->status, "All tasks in these states: pending, running, resumed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"pending", "running", "resumed"}))
      ->type_name("STATUS");
  app.add_flag("--no-wait", args->no_wait, "Return at once, before the processes are gone");
  return [args] { return *args; };
}

Made retry_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<RetryArgs>();
  app.add_option("ids", args->ids, "Failed or cancelled tasks")->required();
  app.add_option("--message", args->message, "A message to the agent for this attempt");
  stay(app, args->stay, "Wait until it ends, then print its answer");
  return [args] { return *args; };
}

Made clear_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ClearArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All tasks of this batch");
  app.add_option("--parent", args->parent, "All that have ended and that this session launched")->type_name("SESSION");
  app.add_flag("--all", args->all, "All that have ended");
  return [args] { return *args; };
}

Made wait_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<WaitArgs>();
  app.add_option("ids", args->ids, "The tasks");
  app.add_option("-b,--batch", args->batch, "All tasks of this batch");
  app.add_flag("--any", args->any, "Return as soon as one of them ends");
  duration(app, "--timeout", args->timeout, "Give up after this time with exit code 8");
  return [args] { return *args; };
}

Made edit_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<EditArgs>();
  app.add_option("ids", args->ids, "The tasks")->required()->type_name("ID");
  app.add_option("-t,--title", args->title, "Give it this title");
  app.add_option("-l,--label", args->labels, "Add or change a label; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--unlabel", args->unlabels, "Remove a label; repeatable")->type_name("NAME")->allow_extra_args(false);
  auto* pin = app.add_flag_callback("--pin", [args] { args->pinned = true; }, "Keep it at the top of lists");
  app.add_flag_callback("--unpin", [args] { args->pinned = false; }, "No longer keep it at the top")->excludes(pin);
  auto* archive = app.add_flag_callback(
      "--archive", [args] { args->archived = true; }, "Hide it from lists; nothing of it is deleted");
  app.add_flag_callback("--unarchive", [args] { args->archived = false; }, "List it again")->excludes(archive);
  app.callback([args] {
    if (args->title.empty() && args->labels.empty() && args->unlabels.empty() && !args->pinned && !args->archived)
      throw CLI::ValidationError("edit", "needs something to change: --title, --label, --pin, --archive, ...");
  });
  return [args] { return *args; };
}

Made export_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ExportArgs>();
  app.add_option("id", args->id, "The task")->required();
  app.add_option("--format", args->format, "md: Markdown; json; html: one file that needs nothing else")
      ->capture_default_str()
      ->type_name("md|json|html")
      ->check(CLI::IsMember({"md", "json", "html"}));
  app.add_option("-o,--output", args->out, "Save it to this file (default: print it)")->type_name("FILE");
  return [args] { return *args; };
}

Made usage_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<UsageArgs>();
  app.add_option("--by", args->by, "Sum up by day, model, agent or folder")
      ->capture_default_str()
      ->type_name("day|model|agent|folder")
      ->check(CLI::IsMember({"day", "model", "agent", "folder"}));
  app.add_option("--since", args->since, "From this day (2026-11-01), or the last 7d, 24h, ... (default: 30d)");
  app.add_option("--until", args->until, "Up to this day, which is not included (default: now)");
  return [args] { return *args; };
}

Made batch_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<BatchArgs>();
  app.add_option("id", args->id, "The batch; \"list\", the default, lists all batches");
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
         "cancel, retry (failed tasks), clear (ended tasks), delete (all tasks) or results (default: show the batch)")
      ->check(CLI::IsMember({"show", "cancel", "retry", "clear", "delete", "results"}))
      ->type_name("");
  app.callback([args] {
    if ((args->id.empty() || args->id == "list") && args->action == BatchAction::show) args->action = BatchAction::list;
  });
  return [args] { return *args; };
}

Made tool_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<ToolArgs>();
  app.add_option("name", args->name, "The tool; errand tools lists them")->required();
  app.add_option("arguments", args->arguments, "Its arguments, a JSON object; \"-\" reads them from standard input")
      ->type_name("JSON");
  app.add_option("--session", args->session, "Call it as this session, which sees only the tasks that it launched")
      ->type_name("ID");
  app.add_option("--message", args->message, "With --session: the message that makes the call")->type_name("ID");
  return [args] { return *args; };
}

Made mcp_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<McpArgs>();
  app.add_option("--session", args->session,
                 "The session whose tasks the client sees (default: CLAUDE_CODE_SESSION_ID, else a new session)")
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
  app.add_option("name", args->name, "create: who the token is for; revoke: the token's id");
  app.add_option("--scope", args->scopes,
                 "What it may do (commas between): read (the default), tasks (agents' tasks), exec (commands), approve "
                 "(permissions), admin (everything)")
      ->type_name("SCOPES");
  duration(app, "--expires", args->expires, "It stops working after this time (default: never)");
  app.callback([args] {
    if (args->action != TokenAction::list && args->name.empty())
      throw CLI::ValidationError("name", "is missing: say who the token is for (create), or its id (revoke)");
  });
  return [args] { return *args; };
}

Made notify_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<NotifyArgs>();
  app.add_option_function<std::string>(
         "action",
         [args](const std::string& word) {
           args->action = word == "add"      ? NotifyAction::add
                          : word == "test"   ? NotifyAction::test
                          : word == "remove" ? NotifyAction::remove
                          : word == "on"     ? NotifyAction::on
                          : word == "off"    ? NotifyAction::off
                          : word == "rotate" ? NotifyAction::rotate
                          : word == "watch"  ? NotifyAction::watch
                                             : NotifyAction::list;
         },
         "list (the default), add, test (send one now), remove, on, off, rotate (a new secret), or watch: tell this "
         "terminal and the desktop, until Ctrl-C")
      ->check(CLI::IsMember({"list", "add", "test", "remove", "on", "off", "rotate", "watch"}))
      ->type_name("");
  app.add_option("target", args->id, "add: the address, \"-\" reads it from standard input; else: which one, by its id")
      ->type_name("URL|ID");
  app.add_option("--on", args->on,
                 "add: when to tell, commas between: asked, failed, completed, cancelled (default: asked,failed)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"asked", "failed", "completed", "cancelled"}))
      ->type_name("OCCASIONS");
  app.add_option("--content", args->content,
                 "add: what to tell of a task: its state alone (none), its title (the default), or its text too")
      ->type_name("none|title|text")
      ->check(CLI::IsMember({"none", "title", "text"}));
  app.add_option("--shape", args->shape, "add: what the receiver is (default: by its host, else standard)")
      ->type_name("standard|ntfy|slack|discord")
      ->check(CLI::IsMember({"standard", "ntfy", "slack", "discord"}));
  app.add_option("--name", args->name, "add: how the list calls it (default: the host)");
  app.add_option("--quiet-hours", args->quiet, "add: hold notifications back from 22:00 to 07:00: 22:00-07:00")
      ->type_name("FROM-TO");
  app.add_flag("--subtasks", args->subtasks, "add: also when tasks end that another task or session launched");
  app.add_option("--token-env", args->token_env, "add: the variable that has the access token for ntfy")
      ->type_name("NAME");
  app.callback([args] {
    const bool alone = args->action == NotifyAction::list || args->action == NotifyAction::watch;
    if (!alone && args->id.empty())
      throw CLI::ValidationError("target", args->action == NotifyAction::add
                                               ? "is missing: give the address, such as https://ntfy.sh/YOUR-TOPIC"
                                               : "is missing: give the id that errand notify list shows");
  });
  return [args] { return *args; };
}

Made quota_setup(CLI::App& app, Globals&) {
  auto args = std::make_shared<QuotaArgs>();
  app.add_option_function<std::string>(
         "action", [args](const std::string& word) { args->clear = word == "clear"; },
         "list (the default), or clear: end the limit, so that waiting tasks ask the provider again now")
      ->check(CLI::IsMember({"list", "clear"}))
      ->type_name("");
  app.add_option("account", args->account, "clear: only this account, as the list names it (default: all)");
  app.callback([args] {
    if (!args->clear && !args->account.empty())
      throw CLI::ValidationError("account", "goes with clear: errand quota clear " + args->account);
  });
  return [args] { return *args; };
}

template <class Args>
Made no_setup(CLI::App&, Globals&) {
  return [] { return Args{}; };
}

constexpr const char* start = "Start work";
constexpr const char* look = "Look at tasks";
constexpr const char* talk = "Talk to agents";
constexpr const char* control = "Control tasks";
constexpr const char* around = "Set up errand";

constexpr Verb all[] = {
    {"run", start, "Run a command in the background", "errand run --timeout 20m -- make -j4 test", run_setup},
    {"ask", start, "Give an agent something to do", "errand ask \"Find out why the build is slow\" --follow",
     ask_setup},
    {"list", look, "List tasks", "errand list --status running,pending --watch", list_setup},
    {"inbox", look, "List what needs you: questions, and failures you have not looked at", "errand inbox",
     no_setup<InboxArgs>},
    {"top", look, "Watch all tasks on a live screen, and answer, message, cancel or open them", "errand top",
     no_setup<TopArgs>},
    {"show", look, "Show everything about a task", "errand show 01jcq5x7k2", show_setup},
    {"output", look, "Print a task's result", "errand output --wait 01jcq5x7k2", output_setup},
    {"logs", look, "Print a task's log or conversation", "errand logs -f --tail 20 01jcq5x7k2", logs_setup},
    {"artifacts", look, "List the files that a task left, or get one",
     "errand artifacts 01jcq5x7k2 report.html -o report.html", artifacts_setup},
    {"diff", look, "Show what a task changed", "errand diff 01jcq5x7k2 --stat", diff_setup},
    {"compare", look, "Compare what several attempts at the same work came to, and test them",
     "errand compare 01jcq5x7k2 --wait --test \"make test\"", compare_setup},
    {"export", look, "Save a task with its whole conversation as one document",
     "errand export 01jcq5x7k2 --format html -o review.html", export_setup},
    {"usage", look, "Show what agents used and cost, by day, model, agent or folder",
     "errand usage --by model --since 7d", usage_setup},
    {"send", talk, "Send a message to a task", "errand send 01jcq5x7k2 \"Look at the tests first\"", send_setup},
    {"resume", talk, "Go on with a completed task", "errand resume 01jcq5x7k2 \"Now write the fix\" --wait",
     resume_setup},
    {"attach", talk, "Talk with a task, live", "errand attach 01jcq5x7k2", attach_setup},
    {"fork", talk, "Start a task with a copy of another task's conversation",
     "errand fork 01jcq5x7k2 \"Try it without the cache\"", fork_setup},
    {"answer", talk, "Answer a task's question, or list all questions", "errand answer 01jcq5x7k2 allow", answer_setup},
    {"cancel", control, "Stop tasks and all their processes", "errand cancel 01jcq5x7k2", cancel_setup},
    {"retry", control, "Start a failed or cancelled task again", "errand retry 01jcq5x7k2 --follow", retry_setup},
    {"merge", control, "Bring what a task changed in its own work tree to your branch",
     "errand merge 01jcq5x7k2 --message \"Fix the parser\"", merge_setup},
    {"discard", control, "Remove a task's own work tree; its changes can be restored", "errand discard 01jcq5x7k2",
     discard_setup},
    {"pr", control, "Push what a task changed, and open a pull request for it with gh or glab",
     "errand pr 01jcq5x7k2 --draft", pr_setup},
    {"wait", control, "Wait until tasks end", "errand wait --batch 01jcq5x7k2 --any --timeout 10m", wait_setup},
    {"clear", control, "Remove tasks that have ended", "errand clear --all", clear_setup},
    {"edit", control, "Rename, label, pin or archive tasks", "errand edit 01jcq5x7k2 --title \"The flaky test\" --pin",
     edit_setup},
    {"batch", control, "List batches, show the tasks of one, or cancel, retry or delete them",
     "errand batch 01jcq5x7k2 results", batch_setup},
    {"quota", control, "List the usage limits that tasks wait for, or end one", "errand quota clear", quota_setup},
    {"setup", around, "Set up what is missing: a model, the usual agent, tools for your agents, a service",
     "errand setup --address http://127.0.0.1:11434/v1", setup_setup},
    {"agents", around, "List the agents that can be asked, and their models; show, add, edit or remove one",
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
    {"notify", around, "Send notifications to ntfy, Slack, Discord or a webhook when a task needs you",
     "errand notify add https://ntfy.sh/YOUR-TOPIC --on asked,failed,completed", notify_setup},
    {"open", around, "Open the page in a browser", "errand open --print", open_setup},
    {"phone", around, "Pair a phone, so that you can answer your tasks from it", "errand phone", phone_setup},
    {"device", around, "List the paired phones, or revoke one", "errand device revoke dev_01jcq5x7k2m3n4p5q6r7s8t9v0",
     device_setup},
    {"opencode", around, "Give OpenCode errand's tools, or remove them", "errand opencode install", opencode_setup},
    {"claude", around, "Give Claude Code errand's tools and notices, or take them back", "errand claude install",
     agent_install_setup},
    {"codex", around, "Give Codex errand's tools, or take them back", "errand codex install", agent_install_setup},
    {"gemini", around, "Give Gemini CLI errand's tools, or take them back", "errand gemini install",
     agent_install_setup},
    {"serve", around, "Run the server", "errand serve --listen 127.0.0.1:4747 --max-concurrent 5", serve_setup},
    {"status", around, "Say whether the server runs, and what it does", "errand status", no_setup<StatusArgs>},
    {"stop", around, "Stop the server; what runs goes on without it", "errand stop", no_setup<StopArgs>},
    {"restart", around, "Stop the server and start it again", "errand restart", no_setup<RestartArgs>},
    {"install", around, "Install this program for you: on PATH, completions, a server that starts with you",
     "errand install --linger", install_setup},
    {"upgrade", around, "Replace the installed errand by a newer one, or go back", "errand upgrade ./errand-linux-x64",
     upgrade_setup},
    {"uninstall", around, "Remove what errand install made; your tasks stay", "errand uninstall",
     no_setup<UninstallArgs>},
    {"completion", around, "Print what bash, zsh or fish needs to complete errand's words",
     "source <(errand completion bash)", completion_setup},
    {"man", around, "Print the manual page", "errand man | man -l -", no_setup<ManArgs>},
    {"doctor", around, "Check the installation and say how to fix what is wrong", "errand doctor",
     no_setup<DoctorArgs>},
    {"version", around, "Print the version", "errand version --json", no_setup<VersionArgs>},
    {"hook", "", "Print a conversation's notices for the hook of errand claude install", "errand hook claude",
     hook_setup},
    {"supervisor", "", "Run the supervisor, which owns the tasks' processes (the server starts it)",
     "errand supervisor", supervisor_setup},
    // parse.cc takes its words as they are.
    {"__complete", "", "Print what may stand where the cursor is (the shells' completions ask)",
     "errand __complete -- list --st", no_setup<CompleteArgs>},
};

}  // namespace

void globals_setup(CLI::App& app, Globals& globals) {
  app.add_flag("--json", globals.screen.json, "Print the server's JSON; streams print one object a line");
  app.add_option("--data-dir", globals.data_dir, "The data folder (ERRAND_DATA_DIR; default ~/.local/share/errand)")
      ->type_name("DIR");
  app.add_option("--url", globals.url, "Use this server (ERRAND_URL), with the token in ERRAND_TOKEN or --token-file")
      ->type_name("URL");
  app.add_option("--token-file", globals.token_file, "The file with the token for --url")->type_name("FILE");
  app.add_option_function<std::string>(
         "--color",
         [&globals](const std::string& word) {
           globals.screen.colour = word == "always"  ? ColourWish::always
                                   : word == "never" ? ColourWish::never
                                                     : ColourWish::automatic;
         },
         "auto, always or never (NO_COLOR, CLICOLOR_FORCE)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("-q,--quiet", globals.screen.quiet, "Print only the result, no messages about it");
}

std::span<const Verb> verbs() { return all; }

}  // namespace errand::cli

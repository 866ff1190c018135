// `bash`: a command under the supervisor, with the environment, limits and sandbox of the task's launch.
//
// Its run is named after the call, so that a server that comes back finds it: it is attached to, or begun where it
// never was, and never begun twice. Its folder stays until the outcome is stored; that of a long output stays with the
// task.
#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/log.h"
#include "base/text.h"
#include "driver/builtin/tools/arguments.h"
#include "driver/builtin/tools/in_background.h"
#include "driver/builtin/tools/process_tools.h"
#include "driver/run/outcome.h"
#include "driver/run/spawn.h"
#include "driver/run/usage_text.h"
#include "driver/run_name.h"
#include "files/copy.h"
#include "model/model.h"
#include "process/journal.h"
#include "shell/interactive.h"
#include "shell/reads.h"
#include "shell/subjects.h"
#include "task/notice.h"

namespace errand::builtin {
namespace {

constexpr int64_t timeout_default_s = 120;
constexpr int64_t timeout_max_s = 600;
constexpr size_t command_bytes_max = 100'000;  // Below the kernel's bound for one word.
constexpr int64_t output_kept = 16LL << 20;    // Of the log.
constexpr int64_t half_bytes = 64 * 1024;      // Head and tail that are read of it,
constexpr size_t shown_characters = 28'000;    // and what of them is given.
constexpr size_t long_outputs_max = 20;        // Folders of a task that stay for their output.
constexpr std::string_view tool_name = "bash";

struct Arguments {
  std::string command;
  int64_t timeout_s = timeout_default_s;
  std::string description;
};

Result<Arguments> read_input(std::string_view input) {
  Arguments arguments;
  const Status good = read_arguments(input, [&](Fields& fields) {
    require(fields, "command");
    fields.text("command", arguments.command, {.bytes_max = command_bytes_max});
    fields.integer("timeout", arguments.timeout_s, 1, timeout_max_s);
    fields.text("description", arguments.description, {.bytes_max = 1'000, .may_be_blank = true});
  });
  if (!good) return std::unexpected(good.error());
  return arguments;
}

std::string run_of(const ToolContext& context) {
  const std::string key = files::sha256(context.message.value + "\n" + context.call_id).substr(0, 24);
  return run_name({context.task->id, context.task->run, std::string(tool_name), key});
}

// Both streams into one pipe: from two, nobody could say what came first.
constexpr const char* one_stream = "exec \"$0\" -c \"$1\" 2>&1";

const char* shell_path() { return ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh"; }

// What a run printed: whole where it is short, else its beginning and its end.
struct Printed {
  std::string text;
  bool whole = true;
};

std::string read_range(process::Journal& journal, int64_t from, int64_t to, bool& cut) {
  std::string out;
  for (int64_t at = from; at < to;) {
    const Result<process::JournalRead> read = journal.read(at, to - at);
    if (!read || read->next <= at) break;
    if (read->damaged)
      out += damage_text(read->cut);
    else if (read->cut > 0)
      cut = true;
    for (const process::Piece& piece : read->pieces) out += piece.bytes;
    at = read->next;
  }
  return out;
}

Printed read_printed(process::Journal& journal) {
  const auto clean = [](std::string_view bytes) { return without_escapes(bytes, EscapeFilter::Colours::drop); };
  const int64_t size = journal.size();
  Printed printed;
  bool cut = false;
  if (size <= 2 * half_bytes) {
    printed.text = clean(read_range(journal, 0, size, cut));
    printed.whole = !cut && count_characters(printed.text) <= shown_characters;
    if (printed.whole) return printed;
  } else {
    printed.text =
        clean(read_range(journal, 0, half_bytes, cut)) + clean(read_range(journal, size - half_bytes, size, cut));
    printed.whole = false;
  }
  const size_t half = shown_characters / 2;
  const std::string_view head = first_characters(printed.text, half);
  const size_t tail = utf8_suffix(printed.text, printed.text.size() - std::min(printed.text.size(), head.size()));
  std::string_view rest = std::string_view(printed.text).substr(printed.text.size() - tail);
  if (const size_t characters = count_characters(rest); characters > half)
    rest.remove_prefix(first_characters(rest, characters - half).size());
  printed.text = fmt::format("{}\n[... {} bytes in all; the middle is left out here ...]\n{}", head, size, rest);
  return printed;
}

std::string ending_text(const process::RunEnd& end, const Arguments& arguments) {
  using How = process::RunEnd::How;
  switch (end.how) {
    case How::exited:
      return end.exit_code == 0 ? std::string() : fmt::format("[exit code {}]", end.exit_code);
    case How::timeout:
      return fmt::format(
          "[ended: it did not finish within {} s; give it a longer `timeout` (up to {}), or start it in the "
          "background with background_execute]",
          arguments.timeout_s, timeout_max_s);
    case How::stopped:
      return "[it was stopped before it had finished]";
    case How::lost:
      return "[interrupted: its process was lost, and how far it came is not known; look before you do it again]";
    case How::signalled:
    case How::spawn_failed:
    case How::limit:
      break;
  }
  const Outcome outcome = run::make_outcome(end, {}, arguments.timeout_s * 1000, Surface::tools);
  return "[" + (outcome.error ? outcome.error->message : std::string("it failed")) + "]";
}

ToolOutcome outcome_of(const process::RunEnd& end, const Arguments& arguments, const Printed& printed,
                       const std::string& log) {
  using How = process::RunEnd::How;
  ToolOutcome outcome;
  outcome.output = printed.text;
  outcome.is_error = end.how != How::exited || end.exit_code != 0;
  outcome.interrupted = end.how == How::lost;
  const auto line = [&](const std::string& text) {
    if (text.empty()) return;
    if (!outcome.output.empty() && !outcome.output.ends_with('\n')) outcome.output += '\n';
    outcome.output += text;
  };
  if (!printed.whole) line(fmt::format("[the whole output is in {}; use read or grep on it]", log));
  line(ending_text(end, arguments));
  if (outcome.output.empty()) outcome.output = "(it printed nothing)";
  return outcome;
}

class BashRun final : public ToolRun, private process::RunListener {
  // A callback of the supervisor that must not reach a run that is gone.
  template <class F>
  auto guarded(F work) {
    return [here = std::weak_ptr(here_), work = std::move(work)](auto&& answer) mutable {
      if (!here.expired()) work(std::forward<decltype(answer)>(answer));
    };
  }

 public:
  BashRun(const ProcessParts& parts, const ToolContext& context, Arguments arguments, Tool::Done done)
      : parts_(parts),
        task_(context.task->id),
        run_(run_of(context)),
        arguments_(std::move(arguments)),
        done_(std::move(done)) {}

  // Whatever it is at, its run stays, for a server that takes the call up again.
  ~BashRun() override {
    if (state_ == State::working) parts_.supervisor.forget(this);
  }

  void begin(const ToolContext& context, bool again) {
    if (!again) return make(context.task);
    state_ = State::working;
    parts_.supervisor.attach(run_, this,
                             guarded([this, task = context.task](const Result<process::Attached>& attached) {
                               if (attached) return stop_if_asked();
                               // The folder is made before the fork: where there is none, nothing was ever started.
                               if (attached.error().code == Code::not_found) return make(task);
                               lost(attached.error());
                             }));
  }

  bool stop() override {
    if (state_ == State::making) return false;
    if (state_ != State::working) return state_ == State::reading;
    stopping_ = true;
    parts_.supervisor.stop(run_);
    return true;
  }
  void drop() override {
    const State was = std::exchange(state_, State::released);
    if (was == State::working) parts_.supervisor.forget(this);
    if (was == State::working || was == State::reading) parts_.supervisor.release(run_);
    background_.reset();
    here_.reset();
    done_ = nullptr;
  }
  void stored() override {
    if (state_ != State::told) return;
    if (keep_) return keep_folder();
    state_ = State::released;
    parts_.supervisor.release(run_);
  }
  void probe(std::move_only_function<void(bool, std::string)> answer) override {
    if (state_ != State::working) return answer(true, {});
    if (std::exchange(probing_, true)) return;
    parts_.supervisor.usage(run_, guarded([this, answer = std::move(answer)](Result<process::RunUsage> usage) mutable {
                              probing_ = false;
                              if (!usage) return;
                              const bool works = usage->cpu_s > cpu_s_ || usage->io_bytes != io_bytes_ || printed_;
                              cpu_s_ = std::max(cpu_s_, usage->cpu_s);
                              io_bytes_ = usage->io_bytes;
                              printed_ = false;
                              answer(works, run::describe(*usage));
                            }));
  }
  bool unseen() const override { return probing_ && state_ == State::working; }

 private:
  enum class State : uint8_t { making, working, reading, told, released };

  // What the supervisor is to be asked for looks at files; nothing runs yet.
  void make(const std::shared_ptr<const Task>& task) {
    if (stopping_) return refuse({.output = "[it was stopped before it had begun]", .is_error = true});
    state_ = State::making;
    const auto request = std::make_shared<process::SpawnRequest>();  // Written by the background before it tells.
    background_ = in_background(
        parts_.background, parts_.engine,
        [request, options = parts_.command, can = parts_.supervisor.abilities(), task, run = run_,
         arguments = arguments_](const GivenUp&) {
          if (const Status good = run::check_sandbox_of(options, can, *task); !good) return refused(good.error());
          if (const auto folder = run::make_artifact_folder(options, task->id); !folder) return refused(folder.error());
          *request =
              run::make_spawn(options, can, *task, run, {"/bin/sh", "-c", one_stream, shell_path(), arguments.command})
                  .request;
          request->timeout_ms = arguments.timeout_s * 1000;
          request->output_limit = std::min(request->output_limit, output_kept);
          return ToolOutcome{};
        },
        guarded([this, request](ToolOutcome outcome) {
          if (outcome.is_error) return refuse(std::move(outcome));
          spawn(std::move(*request));
        }));
  }

  void spawn(process::SpawnRequest request) {
    state_ = State::working;
    parts_.supervisor.spawn(std::move(request), this, guarded([this](Status started) {
                              if (started) return stop_if_asked();
                              lost(started.error());
                            }));
  }
  // Asked for before there was anything to stop.
  void stop_if_asked() {
    if (stopping_ && state_ == State::working) parts_.supervisor.stop(run_);
  }

  // Nobody knows how far it came: nothing of it may be left.
  void lost(const Error& error) {
    if (state_ != State::working) return;
    parts_.supervisor.forget(this);
    parts_.supervisor.stop(run_);
    tell({.output = "The command could not be followed, and how far it came is not known: " + error.message +
                    " Look before you do it again.",
          .is_error = true,
          .interrupted = true});
  }

  void output(int64_t) override { printed_ = true; }

  void ended(const process::RunEnd& end) override {
    if (state_ != State::working) return;
    state_ = State::reading;
    const std::string log = process::log_file(parts_.command.data_dir, run_);
    auto open = parts_.command.open_journal;
    background_ = in_background(
        parts_.background, parts_.engine,
        [open = std::move(open), data_dir = parts_.command.data_dir, run = run_, end, arguments = arguments_, log,
         whole = whole_](const GivenUp&) {
          Printed printed;
          if (end.output_bytes > 0) {
            const Result<std::shared_ptr<process::Journal>> journal =
                open ? open(run) : process::Journal::open(process::run_folder(data_dir, run));
            if (journal)
              printed = read_printed(**journal);
            else
              printed.text = "[its output cannot be read: " + journal.error().message + "]";
          }
          *whole = printed.whole;
          return outcome_of(end, arguments, printed, log);
        },
        guarded([this](ToolOutcome outcome) {
          keep_ = !*whole_;
          tell(std::move(outcome));
        }));
  }

  // Nothing was started.
  void refuse(ToolOutcome outcome) { tell(std::move(outcome), State::released); }
  void tell(ToolOutcome outcome, State now = State::told) {
    state_ = now;
    // May destroy this.
    if (auto done = std::exchange(done_, nullptr)) done(std::move(outcome));
  }

  // The newest long outputs of a task stay; it is told where they are.
  void keep_folder() {
    state_ = State::released;
    parts_.supervisor.list(
        [&supervisor = parts_.supervisor, task = task_](Result<std::vector<process::RunStatus>> listed) {
          if (!listed) return;
          std::vector<std::pair<Time, std::string>> old;
          for (const process::RunStatus& status : *listed)
            if (const auto run = parse_run_name(status.run);
                run && run->task == task && run->tool == tool_name && status.end)
              old.emplace_back(status.end->ended_at, status.run);
          std::ranges::sort(old);
          for (size_t i = 0; i + long_outputs_max < old.size(); ++i) supervisor.release(old[i].second);
        });
  }

  const ProcessParts& parts_;
  const TaskId task_;
  const std::string run_;
  const Arguments arguments_;
  Tool::Done done_;
  State state_ = State::making;
  bool stopping_ = false;
  bool keep_ = false;
  bool printed_ = false;
  bool probing_ = false;
  double cpu_s_ = 0;
  int64_t io_bytes_ = 0;
  std::shared_ptr<bool> whole_ = std::make_shared<bool>(true);  // Written by the background before it tells.
  std::unique_ptr<ToolRun> background_;
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

class Bash final : public Tool {
 public:
  explicit Bash(ProcessParts parts) : parts_(parts) {}

  const model::ToolSpec& spec() const override { return spec_; }
  bool read_only() const override { return false; }
  bool survives() const override { return true; }
  std::string summary(std::string_view input) const override {
    const Result<Arguments> arguments = read_input(input);
    if (!arguments) return {};
    return short_line(arguments->description.empty() ? arguments->command : arguments->description);
  }
  Result<Prepared> prepare(const ToolContext& context, std::string input) const override {
    Result<Arguments> arguments = read_input(input);
    if (!arguments) return std::unexpected(arguments.error());
    // What was begun is followed, whatever would be said of it today.
    if (!context.again)
      if (const Status good = check(*context.task, *arguments); !good) return std::unexpected(good.error());
    Prepared call;
    call.need = need_of_command(arguments->command, context.task->launch.work_dir);
    call.run = [this, arguments = std::move(*arguments)](const ToolContext& with, Done done) mutable {
      auto run = std::make_unique<BashRun>(parts_, with, std::move(arguments), std::move(done));
      run->begin(with, with.again);
      return run;
    };
    return call;
  }

 private:
  // R9.2, and the sandbox of the launch.
  Status check(const Task& task, const Arguments& arguments) const {
    const Launch& launch = task.launch;
    if (!launch.allow_interactive) {
      std::vector<std::string> variables;
      for (const auto& [name, value] : launch.env) variables.push_back(name);
      if (const auto asks = shell::find_interactive(arguments.command, variables))
        return fail(Code::invalid_argument, shell::refusal_text(*asks), "interactive");
    }
    return run::check_sandbox_of(parts_.command, parts_.supervisor.abilities(), launch);
  }

  ProcessParts parts_;
  model::ToolSpec spec_{
      .name = std::string(tool_name),
      .description =
          "Runs a shell command in the work dir and gives what it printed (both streams, in order) and its exit code. "
          "Each "
          "call is a new shell: folders and variables do not stay; use absolute paths or `cd x && ...`. There is no "
          "terminal and nobody answers: no editors, pagers or questions (`-y`, `git commit -m`). It is ended, with all "
          "that it started, after `timeout` seconds; for what takes longer, or shall go on by itself, use "
          "background_execute. Of a long output you get the beginning and the end, and where the whole is. To read, "
          "search and change files use read, grep, glob, edit and write instead.",
      .input_schema = R"({"type":"object","properties":{)"
                      R"("command":{"type":"string","description":"What to run, for bash -c."},)"
                      R"("timeout":{"type":"integer","minimum":1,"maximum":600,"description":"Seconds. Default 120."},)"
                      R"("description":{"type":"string","description":"What it is for, in a few words for people."})"
                      R"(},"required":["command"],"additionalProperties":false})"};
};

}  // namespace

Tool::Need need_of_command(std::string_view command, std::string_view where) {
  Tool::Need need;
  need.tool = tool_name;
  need.subject = shell::subject_of(command);
  need.work_dir = where;
  need.reads = shell::only_reads(command, where);
  need.text = fmt::format("Run: {}\nIn {}", bounded(command, 2'000, "The whole is in the tool call."), where);
  return need;
}

std::unique_ptr<Tool> make_bash(ProcessParts parts) { return std::make_unique<Bash>(parts); }

}  // namespace errand::builtin

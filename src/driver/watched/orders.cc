#include "driver/watched/orders.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/beside.h"
#include "base/fields.h"
#include "base/log.h"
#include "base/text.h"
#include "changes/record.h"
#include "changes/repository.h"
#include "driver/watched/set_up.h"

namespace errand::watched {
namespace {

namespace fs = std::filesystem;
using How = process::RunEnd::How;

constexpr std::string_view mark = "__changes_";
constexpr int64_t answer_max = 48LL << 20, read_chunk = 1 << 20;
constexpr Millis short_ms = 120'000, long_ms = 900'000;  // How long an order may take; those that write a work tree.

constexpr Millis second_ms = 1'000, hour_ms = 3'600'000, day_ms = 24 * hour_ms;
constexpr size_t cleaned_at_once = 20;

// Number 0: no task has such a run, so no driver takes it for one of its own (driver/run_name.h).
std::string name_of(const TaskId& task, const std::string& key) { return task.value + std::string(mark) + key + ".0"; }

struct Name {
  TaskId task;
  std::string key;
};
std::optional<Name> parse_name(std::string_view run) {
  const size_t at = run.find(mark);
  if (at == std::string_view::npos || at == 0 || !run.ends_with(".0")) return std::nullopt;
  run.remove_suffix(2);
  return Name{TaskId(run.substr(0, at)), std::string(run.substr(at + mark.size()))};
}
// "begin3" is a begin.
std::string order_of(std::string_view key) { return std::string(key.substr(0, key.find_first_of("0123456789"))); }

bool takes_long(std::string_view order) {
  return order == "begin" || order == "restore" || order == "discard" || order == "clean";
}
// May be done a second time, where the first one was cut.
bool may_repeat(std::string_view order) {
  return order == "begin" || order == "ready" || order == "finish" || order == "settle" || order == "clean";
}

Error error_of(const process::RunEnd& end) {
  switch (end.how) {
    case How::timeout:
      return {Code::unavailable, "git took too long, so it was ended. Try again when the disk is less busy.", "slow"};
    case How::stopped:
      return {Code::unavailable, "It was stopped.", "stopped"};
    case How::spawn_failed:
      return {Code::unavailable, "errand could not start itself: " + end.text, "no_program"};
    default:
      return {Code::unavailable, "What asks git was ended before it answered. Try again.", "lost"};
  }
}

Result<std::string> read_all(process::Journal& journal) {
  std::string text;
  for (int64_t next = 0; next < journal.size();) {
    Result<process::JournalRead> read = journal.read(next, read_chunk);
    if (!read) return std::unexpected(read.error());
    if (read->cut > 0 || read->damaged || read->next <= next || std::ssize(text) > answer_max)
      return fail(Code::internal, "The answer of what asks git is damaged or too long.", "damaged");
    for (const process::Piece& piece : read->pieces)
      if (piece.stream == process::Stream::out) text += piece.bytes;
    next = read->next;
  }
  return text;
}

void read_isolation(Fields& fields, std::optional<Isolation>& into) {
  if (!fields.has("isolation")) return;
  constexpr TextRule any{.bytes_max = 64 << 10, .may_be_blank = true};
  Isolation& isolation = into.emplace();
  fields.inner("isolation", [&](Fields& inner) {
    inner.text("kind", isolation.kind, any);
    inner.text("state", isolation.state, any);
    inner.text("path", isolation.path, any);
    inner.text("work_dir", isolation.work_dir, any);
    inner.text("branch", isolation.branch, any);
    inner.text("base", isolation.base, any);
    inner.text("repo", isolation.repo, any);
    inner.text("target", isolation.target, any);
    inner.integer("bytes", isolation.bytes, 0, INT64_MAX);
  });
}

std::optional<Code> parse_code(std::string_view text) {
  for (const Code code : {Code::invalid_argument, Code::not_found, Code::conflict, Code::unsupported, Code::too_large,
                          Code::exhausted, Code::storage_full, Code::unavailable, Code::forbidden})
    if (name(code) == text) return code;
  return Code::internal;
}

}  // namespace

Result<ChangesAnswer> read_answer(std::string text) {
  const auto broken = [] {
    return fail(Code::internal, "What asks git gave no answer. The server's log may say why.", "no_answer");
  };
  ChangesAnswer answer;
  // The program wrote it: a quote inside of a text is escaped, so this is the key. The reply itself may be long, and is
  // handed on as it is.
  constexpr std::string_view key = ",\"reply\":";
  if (const size_t at = text.find(key); at != std::string::npos) {
    const size_t end = text.rfind('}');
    if (end == std::string::npos || end < at) return broken();
    answer.reply = text.substr(at + key.size(), end - at - key.size());
    text.resize(at);
    text += '}';
  }
  Result<Document> document = Document::parse(text);
  if (!document) return broken();
  Fields fields(document->value());
  read_isolation(fields, answer.isolation);
  if (fields.has("error")) {
    Error& error = answer.refused.emplace(Code::internal, "", "");
    fields.inner("error", [&](Fields& inner) {
      inner.name_of("code", error.code, parse_code, "a code");
      inner.text("message", error.message, {.bytes_max = 64 << 10, .may_be_blank = true});
      inner.text("reason", error.reason, {.bytes_max = 1 << 10, .may_be_blank = true});
      inner.texts("files", answer.files, 1'000, {.bytes_max = 64 << 10, .may_be_blank = true});
    });
  }
  if (!fields.done()) return broken();
  if (!answer.refused && answer.reply.empty()) return broken();
  return answer;
}

// One order: it waits, runs, and is read.
class Orders::Job final : public process::RunListener {
 public:
  Job(Orders& room, TaskId of, std::string what, std::string key)
      : task(std::move(of)), order(std::move(what)), run(name_of(task, key)), room_(room) {}

  void output(int64_t) override {}
  void ended(const process::RunEnd& end) override { room_.ended(*this, end); }

  const TaskId task;
  const std::string order;
  const std::string run;
  std::string text;  // The order as the program reads it; empty: it is heard only where it is there.
  std::vector<Answered> done;
  bool started = false, stopped = false, repeated = false;

 private:
  Orders& room_;
};

Orders::Orders(OrderOptions options, OrderParts parts)
    : options_(std::move(options)), parts_(parts), clean_timer_(parts.timers) {
  if (!options_.open_journal)
    options_.open_journal = [folder = options_.data_dir](const std::string& run) {
      return process::Journal::open(process::run_folder(folder, run));
    };
}

Orders::~Orders() {
  for (const auto& job : jobs_)
    if (job->started) parts_.supervisor.forget(job.get());
}

changes::Order Orders::order_for(const Task& task, std::string_view what) const {
  return {.order = std::string(what),
          .data_dir = options_.data_dir,
          .home = options_.home,
          .task = task.id.value,
          .work_dir = task.launch.work_dir,
          .title = task.title,
          .isolate = task.launch.isolate == Isolate::worktree,
          .dirty = task.launch.isolate_base == IsolateBase::dirty,
          .sandboxed = task.launch.sandbox != Sandbox::off,
          .setup_run = task.launch.isolate_setup.empty() ? "" : set_up_name(task.id, task.run),
          .now = std::to_string(parts_.clock.wall().ms),
          .max_bytes = std::to_string(bounds().max_bytes)};
}

// Unique beside those of earlier servers, too.
std::string Orders::next_key(std::string_view order) {
  return fmt::format("{}{}x{}", order, parts_.clock.wall().ms, ++asked_);
}

void Orders::ask(std::shared_ptr<const Task> task, ChangesAsk ask, Answered done) {
  const auto refuse = [&](Code code, std::string message, std::string reason) {
    parts_.engine.post([done = std::move(done), error = Error{code, std::move(message), std::move(reason)}]() mutable {
      done(std::unexpected(std::move(error)));
    });
  };
  if (ask.decides() && working_.contains(task->id.value))
    return refuse(Code::conflict, "A turn of the task is at work. Wait for its end, or cancel it first.", "at_work");
  // Whoever asks for the list while it is about to be made gets that one.
  const auto same = [&](const auto& job) {
    return !job->started && job->task == task->id && job->order == "list" && ask.order == "list";
  };
  if (const auto waiting = std::ranges::find_if(jobs_, same); waiting != jobs_.end()) {
    (*waiting)->done.push_back(std::move(done));
    return;
  }
  if (jobs_.size() >= options_.waiting_max)
    return refuse(Code::exhausted, "Too many ask what tasks changed; ask again in a moment.", "changes_busy");
  changes::Order order = order_for(*task, ask.order);
  order.path = std::move(ask.path);
  order.mode = std::move(ask.mode);
  order.message = std::move(ask.message);
  order.with_later = ask.with_later;
  add(task->id, ask.order, next_key(ask.order), encode(order), std::move(done));
}

void Orders::carry_out(const Task& task, std::string_view order, const std::string& key, Answered done) {
  add(task.id, std::string(order), key, encode(order_for(task, order)), std::move(done));
}

void Orders::hear(const TaskId& task, const std::string& key, Answered done) {
  add(task, order_of(key), key, {}, std::move(done));
}

void Orders::add(TaskId task, std::string order, const std::string& key, std::string text, Answered done) {
  const std::string run = name_of(task, key);
  if (const auto known = std::ranges::find(jobs_, run, [](const auto& job) { return job->run; });
      known != jobs_.end()) {
    // Left by an earlier server, and heard already. Where that one is not there, it is given now.
    if ((*known)->text.empty()) (*known)->text = std::move(text);
    (*known)->done.push_back(std::move(done));
    return;
  }
  Job& job = *jobs_.emplace_back(std::make_unique<Job>(*this, std::move(task), std::move(order), key));
  job.text = std::move(text);
  job.done.push_back(std::move(done));
  // Later, never inside the call.
  parts_.engine.post([this, here = alive_.watch()] {
    if (!here.gone()) pump();
  });
}

void Orders::pump() {
  std::set<std::string_view> busy;
  size_t running = 0;
  for (const auto& job : jobs_)
    if (job->started) busy.insert(job->task.value), ++running;
  for (const auto& job : jobs_) {
    if (running >= options_.at_once) return;
    if (job->started || !busy.insert(job->task.value).second) continue;
    ++running;
    start(*job);
  }
}

void Orders::start(Job& job) {
  job.started = true;
  if (!job.text.empty()) return spawn(job);
  parts_.supervisor.attach(job.run, &job,
                           [this, here = alive_.watch(), &job](const Result<process::Attached>& attached) {
                             if (here.gone() || attached) return;
                             parts_.supervisor.forget(&job);
                             // Whoever came meanwhile brought the order with it.
                             if (!job.text.empty()) return spawn(job);
                             finish(job, std::unexpected(attached.error()));
                           });
}

void Orders::spawn(Job& job) {
  process::SpawnRequest request{.run = job.run,
                                .argv = {options_.program, "changes-order", job.text},
                                .work_dir = "/",
                                .env = options_.environment,
                                .timeout_ms = takes_long(job.order) ? long_ms : short_ms};
  parts_.supervisor.spawn(std::move(request), &job, [this, here = alive_.watch(), &job](Status started) {
    if (here.gone() || started) return;
    parts_.supervisor.forget(&job);
    parts_.supervisor.stop(job.run);
    finish(job, std::unexpected(started.error()));
  });
}

void Orders::ended(Job& job, const process::RunEnd& end) {
  if (end.how != How::exited || end.exit_code != 0) {
    parts_.supervisor.release(job.run);
    const bool cut = end.how == How::lost || end.how == How::signalled || end.how == How::spawn_failed;
    if (cut && !job.stopped && !job.text.empty() && may_repeat(job.order) && !std::exchange(job.repeated, true))
      return parts_.engine.post([this, here = alive_.watch(), &job] {
        if (!here.gone()) spawn(job);
      });
    return finish(job, std::unexpected(error_of(end)));
  }
  run_then(
      parts_.files, parts_.engine, alive_.watch(),
      [open = options_.open_journal, run = job.run]() -> Result<ChangesAnswer> {
        Result<std::shared_ptr<process::Journal>> journal = open(run);
        if (!journal) return std::unexpected(journal.error());
        Result<std::string> text = read_all(**journal);
        if (!text) return std::unexpected(text.error());
        return read_answer(std::move(*text));
      },
      [this, &job](const Result<ChangesAnswer>& answer) {
        parts_.supervisor.release(job.run);
        finish(job, answer);
      });
}

void Orders::finish(Job& job, const Result<ChangesAnswer>& answer) {
  const auto at = std::ranges::find(jobs_, &job, [](const auto& one) { return one.get(); });
  const std::unique_ptr<Job> over = std::move(*at);
  jobs_.erase(at);
  const Alive::Watch here = alive_.watch();
  for (Answered& done : over->done) {
    done(answer);
    if (here.gone()) return;
  }
  pump();
}

void Orders::stop(const TaskId& task, const std::string& key) {
  const auto known = std::ranges::find(jobs_, name_of(task, key), [](const auto& job) { return job->run; });
  if (known == jobs_.end()) return;
  Job& job = **known;
  job.stopped = true;
  if (job.started) return parts_.supervisor.stop(job.run);
  parts_.engine.post([this, here = alive_.watch(), &job] {
    if (here.gone()) return;
    const bool waits = std::ranges::any_of(jobs_, [&](const auto& one) { return one.get() == &job && !one->started; });
    if (waits) return finish(job, fail(Code::unavailable, "It was stopped.", "stopped"));
    if (std::ranges::any_of(jobs_, [&](const auto& one) { return one.get() == &job; })) parts_.supervisor.stop(job.run);
  });
}

void Orders::take_up(Heard heard) {
  wall_ahead_ = parts_.clock.wall().ms - parts_.clock.steady().ms;
  arm_clean_up();
  const auto tell = [heard](const TaskId& task, const std::string& order) {
    return [heard, task, order](Result<ChangesAnswer> answer) {
      // Nothing is known of it any more: only a settled order says that there is none.
      if (answer && (answer->isolation || (order == "settle" && !answer->refused)))
        heard(task, std::move(answer->isolation));
    };
  };
  parts_.supervisor.list([this, here = alive_.watch(), tell](Result<std::vector<process::RunStatus>> listed) {
    if (here.gone()) return;
    if (!listed) log_warning("changes", "the supervisor's runs are not known: " + listed.error().message);
    for (const process::RunStatus& status : listed.value_or(std::vector<process::RunStatus>()))
      if (std::optional<Name> left = parse_name(status.run)) {
        const std::string order = order_of(left->key);
        add(left->task, order, left->key, {}, tell(left->task, order));
      }
    run_then(
        parts_.files, parts_.engine, alive_.watch(),
        [data_dir = options_.data_dir] {
          std::vector<TaskId> halfway;
          for (TaskId& task : kept_tasks(data_dir)) {
            const Result<std::optional<changes::Record>> record = changes::read_record(data_dir, task.value);
            if (record && *record && ((*record)->state == "merging" || (*record)->state == "preparing"))
              halfway.push_back(std::move(task));
          }
          return halfway;
        },
        [this, tell](const std::vector<TaskId>& halfway) {
          for (const TaskId& task : halfway) {
            // Its turn makes it anew.
            if (working_.contains(task.value)) continue;
            const changes::Order order{
                .order = "settle", .data_dir = options_.data_dir, .home = options_.home, .task = task.value};
            add(task, "settle", next_key("settle"), encode(order), tell(task, "settle"));
          }
        });
  });
}

void Orders::arm_clean_up() {
  const Millis keep_ms = bounds().keep_ms;
  clean_timer_.set(keep_ms > 0 ? std::clamp(keep_ms, second_ms, hour_ms) : hour_ms, [this] {
    clean_up();
    arm_clean_up();
  });
}

void Orders::clean_up() {
  // A clock that was set must not make everything old at once, as in engine/retention.h.
  const Millis ahead = parts_.clock.wall().ms - parts_.clock.steady().ms;
  if (std::abs(ahead - std::exchange(wall_ahead_, ahead)) > hour_ms) held_until_ = parts_.clock.steady() + hour_ms;
  const Millis keep_ms = bounds().keep_ms;
  if (parts_.clock.steady() < held_until_ || keep_ms == 0) return;
  run_then(
      parts_.files, parts_.engine, alive_.watch(),
      [data_dir = options_.data_dir, keep_ms, now = parts_.clock.wall().ms] {
        std::vector<TaskId> old;
        for (const changes::Record& record : changes::all_records(data_dir)) {
          const bool decided = record.state == "merged" || record.state == "discarded";
          if (!decided || record.kind.empty() || !record.cleaned.empty()) continue;
          const int64_t at = changes::number_in(record.decided, 0), looked = changes::number_in(record.looked, 0);
          // What stays is looked at once a day.
          if (at == 0 || at > now - keep_ms || (!record.stays.empty() && looked > now - day_ms)) continue;
          old.emplace_back(record.task);
          if (old.size() == cleaned_at_once) break;
        }
        return old;
      },
      [this](const std::vector<TaskId>& old) {
        for (const TaskId& task : old)
          if (!working_.contains(task.value)) clean(task);
      });
}

void Orders::clean(const TaskId& task) {
  const changes::Order order{.order = "clean",
                             .data_dir = options_.data_dir,
                             .home = options_.home,
                             .task = task.value,
                             .now = std::to_string(parts_.clock.wall().ms)};
  add(task, "clean", next_key("clean"), encode(order), [task](const Result<ChangesAnswer>& answer) {
    if (!answer || answer->refused)
      return log_warning("changes", "the work tree of " + task.value + " could not be cleaned up: " +
                                        (answer ? answer->refused->message : answer.error().message));
    if (answer->reply != "null")
      log_warning("changes", "the work tree of " + task.value + ", which was merged long ago, stays: " + answer->reply);
  });
}

void Orders::forget(const TaskId& task) {
  run_then(
      parts_.files, parts_.engine, alive_.watch(),
      [folder = changes::task_folder(options_.data_dir, task.value)] {
        std::error_code error;
        return fs::exists(folder, error);
      },
      [this, task](bool kept) {
        if (!kept) return;
        parts_.supervisor.list([this, here = alive_.watch(),
                                prefix = set_up_prefix(task)](const Result<std::vector<process::RunStatus>>& listed) {
          if (here.gone() || !listed) return;
          for (const process::RunStatus& status : *listed)
            if (status.run.starts_with(prefix)) parts_.supervisor.release(status.run);
        });
        const changes::Order order{
            .order = "forget", .data_dir = options_.data_dir, .home = options_.home, .task = task.value};
        add(task, "forget", next_key("forget"), encode(order), [task](const Result<ChangesAnswer>& answer) {
          if (!answer)  // The next start finds it, and tries again.
            return log_warning("changes",
                               "what is kept of " + task.value + " stays for now: " + answer.error().message);
          if (!answer->reply.empty() && answer->reply != "null")
            log_warning("changes",
                        "the work tree of " + task.value +
                            ", which was removed, has changes that nobody took, and stays: " + answer->reply);
        });
      });
}

Result<std::shared_ptr<process::Journal>> Orders::set_up_log(const TaskId& task) const {
  const std::optional<std::string> run =
      changes::read_small(changes::set_up_mark(options_.data_dir, task.value), 1'000);
  if (!run || !run->starts_with(set_up_prefix(task)))
    return fail(Code::not_found, "This task has no set-up command that was started.", "no_log");
  return options_.open_journal(*run);
}

std::function<bool()> Orders::look_at(std::string folder) const {
  return [folder = std::move(folder), data_dir = options_.data_dir, home = options_.home] {
    const Result<changes::Repository> found = changes::find_repository(folder);
    return found && found->is_git() && changes::may_be_watched(*found, data_dir, home).has_value();
  };
}

std::function<Status()> Orders::may_isolate(std::string folder) const {
  return [folder = std::move(folder), data_dir = options_.data_dir, home = options_.home]() -> Status {
    const auto cannot = [](const Error& why) { return fail(why.code, why.message, "isolation"); };
    const Result<changes::Repository> found = changes::find_repository(folder);
    if (!found) return cannot(found.error());
    if (!found->is_git())
      return fail(Code::unsupported,
                  fmt::format("{} is in no git repository, so nothing in it can have a work tree of its own. Name a "
                              "folder of a repository, or `git init` there.",
                              to_utf8(folder)),
                  "isolation");
    if (const Status may = changes::may_be_watched(*found, data_dir, home); !may) return cannot(may.error());
    return {};
  };
}

std::vector<TaskId> Orders::kept_tasks(const std::string& data_dir) {
  std::vector<TaskId> tasks;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(data_dir + "/changes/tasks", error)) {
    const std::string name = entry.path().filename().native();
    if (name.starts_with("task_")) tasks.emplace_back(name);
  }
  return tasks;
}

}  // namespace errand::watched

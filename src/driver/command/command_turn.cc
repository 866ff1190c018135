#include "driver/command/command_turn.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "driver/command/outcome.h"
#include "driver/command/usage_text.h"

namespace errand::command {
namespace {

constexpr Millis flush_ms = 50;                 // 20 reports a second.
constexpr int64_t read_chunk = 256 << 10;       // One read of the journal,
constexpr int64_t read_max = 4 << 20;           // and all of one report: a few milliseconds of the engine's thread.
constexpr int64_t behind_max = 16 << 20;        // Further behind than this, a reader goes ahead to
constexpr int64_t tail_after_skip = 256 << 10;  // this far before the end.

}  // namespace

template <class F>
auto CommandTurn::guarded(F work) {
  return [here = std::weak_ptr(here_), work = std::move(work)](auto&& answer) mutable {
    if (!here.expired()) work(std::forward<decltype(answer)>(answer));
  };
}

CommandTurn::CommandTurn(const CommandOptions& options, const CommandParts& parts, Sink& sink,
                         process::SpawnRequest request, OutputMark mark, double cpu_s,
                         const std::vector<std::string>& notify_on)
    : options_(options),
      supervisor_(parts.supervisor),
      sink_(sink),
      request_(std::move(request)),
      reports_(std::move(mark)),
      watch_(notify_on),
      cpu_s_(cpu_s),
      pace_(parts.timers),
      quiet_(parts.timers) {
  watch_.restore(reports_.mark().watch);
}

CommandTurn::~CommandTurn() {
  if (over_) return;
  supervisor_.forget(this);
  supervisor_.stop(request_.run);
}

void CommandTurn::tell(std::vector<Report> reports) {
  if (!reports.empty()) report(std::move(reports));
}

void CommandTurn::spawn() {
  supervisor_.spawn(request_, this, guarded([this](Status started) {
                      if (over_) return;
                      if (!started) return could_not_start(started.error());
                      // Asked for before there was anything to stop.
                      if (stopping_) supervisor_.stop(request_.run);
                    }));
}

void CommandTurn::attach() {
  supervisor_.attach(request_.run, this, guarded([this](Status attached) {
                       if (!attached && !over_) could_not_attach(attached.error());
                     }));
}

void CommandTurn::could_not_attach(const Error& error) {
  // The folder is made before the fork: where there is none, nothing was ever started. A run whose output is known did
  // start, whatever became of its folder, and is not started twice.
  if (error.code == Code::not_found && reports_.mark().next == 0) {
    if (stopping_) return finish({}, {Outcome::Kind::stopped, {}, {}, {}, {}});
    return spawn();
  }
  // What cannot be heard may not go on unheard.
  supervisor_.forget(this);
  supervisor_.stop(request_.run);
  finish({}, {Outcome::Kind::lost, {}, TaskError{"interrupted", error.message, {}}, {}, {}});
}

void CommandTurn::could_not_start(const Error& error) {
  // Nobody knows how far it came: nothing of it may be left.
  supervisor_.forget(this);
  supervisor_.stop(request_.run);
  finish({}, {Outcome::Kind::failed, {}, TaskError{"spawn_failed", error.message, {}}, {}, {}});
}

Status CommandTurn::send(const Message&) {
  return fail(Code::unsupported,
              "A command takes no messages: its standard input is empty; launch an agent to talk to.");
}

void CommandTurn::stop() {
  if (over_ || end_) return;
  stopping_ = true;
  supervisor_.stop(request_.run);
}

void CommandTurn::probe() {
  if (over_ || end_) return;
  supervisor_.usage(request_.run, guarded([this](Result<process::RunUsage> usage) {
                      if (over_ || end_ || !usage) return;
                      // A process that sleeps is not told from one that hangs: only work counts (R4.2).
                      const bool works = usage->cpu_s > cpu_s_ || usage->io_bytes != io_bytes_;
                      cpu_s_ = std::max(cpu_s_, usage->cpu_s);
                      io_bytes_ = usage->io_bytes;
                      if (works)
                        report({report::Resources{cpu_s_, usage->memory_bytes}});
                      else
                        report({report::Still{describe(*usage)}});
                    }));
}

// R4.1, as often as the supervisor finds that it moved. Of work only, as above.
void CommandTurn::used(const process::RunUsage& usage) {
  if (over_ || end_ || usage.cpu_s <= cpu_s_) return;
  cpu_s_ = usage.cpu_s;
  report({report::Resources{cpu_s_, usage.memory_bytes}});
}

void CommandTurn::detach() {
  if (std::exchange(over_, true)) return;
  pace_.cancel();
  quiet_.cancel();
  supervisor_.forget(this);
}

void CommandTurn::output(int64_t total) {
  total_ = std::max(total_, total);
  if (!over_ && !end_ && !pace_.pending()) flush_and_pace();
}

// The first output is reported at once; what comes within the next moment is reported together.
void CommandTurn::flush_and_pace() {
  if (reports_.mark().next >= total_ || !read_some()) return;
  std::vector<Report> made = reports_.take(journal_);
  add_matches(made);
  if (!made.empty()) report(std::move(made));
  pace_.set(flush_ms, [this] { flush_and_pace(); });
  if (!watch_.waits()) return quiet_.cancel();
  quiet_.set(quiet_ms, [this] {
    watch_.quiet();
    std::vector<Report> matches;
    add_matches(matches);
    if (!matches.empty()) report(std::move(matches));
  });
}

void CommandTurn::add_matches(std::vector<Report>& reports) {
  if (!watch_.watches()) return;
  std::ranges::move(watch_.take(), std::back_inserter(reports));
  reports_.set_watch(watch_.state());
}

bool CommandTurn::open_journal() {
  if (journal_) return true;
  Result<std::shared_ptr<process::Journal>> opened = options_.open_journal(request_.run);
  if (opened) {
    journal_ = *std::move(opened);
    return true;
  }
  if (!std::exchange(unreadable_, true))
    report({report::Warning{"log_unreadable", "The command's log cannot be read: " + opened.error().message}});
  return false;
}

bool CommandTurn::read_some() {
  if (!open_journal()) return false;
  const int64_t start = reports_.mark().next;
  watch_.begin_round();
  for (int64_t next = start; next < total_ && next - start < read_max;) {
    const Result<process::JournalRead> read = journal_->read(next, read_chunk);
    if (!read) {
      if (!std::exchange(unreadable_, true))
        report({report::Warning{"log_unreadable", "The command's log cannot be read: " + read.error().message}});
      break;
    }
    if (read->next <= next) break;
    reports_.add(*read);
    if (read->cut > 0) watch_.gap();
    for (const process::Piece& piece : read->pieces) watch_.add(piece);
    next = read->next;
  }
  // Output that comes faster than it can be read is not read: it is in the log, and what is read is the newest.
  if (total_ - reports_.mark().next > behind_max) {
    reports_.skip(total_ - tail_after_skip);
    watch_.gap();
  }
  return reports_.mark().next > start;
}

void CommandTurn::ended(const process::RunEnd& end) {
  if (over_) return;
  quiet_.cancel();
  end_ = end;
  total_ = std::max(total_, end.output_bytes);
  drain();
}

// Reads on to the end of the journal, in rounds that leave room for others; then the turn ends.
void CommandTurn::drain() {
  const bool readable = total_ > 0 && open_journal();
  const bool more = reports_.mark().next < total_ && read_some() && reports_.mark().next < total_;
  if (!more) {
    reports_.finish();
    watch_.finish();
  }
  std::vector<Report> made = reports_.take(journal_);
  add_matches(made);
  if (more) {
    if (!made.empty()) report(std::move(made));
    pace_.set(0, [this] { drain(); });
    return;
  }
  using How = process::RunEnd::How;
  if (end_->how != How::lost && end_->how != How::spawn_failed) {
    cpu_s_ = std::max(cpu_s_, end_->cpu_s);
    made.emplace_back(report::Resources{cpu_s_, end_->max_memory_bytes});
  }
  const Tails tails = readable ? read_tails(*journal_) : Tails{};
  gather_then_finish(std::move(made), make_outcome(*end_, tails, request_.timeout_ms));
}

void CommandTurn::gather_then_finish(std::vector<Report> last, Outcome outcome) {
  if (!gather_ || outcome.kind == Outcome::Kind::lost) return finish(std::move(last), std::move(outcome));
  if (!last.empty()) report(std::move(last));
  std::exchange(gather_, {})(guarded([this, outcome = std::move(outcome)](Result<ArtifactList> list) mutable {
    if (over_) return;
    std::vector<Report> more;
    if (list) {
      outcome.artifacts = summarize(*list);
    } else {
      more.emplace_back(
          report::Warning{"artifacts_failed", "The artifacts could not be gathered: " + list.error().message});
    }
    finish(std::move(more), std::move(outcome));
  }));
}

void CommandTurn::finish(std::vector<Report> last, Outcome outcome) {
  if (!last.empty()) report(std::move(last));
  pace_.cancel();
  quiet_.cancel();
  over_ = true;
  sink_.ended(std::move(outcome));
}

void CommandTurn::report(std::vector<Report> reports) {
  sink_.report(std::move(reports), encode_mark(reports_.mark()));
}

}  // namespace errand::command

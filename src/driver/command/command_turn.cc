#include "driver/command/command_turn.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "driver/run/usage_text.h"

namespace errand::command {
namespace {

constexpr Millis flush_ms = 50;                 // 20 reports a second.
constexpr Millis prepare_ms = 10'000;           // A folder that does not answer for so long is not waited for.
constexpr int64_t read_chunk = 256 << 10;       // One read of the journal,
constexpr int64_t read_max = 4 << 20;           // and all of one report.
constexpr int64_t behind_max = 16 << 20;        // Further behind than this, a reader goes ahead to
constexpr int64_t tail_after_skip = 256 << 10;  // this far before the end.

}  // namespace

template <class F>
auto CommandTurn::guarded(F work) {
  return [here = std::weak_ptr(here_), work = std::move(work)](auto&&... answer) mutable {
    if (!here.expired()) work(std::forward<decltype(answer)>(answer)...);
  };
}

CommandTurn::CommandTurn(const run::Options& options, const CommandParts& parts, Sink& sink,
                         process::SpawnRequest request, OutputMark mark, double cpu_s, const Launch& launch)
    : options_(options),
      supervisor_(parts.supervisor),
      engine_(parts.engine),
      sink_(sink),
      request_(std::move(request)),
      files_(parts.files != nullptr ? parts.files : &parts.background, parts.engine),
      reports_(std::move(mark)),
      watch_(launch.notify_on),
      surface_(launch.surface),
      cpu_s_(cpu_s),
      probed_s_(cpu_s),
      pace_(parts.timers),
      quiet_(parts.timers),
      patience_(parts.timers) {
  watch_.restore(reports_.mark().watch);
}

CommandTurn::~CommandTurn() {
  if (!over_) supervisor_.forget(this);
}

void CommandTurn::tell(std::vector<Report> reports) {
  if (!reports.empty()) report(std::move(reports));
}

void CommandTurn::prepare_with(Prepare prepare, Executor& threads) {
  prepare_ = std::move(prepare);
  folders_.emplace(&threads, engine_);
}

void CommandTurn::spawn() {
  preparing_ = true;
  if (!prepare_) return prepared(std::move(request_.argv));
  // Only a sandbox is made of folders that are not ours.
  if (request_.sandboxed)
    patience_.set(prepare_ms, [this] {
      prepared(fail(Code::unavailable,
                    fmt::format("The work_dir {} (or a folder of add_dirs) does not answer: the disk or the network "
                                "mount that it is on hangs. Retry this when it can be reached.",
                                request_.work_dir)));
    });
  folders_->run(prepare_, [this](Result<std::vector<std::string>> made) { prepared(std::move(made)); });
}

void CommandTurn::prepared(Result<std::vector<std::string>> argv) {
  if (over_ || !std::exchange(preparing_, false)) return;
  patience_.cancel();
  if (!argv)
    return finish({}, {Outcome::Kind::failed, {}, TaskError{"spawn_failed", argv.error().message, {}}, {}, {}});
  request_.argv = std::move(*argv);
  supervisor_.spawn(request_, this, guarded([this](Status started) {
                      if (over_) return;
                      if (!started) return could_not_start(started.error());
                      // Asked for before there was anything to stop.
                      if (stopping_) supervisor_.stop(request_.run);
                    }));
}

void CommandTurn::attach() {
  supervisor_.attach(request_.run, this, guarded([this](const Result<process::Attached>& attached) {
                       if (!attached && !over_) could_not_attach(attached.error());
                     }));
}

void CommandTurn::could_not_attach(const Error& error) {
  // The folder is made before the fork: where there is none, nothing was ever started. But for one that a power cut
  // took back (SpawnRequest::boot_stored). A run whose output is known did start, whatever became of its folder, and is
  // not started twice.
  const OutputMark& mark = reports_.mark();
  if (error.code == Code::not_found && mark.next == 0) {
    if (stopping_) return finish({}, {Outcome::Kind::stopped, {}, {}, {}, {}});
    if (mark.boot.empty() || mark.boot == options_.boot) return spawn();
    supervisor_.forget(this);
    return finish({}, {Outcome::Kind::lost,
                       {},
                       TaskError{"interrupted",
                                 "The machine was started anew before the command had ended. Nothing is left that says "
                                 "how far it came; it may have run. Retry it where it can be run again.",
                                 {}},
                       {},
                       {}});
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
  const bool no_supervisor = error.reason == process::supervisor_unavailable;
  finish({}, {Outcome::Kind::failed,
              {},
              TaskError{no_supervisor ? process::supervisor_unavailable : "spawn_failed", error.message, {}},
              {},
              {}});
}

Status CommandTurn::send(const Message&) {
  return fail(Code::unsupported,
              "A command takes no messages: its standard input is empty; launch an agent to talk to.");
}

void CommandTurn::stop() {
  if (over_ || end_) return;
  stopping_ = true;
  // There is nothing yet, and there will be nothing.
  if (preparing_) return finish({}, {Outcome::Kind::stopped, {}, {}, {}, {}});
  supervisor_.stop(request_.run);
}

void CommandTurn::probe() {
  if (over_ || end_ || std::exchange(probing_, true)) return;
  supervisor_.usage(request_.run, guarded([this](Result<process::RunUsage> usage) {
                      probing_ = false;
                      if (over_ || end_ || !usage) return;
                      // A process that sleeps is not told from one that hangs: only work counts (R4.2).
                      const bool works = usage->cpu_s > probed_s_ || usage->io_bytes != io_bytes_;
                      probed_s_ = usage->cpu_s;
                      cpu_s_ = std::max(cpu_s_, usage->cpu_s);
                      io_bytes_ = usage->io_bytes;
                      if (works)
                        report({report::Resources{cpu_s_, usage->memory_bytes}});
                      else
                        report({report::Still{run::describe(*usage)}});
                    }));
}

// R4.1, as often as the supervisor finds that it moved. Up to three seconds of it are told together, and counted by
// another look than a probe's: it may be old, and something that hangs since would seem to live.
void CommandTurn::used(const process::RunUsage& usage) {
  if (over_ || end_ || usage.cpu_s <= cpu_s_) return;
  cpu_s_ = usage.cpu_s;
  report({report::Resources{cpu_s_, usage.memory_bytes, false}});
}

void CommandTurn::drop() {
  if (std::exchange(over_, true)) return;
  patience_.cancel();
  pace_.cancel();
  quiet_.cancel();
  supervisor_.forget(this);
  supervisor_.stop(request_.run);
}

void CommandTurn::output(int64_t total) {
  total_ = std::max(total_, total);
  if (!over_ && !end_ && !pace_.pending()) flush_and_pace();
}

// The first output is reported at once; what comes within the next moment is reported together.
void CommandTurn::flush_and_pace() {
  if (reports_.mark().next < total_) read_some();
}

void CommandTurn::flushed() {
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

// One read at a time: what comes meanwhile is in the next. A disk that is slower than the command: what was printed
// waits in the journal, and not in the server's memory.
void CommandTurn::read_some() {
  if (reading_ || waits_for_room_) return;
  if (!sink_.has_room()) {
    waits_for_room_ = true;
    return sink_.when_room(guarded([this] {
      waits_for_room_ = false;
      if (!over_) read_some();
    }));
  }
  reading_ = true;
  files_.run(
      [open = options_.open_journal, run = request_.run, journal = journal_, from = reports_.mark().next, to = total_,
       ended = end_.has_value()] {
        ReadSome read{.journal = journal, .reads = {}, .failed = {}, .tails = {}, .after_end = ended};
        if (!read.journal) {
          Result<std::shared_ptr<process::Journal>> opened = open(run);
          if (!opened) {
            read.failed = opened.error().message;
            return read;
          }
          read.journal = *std::move(opened);
        }
        int64_t next = from;
        while (next < to && next - from < read_max) {
          Result<process::JournalRead> piece = read.journal->read(next, read_chunk);
          // One that the command overtook is no failure: the next report of more output reads again.
          if (!piece && piece.error().code != Code::unavailable) read.failed = piece.error().message;
          if (!piece || piece->next <= next) break;
          next = piece->next;
          read.reads.push_back(*std::move(piece));
        }
        // It is the last one: what the outcome quotes comes with it.
        if (ended && (next >= to || next == from)) read.tails = run::read_tails(*read.journal);
        return read;
      },
      [this](ReadSome read) {
        reading_ = false;
        if (!over_) take(std::move(read));
      });
}

void CommandTurn::take(ReadSome read) {
  journal_ = std::move(read.journal);
  if (!read.failed.empty() && !std::exchange(unreadable_, true))
    report({report::Warning{"log_unreadable", "The command's log cannot be read: " + read.failed}});
  const int64_t start = reports_.mark().next;
  watch_.begin_round();
  for (const process::JournalRead& some : read.reads) {
    reports_.add(some);
    if (some.damaged && !std::exchange(damage_said_, true))
      report({report::Warning{"log_damaged", "A part of the command's log is damaged on the disk, and was left out."}});
    if (some.cut > 0) watch_.gap();
    for (const process::Piece& piece : some.pieces) watch_.add(piece);
  }
  // Output that comes faster than it can be read is not read: it is in the log, and what is read is the newest.
  if (total_ - reports_.mark().next > behind_max) {
    reports_.skip(total_ - tail_after_skip);
    watch_.gap();
  }
  if (read.tails) tails_ = std::move(read.tails);
  const bool moved = reports_.mark().next > start;
  if (end_) return drain(moved || !read.after_end);
  if (moved) flushed();
}

void CommandTurn::ended(const process::RunEnd& end) {
  if (over_) return;
  quiet_.cancel();
  end_ = end;
  total_ = std::max(total_, end.output_bytes);
  if (!reading_) drain(true);
}

// Reads on to the end of the journal, in rounds that leave room for others; then the turn ends. `on`: there is more to
// be had, as far as is known.
void CommandTurn::drain(bool on) {
  const bool more = on && reports_.mark().next < total_;
  // Once more, for the tails alone, where what was read last was read before the end was known.
  if (more || (on && total_ > 0 && !tails_)) {
    std::vector<Report> made = reports_.take(journal_);
    add_matches(made);
    if (!made.empty()) report(std::move(made));
    return read_some();
  }
  reports_.finish();
  watch_.finish();
  std::vector<Report> made = reports_.take(journal_);
  add_matches(made);
  using How = process::RunEnd::How;
  if (end_->how != How::lost && end_->how != How::spawn_failed) {
    cpu_s_ = std::max(cpu_s_, end_->cpu_s);
    made.emplace_back(report::Resources{cpu_s_, end_->max_memory_bytes});
  }
  gather_then_finish(std::move(made),
                     run::make_outcome(*end_, tails_.value_or(run::Tails{}), request_.timeout_ms, surface_));
}

void CommandTurn::gather_then_finish(std::vector<Report> last, Outcome outcome) {
  if (!gather_ || outcome.kind == Outcome::Kind::lost) return finish(std::move(last), std::move(outcome));
  if (!last.empty()) report(std::move(last));
  std::exchange(gather_, {})(*end_, guarded([this, outcome = std::move(outcome)](Result<ArtifactList> list) mutable {
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

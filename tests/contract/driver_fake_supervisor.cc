#include "tests/contract/driver_fake_supervisor.h"

#include <algorithm>
#include <utility>

namespace errand::test {

using process::RunEnd;
using process::Stream;

// --- FakeJournal

void FakeJournal::print(Stream stream, std::string_view bytes) {
  bytes_ += bytes;
  streams_.resize(bytes_.size(), stream);
}

void FakeJournal::cut(int64_t from, int64_t to) {
  cut_from_ = from;
  cut_to_ = to;
}

Result<process::JournalRead> FakeJournal::read(int64_t offset, int64_t limit) {
  if (broken) return fail(Code::internal, "The disk is broken.");
  if (overtaken) return fail(Code::unavailable, "It is written faster than it can be read.");
  process::JournalRead out;
  int64_t at = offset;
  if (at >= cut_from_ && at < cut_to_) {
    out.cut = cut_to_ - at;
    at = cut_to_;
  }
  const int64_t bound = at < cut_from_ ? cut_from_ : size();
  const int64_t end = std::min(bound, at + limit);
  for (; at < end; ++at) {
    const Stream stream = streams_[static_cast<size_t>(at)];
    if (out.pieces.empty() || out.pieces.back().stream != stream)
      out.pieces.push_back({.stream = stream, .offset = at});
    out.pieces.back().bytes += bytes_[static_cast<size_t>(at)];
    ++read_bytes;
  }
  out.next = at;
  return out;
}

// --- FakeSupervisor

void FakeSupervisor::print(const std::string& name, Stream stream, std::string_view bytes) {
  Run& run = runs.at(name);
  run.journal->print(stream, bytes);
  if (run.listener) run.listener->output(run.journal->size());
}

void FakeSupervisor::end(const std::string& name, RunEnd end) {
  Run& run = runs.at(name);
  if (run.end) return;
  end.output_bytes = run.journal->size();
  run.end = end;
  if (process::RunListener* listener = std::exchange(run.listener, nullptr)) listener->ended(end);
}

void FakeSupervisor::tell_use(const std::string& name, const process::RunUsage& usage) {
  if (process::RunListener* const listener = runs.at(name).listener) listener->used(usage);
}

Result<std::shared_ptr<process::Journal>> FakeSupervisor::journal(const std::string& name) {
  const auto run = runs.find(name);
  if (run == runs.end()) return fail(Code::not_found, "There is no such run.");
  return run->second.journal;
}

int FakeSupervisor::alive() const {
  return static_cast<int>(std::ranges::count_if(runs, [](const auto& run) { return !run.second.end; }));
}

void FakeSupervisor::spawn(process::SpawnRequest request, process::RunListener* listener, Done done) {
  calls.push_back("spawn " + request.run);
  if (spawn_fails) {
    later([done = std::move(done), error = *spawn_fails]() mutable { done(std::unexpected(error)); });
    return;
  }
  const std::string name = request.run;
  const bool known = runs.contains(name);
  Run& run = runs[name];
  run.listener = listener;
  if (!known) {
    run.request = std::move(request);
    go_on(name);
  }
  later([done = std::move(done)]() mutable { done({}); });
}

// Does the program's next print when it is due, or its end.
void FakeSupervisor::go_on(const std::string& name) {
  const Run& run = runs.at(name);
  const auto program = programs.find(run.request.argv.back());
  if (program == programs.end()) return;
  const std::vector<Print>& prints = program->second.prints;
  if (run.printed == prints.size() && !program->second.end) return;
  timers_.add(run.printed < prints.size() ? prints[run.printed].after_ms : 0, [this, name] { step(name); });
}

void FakeSupervisor::step(const std::string& name) {
  const auto run = runs.find(name);
  if (run == runs.end() || run->second.end) return;
  const Program& program = programs.at(run->second.request.argv.back());
  if (run->second.printed == program.prints.size()) return end(name, *program.end);
  const Print& next = program.prints[run->second.printed++];
  print(name, next.stream, next.bytes);
  go_on(name);
}

void FakeSupervisor::attach(const std::string& name, process::RunListener* listener, TakenUp done) {
  calls.push_back("attach " + name);
  const auto found = runs.find(name);
  if (attach_fails || found == runs.end()) {
    Error error = attach_fails.value_or(Error{Code::not_found, "It was never started.", {}});
    later([done = std::move(done), error = std::move(error)]() mutable { done(std::unexpected(error)); });
    return;
  }
  found->second.listener = listener;
  later([this, name, listener, done = std::move(done)]() mutable {
    const bool silent = older || runs.at(name).end;
    done(silent ? process::Attached{} : process::Attached{runs.at(name).input_taken});
    Run& run = runs.at(name);
    if (run.listener == listener && run.journal->size() > 0) listener->output(run.journal->size());
    if (run.listener != listener || !run.end) return;
    run.listener = nullptr;
    listener->ended(*run.end);
  });
}

void FakeSupervisor::forget(process::RunListener* listener) {
  for (auto& [name, run] : runs)
    if (run.listener == listener) run.listener = nullptr;
}

void FakeSupervisor::stop(const std::string& name, std::optional<Millis>) {
  calls.push_back("stop " + name);
  later([this, name] {
    if (runs.contains(name)) end(name, {.how = RunEnd::How::stopped, .signal = 15});
  });
}

void FakeSupervisor::input(const std::string& name, int64_t number, std::string bytes, Taken done) {
  later([this, name, number, bytes = std::move(bytes), done = std::move(done)]() mutable {
    const auto run = runs.find(name);
    if (run == runs.end() || run->second.end)
      return done(fail(Code::conflict, "This run has ended; it takes no input any more."));
    int64_t& taken = run->second.input_taken;
    if (number == 0) return done(taken);
    if (number <= taken) return done(fail(Code::conflict, "It was taken before.", process::input_taken));
    if (number > taken + 1) return done(fail(Code::invalid_argument, "Another frame comes next."));
    taken = number;
    done(number);
    if (heard) heard(name, bytes);
  });
}

void FakeSupervisor::close_input(const std::string& name) {
  later([this, name] {
    if (input_closed && runs.contains(name)) input_closed(name);
  });
}

void FakeSupervisor::usage(const std::string& name, std::move_only_function<void(Result<process::RunUsage>)> done) {
  later([this, name, done = std::move(done)]() mutable {
    const auto run = runs.find(name);
    if (run == runs.end() || run->second.end) return done(fail(Code::not_found, "It is not alive."));
    done(used);
  });
}

void FakeSupervisor::release(const std::string& name) {
  calls.push_back("release " + name);
  if (runs.contains(name)) end(name, {.how = RunEnd::How::stopped, .signal = 9});
  runs.erase(name);
}

void FakeSupervisor::list(std::move_only_function<void(Result<std::vector<process::RunStatus>>)> done) {
  later([this, done = std::move(done)]() mutable {
    std::vector<process::RunStatus> out;
    for (const auto& [name, run] : runs) out.push_back({name, !run.end, run.journal->size(), run.end});
    done(std::move(out));
  });
}

}  // namespace errand::test

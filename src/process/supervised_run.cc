#include "process/supervised_run.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <signal.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "process/clock.h"
#include "process/note.h"
#include "process/peer.h"
#include "process/protocol.h"
#include "process/run.h"
#include "process/tree.h"

namespace errand::process {
namespace {

constexpr Millis tell_every_ms = 50;  // 20 a second; the first one after a silence goes at once.
constexpr Millis look_every_ms = 20;
constexpr Millis disk_again_ms = 1'000;
constexpr size_t input_max = 8u << 20;
constexpr int64_t never = std::numeric_limits<int64_t>::max();

// One for all runs: there is one thread.
char read_buffer[128 * 1024];
constexpr int reads_at_once = 8;  // Then the others have their turn.

Status machine_error(const char* what, int error) {
  Code code = error == ENOSPC || error == EDQUOT ? Code::storage_full : Code::exhausted;
  return fail(code, std::string(what) + ": " + std::strerror(error) + "; nothing was started.");
}

bool make_pipe(Fd& read_end, Fd& write_end) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  read_end.reset(fds[0]);
  write_end.reset(fds[1]);
  return true;
}

// Only this end: the other one is the child's, which must not see it.
void never_block(const Fd& fd) { ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

int64_t waiting_in(const Fd& pipe) {
  int bytes = 0;
  return pipe && ::ioctl(pipe.get(), FIONREAD, &bytes) == 0 ? bytes : 0;
}

}  // namespace

SupervisedRun::~SupervisedRun() {
  for (Fd* fd : {&control_, &in_, &out_, &err_}) close_pipe(*fd);
}

Result<std::unique_ptr<SupervisedRun>> SupervisedRun::start(const RunPlace& place, const SpawnRequest& request) {
  std::unique_ptr<SupervisedRun> result(new SupervisedRun(place, request.run));
  result->grace_ms_ = request.grace_ms;
  if (auto forked = result->find_keeper(request); !forked) return std::unexpected(forked.error());
  result->journal_.emplace(place.runs, request.run, request.mode, request.output_limit);
  return result;
}

std::unique_ptr<SupervisedRun> SupervisedRun::abandoned(const RunPlace& place, std::string run, Fd folder) {
  std::unique_ptr<SupervisedRun> result(new SupervisedRun(place, std::move(run)));
  result->folder_ = std::move(folder);
  result->state_ = State::abandoned;
  result->end_.output_bytes = journal_total(result->folder_.get());
  return result;
}

Status SupervisedRun::find_keeper(const SpawnRequest& request) {
  Fd child_in, child_out, child_err;
  if (!make_pipe(out_, child_out) || !make_pipe(err_, child_err)) return machine_error("No pipe", errno);
  if (request.keep_stdin) {
    if (!make_pipe(child_in, in_)) return machine_error("No pipe", errno);
    never_block(in_);
  } else {
    child_in.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (!child_in) return machine_error("No file", errno);
  never_block(out_);
  never_block(err_);

  const std::string marker = run_marker(place_.runs_path + "/" + run_);
  const std::string packet = next_run(request, marker);
  auto waiting =
      packet.empty() ? std::nullopt : place_.idle.take(packet, child_in.get(), child_out.get(), child_err.get());
  if (waiting) {
    keeper_ = waiting->pid;
    control_ = std::move(waiting->control);
  } else {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return machine_error("No socket", errno);
    control_.reset(pair[0]);
    Fd keeper_end(pair[1]);
    const pid_t self = ::getpid();
    keeper_ = ::fork();
    if (keeper_ < 0) return machine_error("No process", errno);
    if (keeper_ == 0)
      keep({request, marker, self, keeper_end.get(), child_in.get(), child_out.get(), child_err.get(), place_.runs,
            place_.cgroups.fd(), place_.cgroups.memory(), place_.cgroups.pids()});
  }
  place_.loop.watch(control_.get(), EPOLLIN, this);
  watch_output();
  return {};
}

void SupervisedRun::forget(Peer* peer) {
  subscribers_.erase(peer);
  std::erase_if(waiting_, [peer](const Waiting& waiting) { return waiting.peer == peer; });
}

void SupervisedRun::answer_when_started(Peer* peer, int64_t id) {
  if (state_ == State::starting)
    waiting_.push_back({peer, id});
  else
    peer->send(FrameOut().add("re", id).add("number", input_taken_).take());
}

void SupervisedRun::ready(int fd, uint32_t events) {
  if (fd == control_.get())
    take_report();
  else if (fd == out_.get())
    read_output(Stream::out, out_);
  else if (fd == err_.get())
    read_output(Stream::err, err_);
  else if (fd == in_.get())
    events& EPOLLERR ? drop_input() : write_input();
}

// --- the keeper

void SupervisedRun::take_report() {
  while (control_) {
    KeeperReport report;
    ssize_t n = ::recv(control_.get(), &report, sizeof report, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n != sizeof report) return close_pipe(control_);  // It died; it is reaped next.
    switch (report.kind) {
      case KeeperReport::started:
      case KeeperReport::failed:
        started(report);
        break;
      case KeeperReport::refused:
        refused(report.error);
        break;
      case KeeperReport::gone:
        if (state_ == State::starting) started({.at_ms = report.started_at_ms});
        keeper_waits_ = report.waits;
        end_.how = report.how;
        end_.exit_code = report.exit_code;
        end_.signal = report.signal;
        end_.text = std::string(report.text, ::strnlen(report.text, sizeof report.text));
        end_.cpu_s = static_cast<double>(report.cpu_us) / 1e6;
        end_.max_memory_bytes = report.max_memory;
        end_.ended_at.ms = report.at_ms;
        end_.limit = std::string(report.limit, ::strnlen(report.limit, sizeof report.limit));
        end_.left_nothing = report.left_nothing;
        end_.limit_value = report.limit_value;
        end_.limit_seen = report.limit_seen;
        begin_drain();
        break;
      case KeeperReport::recorded:
        if (report.waits) let_keeper_wait();
        finish();
        break;
      case KeeperReport::delayed:
        note("the end of " + run_ + " waits for the disk: " + std::strerror(report.error));
        break;
      case KeeperReport::used:
        if (!subscribers_.empty())
          tell(FrameOut()
                   .add("event", "used")
                   .add("run", run_)
                   .add("cpu_us", report.cpu_us)
                   .add("memory", report.max_memory)
                   .add("processes", int64_t{report.processes})
                   .take());
        break;
    }
  }
}

void SupervisedRun::started(const KeeperReport& report) {
  state_ = State::alive;
  end_.started_at.ms = report.at_ms;
  for (const Waiting& waiting : std::exchange(waiting_, {}))
    waiting.peer->send(FrameOut().add("re", waiting.id).add("number", input_taken_).take());
}

void SupervisedRun::refused(int error) {
  Error reason = machine_error("The run's folder, or the one for its artifacts, could not be made", error).error();
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    FrameOut out;
    put_error(out.add("re", waiting.id), reason);
    waiting.peer->send(out.take());
  }
  state_ = State::ended;
}

void SupervisedRun::keeper_exited() {
  take_report();  // What it said last.
  keeper_ = -1;
  if (state_ == State::recording) {
    look_at_ = 0;  // It was killed before it was done: tick() records instead.
  } else if (state_ == State::starting && ::faccessat(place_.runs, run_.c_str(), F_OK, 0) != 0) {
    refused(ESRCH);  // Killed before it made the folder: nothing ran.
  } else if (state_ == State::starting || state_ == State::alive) {
    note("the keeper of " + run_ + " died");
    started({.at_ms = wall_ms()});
    state_ = State::orphaned;
    Cgroup::clear(place_.cgroups.fd(), run_);
  }
}

void SupervisedRun::strays_gone() {
  if (state_ != State::orphaned) return;
  end_.how = RunEnd::How::lost;
  end_.text = "Its keeper was killed, and what it had started was ended; how it would have ended is not known.";
  end_.ended_at.ms = wall_ms();
  begin_drain();
}

void SupervisedRun::stop(std::optional<Millis> grace) {
  if (!control_ || (state_ != State::starting && state_ != State::alive)) return;
  char packet[1 + sizeof(int64_t)];
  packet[0] = static_cast<char>(KeeperOrder::stop);
  int64_t grace_ms = grace.value_or(grace_ms_);
  std::memcpy(packet + 1, &grace_ms, sizeof grace_ms);
  ::send(control_.get(), packet, sizeof packet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// --- output

void SupervisedRun::watch_output() {
  for (Fd* pipe : {&out_, &err_})
    if (*pipe) place_.loop.watch(pipe->get(), EPOLLIN, this);
}

void SupervisedRun::read_output(Stream stream, Fd& pipe) {
  if (state_ == State::draining) return;  // drain() reads.
  for (int i = 0; i < reads_at_once; ++i) {
    if (!journal_->has_room()) {
      paused_ = true;
      resume_at_ = steady_ms() + disk_again_ms;
      for (Fd* fd : {&out_, &err_})
        if (*fd) place_.loop.forget(fd->get());
      break;
    }
    ssize_t n = ::read(pipe.get(), read_buffer, sizeof read_buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    if (n == 0) {
      close_pipe(pipe);
      break;
    }
    journal_->append(stream, {read_buffer, static_cast<size_t>(n)}, Time{wall_ms()});
  }
  printed();
}

void SupervisedRun::begin_drain() {
  state_ = State::draining;
  drain_out_ = waiting_in(out_);
  drain_err_ = waiting_in(err_);
  drain();
}

// The tree is gone, so all that it wrote is in the pipes. Not more than that: somebody outside may hold an end too.
void SupervisedRun::drain() {
  auto take = [this](Stream stream, Fd& pipe, int64_t& left) {
    while (left > 0) {
      if (!journal_->has_room(true)) return false;
      ssize_t n = ::read(pipe.get(), read_buffer, std::min(sizeof read_buffer, static_cast<size_t>(left)));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) left = 0;
      if (n > 0) journal_->append(stream, {read_buffer, static_cast<size_t>(n)}, Time{wall_ms()});
      left -= std::max<ssize_t>(n, 0);
    }
    close_pipe(pipe);
    return true;
  };
  paused_ = !take(Stream::out, out_, drain_out_) || !take(Stream::err, err_, drain_err_);
  resume_at_ = steady_ms() + disk_again_ms;
  printed();
  if (!paused_) begin_record();
}

void SupervisedRun::release_journal(int64_t offset) {
  if (!journal_) return;
  journal_->release(offset);
  if (paused_) resume();
}

void SupervisedRun::release_at_end() {
  release_at_end_ = true;
  release_journal(total());
}

void SupervisedRun::resume() {
  paused_ = false;
  if (state_ == State::draining)
    drain();
  else
    watch_output();
}

void SupervisedRun::printed() {
  int64_t now = steady_ms();
  if (total() > told_total_ && now - told_at_ >= tell_every_ms) tell_output(now);
}

void SupervisedRun::tell_output(int64_t now) {
  told_total_ = total();
  told_at_ = now;
  if (!subscribers_.empty()) tell(FrameOut().add("event", "output").add("run", run_).add("total", total()).take());
}

void SupervisedRun::tell(const std::string& frame) {
  for (Peer* peer : subscribers_) peer->send(frame);
}

// --- the end

void SupervisedRun::begin_record() {
  state_ = State::recording;
  drop_input();
  end_.output_bytes = total();
  look_at_ = never;
  if (keeper_ < 0) return record_here();
  if (record_soon()) return finish();
  std::string order(1, static_cast<char>(KeeperOrder::record));
  order += encode_end(end_);
  ::send(control_.get(), order.data(), order.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Where nothing was printed there is no log to bring to disk, and the end alone need not be: the server that is told
// of it stores it before it tells anybody. Until then it is in the folder, which outlives every process; if the machine
// stops, nobody knows of it, and the run is lost as one that was at work.
bool SupervisedRun::record_soon() {
  if (!keeper_waits_ || total() > 0 || subscribers_.empty()) return false;
  if (write_end_soon(place_.runs, run_, encode_end(end_)) != 0) return false;
  let_keeper_wait();
  return true;
}

void SupervisedRun::let_keeper_wait() {
  place_.loop.forget(control_.get());
  place_.idle.give({std::exchange(keeper_, -1), std::move(control_)});
}

// Without a keeper it is done here, though it blocks: that is rare.
void SupervisedRun::record_here() {
  if (!folder_) folder_.reset(::openat(place_.runs, run_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder_ && errno == ENOENT) return finish();  // As write_end has it.
  int error = folder_ ? finish_journal(folder_.get()) : errno;
  if (!error) error = sync_name(folder_.get());
  if (!error) error = write_end(folder_.get(), encode_end(end_));
  if (!error) return finish();
  note("the end of " + run_ + " waits for the disk: " + std::strerror(error));
  look_at_ = steady_ms() + disk_again_ms;
}

void SupervisedRun::look_after_abandoned(int64_t now) {
  look_at_ = now + look_every_ms;
  if (::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0) return;  // Its keeper still ends the tree.
  if (kill_marked(run_marker(place_.runs_path + "/" + run_)) > 0) return;
  end_.how = RunEnd::How::lost;
  end_.text = "The supervisor or the machine stopped while it ran; how it would have ended is not known.";
  end_.ended_at.ms = wall_ms();
  end_.output_bytes = journal_total(folder_.get());  // The old supervisor may have written after the first look.
  state_ = State::recording;
  record_here();
}

void SupervisedRun::finish() {
  state_ = State::ended;
  if (total() > told_total_) tell_output(steady_ms());
  tell(ended_frame(run_, end_));
}

int64_t SupervisedRun::tick(int64_t now) {
  if (state_ == State::abandoned && now >= look_at_) look_after_abandoned(now);
  if (state_ == State::recording && keeper_ < 0 && now >= look_at_) record_here();
  if (paused_ && now >= resume_at_) resume();
  if (total() > told_total_ && now - told_at_ >= tell_every_ms) tell_output(now);

  int64_t next = never;
  if (state_ == State::abandoned || (state_ == State::recording && keeper_ < 0)) next = look_at_;
  if (paused_) next = std::min(next, resume_at_);
  if (total() > told_total_) next = std::min(next, told_at_ + tell_every_ms);
  return next;
}

// --- standard input

Result<int64_t> SupervisedRun::input(int64_t number, std::string_view bytes) {
  if (number <= input_taken_) return input_taken_;
  if (!in_ || input_closing_) return fail(Code::conflict, "This run does not take input.");
  if (number != input_taken_ + 1)
    return fail(Code::invalid_argument, "Input frame " + std::to_string(input_taken_ + 1) + " comes next.");
  if (!input_.empty() && input_.size() + bytes.size() > input_max)
    return fail(Code::exhausted, "The run does not read its input; try again when it does.");
  input_taken_ = number;
  input_ += bytes;
  write_input();
  return input_taken_;
}

void SupervisedRun::close_input() {
  input_closing_ = true;
  write_input();
}

void SupervisedRun::write_input() {
  while (in_ && !input_.empty()) {
    ssize_t n = ::write(in_.get(), input_.data(), input_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return place_.loop.watch(in_.get(), EPOLLOUT, this);
    if (n < 0) return drop_input();  // Nobody reads it any more.
    input_.erase(0, static_cast<size_t>(n));
  }
  if (!in_) return;
  std::string().swap(input_);
  place_.loop.forget(in_.get());
  if (input_closing_) drop_input();
}

void SupervisedRun::drop_input() {
  close_pipe(in_);
  std::string().swap(input_);
}

void SupervisedRun::close_pipe(Fd& pipe) {
  if (!pipe) return;
  place_.loop.forget(pipe.get());
  pipe.reset();
}

}  // namespace errand::process

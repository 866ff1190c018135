#include "process/keeper.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "process/artifact_folder.h"
#include "process/cgroup.h"
#include "process/clock.h"
#include "process/fd.h"
#include "process/journal_format.h"
#include "process/launch.h"
#include "process/limit_watch.h"
#include "process/protocol.h"
#include "process/run.h"
#include "process/tree.h"

namespace errand::process {
namespace {

constexpr int parent_died = SIGUSR1;
constexpr Millis leftover_grace_ms = 1'000;  // For what the main child left behind.
constexpr Millis kill_again_ms = 20;
constexpr size_t crowd = 512;
constexpr Millis record_again_ms = 1'000;
constexpr Millis tell_started_ms = 5;  // What ends before costs the supervisor one report and one answer less.
constexpr int keeper_nice = -10;
constexpr int sandbox_depth = 2;  // bwrap itself, and its first process inside.
constexpr int64_t never = std::numeric_limits<int64_t>::max();
constexpr size_t packet_max = 64 * 1024;
// Of one keeper: it has the memory that the supervisor had when it was forked.
constexpr int runs_max = 500;

// The child's standard descriptors.
struct Ends {
  int in, out, err;
};

// What is the same for all runs of one keeper.
struct Post {
  pid_t supervisor;
  int control, runs, cgroups;
  bool cgroup_memory, cgroup_pids;
  int usual_nice = 0;  // The supervisor's.
  Fd signals;
  ArtifactFolder artifacts;
};

class Keeper {
 public:
  Keeper(Post& post, const SpawnRequest& request, const std::string& marker, const Ends& ends, bool may_wait)
      : post_(post), request_(request), marker_(marker), ends_(ends), may_wait_(may_wait) {}

  // True: nothing of the run is left here, and this process is as good as new.
  bool run() {
    KeeperReport report;
    report.error = make_folder();
    if (report.error != 0) {
      report.kind = KeeperReport::refused;
      send(report);
      return false;
    }
    start();
    while (!reap()) wait_for_something();
    if (group_) group_->remove();
    if (parent_gone_) return false;
    tell_gone();
    return record();
  }

 private:
  int make_folder();
  void start();
  void wait_for_something();
  void take_signals();
  void take_order();
  bool reap();
  void account(pid_t pid, int status, const rusage& used);
  void begin_stop(RunEnd::How how, Millis grace, std::string_view why = {});
  void begin_kill();
  void end_for(const LimitHit& hit);
  void look();
  void tell_gone();
  bool record();
  // One that had to end something may have gone first, and knows of strays: a new one is the safer.
  bool can_go_on() const { return may_wait_ && !terminated_ && !killing_; }
  void send(const KeeperReport& report) { ::send(post_.control, &report, sizeof report, MSG_NOSIGNAL); }

  Post& post_;
  const SpawnRequest& request_;
  const std::string& marker_;
  const Ends ends_;
  const bool may_wait_;
  Fd folder_;
  std::optional<Cgroup> group_;
  std::optional<LimitWatch> watch_;  // While the main child runs.
  pid_t main_ = -1;
  bool main_ended_ = false;
  bool parent_gone_ = false;
  bool terminated_ = false;  // SIGTERM went out.
  bool killing_ = false;
  bool told_gone_ = false;
  int64_t timeout_at_ = never, kill_at_ = never, tell_started_at_ = never;  // Steady.
  KeeperReport end_;
  std::string why_;  // Text of the end.
  int left_behind_ = 0;
  std::string order_;  // The record of the end, once it came.
};

// Among a thousand processes that all want to run, an ordinary one is late. Where it may not, it stays one.
void go_first() {
  ::setpriority(PRIO_PROCESS, 0, -20);
  Fd group(::open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC));
  if (group) [[maybe_unused]]
    ssize_t n = ::write(group.get(), "-20", 3);
}

bool prepare(Post& post, const Ends& ends) {
  // First of all: as long as these copies are open, other runs' pipes do not end and the supervisor's lock is held.
  close_all_but({post.control, ends.in, ends.out, ends.err, post.runs, post.cgroups});
  ::prctl(PR_SET_NAME, "errand-keeper");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // It sleeps, but when it wakes it has something to see that others would like to outrun. Where it may not, so be it.
  post.usual_nice = ::getpriority(PRIO_PROCESS, 0);
  ::setpriority(PRIO_PROCESS, 0, std::min(keeper_nice, post.usual_nice));
  sigset_t mask;
  ::sigfillset(&mask);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::sigemptyset(&mask);
  for (int number : {SIGCHLD, SIGTERM, SIGINT, parent_died}) ::sigaddset(&mask, number);
  post.signals.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  ::prctl(PR_SET_PDEATHSIG, parent_died);
  return post.signals && ::getppid() == post.supervisor;  // It may have died before the line above.
}

// mkdir succeeds once: that is what makes a run start at most once. After a power cut "no folder" must not pass for
// "nothing ran": either it is on disk before anything runs, or the server knows of the cut by itself.
int Keeper::make_folder() {
  const std::string& run = request_.run;
  if (::mkdirat(post_.runs, run.c_str(), 0700) != 0) return errno;
  folder_.reset(::openat(post_.runs, run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  int error = folder_ && ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0 ? make_journal(folder_.get()) : errno;
  if (error == 0 && !request_.boot_stored) error = sync_name(folder_.get());
  if (error == 0 && !request_.artifacts.empty()) error = post_.artifacts.make(request_.artifacts);
  if (error != 0) remove_run(post_.runs, run);
  return error;
}

void Keeper::start() {
  group_ = Cgroup::make(post_.cgroups, post_.cgroup_memory, post_.cgroup_pids, request_.run, request_.limits);
  Started started =
      start_child({request_, marker_, ends_.in, ends_.out, ends_.err, group_ ? group_->fd() : -1, post_.usual_nice});
  // The child alone holds its ends of the pipes: when the last process of the tree is gone, they end.
  for (int fd : {ends_.in, ends_.out, ends_.err}) ::close(fd);
  KeeperReport report;
  report.at_ms = end_.started_at_ms = wall_ms();
  if (started.pid < 0) {
    report.kind = KeeperReport::failed;
    std::strncpy(report.text, started.text.c_str(), sizeof report.text - 1);
    end_.how = RunEnd::How::spawn_failed;
    why_ = started.text;
    main_ended_ = true;
    send(report);
  } else {
    main_ = started.pid;
    tell_started_at_ = steady_ms() + tell_started_ms;
    if (request_.timeout_ms > 0) timeout_at_ = steady_ms() + request_.timeout_ms;
    watch_.emplace(request_.limits, group_ ? &*group_ : nullptr);
  }
}

void Keeper::wait_for_something() {
  int64_t due = std::min({timeout_at_, kill_at_, tell_started_at_, watch_ ? watch_->due() : never});
  int64_t now = steady_ms();
  int timeout = due == never ? -1 : static_cast<int>(std::clamp<int64_t>(due - now, 0, 3'600'000));
  pollfd fds[] = {{post_.signals.get(), POLLIN, 0}, {parent_gone_ ? -1 : post_.control, POLLIN, 0}};
  ::poll(fds, 2, timeout);
  if (fds[0].revents) take_signals();
  if (fds[1].revents) take_order();
  now = steady_ms();
  if (now >= tell_started_at_) {
    tell_started_at_ = never;
    KeeperReport report;
    report.at_ms = end_.started_at_ms;
    send(report);
  }
  if (now >= timeout_at_) {
    timeout_at_ = never;
    begin_stop(RunEnd::How::timeout, request_.grace_ms);
  }
  if (watch_ && now >= watch_->due()) look();
  if (now >= kill_at_) begin_kill();
}

void Keeper::take_signals() {
  signalfd_siginfo info;
  while (::read(post_.signals.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == parent_died) {
      parent_gone_ = ::getppid() != post_.supervisor;
      if (parent_gone_) begin_kill();
    } else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) {
      begin_stop(RunEnd::How::stopped, request_.grace_ms, "Its keeper was asked to end it.");
    }
  }
}

void Keeper::take_order() {
  char packet[packet_max];
  ssize_t n = ::recv(post_.control, packet, sizeof packet, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    parent_gone_ = true;
    begin_kill();
    return;
  }
  std::string_view rest(packet + 1, static_cast<size_t>(n - 1));
  switch (static_cast<KeeperOrder>(packet[0])) {
    case KeeperOrder::stop: {
      int64_t grace = 0;
      if (rest.size() == sizeof grace) std::memcpy(&grace, rest.data(), sizeof grace);
      // One that crossed the report of the end: there is nothing left to stop, and what was said of waiting holds.
      if (!told_gone_) begin_stop(RunEnd::How::stopped, grace);
      break;
    }
    case KeeperOrder::record:
      order_ = rest;
      break;
    case KeeperOrder::next:  // Only to one that waits.
      break;
  }
}

// Reaps what has ended. True: there is nothing left below this process.
bool Keeper::reap() {
  for (;;) {
    int status = 0;
    rusage used{};
    pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid < 0) return true;
    if (pid == 0) break;
    account(pid, status, used);
  }
  if (main_ended_ && !terminated_ && !killing_) {
    // Only the main child decides how the run went; what it left behind ends with it.
    left_behind_ = group_ ? static_cast<int>(group_->members().size()) : usage_below(::getpid()).processes;
    begin_stop(end_.how, std::min(request_.grace_ms, leftover_grace_ms));
  } else if (killing_) {
    begin_kill();
  }
  return false;
}

void Keeper::account(pid_t pid, int status, const rusage& used) {
  auto micros = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
  end_.cpu_us += micros(used.ru_utime) + micros(used.ru_stime);
  end_.max_memory = std::max<int64_t>(end_.max_memory, int64_t{used.ru_maxrss} * 1024);
  if (pid != main_) return;
  timeout_at_ = never;
  if (WIFSIGNALED(status)) {
    end_.signal = WTERMSIG(status);
    if (end_.how == RunEnd::How::exited) {
      // The kernel may have been quicker than we.
      auto hit = watch_ ? watch_->behind(end_.signal, static_cast<double>(end_.cpu_us) / 1e6) : std::nullopt;
      if (hit) end_for(*hit);
      if (!hit) end_.how = RunEnd::How::signalled;
    }
  } else {
    end_.exit_code = WEXITSTATUS(status);
  }
  main_ended_ = true;
  if (watch_) end_.max_memory = std::max(end_.max_memory, watch_->peak_memory());
  watch_.reset();
}

// `how` holds only where the main child had not ended by itself before.
void Keeper::begin_stop(RunEnd::How how, Millis grace, std::string_view why) {
  if (!main_ended_ && end_.how == RunEnd::How::exited) {
    end_.how = how;
    why_ = why;
  }
  if (!terminated_ && grace > 0) {
    // A crowd is told in one step: to walk among it takes longer than its grace (limit_watch.cc).
    if (!request_.sandboxed && !main_ended_ && main_ > 0 && group_ && group_->members().size() > crowd)
      ::kill(-main_, SIGTERM);
    else
      terminate_descendants(request_.sandboxed ? sandbox_depth : 0);
  }
  terminated_ = true;
  kill_at_ = std::min(kill_at_, steady_ms() + std::max<Millis>(grace, 0));
}

// One round. What the killed ones leave becomes ours and is met in the next. A tree that grows faster than it can be
// walked is met by what the kernel does in one step: the group, or at least the main child's process group, whose
// number is its own as long as it is not reaped; and what is left then is held still before it is ended.
void Keeper::begin_kill() {
  if (!killing_ && group_) group_->kill();
  if (!killing_ && main_ > 0 && !main_ended_) ::kill(-main_, SIGKILL);
  if (!killing_ && !group_) {
    go_first();
    stop_descendants();
  }
  killing_ = true;
  kill_children();
  kill_at_ = steady_ms() + kill_again_ms;
}

void Keeper::look() {
  auto hit = watch_->look();
  if (auto usage = watch_->to_tell()) {
    KeeperReport report{.kind = KeeperReport::used};
    report.cpu_us = static_cast<int64_t>(usage->cpu_s * 1e6);
    report.max_memory = usage->memory_bytes;
    report.processes = usage->processes;
    ::send(post_.control, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (hit) end_for(*hit);
}

void Keeper::end_for(const LimitHit& hit) {
  if (main_ended_ || end_.how != RunEnd::How::exited) return;
  std::strncpy(end_.limit, hit.limit.c_str(), sizeof end_.limit - 1);
  end_.limit_value = hit.value;
  end_.limit_seen = hit.seen;
  // No grace: what is over its limit would use it to take more.
  begin_stop(RunEnd::How::limit, 0, hit.text);
}

void Keeper::tell_gone() {
  end_.kind = KeeperReport::gone;
  end_.at_ms = wall_ms();
  if (left_behind_ > 0 && why_.empty())
    why_ = std::to_string(left_behind_) + (left_behind_ == 1 ? " process" : " processes") + " that it left behind " +
           (left_behind_ == 1 ? "was" : "were") + " ended.";
  std::strncpy(end_.text, why_.c_str(), sizeof end_.text - 1);
  end_.waits = can_go_on();
  end_.left_nothing = !request_.artifacts.empty() && post_.artifacts.take_back(request_.artifacts);
  told_gone_ = true;
  send(end_);
}

// Answers whether it waits for a further run, or has it already.
bool Keeper::record() {
  while (order_.empty()) {
    pollfd control{post_.control, POLLIN, 0};
    ::poll(&control, 1, -1);
    char order = 0;
    if (::recv(post_.control, &order, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && order == static_cast<char>(KeeperOrder::next))
      return true;  // It was told that this one waits.
    take_order();
    if (parent_gone_) return false;
  }
  KeeperReport report;
  for (;;) {
    report.error = finish_journal(folder_.get());
    if (report.error == 0 && request_.boot_stored) report.error = sync_name(folder_.get());
    if (report.error == 0) report.error = write_end(folder_.get(), order_);
    report.kind = report.error ? KeeperReport::delayed : KeeperReport::recorded;
    report.waits = !report.error && can_go_on();
    send(report);
    if (!report.error) return report.waits;
    pollfd control{post_.control, POLLIN, 0};
    if (::poll(&control, 1, record_again_ms) > 0) take_order();
    if (parent_gone_) return false;
  }
}

struct Next {
  SpawnRequest request;
  std::string marker;
  Ends ends;
};

// The packet of a further run, and the descriptors that came with it.
std::optional<Next> receive_next(int control) {
  char packet[packet_max];
  int descriptors[3] = {-1, -1, -1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof descriptors)];
  iovec part{.iov_base = packet, .iov_len = sizeof packet};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  const ssize_t n = ::recvmsg(control, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const cmsghdr* const header = n > 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof descriptors) ||
      (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || packet[0] != static_cast<char>(KeeperOrder::next))
    return std::nullopt;
  std::memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  const auto fields = Fields::parse({packet + 1, static_cast<size_t>(n - 1)});
  Result<SpawnRequest> request = fields ? get_spawn(*fields) : fail(Code::invalid_argument, "No fields.");
  if (!request) return std::nullopt;
  return Next{
      std::move(*request), std::string(fields->text("marker")), {descriptors[0], descriptors[1], descriptors[2]}};
}

// Nothing: the supervisor has no further run for it, or is gone.
std::optional<Next> wait_for_next(const Post& post) {
  for (;;) {
    pollfd fds[] = {{post.signals.get(), POLLIN, 0}, {post.control, POLLIN, 0}};
    ::poll(fds, 2, -1);
    if (fds[1].revents) return receive_next(post.control);
    signalfd_siginfo info;
    while (::read(post.signals.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) return std::nullopt;
  }
}

// Returns when this process has nothing more to do.
void keep_runs(const KeeperSetup& setup) {
  Post post{
      setup.supervisor, setup.control, setup.runs, setup.cgroups, setup.cgroup_memory, setup.cgroup_pids, 0, {}, {}};
  Ends ends{setup.in, setup.out, setup.err};
  if (!prepare(post, ends)) return;
  bool waits = Keeper(post, setup.request, setup.marker, ends, true).run();
  for (int runs = 1; waits; ++runs) {
    const std::optional<Next> next = wait_for_next(post);
    waits = next && Keeper(post, next->request, next->marker, next->ends, runs < runs_max).run();
  }
}

}  // namespace

std::string next_run(const SpawnRequest& request, const std::string& marker) {
  FrameOut out;
  put_spawn(out, request);
  out.add("marker", marker);
  if (out.payload().size() >= packet_max) return {};
  return static_cast<char>(KeeperOrder::next) + std::string(out.payload());
}

void keep(const KeeperSetup& setup) {
  keep_runs(setup);
  ::_exit(0);
}

}  // namespace errand::process

// What the supervisor promises (docs/decisions/0002-supervisor.md says why):
//  - A run's folder is on disk before its child runs, and a run starts at most once.
//  - Its log and its end are on disk before anybody is told that it ended; the end of one that printed nothing is
//    written down, and on disk when the server that is told of it has stored it.
//  - A run has ended only when no process of its tree is left; whoever dies (server, supervisor, keeper), none stays.
//  - One supervisor a data folder. It needs no server: it leaves when it has neither runs nor a server.
//  - It does not block on the disk: keepers sync. It holds no lock but its own and hands no descriptor on.
#include "process/supervisor.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <signal.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "process/cgroup.h"
#include "process/clock.h"
#include "process/event_loop.h"
#include "process/launch.h"
#include "process/note.h"
#include "process/peer.h"
#include "process/probe.h"
#include "process/protocol.h"
#include "process/run.h"
#include "process/supervised_run.h"
#include "process/tree.h"

namespace errand::process {
namespace {

constexpr const char* lock_name = "supervisor.lock";
constexpr const char* log_file_name = "supervisor.log";
constexpr const char* cgroup_file_name = "supervisor.cgroup";  // Where the runs' groups are, for the next one.
constexpr int64_t never = std::numeric_limits<int64_t>::max();
constexpr Millis stray_again_ms = 20;
constexpr size_t peers_max = 32;

class Supervisor final : public Ready, public PeerOwner {
 public:
  explicit Supervisor(const SupervisorOptions& options) : options_(options) {}
  int run();

  void ready(int fd, uint32_t events) override;
  void frame(Peer& peer, const Fields& fields) override;

 private:
  using Handler = void (Supervisor::*)(Peer&, int64_t id, const Fields&);

  // Setting up (0: go on; else: leave with this code + 1).
  std::optional<int> set_up();
  bool listen();
  void find_abilities(const std::string& data_dir);
  void take_signals();
  void accept_peer();

  // Requests.
  void hello(Peer& peer, int64_t id, const Fields& fields);
  void spawn(Peer& peer, int64_t id, const Fields& fields);
  void attach(Peer& peer, int64_t id, const Fields& fields);
  void forget(Peer& peer, int64_t id, const Fields& fields);
  void stop(Peer& peer, int64_t id, const Fields& fields);
  void input(Peer& peer, int64_t id, const Fields& fields);
  void close_input(Peer& peer, int64_t id, const Fields& fields);
  void usage(Peer& peer, int64_t id, const Fields& fields);
  void release_journal(Peer& peer, int64_t id, const Fields& fields);
  void release(Peer& peer, int64_t id, const Fields& fields);
  void list(Peer& peer, int64_t id, const Fields& fields);
  void retire(Peer& peer, int64_t id, const Fields& fields);

  void meet(Peer& peer);
  void refuse(Peer& peer, int64_t id, const Error& error);
  void accept_request(Peer& peer, int64_t id) { peer.send(FrameOut().add("re", id).take()); }
  SupervisedRun* find(const Fields& fields);
  Fd open_run(const std::string& name) const;
  void take_up_abandoned();
  void take_up(Peer& peer, int64_t id, const std::string& run, Fd folder);
  void follow(Peer& peer, int64_t id, SupervisedRun& run);

  void remove(std::string run);
  void start_remover();
  void reap();
  void end_strays();
  int64_t tick();
  void sweep_peers();
  bool sweep_runs();
  bool alive() const;
  void stop_all();

  SupervisorOptions options_;
  EventLoop loop_;
  Fd data_, lock_, runs_dir_, listener_, signals_;
  std::unique_ptr<RunPlace> place_;
  CgroupPlace cgroups_;
  Abilities abilities_;
  std::string build_;
  std::map<std::string, std::unique_ptr<SupervisedRun>> runs_;
  std::map<pid_t, std::string> keepers_;  // Unreaped ones, and whose they are (or were: those that wait).
  IdleKeepers idle_;
  std::set<std::string> removing_;   // Released; their folders are going.
  std::set<std::string> to_remove_;  // Of these, those that wait for the next remover.
  pid_t remover_ = -1;
  std::vector<std::unique_ptr<Peer>> peers_;
  bool leaving_ = false;   // Ends everything, then leaves.
  bool retiring_ = false;  // Leaves when no run is alive.
  int64_t alone_since_ = 0;
  bool served_ = false;  // Some peer since then has asked for something.
  int64_t strays_at_ = never;
};

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? resolved : path;
}

// The binary is big, and what ran before this point (its initializers, the command line) never runs again: its pages
// go, and those that are still needed come back by themselves. Only code is touched: it was never written to.
void forget_start_up() {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {}, file[2] = {};
    bool code = std::sscanf(line, "%lx-%lx %4s %*s %*s %*s %1[/]", &begin, &end, rights, file) == 4 &&
                std::strcmp(rights, "r-xp") == 0;
    if (code) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  std::fclose(maps);
}

// --- setting up

std::optional<int> Supervisor::set_up() {
  ::setsid();
  ::umask(077);
  if (::chdir("/") != 0) return 1;
  std::string path = options_.data_dir;
  if ((::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) ||
      (data_ = Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), !data_)) {
    std::fprintf(stderr, "errand supervisor: %s cannot be opened: %s\n", path.c_str(), std::strerror(errno));
    return 1;
  }
  lock_.reset(::openat(data_.get(), lock_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return 1;
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return 0;  // There is one already.

  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Fd log(::openat(data_.get(), log_file_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!null || !log || ::dup2(null.get(), 0) < 0 || ::dup2(null.get(), 1) < 0 || ::dup2(log.get(), 2) < 0) return 1;

  bool made = ::mkdirat(data_.get(), runs_name, 0700) == 0;
  runs_dir_.reset(::openat(data_.get(), runs_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!runs_dir_ || (made && ::fsync(data_.get()) != 0)) {
    note(std::string("the folder run/ cannot be opened: ") + std::strerror(errno));
    return 1;
  }
  sweep_removed(runs_dir_.get());

  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  place_.reset(new RunPlace{loop_, real_path(path) + "/" + runs_name, runs_dir_.get(), cgroups_, idle_});

  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // What was ignored would stay so for all.
  for (int number : ignored_signals) ::signal(number, SIG_IGN);
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!loop_.ok() || !signals_ || !listen()) {
    note(std::string("it cannot start: ") + std::strerror(errno));
    return 1;
  }
  find_abilities(real_path(path));
  loop_.watch(signals_.get(), EPOLLIN, this);
  loop_.watch(listener_.get(), EPOLLIN, this);
  build_ = build_of("/proc/self/exe");
  forget_start_up();
  return std::nullopt;
}

// Whatever is in the groups of the supervisor before this one has lost it.
void Supervisor::find_abilities(const std::string& data_dir) {
  Fd file(::openat(data_.get(), cgroup_file_name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  char before[PATH_MAX] = {};
  if (file && ::pread(file.get(), before, sizeof before - 1, 0) > 0) CgroupPlace::clear(before);
  if (options_.cgroups) cgroups_ = CgroupPlace::below_own(data_dir);
  const std::string path = cgroups_.ok() ? cgroups_.path() : std::string();
  if (file && (::ftruncate(file.get(), 0) != 0 ||
               ::pwrite(file.get(), path.data(), path.size(), 0) != static_cast<ssize_t>(path.size())))
    note("where its groups are could not be written down");
  FoundBwrap bwrap = find_bwrap("/usr/local/bin:/usr/bin:/bin");
  abilities_ = {.known = true,
                .artifacts = true,
                .cgroup = cgroups_.ok(),
                .cgroup_memory = cgroups_.memory(),
                .cgroup_pids = cgroups_.pids(),
                .cgroup_text = cgroups_.ok() ? cgroups_.path() : cgroups_.why_not(),
                .bwrap = bwrap.path,
                .bwrap_text = bwrap.why_not};
}

bool Supervisor::listen() {
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return false;
  // The lock is held: whatever is there is a dead one's, which did not take its leave.
  if (::unlinkat(data_.get(), socket_name, 0) == 0) take_up_abandoned();
  sockaddr_un address = socket_address(data_.get());
  return ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         ::fchmodat(data_.get(), socket_name, 0600, 0) == 0 && ::listen(listener_.get(), 16) == 0;
}

int Supervisor::run() {
  if (auto code = set_up()) return *code;
  note("started, pid " + std::to_string(::getpid()));
  alone_since_ = steady_ms();
  for (;;) {
    sweep_peers();
    int64_t next = tick();
    if (sweep_runs()) continue;
    for (auto& peer : peers_) peer->flush();
    if (leaving_ || retiring_) idle_.dismiss();
    if (!alive() && keepers_.empty() && remover_ < 0) {
      int64_t now = steady_ms();
      bool idle = peers_.empty() && now - alone_since_ >= options_.idle_exit_ms;
      if (leaving_ || retiring_ || idle) break;
    }
    int64_t wait = next == never ? -1 : std::clamp<int64_t>(next - steady_ms(), 0, 3'600'000);
    loop_.wait(static_cast<int>(wait));
  }
  ::unlinkat(data_.get(), socket_name, 0);
  if (cgroups_.ok()) CgroupPlace::clear(cgroups_.path());
  note(leaving_ ? "left, as asked" : retiring_ ? "left, replaced by a newer one" : "left, nothing to do");
  return 0;
}

// --- what happens

void Supervisor::ready(int fd, uint32_t /*events*/) {
  if (fd == listener_.get()) accept_peer();
  if (fd == signals_.get()) take_signals();
}

void Supervisor::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) stop_all();
  reap();
}

void Supervisor::accept_peer() {
  Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) return;
  ucred who{};
  socklen_t size = sizeof who;
  bool ours = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::geteuid();
  if (ours && peers_.size() < peers_max) peers_.push_back(std::make_unique<Peer>(std::move(socket), loop_, *this));
}

void Supervisor::reap() {
  for (;;) {
    int status = 0;
    pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) break;
    if (pid == remover_) {
      remover_ = -1;
      std::erase_if(removing_, [this](const std::string& run) { return !to_remove_.contains(run); });
      start_remover();
      continue;
    }
    auto keeper = keepers_.find(pid);
    if (keeper == keepers_.end()) continue;
    auto run = runs_.find(keeper->second);
    keepers_.erase(keeper);
    idle_.forget(pid);
    if (run == runs_.end() || run->second->keeper() != pid) continue;
    run->second->keeper_exited();
  }
  end_strays();
}

void Supervisor::remove(std::string run) {
  removing_.insert(run);
  to_remove_.insert(std::move(run));
  start_remover();
}

// Removing waits for the disk, so it is done beside: one process for all that came together.
void Supervisor::start_remover() {
  if (remover_ > 0 || to_remove_.empty()) return;
  std::set<std::string> batch = std::exchange(to_remove_, {});
  remover_ = ::fork();
  if (remover_ > 0) return;
  if (remover_ == 0) close_all_but({runs_dir_.get()});
  for (const std::string& run : batch) remove_run(runs_dir_.get(), run);
  if (remover_ == 0) ::_exit(0);
  for (const std::string& run : batch) removing_.erase(run);  // No process was to be had: done here.
}

// Whatever is a child here and no keeper was left by a keeper that died.
void Supervisor::end_strays() {
  bool orphaned = std::ranges::any_of(
      runs_, [](const auto& entry) { return entry.second->state() == SupervisedRun::State::orphaned; });
  strays_at_ = never;
  if (!orphaned) return;
  std::vector<pid_t> ours{remover_};
  for (const auto& entry : keepers_) ours.push_back(entry.first);
  if (kill_children(ours) > 0) {
    strays_at_ = steady_ms() + stray_again_ms;
    return;
  }
  for (auto& entry : runs_) entry.second->strays_gone();
}

void Supervisor::stop_all() {
  leaving_ = true;
  for (auto& entry : runs_) entry.second->stop({});
}

bool Supervisor::alive() const { return !runs_.empty(); }

int64_t Supervisor::tick() {
  int64_t now = steady_ms();
  if (now >= strays_at_) reap();
  int64_t next = std::min(strays_at_, idle_.tick(now));
  for (auto& entry : runs_) next = std::min(next, entry.second->tick(now));
  if (peers_.empty() && !leaving_) {
    int64_t leave_at = alone_since_ + (alive() ? options_.orphan_ms : options_.idle_exit_ms);
    if (alive() && now >= leave_at) {
      note("no server came back: everything is ended");
      stop_all();
    } else {
      next = std::min(next, leave_at);
    }
  }
  return next;
}

// Removes who has hung up. Only in the loop, where no peer is in the middle of a request.
void Supervisor::sweep_peers() {
  for (auto& peer : peers_) {
    if (!peer->closed()) continue;
    for (auto& entry : runs_) entry.second->forget(peer.get());
    peer.reset();
  }
  if (std::erase(peers_, nullptr) > 0 && peers_.empty() && std::exchange(served_, false)) alone_since_ = steady_ms();
}

// It has asked for something: a server that works here. One that comes, says who it is and goes again could not start;
// it changes nothing for what runs, neither how long it may run alone nor since when it does.
void Supervisor::meet(Peer& peer) {
  served_ = true;
  if (peer.orphan_ms > 0) options_.orphan_ms = std::exchange(peer.orphan_ms, 0);
}

// Drops what has ended: from here on its folder speaks for it. True: there was something.
bool Supervisor::sweep_runs() {
  size_t before = runs_.size();
  for (auto entry = runs_.begin(); entry != runs_.end();) {
    if (entry->second->state() != SupervisedRun::State::ended) {
      ++entry;
      continue;
    }
    std::string run = entry->first;
    bool released = entry->second->released();
    entry = runs_.erase(entry);
    if (released) remove(run);
    if (runs_.empty() && peers_.empty()) alone_since_ = steady_ms();
  }
  return runs_.size() != before;
}

// --- requests

void Supervisor::frame(Peer& peer, const Fields& fields) {
  static const struct {
    std::string_view op;
    Handler handler;
    bool about_run;
    bool greets = false;
  } table[] = {{"hello", &Supervisor::hello, false, true},
               {"spawn", &Supervisor::spawn, true},
               {"attach", &Supervisor::attach, true},
               {"forget", &Supervisor::forget, true},
               {"stop", &Supervisor::stop, true},
               {"input", &Supervisor::input, true},
               {"close_input", &Supervisor::close_input, true},
               {"usage", &Supervisor::usage, true},
               {"release_journal", &Supervisor::release_journal, true},
               {"release", &Supervisor::release, true},
               {"list", &Supervisor::list, false},
               {"retire", &Supervisor::retire, false, true}};
  int64_t id = fields.number("id");
  auto entry = std::ranges::find(table, fields.text("op"), [](const auto& row) { return row.op; });
  if (entry == std::end(table))
    return refuse(peer, id,
                  {Code::unsupported, "This supervisor is older than the server and cannot do that yet.", {}});
  if (entry->about_run && !is_run_name(fields.text("run")))
    return refuse(peer, id,
                  {Code::invalid_argument, "A run is named <task>.<number>, of letters, digits and underscores.", {}});
  if (!entry->greets) meet(peer);
  (this->*entry->handler)(peer, id, fields);
}

void Supervisor::refuse(Peer& peer, int64_t id, const Error& error) {
  FrameOut out;
  put_error(out.add("re", id), error);
  peer.send(out.take());
}

SupervisedRun* Supervisor::find(const Fields& fields) {
  auto entry = runs_.find(std::string(fields.text("run")));
  bool there = entry != runs_.end() && entry->second->state() != SupervisedRun::State::ended;
  return there ? entry->second.get() : nullptr;
}

Fd Supervisor::open_run(const std::string& name) const {
  return Fd(::openat(runs_dir_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

void Supervisor::hello(Peer& peer, int64_t id, const Fields& fields) {
  peer.orphan_ms = fields.number("orphan");
  FrameOut out;
  out.add("re", id).add("version", protocol_version).add("build", build_);
  put_abilities(out, abilities_);
  peer.send(out.take());
}

void Supervisor::spawn(Peer& peer, int64_t id, const Fields& fields) {
  auto request = get_spawn(fields);
  if (!request) return refuse(peer, id, request.error());
  if (SupervisedRun* run = find(fields)) return follow(peer, id, *run);
  sweep_runs();  // One of this name that has just ended is found on disk.
  std::string name = request->run;
  if (leaving_) return refuse(peer, id, {Code::unavailable, "The supervisor is stopping; try again.", {}});
  if (removing_.contains(name)) return refuse(peer, id, {Code::conflict, "A run of this name is being removed.", {}});
  // There is one supervisor and it has one thread: what is not there now is not there when the keeper makes it.
  if (Fd folder = open_run(name)) return take_up(peer, id, name, std::move(folder));
  auto run = SupervisedRun::start(*place_, *request);
  if (!run) return refuse(peer, id, run.error());
  keepers_[(*run)->keeper()] = name;
  SupervisedRun& started = *(runs_[name] = std::move(*run));
  started.subscribe(&peer);
  started.answer_when_started(&peer, id);
}

void Supervisor::attach(Peer& peer, int64_t id, const Fields& fields) {
  if (SupervisedRun* run = find(fields)) return follow(peer, id, *run);
  sweep_runs();
  std::string name(fields.text("run"));
  Fd folder = removing_.contains(name) ? Fd() : open_run(name);
  if (!folder) return refuse(peer, id, {Code::not_found, "This run was never started, or it was released.", {}});
  take_up(peer, id, name, std::move(folder));
}

// What the supervisor before this one left when it was killed. Somebody may ask for it later; its processes, if any
// survived, are ended now.
void Supervisor::take_up_abandoned() {
  for (std::string& name : names_in(runs_dir_.get())) {
    if (!is_run_name(name)) continue;
    Fd folder = open_run(name);
    if (folder && !read_end(folder.get())) runs_[name] = SupervisedRun::abandoned(*place_, name, std::move(folder));
  }
}

// A folder that no live run stands for: it has ended, or an earlier supervisor left it.
void Supervisor::take_up(Peer& peer, int64_t id, const std::string& name, Fd folder) {
  if (auto end = read_end(folder.get())) {
    accept_request(peer, id);
    if (end->output_bytes > 0)
      peer.send(FrameOut().add("event", "output").add("run", name).add("total", end->output_bytes).take());
    return peer.send(ended_frame(name, *end));
  }
  auto& run = runs_[name] = SupervisedRun::abandoned(*place_, name, std::move(folder));
  follow(peer, id, *run);
}

void Supervisor::follow(Peer& peer, int64_t id, SupervisedRun& run) {
  run.subscribe(&peer);
  run.answer_when_started(&peer, id);
  if (run.total() > 0)
    peer.send(FrameOut().add("event", "output").add("run", run.run()).add("total", run.total()).take());
}

void Supervisor::forget(Peer& peer, int64_t id, const Fields& fields) {
  if (SupervisedRun* run = find(fields)) run->forget(&peer);
  accept_request(peer, id);
}

void Supervisor::stop(Peer& peer, int64_t id, const Fields& fields) {
  std::optional<Millis> grace;
  if (fields.has("grace")) grace = fields.number("grace");
  if (SupervisedRun* run = find(fields)) run->stop(grace);
  accept_request(peer, id);
}

void Supervisor::input(Peer& peer, int64_t id, const Fields& fields) {
  SupervisedRun* run = find(fields);
  if (!run) return refuse(peer, id, {Code::conflict, "This run has ended and takes no input.", {}});
  const int64_t number = fields.number("number");
  const bool again = number > 0 && number <= run->input_taken();
  auto taken = run->input(number, fields.text("bytes"));
  if (!taken) return refuse(peer, id, taken.error());
  FrameOut out;
  out.add("re", id).add("number", *taken);
  // Said beside the success: a server of an older build, which repeats what it had no answer to, takes it for one.
  if (again) out.add("again", int64_t{1});
  peer.send(out.take());
}

void Supervisor::close_input(Peer& peer, int64_t id, const Fields& fields) {
  if (SupervisedRun* run = find(fields)) run->close_input();
  accept_request(peer, id);
}

void Supervisor::usage(Peer& peer, int64_t id, const Fields& fields) {
  SupervisedRun* run = find(fields);
  if (!run || run->keeper() < 0) return refuse(peer, id, {Code::conflict, "This run is not alive.", {}});
  RunUsage used = usage_below(run->keeper());
  peer.send(FrameOut()
                .add("re", id)
                .add("cpu_us", static_cast<int64_t>(used.cpu_s * 1e6))
                .add("memory", used.memory_bytes)
                .add("processes", int64_t{used.processes})
                .add("io", used.io_bytes)
                .add("states", used.states)
                .take());
}

void Supervisor::release_journal(Peer& peer, int64_t id, const Fields& fields) {
  if (SupervisedRun* run = find(fields)) run->release_journal(fields.number("offset"));
  accept_request(peer, id);
}

void Supervisor::release(Peer& peer, int64_t id, const Fields& fields) {
  if (SupervisedRun* run = find(fields)) {
    run->release_at_end();
    run->stop({});
  } else {
    sweep_runs();
    std::string name(fields.text("run"));
    Fd folder = open_run(name);
    // One without an end may have left processes behind: they are ended first.
    if (folder && !read_end(folder.get()))
      (runs_[name] = SupervisedRun::abandoned(*place_, name, std::move(folder)))->release_at_end();
    else
      remove(name);
  }
  accept_request(peer, id);
}

void Supervisor::list(Peer& peer, int64_t id, const Fields& /*fields*/) {
  FrameOut out;
  out.add("re", id);
  for (const auto& entry : runs_) out.add("run", entry.first).add("total", entry.second->total());
  peer.send(out.take());
}

void Supervisor::retire(Peer& peer, int64_t id, const Fields& /*fields*/) {
  retiring_ = true;
  accept_request(peer, id);
}

}  // namespace

int run_supervisor(const SupervisorOptions& options) {
  // Nothing of whoever started it stays: a lock or a socket that it kept open would outlive its owner.
  ::close_range(3, ~0u, 0);
  ::prctl(PR_SET_NAME, "errand");  // Started through /proc/self/exe it would be called "exe".
  return Supervisor(options).run();
}

}  // namespace errand::process

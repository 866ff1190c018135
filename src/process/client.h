// The server's side of the supervisor: start runs, feed them, stop them, hear how they end.
//
// A run is one start of work: `task_….3` names its folder data_dir/run/task_….3/, its journal and its fence. Spawning a
// run that exists returns that run and starts nothing. Threads: all calls on the engine's thread. Callbacks come on the
// executor's thread, never inside a call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"

namespace errand::process {

enum class JournalMode : uint8_t {
  log,       // A command's output: past `output_limit` head and tail are kept, and the run goes on.
  protocol,  // An agent's wire: never cut. At its bound the supervisor stops reading until `release_journal`.
};

// What the whole tree of a run may use; 0 is "no limit". A run over its CPU time, memory or processes is ended as
// `limit`; open files are the kernel's own limit, per process. limit_watch.h says who holds which.
struct RunLimits {
  int64_t cpu_s = 0;
  int64_t memory_bytes = 0;  // Resident; what several share counts once.
  int64_t processes = 0;
  int64_t open_files = 0;
  int nice = 0;
};

struct SpawnRequest {
  std::string run;                // "<task>.<run>"
  std::vector<std::string> argv;  // argv[0] is looked up in the PATH of `env`.
  std::string work_dir;
  std::vector<std::string> env;  // "NAME=value", complete.
  JournalMode mode = JournalMode::log;
  bool keep_stdin = false;   // False: standard input is empty (/dev/null).
  Millis timeout_ms = 0;     // 0: none. The supervisor ends the run by itself.
  Millis grace_ms = 3'000;   // From SIGTERM to SIGKILL.
  int64_t output_limit = 0;  // Bytes kept of the log; 0: 64 MiB.
  RunLimits limits;
  int umask = 022;
  // Where it may leave files, an absolute path; empty: nowhere. The keeper makes it before the start, and removes it
  // after the end where it is empty. Only with Abilities::artifacts.
  std::string artifacts;
  // The caller stored in which boot (boot_id.h) it starts this, and takes a run without a folder for one that may have
  // begun if the boot is another one by now. So the child starts before the folder is synced; it is with the first
  // output that is stored, or with the end. False: no folder means that nothing ran, also after a power cut.
  bool boot_stored = false;
  bool sandboxed = false;  // argv starts a sandbox (bwrap): a stop asks what runs in it, not the sandbox itself.
};

// How a run ended. The supervisor writes it to the run's folder before it reports it.
struct RunEnd {
  enum class How : uint8_t {
    exited,        // exit_code
    signalled,     // signal
    timeout,       // The deadline; exit_code or signal say how it went.
    stopped,       // By stop().
    spawn_failed,  // `text` says why; nothing ran.
    lost,          // The supervisor or the machine died: the exit code is not known.
    limit,         // A limit of RunLimits: `limit` names it, exit_code or signal say how it went.
  } how = How::exited;
  int exit_code = 0;
  int signal = 0;
  std::string text;
  double cpu_s = 0;
  int64_t max_memory_bytes = 0;
  Time started_at, ended_at;
  int64_t output_bytes = 0;   // All that the run printed, cut or not.
  bool left_nothing = false;  // Its SpawnRequest::artifacts was empty, and is gone. False: not known.
  std::string limit;          // "cpu", "memory" or "processes"; with
  int64_t limit_value = 0;    // what was allowed, in seconds, bytes or processes, and
  int64_t limit_seen = 0;     // what it had when it was ended; 0 where the kernel did not say.
};

struct RunStatus {
  std::string run;
  bool alive = false;
  int64_t output_bytes = 0;
  std::optional<RunEnd> end;
};

struct RunUsage {
  double cpu_s = 0;
  int64_t memory_bytes = 0;
  int processes = 0;
  // Bytes read and written by the live processes, and by children that they waited for. Not known for a process of
  // another user. The number can go down when a process ends: only a change means something.
  int64_t io_bytes = 0;
  std::string states;  // The kernel's letter for each process ("SSR"), sorted; of the first 64.
};

// What a run's owner hears.
class RunListener {
 public:
  virtual ~RunListener() = default;
  // The journal holds `total` bytes now (counting the child's bytes). At most about 20 times a second.
  virtual void output(int64_t total) = 0;
  // The whole tree is gone, and the output is drained and on disk. The end is on disk, too, if the run printed
  // anything; the end of a silent run is written but not synced, and the listener must store it. Called once, last.
  virtual void ended(const RunEnd& end) = 0;
  // What the whole tree used so far. At most every three seconds, and only where it has changed.
  virtual void used(const RunUsage& /*usage*/) {}
};

// A run that was taken up.
struct Attached {
  // The last frame of standard input that was taken; nothing, where an older supervisor does not say (input() with
  // number 0 asks it) or the run is no longer alive.
  std::optional<int64_t> input_taken;
};

// What the supervisor can do on this machine, as it found when it started.
struct Abilities {
  bool known = false;          // False: an older supervisor, which does not say.
  bool artifacts = false;      // It knows SpawnRequest::artifacts.
  bool cgroup = false;         // A run has a control group of its own,
  bool cgroup_memory = false;  // in which the kernel holds its memory,
  bool cgroup_pids = false;    // and its processes.
  std::string cgroup_text;     // Where it is, or why there is none.
  std::string bwrap;           // A bubblewrap that works; empty: none, and
  std::string bwrap_text;      // this says why, and what to do.
};

class SupervisorClient {
 public:
  virtual ~SupervisorClient() = default;

  using Done = std::move_only_function<void(Status)>;
  // Answers when the run's folder is there (synced, unless boot_stored) and the child is started (or an end of
  // spawn_failed is recorded). For a run that exists already: answers at once, and `listener` hears it from now on.
  // `listener` must live until ended() or forget(run).
  virtual void spawn(SpawnRequest request, RunListener* listener, Done done) = 0;
  // Takes up a run after a restart: its listener hears output(total) and, where it ended meanwhile, ended().
  // not_found: no folder, so it was never started; or, with boot_stored, the power was cut.
  using TakenUp = std::move_only_function<void(Result<Attached>)>;
  virtual void attach(const std::string& run, RunListener* listener, TakenUp done) = 0;
  // After this call no callback reaches the listener. The run goes on.
  virtual void forget(RunListener* listener) = 0;
  // SIGTERM to the tree, SIGKILL after the grace time (or the given one). ended() follows.
  virtual void stop(const std::string& run, std::optional<Millis> grace_ms = {}) = 0;
  // Frame `number` (1, 2, 3, ... per run) for the child's standard input. Answers the last number taken, when the
  // supervisor has it. A number that was taken before is refused with the reason input_taken, and nothing is written
  // (one of another build writes nothing and may answer as if it were new). exhausted: the child does not read, try
  // again later. Number 0 writes nothing and only asks.
  using Taken = std::move_only_function<void(Result<int64_t>)>;
  virtual void input(const std::string& run, int64_t number, std::string bytes, Taken done) = 0;
  virtual void close_input(const std::string& run) = 0;
  virtual void usage(const std::string& run, std::move_only_function<void(Result<RunUsage>)> done) = 0;
  // Protocol journals: the supervisor may delete everything before `offset`.
  virtual void release_journal(const std::string& run, int64_t offset) = 0;
  // Deletes the run's folder: at once if the run has ended; a live run is stopped first.
  virtual void release(const std::string& run) = 0;
  virtual void list(std::move_only_function<void(Result<std::vector<RunStatus>>)> done) = 0;
  // Any thread.
  virtual Abilities abilities() const { return {}; }
};

// The reason of an error where a frame of standard input comes a second time.
inline constexpr const char* input_taken = "input_taken";
// The reason of an error when no supervisor runs and none can be started.
inline constexpr const char* supervisor_unavailable = "supervisor_unavailable";

// Finds the supervisor of `data_dir`, or starts one (`self` with the word "supervisor"), and connects. Blocking, for
// start-up: a few milliseconds; up to ten seconds on a disk that stalls. If the connection is lost later, the client
// finds or starts a supervisor again by itself; runs that died with the old one end as `lost`. If none can be started
// for `unavailable_ms`, requests fail with supervisor_unavailable and runs end as `lost`; the client keeps trying. It
// waits for a supervisor that runs and does not answer (stopped, late).
struct ClientOptions {
  std::string data_dir;
  std::string self;      // The errand binary.
  Millis orphan_ms = 0;  // How long runs may go on without any server; 0: as the supervisor has it.
  Millis unavailable_ms = 10'000;
};
Result<std::unique_ptr<SupervisorClient>> connect_supervisor(const ClientOptions& options, Executor& executor);

}  // namespace errand::process

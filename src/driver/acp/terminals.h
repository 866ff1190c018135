// Terminals that an agent asks its client for: commands under the supervisor, as the task's own commands are run,
// within the task's folders. What is known of each (OpenTerminal) is part of the turn's checkpoint before its command
// starts, so that a server that comes back finds it and nothing runs unknown.
//
// Everything is bounded: how many there are, what is kept of their output, what is given of it at once.
//
// Threads: the engine's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/beside.h"
#include "driver/acp/wire.h"
#include "driver/run/options.h"
#include "process/client.h"
#include "process/journal.h"
#include "task/task.h"

namespace errand::acp {

inline constexpr size_t terminals_max = 32;               // Of one turn, those that were not released.
inline constexpr const char* terminal_tool = "terminal";  // In the names of their runs (run_name.h).

// As the checkpoint has it.
struct OpenTerminal {
  std::string id;
  std::string run;                   // Its name at the supervisor.
  int64_t limit = 0;                 // Bytes of its output that the agent wants at most.
  std::vector<std::string> waiting;  // Requests that wait for its end, by the agent's ids (JSON).
};

class Terminals {
 public:
  // All outlive this.
  struct Parts {
    process::SupervisorClient& supervisor;
    const run::Options& options;
    Beside& files;  // Where journals are read.
    // A line for the agent: the answer to the request with this id.
    std::function<void(const std::string& id, std::string line)> answer;
    // One of them has done something.
    std::function<void()> alive;
  };
  Terminals(Parts parts, std::shared_ptr<const Task> task);
  // They go on, to be taken up.
  ~Terminals();
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;

  // A command as it is asked for; invalid_argument where it cannot be run here: nothing was done.
  Result<process::SpawnRequest> plan(const TerminalRequest& wanted, std::string run) const;
  // Starts it; the checkpoint has it. `request` is answered with the terminal's id.
  void start(const OpenTerminal& open, process::SpawnRequest spawn, std::string request);
  // After a restart.
  void take_up(const OpenTerminal& open);
  bool has(const std::string& id) const { return all_.contains(id); }
  // The end of what it printed, and how it ended where it has.
  void output(const std::string& id, std::string request);
  // Answered now where it has ended. Otherwise false: whoever asks remembers it (OpenTerminal::waiting), and ended()
  // is told.
  bool wait(const std::string& id, const std::string& request);
  void kill(const std::string& id);
  void release(const std::string& id);
  // Told when one has ended.
  std::function<void(const std::string& id)> ended;
  // How it ended, as the protocol has it; "null" while it runs.
  std::string exit_status(const std::string& id) const;
  // The end of what it had printed when the agent last asked.
  std::string last_output(const std::string& id) const;

  // All are ended, and `then` is called when none is left: at once, where there is none.
  void end_all(std::function<void()> then);
  // The same without waiting.
  void drop();

 private:
  struct Terminal;
  void gone(Terminal& terminal);
  void settle();

  const Parts parts_;
  const std::shared_ptr<const Task> task_;
  std::map<std::string, std::unique_ptr<Terminal>> all_;
  std::vector<std::unique_ptr<Terminal>> released_;  // Until their processes are gone.
  std::function<void()> then_;
};

}  // namespace errand::acp

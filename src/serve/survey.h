// The survey: what is known of the programs that agents run in, on this machine and at this moment. Where each is, its
// version and its login are looked for on disks, beside the loop; no program is started for it. What its starts and its
// memory were is asked of Programs.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/agents.h"
#include "base/beside.h"
#include "base/timers.h"
#include "driver/programs.h"
#include "task/agent.h"

namespace errand::serve {

class Survey {
 public:
  // All outlive this. `threads`: where it may hang for as long as a mount does. `environment`: the server's own,
  // "NAME=value".
  struct Parts {
    const Programs& programs;
    Timers& timers;
    Executor& threads;
    Executor& loop;
    std::vector<std::string> environment;
  };
  explicit Survey(Parts parts);

  // One for each agent; absent where it is no program. Answers soon: from what was seen last, where a disk hangs.
  using Done = std::move_only_function<void(std::vector<std::optional<api::AgentProgram>>)>;
  void look(const std::vector<Agent>& agents, Done done);

 private:
  // A program and what of it does not change while its file does not.
  struct File {
    std::string path;
    int64_t changed_ns = 0;
    std::string version;
  };
  using Files = std::map<std::string, File>;  // By path.
  struct Wanted {
    std::string agent;    // Its id.
    std::string program;  // A path, or a name that is looked for on PATH.
  };
  struct Seen {
    File file;
    std::optional<bool> logged_in;
    std::string login;
  };
  using All = std::map<std::string, Seen>;  // By agent.

  static std::optional<Wanted> wanted_of(const Agent& agent);
  static All look_at(const std::vector<Wanted>& wanted, const Files& known,
                     const std::vector<std::string>& environment);
  std::vector<std::optional<api::AgentProgram>> answer(const std::vector<Agent>& agents) const;

  const Parts parts_;
  Beside beside_;
  int under_way_ = 0;
  All seen_;
};

}  // namespace errand::serve

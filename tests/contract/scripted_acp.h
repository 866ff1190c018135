// An ACP agent in memory, behind the fake supervisor: it reads what a run is given and prints what an agent would.
// Time goes with the timers. What real ones do is tested with real ones (tests/e2e/acp*.test.mjs); this one is here
// because a server that dies at every single report needs an agent that says the same each time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "base/timers.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::test {

class ScriptedAcp {
 public:
  ScriptedAcp(FakeSupervisor& supervisor, Timers& timers);

  boost::json::object can;                 // Its capabilities, as it says them.
  boost::json::object offers;              // What else a new session says.
  std::string auth_error;                  // session/new is answered with it.
  std::string limited;                     // Each prompt is answered with an error of these details (JSON).
  bool forgets = false;                    // Knows no session that it has not made in this process.
  bool silent = false;                     // Answers nothing.
  bool ignores_cancel = false;             // Goes on as if nobody had told it.
  std::vector<boost::json::object> heard;  // All that it was sent, by all runs.
  // The requests of one method.
  std::vector<boost::json::object> requests(std::string_view method) const;
  // Answers that it got to its own requests.
  std::vector<boost::json::object> answers() const;
  // Prints a line in a run, as it is.
  void print(const std::string& run, const std::string& line);
  // Prints a request of the agent's.
  void ask(const std::string& run, const std::string& method, boost::json::object params);

 private:
  struct Process {
    int64_t prompt = -1;  // The request that is being answered.
    int turn = 0;         // Goes up with each prompt and cancel: what was to come does not.
    int64_t asked = 0;
    std::function<void(const boost::json::object&)> on_answer;
  };
  using Doing = std::function<void()>;

  void take(const std::string& run, const boost::json::object& message);
  void answer(const std::string& run, const boost::json::value& id, boost::json::value result);
  void refuse(const std::string& run, const boost::json::value& id, int code, const std::string& message,
              const std::string& details = "");
  void prompted(const std::string& run, const boost::json::object& message);
  void update(const std::string& run, boost::json::object update);
  void say(const std::string& run, const std::string& text, const char* kind = "agent_message_chunk");
  void stop(const std::string& run, const char* reason);
  // One after the other, some milliseconds apart, unless the prompt is cancelled.
  void go(const std::string& run, std::vector<Doing> doings);
  void step(const std::string& run, int turn, std::shared_ptr<const std::vector<Doing>> doings, size_t at);

  FakeSupervisor& supervisor_;
  Timers& timers_;
  std::map<std::string, Process> processes_;
  int sessions_ = 0;
};

}  // namespace errand::test

// A `claude` program in memory, as far as the driver sees it: lines in, lines out, over a supervisor in memory. It was
// written after the recorded streams in tests/fixtures/claude; what the real one does is tested with the real one
// (tests/e2e/claude.test.mjs). It is here because a server that dies at every single report needs a program that says
// the same each time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/timers.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::test {

class ScriptedClaude {
 public:
  ScriptedClaude(FakeSupervisor& supervisor, Timers& timers);

  int prompts = 0;                       // Messages that it was given, in all runs.
  Time resets;                           // When the limit ends that "limit" runs into.
  bool says_lifecycle = true;            // False: an older program, which does not say what becomes of messages.
  std::vector<std::string> told;         // All that it was told, as it came.
  std::vector<std::string> first_steps;  // Lines that the next run says before it answers its first message.

 private:
  struct Said {
    std::string uuid, text;
    bool asks = true;
  };
  struct Run {
    std::deque<std::function<void()>> steps;  // What it does next, one each millisecond.
    bool stepping = false;
    bool busy = false;
    bool closed = false;
    std::deque<Said> queue;
    std::string notes;      // What it was told without being asked.
    std::string current;    // The message that it works at.
    std::string open_call;  // A tool without its answer.
    std::string open_ask;   // What it asked, and waits for.
    std::function<void(bool)> answered;
    int messages = 0, results = 0;
  };

  void hear(const std::string& name, const std::string& line);
  void begin(const std::string& name);
  void speaks(const std::string& name);
  void echo_queue(const std::string& name);
  void finish(const std::string& name, const std::string& text, bool is_error, const std::string& reason);
  void interrupt(const std::string& name, const std::string& request_id);
  void say(const std::string& name, const std::string& text);
  void print(const std::string& name, const std::string& line);
  void lifecycle(const std::string& name, const std::string& uuid, const char* state);
  void then(const std::string& name, std::function<void()> step);
  void step(const std::string& name);

  FakeSupervisor& supervisor_;
  Timers& timers_;
  std::map<std::string, Run> runs_;
};

}  // namespace errand::test

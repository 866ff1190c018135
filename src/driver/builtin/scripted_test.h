// A model and tools inside the process, for tests of the loop: the same script and the same calls always give the same
// reports, and time is Timers' alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/timers.h"
#include "driver/builtin/builtin_driver.h"
#include "driver/builtin/tool.h"
#include "model/model.h"

namespace errand::builtin::test {

struct Reply {
  std::vector<model::Block> blocks;
  model::Stop stop = model::Stop::end;
  model::TokenUse use{.input = 10, .output = 5};
  std::optional<model::Failure> failure;
  size_t fail_after = 0;  // With failure: behind so many blocks.
  bool hangs = false;     // Nothing more comes.
  Millis block_ms = 10;
};

model::Block say(std::string text);
model::Block think(std::string text, std::string opaque = "sig");
model::Block call(std::string id, std::string name, std::string input = "{}");
Reply calls(std::vector<model::Block> blocks);
Reply fails(model::Failure::Kind kind, std::string message = "It did not work.", Time retry_at = {});

// How many answers the conversation has, and what its user said, in order.
int answers_in(const model::Request& request);
std::string user_words(const model::Request& request);
// The result of a call, or "" where the conversation has none.
std::string result_in(const model::Request& request, std::string_view call_id);

class ScriptedModels final : public model::Models {
 public:
  explicit ScriptedModels(Timers& timers) : timers_(timers) {}
  std::function<Reply(const model::Request&)> script;
  std::vector<model::Request> asked;
  std::unique_ptr<model::Ask> ask(const model::Endpoint& endpoint, model::Request request,
                                  model::Listener& listener) override;
  int live() const { return *live_; }

 private:
  Timers& timers_;
  std::shared_ptr<int> live_ = std::make_shared<int>(0);
};

// What a tool does. All of them write into one diary what was really done.
struct Deed {
  bool read_only = false;
  bool survives = false;
  bool asks = false;
  bool children = false;
  std::string output = "done";
  bool is_error = false;
  Millis ms = 20;
  std::string wrong;  // prepare() answers this error.
};

// What survives a server: processes go on, and what was done stays done.
struct Ground {
  // Processes that have not ended.
  int alive(Time now) const {
    int count = 0;
    for (const auto& [id, end] : processes) count += end > now ? 1 : 0;
    return count;
  }
  std::vector<std::string> diary;         // "write c1", "bash c2", ...
  std::map<std::string, Time> processes;  // Of tools that survive: by call, when they end (steady).
};

// Runs in a test's own time, and knows when it does.
class InlineExecutor final : public Executor {
 public:
  explicit InlineExecutor(Timers& timers) : timers_(timers) {}
  void post(Work work) override {
    ++posted_;
    timers_.add(0, [this, work = std::move(work)]() mutable {
      running_ = true;
      work();
      running_ = false;
    });
  }
  bool running() const { return running_; }
  int posted() const { return posted_; }

 private:
  Timers& timers_;
  int posted_ = 0;
  bool running_ = false;
};

class ScriptedTools final : public ToolSet {
 public:
  ScriptedTools(Timers& timers, Clock& clock, Ground& ground, const InlineExecutor& background)
      : timers_(timers), clock_(clock), ground_(ground), background_(background) {}
  ~ScriptedTools() override;
  void add(std::string name, Deed deed);
  std::vector<std::string> warnings;
  Millis close_ms = 0;
  int read_in_background = 0;        // Calls and summaries of calls that were read where that may be done,
  std::vector<std::string> misread;  // and elsewhere.
  int live() const { return live_; }

  std::unique_ptr<TurnTools> open(std::shared_ptr<const Task> task, std::shared_ptr<const Agent> agent) override;
  void known_runs(std::move_only_function<void(std::vector<Driver::KnownRun>)> done) override { done({}); }
  void end_run(const TaskId&, int) override {}
  void forget(const TaskId&) override {}

 private:
  class Turn;
  class OneTool;
  class Run;
  void reads(std::string what);

  Timers& timers_;
  Clock& clock_;
  Ground& ground_;
  const InlineExecutor& background_;
  std::vector<std::shared_ptr<const Tool>> tools_;
  int live_ = 0;  // Calls that run here.
};

}  // namespace errand::builtin::test

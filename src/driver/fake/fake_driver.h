// A scripted agent inside the process: for tests and the simulator, and as the machine behind the demo agent. Its time
// is Timers' alone, so the same script and the same calls always give the same reports.
//
// A turn taken up again (reattach) goes on exactly behind its last stored report: nothing twice, nothing lost. Only a
// wait begins anew.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/id.h"
#include "base/timers.h"
#include "driver/driver.h"
#include "driver/fake/script.h"

namespace errand::fake {

// What the scripted agent is asked for in one turn.
struct Prompt {
  std::string text;  // Of the messages that began the turn, joined by line ends.
  int earlier = 0;   // User messages of the conversation before those.
  std::shared_ptr<const Task> task;
  std::string retried_with = {};  // The message that a retry brought, which is the last of them.
};

// What real agents get wrong, on request. Each is a breach of driver.h that the engine must survive.
struct Misbehaviour {
  bool refuse_open = false;      // open() answers an error.
  bool end_in_open = false;      // Fails before open() returns, without a report.
  bool silent = false;           // Reports nothing at all and never ends by itself.
  bool late_report = false;      // Reports after it ended.
  bool end_twice = false;        // And the second time with another outcome.
  bool talk_after_stop = false;  // Goes on after stop() as if nothing had been said, and completes.
  bool ignore_stop = false;      // Nothing follows stop(): only drop() ends it.
  bool drop_messages = false;    // send() is answered well and the message never taken.
  bool ignore_answers = false;   // Waits on after its question was answered.
  bool garbage = false;          // Text of no message, the result of no call, a message that nobody sent.
  bool lost = false;             // On reattach: cannot go on.
  bool operator==(const Misbehaviour&) const = default;
};

// Each of them once in `one_in` turns, by itself or together.
Misbehaviour random_misbehaviour(SeededRandom& random, uint64_t one_in);

struct FakeOptions {
  // Must give the same script for the same prompt: a turn that is taken up again asks for it once more.
  std::function<Script(const Prompt&)> script;
  std::function<Misbehaviour(const TurnRequest&)> misbehave;  // Absent: it behaves.
  Millis stop_ms = 0;                                         // From stop() to ended(). 0: inside stop().
  bool checks_work_dir = false;                               // It must be there, as for agents that work in it.
  Capabilities capabilities{.message_while_running = true,
                            .resume = true,
                            .fork = true,
                            .reattach = true,
                            .keeps_message = true,
                            .permissions = true};
};

class FakeDriver : public Driver {
 public:
  FakeDriver(Timers& timers, FakeOptions options) : timers_(timers), options_(std::move(options)) {}

  Capabilities capabilities() const override { return options_.capabilities; }
  Status check(const Launch& launch) const override;
  Look look(const Launch& launch) const override;
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override;

  // Turns that exist and have not ended: 0 once everything was let go.
  int live() const { return *live_; }

 private:
  Timers& timers_;
  FakeOptions options_;
  std::shared_ptr<int> live_ = std::make_shared<int>(0);
};

}  // namespace errand::fake

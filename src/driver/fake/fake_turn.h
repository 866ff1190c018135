// One turn of the scripted agent: runs its script, a batch of reports at a time.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/timers.h"
#include "driver/driver.h"
#include "driver/fake/fake_driver.h"
#include "driver/fake/place.h"
#include "driver/fake/script.h"

namespace errand::fake {

class FakeTurn final : public Turn {
 public:
  struct Setup {
    Script script;
    Misbehaviour misbehaviour;
    Millis stop_ms = 0;
    std::shared_ptr<int> live;  // Counts this turn while it has not ended.
  };
  // `place` is where to begin: with a step of its own where the turn is taken up again.
  FakeTurn(Timers& timers, Sink& sink, Setup setup, const TurnRequest& request, Place place);
  ~FakeTurn() override;

  // Takes the messages of the request and does what can be done at once.
  void begin(const TurnRequest& request, bool taken_up);

  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  bool lift_quota() override;
  void stop() override;
  void probe() override;
  void drop() override;

 private:
  // What a step says after it did its part: go on at once, go on after a while, or wait to be called.
  struct Pause {
    enum class Kind : uint8_t { none, timed, called } kind = Kind::none;
    Millis ms = 0;
  };
  static Pause none() { return {}; }
  static Pause after(Millis ms) { return {Pause::Kind::timed, ms}; }
  static Pause called() { return {Pause::Kind::called}; }

  void advance();
  Pause run_step();
  Pause run(const step::Say& say);
  Pause run(const step::Repeat& repeat);
  Pause run(const step::Tool& tool);
  Pause run(const step::Asking& asking);
  Pause run(const step::Check& check);
  Pause run(const step::Wait& wait);
  Pause run(const step::Blocked& blocked);
  Pause run(const step::System& system);
  Pause run(const step::Use& use);
  Pause run(const step::Warn& warn);
  Pause run(const step::AgentSession& session);
  Pause run(const step::EndMessage&);
  Pause run(const step::Fail& failure);
  Pause run(const step::Finish& finish);

  bool at_boundary() const;
  void take_messages();
  void take_answer(const step::Asking& asking, const std::string& decision, const std::string& reply);
  void open_message();
  void close_message();
  void next_step();
  std::string said_last() const;
  std::string ask_id() const;
  void flush();
  void end(Outcome outcome);
  void misreport();

  // Fixed after construction.
  Sink& sink_;
  const Script script_;
  const Misbehaviour misbehaviour_;
  const Millis stop_ms_;
  const int run_;
  const std::vector<Ask> asked_;  // At reattach: the questions of this turn, with the answers that came.

  Place place_;
  std::vector<Report> batch_;     // Made and not yet reported; `place_` is behind them.
  std::deque<Message> messages_;  // Sent and not yet taken.
  std::set<MessageId> seen_;
  std::optional<Outcome> outcome_;  // Set by the step that ends the script.
  bool waited_ = false;             // The wait of the present step is over.
  bool silent_ = false;
  bool stopping_ = false;
  bool over_ = false;  // Ended or dropped: nothing is reported any more.
  std::shared_ptr<int> live_;
  Timer timer_;
};

}  // namespace errand::fake

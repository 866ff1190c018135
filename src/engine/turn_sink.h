// What a driver reports goes through here into the engine's inbox. One per run; deaf once the run has ended or it was
// muted. Engine thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "engine/backlog.h"
#include "engine/live.h"

namespace errand {

class Reports;
class Turns;

class TurnSink final : public Sink {
 public:
  // Both outlive this. What is reported is counted as a part of `part_of`.
  TurnSink(Reports& reports, Turns& turns, const LivePtr& live, int run, const std::shared_ptr<Backlog>& part_of)
      : reports_(reports), turns_(turns), live_(live), run_(run), backlog_(std::make_shared<Backlog>(part_of)) {}

  void report(std::vector<Report> reports, std::string checkpoint) override;
  void when_stored(Work then) override;
  bool has_room() const override;
  void when_room(Work then) override;
  void ended(Outcome outcome) override;

  LivePtr live() const { return live_.lock(); }
  int run() const { return run_; }
  void mute() { ended_ = true; }
  // What the turn has reported and is not stored yet.
  const std::shared_ptr<Backlog>& backlog() const { return backlog_; }

 private:
  Reports& reports_;
  Turns& turns_;
  std::weak_ptr<Live> live_;
  const int run_;
  const std::shared_ptr<Backlog> backlog_;
  bool ended_ = false;
};

}  // namespace errand

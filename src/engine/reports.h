// Reports: what turns say, on its way to the store, and the room that there is for it.
//
// A report goes into its task's inbox; small pieces of text wait a little and are joined. What is reported and not
// stored is counted: a turn that is past its bound, or all of them past theirs, is told to wait. How a turn begins and
// ends is the business of Turns. Engine thread only.
#pragma once

#include <string>
#include <vector>

#include "driver/driver.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/shared.h"

namespace errand {

class TurnSink;

class Reports {
 public:
  // All outlive this.
  Reports(Shared& shared, Lives& lives, const Feeds& feeds) : shared_(shared), lives_(lives), feeds_(feeds) {}

  // --- for TurnSink, as driver.h says of Sink. Of a task that was removed nothing is taken any more.
  void reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint);
  void when_stored(TurnSink& sink, Work then);
  bool has_room(const TurnSink& sink) const;
  void when_room(TurnSink& sink, Work then);

  // These actions are durable: those who wait for their reports are called, later, if their turn is still at work.
  void stored(const LivePtr& live, const std::vector<Action>& actions);
  // At each tick: turns that were told to wait go on, where enough of what they reported is stored.
  void give_room();

 private:
  // Until when text that is reported now waits for more.
  Time merged_until(const Live& live) const;

  Shared& shared_;
  Lives& lives_;
  const Feeds& feeds_;
  std::vector<LivePtr> want_room_;  // Their turns wait until more is stored.
};

}  // namespace errand

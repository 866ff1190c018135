// Turns at work: opening them, passing things in and out, ending them (driver/driver.h says what a turn is).
//
// A turn is opened, stopped and spoken to only after the commit that says so. What it says goes to Reports; its end
// comes here. A turn may call back inside a call, so nothing of it is destroyed there: it is buried, and destroyed at
// the next tick.
//
// A server that leaves, in whatever way, leaves its turns at work. Engine thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.h"
#include "engine/agents.h"
#include "engine/deadlines.h"
#include "engine/feeds.h"
#include "engine/lives.h"
#include "engine/own_notices.h"
#include "engine/purses.h"
#include "engine/reports.h"
#include "engine/shared.h"
#include "engine/slots.h"
#include "engine/turn_sink.h"

namespace errand {

class Turns {
 public:
  // All outlive this.
  struct Rooms {
    Shared& shared;
    Lives& lives;
    Slots& slots;
    const Agents& agents;
    Feeds& feeds;
    Purses& purses;
    Reports& reports;
    Deadlines& deadlines;
    OwnNotices& own_notices;
  };
  explicit Turns(Rooms rooms);
  ~Turns();

  // What `decide` wants to happen, now that it is durable.
  void perform(const LivePtr& live, std::vector<Effect> effects);
  // After a restart: the run that was at work goes on. What its agent was saying is cut here, unless the driver goes on
  // in that very message.
  void take_up(const LivePtr& live);
  // Ends the turn at work. A driver that does not answer is let go after a while.
  void stop(const LivePtr& live);
  // The task was removed, and nothing of it runs any more: folders and logs go too.
  void ghost_gone(const LivePtr& live);
  // For TurnSink: the turn says that it is over.
  void ended(TurnSink& sink, Outcome outcome);

  // --- at each tick
  void destroy_dead();
  // The server goes, and nobody has ordered that the work ends: it is left as it is.
  void leave();
  // The drivers are told that the server leaves.
  void leave_drivers();

 private:
  struct Opening;

  void open(const LivePtr& live, bool reattach);
  void opening_read(const LivePtr& live, bool reattach, Opening opening);
  void open_now(const LivePtr& live, bool reattach, std::vector<Message> history);
  void open_again_later(const LivePtr& live, bool reattach);
  void end_without_turn(const LivePtr& live, int run);
  void bury(Live& live);

  Shared& shared_;
  Lives& lives_;
  Slots& slots_;
  const Agents& agents_;
  Feeds& feeds_;
  Purses& purses_;
  Reports& reports_;
  Deadlines& deadlines_;
  OwnNotices& own_notices_;
  std::vector<std::unique_ptr<Turn>> dead_turns_;  // Destroyed outside their own callbacks.
  std::vector<std::unique_ptr<TurnSink>> dead_sinks_;
};

}  // namespace errand

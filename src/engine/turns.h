// Turns at work: opening them, passing things in and out, ending them (driver/driver.h says what a turn is).
//
// A turn is opened, stopped and spoken to only after the commit that says so. What it reports goes into its task's
// inbox; a turn that reports faster than the store takes it is told to wait. A turn may call back inside a call, so
// nothing of it is destroyed there: it is buried, and destroyed at the next tick.
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
#include "engine/shared.h"
#include "engine/slots.h"

namespace errand {

class TurnSink;

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
  // These actions are durable: those who wait for their reports are called.
  void reports_stored(const LivePtr& live, const std::vector<Action>& actions);

  // --- at each tick
  void destroy_dead();
  // Turns that were told to wait go on, where enough of what they reported is stored.
  void give_room();
  // The server goes, and nobody has ordered that the work ends: it is left as it is.
  void leave();
  // The drivers are told that the server leaves.
  void leave_drivers();

 private:
  friend class TurnSink;
  struct Opening;

  void open(const LivePtr& live, bool reattach);
  void opening_read(const LivePtr& live, bool reattach, Opening opening);
  void open_now(const LivePtr& live, bool reattach, std::vector<Message> history);
  void open_again_later(const LivePtr& live, bool reattach);
  void end_without_turn(const LivePtr& live, int run);
  void bury(Live& live);
  // --- what a turn says: turn_sink.cc
  void reported(TurnSink& sink, std::vector<Report> reports, std::string checkpoint);
  void ended(TurnSink& sink, Outcome outcome);
  void when_stored(TurnSink& sink, Work then);
  bool has_room(const TurnSink& sink) const;
  void when_room(TurnSink& sink, Work then);

  Shared& shared_;
  Lives& lives_;
  Slots& slots_;
  const Agents& agents_;
  Feeds& feeds_;
  Purses& purses_;
  Deadlines& deadlines_;
  OwnNotices& own_notices_;
  std::vector<LivePtr> want_room_;                 // Their turns wait until more is stored.
  std::vector<std::unique_ptr<Turn>> dead_turns_;  // Destroyed outside their own callbacks.
  std::vector<std::unique_ptr<TurnSink>> dead_sinks_;
};

// What a driver reports goes through here into the engine's inbox. One per run; deaf once the run has ended.
class TurnSink final : public Sink {
 public:
  TurnSink(Turns& turns, const LivePtr& live, int run, const std::shared_ptr<Backlog>& part_of)
      : turns_(turns), live_(live), run_(run), backlog_(std::make_shared<Backlog>(part_of)) {}
  void report(std::vector<Report> reports, std::string checkpoint) override {
    if (!ended_) turns_.reported(*this, std::move(reports), std::move(checkpoint));
  }
  void when_stored(Work then) override {
    if (!ended_) turns_.when_stored(*this, std::move(then));
  }
  bool has_room() const override { return turns_.has_room(*this); }
  void when_room(Work then) override {
    if (!ended_) turns_.when_room(*this, std::move(then));
  }
  void ended(Outcome outcome) override {
    if (std::exchange(ended_, true)) return;
    turns_.ended(*this, std::move(outcome));
  }
  LivePtr live() const { return live_.lock(); }
  int run() const { return run_; }
  void mute() { ended_ = true; }
  // What the turn has reported and is not stored yet.
  const std::shared_ptr<Backlog>& backlog() const { return backlog_; }

 private:
  Turns& turns_;
  std::weak_ptr<Live> live_;
  const int run_;
  const std::shared_ptr<Backlog> backlog_;
  bool ended_ = false;
};

}  // namespace errand

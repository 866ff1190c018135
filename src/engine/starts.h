// Starts: who begins. A slot is held exactly while a turn of a task really works, a turn in line has its place, and
// where a slot is free the next in line is told to start.
//
// Slots says whose turn it is; whether the start is stored is decided as every input is. Engine thread only.
#pragma once

#include "engine/lives.h"
#include "engine/shared.h"
#include "engine/slots.h"

namespace errand {

class Starts {
 public:
  // All outlive this.
  Starts(Shared& shared, Lives& lives, Slots& slots) : shared_(shared), lives_(lives), slots_(slots) {}

  // Its slot or its place in line, as its stored state wants it. Needs live.task.
  void settle(Live& live);

  // --- at each tick
  // Everybody for whom a slot is free is told to start.
  void start_queued();
  // After the tasks were pumped. What begins where a turn has just ended goes into the same group as that end, stored
  // together or not at all: one wait for the disk instead of two between one command and the next.
  void start_in_place();

 private:
  Shared& shared_;
  Lives& lives_;
  Slots& slots_;
};

}  // namespace errand

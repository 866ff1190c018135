// Memory: while the programs of agents together use more than the setting `max_memory`, no further turn of such an
// agent is begun. Commands and errand's own agent are not held back, for they start no such program.
//
// A turn that has a slot and no program yet counts with what its program may be expected to use, so that several turns
// do not begin in the moment before the first of them is measured. Where no program is at work one may always begin: a
// limit that is less than one program needs makes them work one after the other. Programs that only wait for a further
// turn are ended first.
//
// Bookkeeping only. Engine thread only.
#pragma once

#include <cstdint>
#include <string>

#include "driver/programs.h"
#include "engine/agents.h"
#include "engine/slots.h"

namespace errand {

class Memory {
 public:
  // All outlive this. `programs` null: nobody starts any. `most`: the setting as it is now, in bytes; 0: no limit.
  Memory(const Programs* programs, const Agents& agents, const Slots& slots, const int64_t& most)
      : programs_(programs), agents_(agents), slots_(slots), most_(most) {}

  // No turn of this agent may be begun now.
  bool hold(const std::string& agent_id) const;
  // Why, as a sentence.
  std::string why() const;

 private:
  struct Load {
    int64_t bytes = 0;
    bool at_work = false;  // Some turn is.
  };
  Load load() const;
  bool is_program(const std::string& agent_id) const;

  const Programs* const programs_;
  const Agents& agents_;
  const Slots& slots_;
  const int64_t& most_;
};

}  // namespace errand

// The store of the simulated server: a faulty store on a memory disk, whose answers come later than its writes (so that
// a crash can fall between), and which can be told to lie.
#pragma once

#include <cstdint>
#include <memory>

#include "store/store.h"
#include "tests/simulation/step_queue.h"

namespace errand::sim {

struct SimStoreParts {
  std::unique_ptr<Store> inner;
  StepQueue& loop;  // Where answers come.
  // Planted bug: the commit with this number (from 1) is answered as stored, and is not. 0: none.
  int64_t lose_commit = 0;
};
std::unique_ptr<Store> make_sim_store(SimStoreParts parts);

}  // namespace errand::sim

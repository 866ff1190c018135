// The store of the simulated server: a faulty store on a memory disk, whose answers come later than its writes (so that
// a crash can fall between), and which can be told to lie.
#pragma once

#include <cstdint>
#include <memory>

#include "store/store.h"
#include "tests/simulation/planted.h"
#include "tests/simulation/step_queue.h"
#include "tests/simulation/verdict.h"

namespace errand::sim {

struct SimStoreParts {
  std::unique_ptr<Store> inner;
  StepQueue& loop;  // Where answers come.
  Planted& planted;
  // One server writes: a commit that does not fit what is stored is a bug of the engine.
  Verdict& verdict;
};
std::unique_ptr<Store> make_sim_store(SimStoreParts parts);

}  // namespace errand::sim

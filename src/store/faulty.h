// A store that fails on purpose: for tests and the simulator. It wraps any store and keeps its order of answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/executor.h"
#include "base/id.h"
#include "store/store.h"

namespace errand {

// What happens to one group of commits.
enum class Fault : uint8_t {
  none,
  full,    // Nothing is stored; answered storage_full.
  broken,  // Nothing is stored; answered internal.
  // Stored, and answered as if it had failed. The contract does not allow this to a store that lives on: only for a
  // simulator that crashes before the answer is used.
  stored_but_failed,
  lost,        // Nothing is stored and no answer ever comes: the machine went off before the write.
  unanswered,  // Stored, and no answer ever comes: the machine went off after the write.
};

struct Faults {
  // Asked once a group, in order.
  std::function<Fault(const std::vector<Commit>&)> commit;
  // Asked before each read: the error that it answers, or nothing.
  std::function<std::optional<Error>()> read;
};

// Every kind of fault that a living store may show, each once in `one_in` groups; reads never fail. `random` outlives
// it.
Faults random_faults(SeededRandom& random, uint64_t one_in);

// `answers` is the executor that the inner store was made with.
std::unique_ptr<Store> make_faulty(std::unique_ptr<Store> inner, Executor& answers, Faults faults);

}  // namespace errand

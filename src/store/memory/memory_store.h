// A store in memory, for tests and the simulator: the whole contract, nothing on disk.
//
// What is stored lives in a MemoryDisk, which outlives the store as a disk outlives a server: a simulated crash drops
// the store and its executor, and opens another store on the same disk. A commit is applied when its turn comes on the
// executor, and answered there: so a crash before that loses it, as it would on a disk.
#pragma once

#include <memory>

#include "base/executor.h"
#include "store/store.h"

namespace errand {

class MemoryDisk;
std::shared_ptr<MemoryDisk> make_memory_disk();

std::unique_ptr<Store> open_memory_store(std::shared_ptr<MemoryDisk> disk, Executor& answers);

}  // namespace errand

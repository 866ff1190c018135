// What a probe saw of a run that does nothing, in words for the event that says so.
#pragma once

#include <string>

#include "process/client.h"

namespace errand::run {

// "2 processes (1 asleep, 1 stopped), 0.52 s of CPU and 1.2 MB of I/O so far": the rest of a sentence.
std::string describe(const process::RunUsage& usage);

}  // namespace errand::run

// A run's journal as a log that is read a piece at a time.
#pragma once

#include "driver/driver.h"
#include "process/journal.h"

namespace errand::run {

// At most `limit` bytes from `offset`, as Driver::read_log has it. Any thread; blocking.
Result<LogRead> read_log(process::Journal& journal, int64_t offset, int64_t limit);

}  // namespace errand::run

// A run's log as something to look at (files/look.h): what an agent's `look_at` reads where it names no file.
#pragma once

#include <memory>

#include "driver/driver.h"
#include "files/look.h"

namespace errand::api {

// `driver` outlives it. Both streams as they came; a log is always text.
std::unique_ptr<files::Source> log_source(const Driver& driver, TaskId task, int run);

}  // namespace errand::api

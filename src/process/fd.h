// The descriptor that closes itself, under the name that this folder has always used.
#pragma once

#include "base/fd.h"

namespace errand::process {
using errand::Fd;
}  // namespace errand::process

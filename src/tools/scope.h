// Which tasks background_cancel and background_clear are about. Inside tools/ only.
#pragma once

#include <string>

#include "tools/call.h"

namespace errand::tools {

struct Scope {
  std::string task;  // As the caller wrote it; or
  BatchId batch;     // a batch; or
  bool all = false;  // all that the calling session launched.
};

// How a caller says "all": by all=true, or by naming nothing.
enum class AllBy : uint8_t { flag, nothing };
Scope read_scope(api::Fields& fields, const Caller& caller, AllBy all_by);

}  // namespace errand::tools

// Something that must be on disk before something else speaks of it (a log's bytes before the `output` event).
#pragma once

#include "base/result.h"

namespace errand {

class Syncable {
 public:
  virtual ~Syncable() = default;
  // Success: all that was written before the call outlives a loss of power. Failure: nothing is known of it, and what
  // speaks of it must not be stored. Blocking; any thread, also while another writes.
  virtual Status sync() = 0;
};

}  // namespace errand

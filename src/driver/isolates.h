// For drivers that can give a task a work tree of its own: whether there can be one. A Driver may have this face, too.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace errand {

class Isolates {
 public:
  virtual ~Isolates() = default;
  // Whether tasks in this folder can have work trees of their own: unsupported, reason `isolation`, where they cannot.
  // As Driver::Look: it may hang in the folder, and owns all that it uses.
  virtual std::function<Status()> may_isolate(std::string folder) const = 0;
};

}  // namespace errand

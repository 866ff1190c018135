// What a model answered when it was tried.
#pragma once

#include <string>

#include "base/time.h"

namespace errand {

struct ModelTrial {
  std::string api, base_url;
  std::string model;  // That was asked; found out where none was named.
  Millis ms = 0;      // Until its answer was whole.
};

}  // namespace errand

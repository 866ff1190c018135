// The strict reading of JSON (base/fields.h) under the names of the API, and what only requests have.
#pragma once

#include <string_view>

#include "base/fields.h"
#include "task/task.h"

namespace errand::api {

using errand::Document;
using errand::Fields;
using errand::json_depth_max;
using errand::json_values_max;
using errand::seconds_max;
using errand::TextRule;

// Absolute, without NUL, "." and ".." as they come: the driver resolves them.
inline bool is_absolute_path(std::string_view path) {
  return path.starts_with('/') && path.find('\0') == std::string_view::npos;
}

}  // namespace errand::api

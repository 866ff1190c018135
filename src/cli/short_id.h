// Ids as people see and type them: without the kind, and no longer than it takes to be unique (git's way).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace errand::cli {

// The shortest form of each id that tells it from the others here: at least ten characters, which is the id's own
// millisecond, so that it is most likely unique among those that are not here, too.
std::vector<std::string> short_ids(const std::vector<std::string>& ids);
// Of one alone.
std::string short_id(std::string_view id);

// "task_" + `text` unless it begins so already, in lower case.
std::string with_kind(std::string_view text, std::string_view kind);

// When an id that begins with `prefix` (kind included) can have been made: ids begin with their time. Nothing where it
// is no beginning of an id of that kind.
struct IdSpan {
  Time first, last;
};
std::optional<IdSpan> span_of(std::string_view prefix, std::string_view kind);

}  // namespace errand::cli

// The folders that a launch names, looked at before there is a task: every driver refuses the same ones in the same
// words.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace errand {

// Checks that `path` is absolute and an existing folder. An empty path passes: the launch named none. `field` is what
// the launch calls it. invalid_argument, reason `bad_work_dir`. Blocking: for Driver::look.
Status check_folder(std::string_view field, const std::string& path);

}  // namespace errand

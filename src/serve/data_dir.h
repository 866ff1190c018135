// The data folder: the user's alone, with everything in it.
#pragma once

#include <string>

#include "base/result.h"

namespace errand::serve {

// Makes it where there is none. Others may neither read nor write it: where its mode let them, that is mended, and
// where they could write to it, everything that they could have put there is looked at before anything of it is read.
// What belongs to another user is refused by name: settings or a token of theirs would be obeyed.
Status make_data_dir(const std::string& path);

}  // namespace errand::serve

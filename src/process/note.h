// The supervisor's own log, on standard error: data_dir/supervisor.log. A few lines a day; never what a run printed.
#pragma once

#include <string_view>

namespace errand::process {

void note(std::string_view text);

}  // namespace errand::process

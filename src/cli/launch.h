// What `run` and `ask` share: the body of a launch.
#pragma once

#include "base/json_out.h"
#include "base/result.h"
#include "cli/args.h"
#include "cli/context.h"

namespace errand::cli {

// Writes the fields of `args` into the open object. Fails where NAME=VALUE is not that.
Status write_launch(Context& context, JsonOut& out, const LaunchArgs& args);

// POSTs the launch, under a key of its own so that a broken connection cannot start it twice, and stays with it as
// asked. Returns the exit code.
int launch(Context& context, const std::string& body, Stay stay);

// The text itself, or standard input where it is "-".
Result<std::string> text_or_stdin(const std::string& text);

}  // namespace errand::cli

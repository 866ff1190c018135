// Small files, read whole.
#pragma once

#include <string>

#include "base/result.h"

namespace errand::cli {

// The file's text; empty where it cannot be read or is over 1 MiB.
std::string read_file(const std::string& path);
// Everything until the end of standard input, at most `bytes_max`.
Result<std::string> read_stdin(size_t bytes_max);
// An absolute path, without "." and "..", links left alone.
std::string absolute(const std::string& path);

}  // namespace errand::cli

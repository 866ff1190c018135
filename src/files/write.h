// Writing a file below a folder: whole or not at all. Whoever reads it meanwhile sees the old one or the new one.
//
// As beneath.h: no "..", no links, resolved by the kernel; what is replaced is a regular file, or there was none.
//
// Threads: any. Blocks on the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "files/beneath.h"

namespace errand::files {

struct WriteHow {
  uint32_t new_mode = 0644;     // Of a file that was not there before; an existing one's mode and owner stay.
  uint32_t folder_mode = 0755;  // Of folders that are made on the way.
  // What the file was when its content was looked at (identity()): another one by now is not replaced.
  std::optional<std::string> expected;
};

struct Written {
  bool created = false;
  std::string identity;  // Of the file that is there now.
};

// On disk when it returns. Errors: as Root::open_file; conflict (reason `changed`) where it is not the expected one;
// forbidden (reason `unwritable`); storage_full.
Result<Written> write_file(const Root& root, std::string_view path, std::string_view bytes, const WriteHow& how = {});

// Which file this is, and which version of it: differs after every write that the file system can tell.
std::string identity(const File& file);

}  // namespace errand::files

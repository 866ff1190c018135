// A file kept as it is now: its bytes copied (shared with the original where the file system can), its hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "files/beneath.h"

namespace errand::files {

// SHA-256 in hexadecimal.
std::string sha256(std::string_view bytes);
// Of the first `size` bytes of a file; fails where there are fewer, where `deadline` (steady) passes, or on an error.
Result<std::string> sha256_of(const File& file, int64_t size, Time deadline, Clock& clock);

// Copies what the file has (at most its size when it was opened) into a new file `name` of `folder`. An existing one of
// that name is replaced. Where it fails nothing of that name is left. It is on disk when sync_files has returned.
struct Copied {
  int64_t size = 0;
  std::string sha256;
  Fd fd;  // Of the copy.
};
Result<Copied> copy_file(const File& from, const Fd& folder, const std::string& name, Time deadline, Clock& clock);

// Puts files on disk, many at once: asked for one by one each would wait for the disk alone.
Status sync_files(const std::vector<Fd>& files);

}  // namespace errand::files

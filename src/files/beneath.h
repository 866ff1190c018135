// Files below a folder whose content somebody else writes: a task's artifacts, its work dir.
//
// A call opens a regular file below the folder, or nothing. The kernel (openat2) refuses a path that is absolute or has
// "..", a symbolic link anywhere in it, a device, a fifo and a socket while it opens the path; a check of the text
// before the open could be outrun. Without openat2 (an old kernel, a sandbox that forbids it) the path is walked one
// component at a time without following links, which refuses the same.
//
// A hard link is a file like any other: a program that could make it could also have copied the file.
//
// Threads: any. All calls may block on the disk, never on a peer (a fifo's other end).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "base/time.h"

namespace errand::files {

inline constexpr size_t path_max = 4096;  // Bytes.

// A regular file, open for reading, and what it was then. It may grow, shrink and change while it is read.
struct File {
  Fd fd;
  int64_t size = 0;
  int64_t disk_bytes = 0;  // What it really occupies: a sparse file is smaller than it says.
  Time modified;
  uint32_t mode = 0;
};

// `path` without "." and doubled slashes. invalid_argument, reason `bad_path`, with a sentence that says why: empty,
// absolute, "..", a NUL byte, longer than path_max.
Result<std::string> clean_path(std::string_view path);

class Root {
 public:
  // How a path is resolved; `by_component` is there for tests and for machines without openat2.
  enum class How : uint8_t { kernel, by_component };

  // not_found where there is no such folder, or its last component is a link.
  static Result<Root> open(const std::string& folder, How how = How::kernel);
  // The same folder by a descriptor of it.
  static Root of(Fd folder, How how = How::kernel) { return {std::move(folder), how}; }

  // Errors: invalid_argument (clean_path), not_found (reason `no_file`), forbidden (reason `not_a_file` for a folder, a
  // device, a fifo or a socket; `symlink`; `unreadable`).
  Result<File> open_file(std::string_view path) const;
  // A folder below, for walking. The same errors.
  Result<Fd> open_folder(std::string_view path) const;

  int fd() const { return folder_.get(); }

 private:
  Root(Fd folder, How how) : folder_(std::move(folder)), how_(how) {}
  Result<Fd> resolve(const std::string& path, uint64_t flags) const;

  Fd folder_;
  How how_;
};

// Up to `size` bytes at `offset`; fewer at the file's end, -1 on an error.
int64_t read_at(const File& file, int64_t offset, char* bytes, size_t size);

}  // namespace errand::files

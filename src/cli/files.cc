#include "cli/files.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/home.h"

namespace errand::cli {

namespace {

// False where it is over the bound or cannot be read.
bool read_all(int fd, size_t bytes_max, std::string& out) {
  char buffer[64 << 10];
  for (;;) {
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > bytes_max) return false;
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string text;
  bool whole = read_all(fd, 1 << 20, text);
  ::close(fd);
  return whole ? text : std::string();
}

Result<std::string> read_stdin(size_t bytes_max) {
  std::string text;
  if (!read_all(STDIN_FILENO, bytes_max, text))
    return fail(Code::too_large,
                fmt::format("Standard input is larger than {} MiB, or cannot be read.", bytes_max >> 20));
  return text;
}

std::string absolute(const std::string& path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(from_home(path), error).lexically_normal();
  std::string out = error ? path : whole.string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace errand::cli

#include "net/token.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "base/text.h"

namespace errand::net {
namespace {

constexpr int token_bytes = 32;
constexpr size_t token_characters = 43;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool is_token(std::string_view text) {
  return text.size() >= token_characters && text.size() <= 512 && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

std::unexpected<Error> unreadable(const std::string& path) {
  return fail(Code::unavailable, "The token file " + path + " cannot be read: " + std::strerror(errno) + ".");
}

Result<std::string> read_token(const std::string& path, int fd) {
  struct stat file{};
  if (::fstat(fd, &file) < 0) return unreadable(path);
  if (!S_ISREG(file.st_mode))
    return fail(Code::forbidden, "The token file " + path + " is not a plain file; remove it and start again.");
  if (file.st_uid != ::geteuid())
    return fail(Code::forbidden,
                "The token file " + path + " belongs to another user; remove it or use another data folder.");
  if ((file.st_mode & 077) != 0)
    return fail(Code::forbidden, "Others may read the token file " + path +
                                     "; remove it to get a new token (or, if nobody has read it, chmod 600 it).");
  char buffer[600];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got < 0) return unreadable(path);
  const std::string_view token = trim({buffer, static_cast<size_t>(got)});
  if (!is_token(token))
    return fail(Code::forbidden,
                "The token file " + path +
                    " does not hold a token (43 or more letters, digits, '-' and '_'); remove it to get a new one.");
  return std::string(token);
}

}  // namespace

Result<std::string> load_or_make_token(const std::string& data_dir, Random& random) {
  const std::string path = data_dir + "/token";
  // No link is followed: it could make us read, or write, somebody else's file.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd >= 0) return read_token(path, file.fd);
  if (errno == ELOOP) return fail(Code::forbidden, "The token file " + path + " is a link; remove it and start again.");
  if (errno != ENOENT) return unreadable(path);

  const std::string token = random_secret(random, token_bytes);
  const std::string fresh = path + "." + random_secret(random, 6);  // A name of its own: two starts may be at it.
  const Descriptor made{::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  const std::string line = token + "\n";
  const auto failed = [&]() -> std::unexpected<Error> {
    const int error = errno;
    ::unlink(fresh.c_str());
    return fail(error == ENOSPC ? Code::storage_full : Code::unavailable,
                "The token file " + path + " cannot be made: " + std::strerror(error) + ".");
  };
  if (made.fd < 0 || ::fchmod(made.fd, 0600) < 0 ||
      ::write(made.fd, line.data(), line.size()) != static_cast<ssize_t>(line.size()) || ::fsync(made.fd) < 0)
    return failed();
  // link, not rename: of two first starts at once one token wins, and the other start reads that one.
  if (::link(fresh.c_str(), path.c_str()) < 0 && errno != EEXIST) return failed();
  ::unlink(fresh.c_str());
  file.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file.fd < 0) return unreadable(path);
  return read_token(path, file.fd);
}

}  // namespace errand::net

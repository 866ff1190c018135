#include "files/copy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

#include <linux/fs.h>
#include <openssl/evp.h>
#include <sys/ioctl.h>

#include "base/encode.h"

namespace errand::files {
namespace {

constexpr size_t chunk_bytes = 1 << 20;

struct Free {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(const char* bytes, size_t size) { EVP_DigestUpdate(context_.get(), bytes, size); }
  std::string hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes, &size);
    return to_hex({reinterpret_cast<const char*>(bytes), size});
  }

 private:
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

std::unexpected<Error> late() {
  return fail(Code::unavailable, "Reading the file took too long; it was given up.", "too_long");
}

std::unexpected<Error> not_copied(int error) {
  return fail(error == ENOSPC || error == EDQUOT ? Code::storage_full : Code::unavailable,
              std::string("The file could not be copied: ") + std::strerror(error) + ".");
}

// 0, or errno; ETIME past the deadline.
int copy_bytes(int from, int to, int64_t size, Time deadline, Clock& clock) {
  if (::ioctl(to, FICLONE, from) == 0) return ::ftruncate(to, size) == 0 ? 0 : errno;
  off_t at = 0;
  while (at < size) {
    if (clock.steady() >= deadline) return ETIME;
    const auto part = static_cast<size_t>(std::min<int64_t>(size - at, 16 << 20));
    const ssize_t n = ::copy_file_range(from, &at, to, nullptr, part, 0);
    if (n == 0) return 0;  // It became shorter.
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
  }
  if (at >= size) return 0;
  // Between file systems of different kinds, and where the call does not exist.
  if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM) return errno;
  std::vector<char> buffer(chunk_bytes);
  while (at < size) {
    if (clock.steady() >= deadline) return ETIME;
    const auto part = static_cast<size_t>(std::min<int64_t>(size - at, chunk_bytes));
    const ssize_t n = ::pread(from, buffer.data(), part, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return 0;
    for (ssize_t done = 0; done < n;) {
      const ssize_t put = ::pwrite(to, buffer.data() + done, static_cast<size_t>(n - done), at + done);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return put < 0 ? errno : ENOSPC;
      done += put;
    }
    at += n;
  }
  return 0;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Hash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

Result<std::string> sha256_of(const File& file, int64_t size, Time deadline, Clock& clock) {
  Hash hash;
  std::vector<char> buffer(chunk_bytes);
  for (int64_t at = 0; at < size;) {
    if (clock.steady() >= deadline) return late();
    const auto part = static_cast<size_t>(std::min<int64_t>(size - at, chunk_bytes));
    const int64_t n = read_at(file, at, buffer.data(), part);
    if (n <= 0) return fail(Code::unavailable, "The file changed while it was read.", "changed");
    hash.add(buffer.data(), static_cast<size_t>(n));
    at += n;
  }
  return hash.hex();
}

Result<Copied> copy_file(const File& from, const Fd& folder, const std::string& name, Time deadline, Clock& clock) {
  ::unlinkat(folder.get(), name.c_str(), 0);
  File copy;
  copy.fd.reset(::openat(folder.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!copy.fd) return not_copied(errno);
  const auto give_up = [&](std::unexpected<Error> error) -> Result<Copied> {
    ::unlinkat(folder.get(), name.c_str(), 0);
    return error;
  };
  if (const int error = copy_bytes(from.fd.get(), copy.fd.get(), from.size, deadline, clock))
    return give_up(error == ETIME ? late() : not_copied(error));
  // What was copied counts, not what the original has become since.
  const off_t size = ::lseek(copy.fd.get(), 0, SEEK_END);
  if (size < 0) return give_up(not_copied(errno));
  Result<std::string> hash = sha256_of(copy, size, deadline, clock);
  if (!hash) return give_up(std::unexpected(hash.error()));
  return Copied{.size = size, .sha256 = std::move(*hash), .fd = std::move(copy.fd)};
}

Status sync_files(const std::vector<Fd>& files) {
  // All are on their way before the first is waited for.
  for (const Fd& file : files) ::sync_file_range(file.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  for (const Fd& file : files)
    if (::fdatasync(file.get()) != 0)
      return fail(errno == ENOSPC || errno == EDQUOT ? Code::storage_full : Code::unavailable,
                  std::string("A file could not be put on disk: ") + std::strerror(errno) + ".");
  return {};
}

}  // namespace errand::files

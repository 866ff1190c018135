#include "process/note.h"

#include <string>
#include <unistd.h>

#include <sys/stat.h>

#include "base/time.h"
#include "process/clock.h"

namespace errand::process {
namespace {
constexpr off_t note_file_max = 256 * 1024;
}

void note(std::string_view text) {
  struct stat info{};
  // Bounded, and simply: the file begins anew.
  if (::fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > note_file_max) [[maybe_unused]]
    int cut = ::ftruncate(STDERR_FILENO, 0);
  std::string line = format_time({wall_ms()}) + " supervisor: ";
  line.append(text).push_back('\n');
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace errand::process

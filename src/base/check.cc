#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace errand {

void check_failed(const char* expression, const char* file, int line, const char* message) {
  // Plain stdio: the heap may be what is broken.
  std::fprintf(stderr, "errand: broken invariant: %s (%s) at %s:%d\n", message, expression, file, line);
  std::abort();
}

}  // namespace errand

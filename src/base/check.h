// CHECK: an invariant that must hold or the process ends. Recovery is a tested path, a wrong state on disk is not.
// Checks stay on in every build.
#pragma once

namespace errand {
[[noreturn]] void check_failed(const char* expression, const char* file, int line, const char* message);
}

#define ERRAND_CHECK(expression, message)                               \
  do {                                                                  \
    if (!(expression)) [[unlikely]]                                     \
      ::errand::check_failed(#expression, __FILE__, __LINE__, message); \
  } while (false)

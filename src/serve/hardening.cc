#include "serve/hardening.h"

#include <csignal>
#include <malloc.h>

#include <sys/resource.h>
#include <sys/stat.h>

namespace errand::serve {

void harden_process() {
  umask(077);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

void bound_heap() { ::mallopt(M_MMAP_THRESHOLD, 128 << 10); }

}  // namespace errand::serve

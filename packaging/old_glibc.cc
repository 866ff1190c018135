// What the released binary, which is linked against Debian 11's glibc (2.31), has to bring itself: functions that our
// sources, libstdc++ and libgcc call and that came later. Not part of a usual build. docs/decisions/0032-release.md
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>

namespace {

struct Wanted {
  uintptr_t pc;
  dl_find_object* found;
  bool is_found;
};

// Whether the object's code has the address; and then where it lies and where its unwind tables are.
int look(dl_phdr_info* info, size_t, void* data) {
  Wanted& wanted = *static_cast<Wanted*>(data);
  uintptr_t first = UINTPTR_MAX, last = 0;
  const ElfW(Phdr)* tables = nullptr;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_EH_FRAME) tables = &header;
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const uintptr_t end = begin + header.p_memsz;
    if (wanted.pc >= begin && wanted.pc < end) inside = true;
    if (begin < first) first = begin;
    if (end > last) last = end;
  }
  if (!inside || !tables) return inside ? 1 : 0;
  wanted.found->dlfo_flags = 0;
  wanted.found->dlfo_map_start = reinterpret_cast<void*>(first);
  wanted.found->dlfo_map_end = reinterpret_cast<void*>(last);
  wanted.found->dlfo_link_map = nullptr;
  wanted.found->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + tables->p_vaddr);
  wanted.is_found = true;
  return 1;
}

}  // namespace

extern "C" {

// 2.35; libgcc asks it where a function's unwind tables are, for every frame that an exception passes.
int _dl_find_object(void* pc, dl_find_object* result) noexcept {
  Wanted wanted = {reinterpret_cast<uintptr_t>(pc), result, false};
  dl_iterate_phdr(look, &wanted);
  return wanted.is_found ? 0 : -1;
}

// 2.32; libstdc++ spares atomic instructions where it is true. False is always right.
char __libc_single_threaded = 0;

// 2.36; libstdc++'s random_device.
uint32_t arc4random() noexcept {
  uint32_t value = 0;
  for (;;) {
    const ssize_t got = getrandom(&value, sizeof value, 0);
    if (got == static_cast<ssize_t>(sizeof value)) return value;
    if (got < 0 && errno != EINTR) abort();
  }
}

// 2.34; the call is in Linux since 5.9. Called between fork and exec too, so nothing here allocates.
int close_range(unsigned first, unsigned last, int flags) noexcept {
  const long done = syscall(SYS_close_range, first, last, flags);
  if (done == 0 || errno != ENOSYS || flags != 0) return static_cast<int>(done);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; ++fd) close(static_cast<int>(fd));
  return 0;
}

// 2.32.
const char* sigabbrev_np(int signal) noexcept {
  switch (signal) {
    case SIGHUP:
      return "HUP";
    case SIGINT:
      return "INT";
    case SIGQUIT:
      return "QUIT";
    case SIGILL:
      return "ILL";
    case SIGTRAP:
      return "TRAP";
    case SIGABRT:
      return "ABRT";
    case SIGBUS:
      return "BUS";
    case SIGFPE:
      return "FPE";
    case SIGKILL:
      return "KILL";
    case SIGUSR1:
      return "USR1";
    case SIGSEGV:
      return "SEGV";
    case SIGUSR2:
      return "USR2";
    case SIGPIPE:
      return "PIPE";
    case SIGALRM:
      return "ALRM";
    case SIGTERM:
      return "TERM";
    case SIGSTKFLT:
      return "STKFLT";
    case SIGCHLD:
      return "CHLD";
    case SIGCONT:
      return "CONT";
    case SIGSTOP:
      return "STOP";
    case SIGTSTP:
      return "TSTP";
    case SIGTTIN:
      return "TTIN";
    case SIGTTOU:
      return "TTOU";
    case SIGURG:
      return "URG";
    case SIGXCPU:
      return "XCPU";
    case SIGXFSZ:
      return "XFSZ";
    case SIGVTALRM:
      return "VTALRM";
    case SIGPROF:
      return "PROF";
    case SIGWINCH:
      return "WINCH";
    case SIGPOLL:
      return "POLL";
    case SIGPWR:
      return "PWR";
    case SIGSYS:
      return "SYS";
    default:
      return nullptr;
  }
}

}  // extern "C"

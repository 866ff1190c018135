// Preloaded into the server: a disk that does not answer, and one that is slow to sync. Nothing else is changed, and no
// other process: the server's children have the same environment, and are left alone. harness/disk.mjs is how tests use it.
//
//   SLOW_SWITCH   a file. While it is there, its two numbers hold: "HANG SYNC", in milliseconds.
//   SLOW_BELOW    a folder; every file call on it or below it waits HANG, or until the file is gone.
// fsync and fdatasync, wherever, wait SYNC, or until the file is gone.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char below[PATH_MAX], watched[PATH_MAX];
static long (*real_syscall)(long, ...);

__attribute__((constructor)) static void read_settings(void) {
  real_syscall = dlsym(RTLD_NEXT, "syscall");
  char line[4096];
  FILE* file = fopen("/proc/self/cmdline", "r");
  const size_t size = file ? fread(line, 1, sizeof line - 1, file) : 0;
  if (file) fclose(file);
  line[size] = 0;
  // "errand serve ... --data-dir ...": other programs have a word "serve" too.
  int serves = 0, has_data = 0, number = 0;
  for (size_t at = 0; at < size; at += strlen(line + at) + 1, ++number) {
    if (number == 1) serves = strcmp(line + at, "serve") == 0;
    has_data |= strcmp(line + at, "--data-dir") == 0;
  }
  if (!serves || !has_data) return;
  const char* text;
  if ((text = getenv("SLOW_BELOW"))) snprintf(below, sizeof below, "%s", text);
  if ((text = getenv("SLOW_SWITCH"))) snprintf(watched, sizeof watched, "%s", text);
}

struct Slowness {
  long hang_ms, sync_ms;
};

static struct Slowness now(void) {
  struct Slowness slow = {0, 0};
  const long file = watched[0] ? real_syscall(SYS_openat, AT_FDCWD, watched, O_RDONLY | O_CLOEXEC, 0) : -1;
  if (file < 0) return slow;
  char text[64];
  const long size = real_syscall(SYS_read, file, text, sizeof text - 1);
  real_syscall(SYS_close, file);
  text[size > 0 ? size : 0] = 0;
  char* rest = text;
  slow.hang_ms = strtol(rest, &rest, 10);
  slow.sync_ms = strtol(rest, &rest, 10);
  return slow;
}

static void pause_ms(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

static void reach_in(int folder, const char* path) {
  if (!below[0] || !path) return;
  char whole[2 * PATH_MAX];
  if (path[0] != '/' && folder >= 0) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const long size = real_syscall(SYS_readlinkat, AT_FDCWD, link, whole, (long)PATH_MAX - 1);
    if (size <= 0) return;
    snprintf(whole + size, sizeof whole - (size_t)size, "/%s", path);
    path = whole;
  }
  const size_t size = strlen(below);
  if (strncmp(path, below, size) != 0 || (path[size] != 0 && path[size] != '/')) return;
  const int before = errno;
  for (long waited = 0; waited < now().hang_ms; waited += 20) pause_ms(20);
  errno = before;
}
static void reach(const char* path) { reach_in(AT_FDCWD, path); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int stat(const char* path, struct stat* out) { reach(path); return REAL(stat)(path, out); }
int lstat(const char* path, struct stat* out) { reach(path); return REAL(lstat)(path, out); }
int stat64(const char* path, struct stat64* out) { reach(path); return REAL(stat64)(path, out); }
int lstat64(const char* path, struct stat64* out) { reach(path); return REAL(lstat64)(path, out); }
int fstatat(int folder, const char* path, struct stat* out, int flags) {
  reach_in(folder, path);
  return REAL(fstatat)(folder, path, out, flags);
}
int fstatat64(int folder, const char* path, struct stat64* out, int flags) {
  reach_in(folder, path);
  return REAL(fstatat64)(folder, path, out, flags);
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) {
  reach_in(folder, path);
  return REAL(statx)(folder, path, flags, mask, out);
}
int access(const char* path, int mode) { reach(path); return REAL(access)(path, mode); }
int faccessat(int folder, const char* path, int mode, int flags) {
  reach_in(folder, path);
  return REAL(faccessat)(folder, path, mode, flags);
}
char* realpath(const char* path, char* out) { reach(path); return REAL(realpath)(path, out); }
ssize_t readlink(const char* path, char* out, size_t size) { reach(path); return REAL(readlink)(path, out, size); }
ssize_t readlinkat(int folder, const char* path, char* out, size_t size) {
  reach_in(folder, path);
  return REAL(readlinkat)(folder, path, out, size);
}
DIR* opendir(const char* path) { reach(path); return REAL(opendir)(path); }
int mkdir(const char* path, mode_t mode) { reach(path); return REAL(mkdir)(path, mode); }
int rename(const char* from, const char* to) { reach(from); reach(to); return REAL(rename)(from, to); }
int unlink(const char* path) { reach(path); return REAL(unlink)(path); }

static mode_t mode_in(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
}
#define OPEN(name)                                  \
  int name(const char* path, int flags, ...) {      \
    va_list more;                                   \
    va_start(more, flags);                          \
    const mode_t mode = mode_in(flags, more);       \
    va_end(more);                                   \
    reach(path);                                    \
    return REAL(name)(path, flags, mode);           \
  }
#define OPENAT(name)                                        \
  int name(int folder, const char* path, int flags, ...) {  \
    va_list more;                                           \
    va_start(more, flags);                                  \
    const mode_t mode = mode_in(flags, more);               \
    va_end(more);                                           \
    reach_in(folder, path);                                 \
    return REAL(name)(folder, path, flags, mode);           \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

// openat2 has no function of its own.
long syscall(long number, ...) {
  va_list more;
  va_start(more, number);
  long word[6];
  for (int i = 0; i < 6; ++i) word[i] = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2) reach_in((int)word[0], (const char*)word[1]);
  return real_syscall(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

static void pause_sync(void) {
  const int before = errno;
  for (long waited = 0; waited < now().sync_ms; waited += 20) pause_ms(20);
  errno = before;
}
int fsync(int fd) { pause_sync(); return REAL(fsync)(fd); }
int fdatasync(int fd) { pause_sync(); return REAL(fdatasync)(fd); }

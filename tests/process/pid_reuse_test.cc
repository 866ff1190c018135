// T14: a signal never reaches a process that got the pid of a dead one. In a PID namespace of its own the next pid can
// be chosen (ns_last_pid), so bystanders are given the pids of the tree's dead as soon as these are free.
#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <sched.h>
#include <signal.h>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "process/clock.h"
#include "process/tree.h"

namespace errand::process {
namespace {

constexpr int trees = 250;
constexpr int leaves = 4;               // 1,000 pids in all, or
constexpr int64_t at_most_ms = 20'000;  // as many as a slow machine (or a sanitizer) manages.
constexpr int at_least = 20;
constexpr int not_permitted = 77;

struct Shared {
  std::atomic<int> freed{0};   // A pid of the tree that was just reaped; 0 once a bystander has it.
  std::atomic<int> hits{0};    // Bystanders that were signalled.
  std::atomic<int> reused{0};  // Bystanders that really got such a pid.
  std::atomic<bool> done{false};
};
Shared* shared = nullptr;

void hit(int) { shared->hits.fetch_add(1); }

// The tree: its middle process makes children that die at once and are reaped, while the keeper signals everything.
void keep() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGTERM, SIG_IGN);  // The tree has it from here, and goes on being signalled.
  const int64_t until = steady_ms() + at_most_ms;
  for (int i = 0; i < trees && steady_ms() < until; ++i) {
    pid_t middle = ::fork();
    if (middle == 0) {
      for (int n = 0; n < leaves; ++n) {
        pid_t leaf = ::fork();
        if (leaf == 0) ::_exit(0);
        ::waitpid(leaf, nullptr, 0);
        shared->freed = leaf;
        while (shared->freed != 0) ::sched_yield();
      }
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(middle, &status, WNOHANG) == 0) terminate_descendants();
  }
  shared->done = true;
  ::_exit(0);
}

int be_init() {
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", 0, nullptr) != 0)
    return not_permitted;
  int last = ::open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
  if (last < 0) return not_permitted;
  if (::fork() == 0) keep();
  struct sigaction action{};
  action.sa_handler = hit;
  ::sigaction(SIGTERM, &action, nullptr);
  while (!shared->done) {
    int pid = shared->freed;
    if (pid == 0) {
      ::sched_yield();
      continue;
    }
    std::string before = std::to_string(pid - 1);
    if (::pwrite(last, before.data(), before.size(), 0) < 0) return not_permitted;
    pid_t bystander = ::fork();
    if (bystander == 0) {
      ::usleep(300);  // Its life, not a wait: long enough to be met.
      ::_exit(0);
    }
    if (bystander == pid) shared->reused.fetch_add(1);
    shared->freed = 0;
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
  return 0;
}

TEST(PidReuse, ARecycledPidIsNeverSignalled) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  shared = new (memory) Shared;
  pid_t outer = ::fork();
  if (outer == 0) {
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) ::_exit(not_permitted);
    pid_t init = ::fork();
    if (init == 0) ::_exit(be_init());
    int status = 0;
    ::waitpid(init, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  ::waitpid(outer, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted)
    GTEST_SKIP() << "a PID namespace, or choosing pids in it, is not permitted here";
  EXPECT_EQ(status, 0);
  RecordProperty("reused", shared->reused);
  EXPECT_GE(shared->reused, at_least) << "too few pids were reused for this to prove anything";
  EXPECT_EQ(shared->hits, 0);
}

}  // namespace
}  // namespace errand::process

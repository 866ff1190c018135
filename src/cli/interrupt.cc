#include "cli/interrupt.h"

#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace errand::cli {

namespace {

volatile sig_atomic_t interrupted = 0;
int wake_pipe[2] = {-1, -1};

void note(int) {
  if (interrupted) {
    if (Interrupt::last_words) Interrupt::last_words();
    _exit(130);
  }
  interrupted = 1;
  int saved = errno;
  [[maybe_unused]] ssize_t written = ::write(wake_pipe[1], "", 1);
  errno = saved;
}

}  // namespace

void (*Interrupt::last_words)() = nullptr;

Interrupt::Interrupt() {
  if (::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action = {};
  action.sa_handler = note;
  ::sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  ::signal(SIGINT, SIG_DFL);
  for (int& end : wake_pipe) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  interrupted = 0;
}

bool Interrupt::happened() { return interrupted != 0; }
int Interrupt::fd() { return wake_pipe[0]; }

}  // namespace errand::cli

#include "cli/terminal.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "cli/connection.h"
#include "cli/interrupt.h"

namespace errand::cli {
namespace {

// Another screen without a cursor; pasted text is marked as such.
constexpr std::string_view screen_enter = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J\x1b[H";
constexpr std::string_view screen_leave = "\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::string_view line_enter = "\x1b[?2004h";
constexpr std::string_view line_leave = "\r\x1b[J\x1b[0m\x1b[?2004l\x1b[?25h";
constexpr Millis escape_ms = 50;  // A key that began with Escape goes on within this.

constexpr int fatal[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// What handlers need. They call nothing that a signal may not interrupt: write, tcsetattr, sigaction, raise.
termios before_us, ours;
std::string_view enter_text, leave_text;
volatile sig_atomic_t is_ours = 0, resized = 0, continued = 0;
int signal_pipe[2] = {-1, -1};
struct sigaction old_actions[std::size(fatal)];

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

void take_over() {
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &ours);
  put(enter_text);
  is_ours = 1;
}

void give_back() {
  if (!is_ours) return;
  is_ours = 0;
  put(leave_text);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_us);
}

void wake() { [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], "", 1); }

void on_fatal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  give_back();
  // Then what would have been without us. A fault happens again by itself, and says where.
  for (size_t i = 0; i < std::size(fatal); ++i)
    if (fatal[i] == signal) ::sigaction(signal, &old_actions[i], nullptr);
  if (info->si_code <= 0) ::raise(signal);
  errno = saved;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

// Stops as if there were no handler: where nobody could continue it (no shell above) the kernel lets it run.
void on_stop(int) {
  const int saved = errno;
  give_back();
  handle(SIGTSTP, SIG_DFL);
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  // Here it was continued.
  handle(SIGTSTP, on_stop);
  if (!is_ours) take_over();
  continued = 1;
  wake();
  errno = saved;
}

// After a stop that cannot be caught (SIGSTOP) somebody else may have used the terminal.
void on_continue(int) {
  const int saved = errno;
  if (is_ours) take_over();
  continued = 1;
  wake();
  errno = saved;
}

void on_resize(int) {
  const int saved = errno;
  resized = 1;
  wake();
  errno = saved;
}

}  // namespace

bool Terminal::possible() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !(term && std::strcmp(term, "dumb") == 0);
}

Terminal::Terminal(Mode mode) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) signal_pipe[0] = signal_pipe[1] = -1;
  for (const int fd : {STDIN_FILENO, signal_pipe[0], timer_}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  enter_text = mode == Mode::screen ? screen_enter : line_enter;
  leave_text = mode == Mode::screen ? screen_leave : line_leave;
  if (::tcgetattr(STDIN_FILENO, &before_us) != 0) ended_ = true;
  ours = before_us;
  ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  ours.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  ours.c_cc[VMIN] = 1;
  ours.c_cc[VTIME] = 0;
  resized = 0;
  continued = 0;
  for (size_t i = 0; i < std::size(fatal); ++i) {
    struct sigaction action = {};
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(fatal[i], &action, &old_actions[i]);
  }
  handle(SIGTSTP, on_stop);
  handle(SIGCONT, on_continue);
  handle(SIGWINCH, on_resize);
  Interrupt::last_words = give_back;
  take_over();
}

Terminal::~Terminal() {
  give_back();
  Interrupt::last_words = nullptr;
  for (size_t i = 0; i < std::size(fatal); ++i) ::sigaction(fatal[i], &old_actions[i], nullptr);
  for (const int signal : {SIGTSTP, SIGCONT, SIGWINCH}) handle(signal, SIG_DFL);
  for (int* fd : {&epoll_, &timer_, &signal_pipe[0], &signal_pipe[1]}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

int Terminal::wake_fd() const { return epoll_; }

void Terminal::wait(Millis at_most) const {
  pollfd waits[2] = {{epoll_, POLLIN, 0}, {Interrupt::fd(), POLLIN, 0}};
  ::poll(waits, waits[1].fd >= 0 ? 2 : 1, static_cast<int>(at_most));
}

std::vector<Key> Terminal::keys() {
  std::vector<Key> out;
  uint64_t expired = 0;
  [[maybe_unused]] const ssize_t rung = ::read(timer_, &expired, sizeof expired);
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  while (!ended_ && out.size() < 4'096 && ::poll(&input, 1, 0) > 0) {
    char bytes[4'096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (got <= 0) {
      ended_ = true;
      ::epoll_ctl(epoll_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
      break;
    }
    for (Key& key : parser_.feed({bytes, static_cast<size_t>(got)})) out.push_back(std::move(key));
    begun_ = steady_now();
  }
  if (!parser_.unfinished()) return out;
  const Millis left = begun_ + escape_ms - steady_now();
  if (left <= 0) {
    for (Key& key : parser_.settle()) out.push_back(std::move(key));
  } else {
    itimerspec ring = {};
    ring.it_value.tv_nsec = (left + 1) * 1'000'000;
    ::timerfd_settime(timer_, 0, &ring, nullptr);
  }
  return out;
}

Terminal::Changed Terminal::changed() {
  char drained[64];
  while (::read(signal_pipe[0], drained, sizeof drained) > 0) {
  }
  const bool again = continued != 0, size = resized != 0;
  continued = 0;
  resized = 0;
  return again ? Changed::everything : size ? Changed::size : Changed::nothing;
}

}  // namespace errand::cli

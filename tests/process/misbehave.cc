// A program that leaves processes behind in every way that we know: misbehave SHAPE finish|stay MARKER
//
// Every process of it has MARKER in its argv, so a test finds them all. It prints "ready" when the shape stands. With
// `finish` the main process then exits with 7, with `stay` it waits for ever.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/wait.h>

namespace {

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

template <class Work>
void in_child(Work work) {
  if (::fork() == 0) {
    work();
    wait_for_ever();
  }
}

void be_daemon(const char* self, const char* marker) {
  ::setsid();
  for (int fd = 0; fd < 64; ++fd) ::close(fd);
  ::open("/dev/null", O_RDWR);
  ::dup2(0, 1);
  ::dup2(0, 2);
  const char* argv[] = {"daemon", "wait", "stay", marker, nullptr};
  const char* env[] = {nullptr};
  ::execve(self, const_cast<char* const*>(argv), const_cast<char* const*>(env));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  std::string shape = argv[1], then = argv[2];
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
  if (shape == "wait") wait_for_ever();
  if (shape == "lines") {  // For a pipe: ends by SIGPIPE.
    for (;;) std::printf("line %s\n", argv[3]);
  }
  if (shape == "share") {  // Memory that nine processes see, and that is there once.
    constexpr size_t size = 100u << 20;
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::memset(memory, 1, size);
    for (int i = 0; i < 8; ++i)
      in_child([&] {
        volatile char sum = 0;
        for (size_t at = 0; at < size; at += 4096) sum = static_cast<char>(sum + static_cast<char*>(memory)[at]);
      });
    ::usleep(700'000);
    return 7;
  }
  if (shape == "bomb" || shape == "bomb_sessions") {
    // Every process starts two more as fast as it can. In case nobody ends it: 2^12 in all, and half a minute.
    ::alarm(30);
    for (int generation = 0; generation < 12; ++generation)
      if (::fork() == 0 && shape == "bomb_sessions") ::setsid();
    wait_for_ever();
  }
  if (shape == "files") {
    int last = 0;
    while (int next = ::dup(0)) {
      if (next < 0) break;
      last = next;
    }
    std::printf("%d: %s\n", last + 1, std::strerror(errno));
    return 0;
  }
  if (shape == "child") {
    in_child([] {});
  } else if (shape == "background") {
    in_child([] { ::setpgid(0, 0); });
    in_child([] { ::setpgid(0, 0); });
  } else if (shape == "setsid") {
    in_child([] { ::setsid(); });
  } else if (shape == "double_fork") {
    pid_t middle = ::fork();
    if (middle == 0) {
      in_child([] { ::setsid(); });
      ::_exit(0);
    }
    ::waitpid(middle, nullptr, 0);
  } else if (shape == "ignores_term") {
    ::signal(SIGTERM, SIG_IGN);
    in_child([] {});
  } else if (shape == "daemon") {
    pid_t middle = ::fork();
    if (middle == 0) {
      if (::fork() == 0) be_daemon(self, argv[3]);
      ::_exit(0);
    }
    ::waitpid(middle, nullptr, 0);
  } else if (shape == "pipe_head") {
    std::string command = std::string(self) + " lines stay " + argv[3] + " | head -n 1";
    if (std::system(command.c_str()) < 0) return 2;
  } else {
    return 2;
  }
  std::printf("ready\n");
  std::fflush(stdout);
  if (then == "finish") return 7;
  wait_for_ever();
}

#include "serve/stop_signals.h"

#include <cstdlib>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/log.h"
#include "base/time.h"

namespace errand::serve {
namespace {

constexpr Millis drain_ms = 5'000;  // For what is under way at a stop.

}  // namespace

StopSignals::StopSignals(std::string data_dir) : data_dir_(std::move(data_dir)) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

void StopSignals::pass_to(std::function<void()> stop) {
  {
    const Lock lock(mutex_);
    stop_ = std::move(stop);
  }
  std::thread([this] { listen(); }).detach();
}

void StopSignals::forget() {
  const Lock lock(mutex_);
  stop_ = nullptr;
}

void StopSignals::listen() {
  int number = 0;
  while (sigwait(&signals_, &number) != 0) {
  }
  log_info("server", "stopping; what runs goes on under the supervisor");
  {
    const Lock lock(mutex_);
    if (stop_) stop_();
  }
  SystemClock clock;
  const Time until = clock.steady() + drain_ms;
  bool again = false;
  for (Millis left = drain_ms; left > 0 && !again; left = until - clock.steady()) {
    const timespec patience{.tv_sec = left / 1'000, .tv_nsec = left % 1'000 * 1'000'000};
    again = sigtimedwait(&signals_, nullptr, &patience) > 0;
  }
  log_warning("server", fmt::format("{}: the server exits now; the next start reconnects to running tasks",
                                    again ? "told twice to stop" : "what was under way did not end in time"));
  if (owns_folder)
    for (const char* name : {"/server.json", "/server.json.tmp", "/errand.sock"}) unlink((data_dir_ + name).c_str());
  std::_Exit(0);
}

}  // namespace errand::serve

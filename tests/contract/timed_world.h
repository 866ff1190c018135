// A world inside the process, whose time goes as fast as the next timer.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/time.h"
#include "base/timers.h"
#include "tests/contract/driver_host.h"

namespace errand::test {

class TimedWorld : public DriverWorld {
 public:
  bool run_until(const std::function<bool()>& done) override {
    for (int i = 0; i < 100'000; ++i) {
      if (done()) return true;
      const Time due = timers.next_due();
      if (!due) return done();
      clock.advance(std::max<Millis>(due - clock.steady(), 0));
      timers.run_due();
    }
    return false;
  }
  void settle() override {
    run_until([] { return false; });
  }

  ManualClock clock;
  TimerQueue timers{clock};
};

// A program that began to work by itself asks for a turn of its task (driver/program/beginning.h).
struct TurnAsked {
  std::string why;
  std::move_only_function<void(bool)> done;
};

inline Launch agent_launch(std::string agent, std::string prompt) {
  Launch launch;
  launch.agent_id = std::move(agent);
  launch.prompt = std::move(prompt);
  return launch;
}

}  // namespace errand::test

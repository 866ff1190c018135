// The contract, for the example of docs/extending.md: what the page says a driver is, is enough to be one.
#include <memory>

#include "examples/metronome/metronome_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/timed_world.h"

namespace errand::test {
namespace {

class MetronomeWorld final : public TimedWorld {
 public:
  MetronomeWorld() { restart(); }

  Driver& driver() override { return *driver_; }
  void restart() override { driver_ = example::make_metronome_driver(timers); }
  // A turn at work has one timer.
  int left_behind() override { return static_cast<int>(timers.size()); }

  Launch speaks() override { return agent_launch("metronome", "tick 8 60"); }
  Launch goes_on() override { return agent_launch("metronome", "tick on 60"); }
  Launch fails() override { return agent_launch("metronome", "play a waltz"); }

 private:
  std::unique_ptr<Driver> driver_;
};

INSTANTIATE_TEST_SUITE_P(Example, DriverContract,
                         testing::Values(DriverCase{"metronome", [] { return std::make_unique<MetronomeWorld>(); }}),
                         case_name);

}  // namespace
}  // namespace errand::test

// One life of the simulated server, from its start to its crash or end: the real engine on queues that are run by hand.
// What outlives it (disk, clock, chance) is given.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/id.h"
#include "base/time.h"
#include "base/timers.h"
#include "driver/fake/fake_driver.h"
#include "engine/engine.h"
#include "store/faulty.h"
#include "store/memory/memory_store.h"
#include "tests/simulation/planted.h"
#include "tests/simulation/step_queue.h"
#include "tests/simulation/stream_reader.h"
#include "tests/simulation/watched_driver.h"

namespace errand::sim {

struct ServerParts {
  std::shared_ptr<MemoryDisk> disk;
  ManualClock& clock;
  Random& random;
  TurnWatch& watch;
  Verdict& verdict;
  EngineSettings settings;
  Faults faults;
  fake::FakeOptions agents;
  Planted& planted;
};

class Server {
 public:
  explicit Server(ServerParts parts);
  // As a crash: nothing that waits in a queue happens any more.
  ~Server();

  StepQueue loop, readers, disk;
  Engine& engine() { return *engine_; }
  Store& store() { return *store_; }
  StreamServer& streams() { return streams_; }
  int live_turns() const { return agents_.live(); }

  bool idle() const { return loop.empty() && readers.empty() && disk.empty(); }
  // When something is due by itself (steady time); never, where nothing is.
  Time next_due() const;
  // Runs the agents' timers and the engine's that are due. False: none was.
  bool run_due();

 private:
  ManualClock& clock_;
  TurnWatch& watch_;
  TimerQueue timers_;
  fake::FakeDriver agents_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Store> store_;
  Time engine_due_;
  std::unique_ptr<Engine> engine_;
  StreamServer streams_;
};

}  // namespace errand::sim

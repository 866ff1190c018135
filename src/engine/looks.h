// What launches name on disks (Driver::Look), looked at beside the engine's thread. A folder on a network mount that is
// gone holds a thread for as long as it likes, so:
//   - who waits is answered after a while, `unavailable`, reason `work_dir_unreachable`;
//   - launches that ask for the same share one look, and folders side by side a few threads: what hangs in one place
//     leaves threads for the others;
//   - there is a bound for all that is under way.
// A folder that was found good is believed for a moment: who launches one task after the other waits for no thread.
//
// One thread, the engine's; only the looks themselves run elsewhere.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/timers.h"
#include "driver/driver.h"
#include "task/task.h"

namespace errand {

class Looks {
 public:
  static constexpr Millis patience_ms = 5'000;  // Whoever waits longer is answered.
  static constexpr size_t at_once_max = 256;    // Looks that run or wait for a thread.
  static constexpr int side_by_side_max = 4;    // Of folders with the same folder above them.
  static constexpr Millis believed_ms = 1'000;  // That it is good; from when the look began.
  static constexpr size_t believed_max = 256;   // Looks that are remembered.

  using Then = std::move_only_function<void(Status)>;

  // `wake`: called when `timers` has got a new deadline.
  Looks(Executor& threads, Executor& loop, Clock& clock, TimerQueue& timers, std::function<void()> wake);

  // Runs `look`, which is `driver`'s for this launch, and `then` with what it found: later; where the same look found
  // all good within believed_ms, at once, inside this call. That something is wrong is never remembered.
  void look(const std::string& driver, const Launch& launch, Driver::Look look, Then then);
  // All who wait are answered so.
  void dismiss(const Error& why);

 private:
  struct Waiter {
    Then then;
    Time asked;  // Steady time.
    std::string about;
  };
  struct Entry {
    std::string key;
    std::string place;
    Driver::Look look;
    bool runs = false;
    Time begun;                   // Steady time, while it runs.
    std::vector<Waiter> waiters;  // They asked before it was begun: whatever it finds is their answer.
    // They asked while it ran. That a folder is there is good enough for them; that it is not may be no longer true.
    std::vector<Waiter> later;
  };
  struct Place {
    int running = 0;
    std::deque<uint64_t> waiting;
  };

  bool believed(const std::string& key);
  void begin(uint64_t id, Entry& entry);
  void done(uint64_t id, Status found);
  void leave(const std::string& place);
  void arm();
  void due();

  Executor& threads_;
  Executor& loop_;
  Clock& clock_;
  std::function<void()> wake_;
  std::unordered_map<uint64_t, Entry> entries_;
  std::unordered_map<std::string, uint64_t> by_key_;
  std::unordered_map<std::string, Place> places_;
  std::unordered_map<std::string, Time> good_;  // By key: when the look began that found it so.
  uint64_t last_id_ = 0;
  Timer deadline_;
  std::shared_ptr<char> here_ = std::make_shared<char>();
};

}  // namespace errand

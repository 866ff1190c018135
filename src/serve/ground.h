// What all parts of a server stand on: its clock, its loop and its threads.
#pragma once

#include <memory>

#include "base/id.h"
#include "base/loose_pool.h"
#include "base/thread_pool.h"
#include "base/time.h"
#include "base/timers.h"
#include "net/loop.h"
#include "net/sse.h"

namespace errand::serve {

// Made first and destroyed last. Members are destroyed in reverse order: what refers to others comes after them.
struct Ground {
  Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // Ends the threads, when the loop has ended. False: one hangs, in a mount that does not answer. It cannot be joined,
  // and what it uses cannot be destroyed: the process has to go without destroying anything.
  bool stop();

  SystemClock clock;
  SystemRandom random;
  std::unique_ptr<net::Loop> loop = net::Loop::make();
  net::Heartbeats heartbeats{*loop};
  ThreadPool readers{2};     // For reading the store.
  ThreadPool files{2};       // For what is soon done in the data folder: logs, small files.
  LoosePool folders{32};     // For folders that launches name; only those that hang make it more than a few.
  LoosePool background{2};   // For copying and removing files, which nobody's request waits behind.
  LoosePool calls{2};        // For what agents' calls need: short work, which is not to wait behind a search.
  TimerQueue timers{clock};  // Of the drivers; runs on the loop.

 private:
  void run_timers();

  std::unique_ptr<net::Timer> timer_ = loop->timer();
};

}  // namespace errand::serve

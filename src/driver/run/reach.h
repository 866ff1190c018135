// Does a folder of somebody else's answer? Asked by threads that have other things to do than to wait for a network
// mount that is gone: the store's readers, when they list what a task left there.
//
// One that does not answer is waited for once. Until its disk has, whoever asks again is told at once.
#pragma once

#include <memory>
#include <string>

#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"

namespace errand::run {

class Reach {
 public:
  static constexpr Millis patience_ms = 1'000;
  static constexpr size_t asked_max = 256;  // Folders that are being asked, or do not answer.

  // `threads` may hang in a folder, and be left there. Absent: everything answers.
  explicit Reach(Executor* threads, Millis patience = patience_ms);

  // Whether it is there is not asked. unavailable, reason `work_dir_unreachable`. Any thread; blocks, for `patience` at
  // most.
  Status answers(const std::string& folder) const;

 private:
  struct State;
  Executor* threads_;
  Millis patience_;
  std::shared_ptr<State> state_;  // The threads', too: they may outlive this.
};

}  // namespace errand::run

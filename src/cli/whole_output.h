// A command's output for somebody who watches it. An `output` event has at most 32 KiB of what was printed: the rest of
// its range is read from the log, and so is what lies between it and the last one, where the server could not follow a
// flood. So that what `errand run --wait` prints is what the command printed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/context.h"
#include "cli/wire.h"

namespace errand::cli {

class WholeOutput {
 public:
  WholeOutput(Context& context, std::string task) : context_(context), task_(std::move(task)) {}

  // Calls `each` with the event; or, where it is not whole, with events of the same kind that are. What cannot be read
  // is left out, as it is in the event.
  using Each = std::function<void(const EventInfo&)>;
  void complete(const EventInfo& event, const Each& each);

 private:
  // False: the log could not be read.
  bool read(int64_t from, const EventInfo& event, const Each& each);

  Context& context_;
  std::string task_;
  int64_t run_ = 0;
  int64_t covered_ = 0;  // All of the run's output before this was given.
};

}  // namespace errand::cli

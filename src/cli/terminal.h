// A terminal that is driven key by key. It is given back as it was on every way out: the end, a signal that ends the
// process, a crash, and for the time in which the process is stopped (Ctrl-Z).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/keys.h"

namespace errand::cli {

class Terminal {
 public:
  // The whole screen, with another one behind it; or the line at the bottom of the text that is there.
  enum class Mode : uint8_t { screen, line };
  explicit Terminal(Mode mode);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Are standard input and output a terminal that can do this?
  static bool possible();

  // Readable when a key has come, or something changed: then keys() and changed() are to be asked.
  int wake_fd() const;
  // What has come; never waits. Ctrl-C and Ctrl-Z are signals, not keys.
  std::vector<Key> keys();
  // The terminal has gone.
  bool ended() const { return ended_; }

  // Since it was last asked: its size may be another one; or the process was stopped and everything is to be drawn
  // anew.
  enum class Changed : uint8_t { nothing, size, everything };
  Changed changed();

  // Waits for a key or a change.
  void wait(Millis at_most) const;

 private:
  KeyParser parser_;
  Time begun_;  // When an unfinished key was begun.
  int epoll_ = -1, timer_ = -1;
  bool ended_ = false;
};

}  // namespace errand::cli

// A terminal's own notification: for a person who looks elsewhere while a verb stays with tasks.
//
// By escape sequence where the terminal is known to have one (OSC 777, OSC 9 for iTerm2, OSC 99 for kitty), else by the
// bell. Texts are a stranger's: nothing in them can end a sequence or begin another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/wire.h"

namespace errand::cli {

enum class Ring : uint8_t { none, bell, osc777, osc9, osc99 };

struct RingStyle {
  Ring ring = Ring::none;
  bool tmux = false;  // Sequences go through it to the terminal around it; and it marks the window by the bell.
};

// By the environment: ERRAND_NOTIFY (off, bell; auto is the default), TERM, TERM_PROGRAM and others. `get`: a variable,
// null where it is not set.
RingStyle ring_style(const std::function<const char*(const char*)>& get);
std::string ring_bytes(const RingStyle& style, std::string_view title, std::string_view body);

// What there is to tell of a task, in two or three words; empty: nothing. As on the page: it asks, or it came to rest
// and reports to no other session.
std::string news_of(const TaskInfo& task);
// Only what needs a person: a question, or a failure.
bool needs_person(const TaskInfo& task);

// Remembers what was told: a task changes more often than there is news of it.
class ToldNews {
 public:
  // True once for each question and each end of a task that is given here at every change.
  bool is_new(const TaskInfo& task);

 private:
  std::map<std::string, std::string> told_;  // By task: what was last told of it, or would have been.
};

// Who waits with a task is told of its end where that took this long.
inline constexpr Millis ring_after_ms = 10'000;

// Rings the terminal that this process has. Does nothing where it has none, or without a title.
void ring(std::string_view title, std::string_view body);

}  // namespace errand::cli

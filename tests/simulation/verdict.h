// What the checks of one simulated life found, and what happened before it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace errand::sim {

class Verdict {
 public:
  // The first broken promise is the one that counts: what follows it may be its consequence.
  void broken(std::string promise) {
    if (!broken_) broken_ = std::move(promise);
  }
  void check(bool holds, const char* promise) {
    if (!holds) broken(promise);
  }
  bool ok() const { return !broken_; }
  const std::string& what() const { return *broken_; }

  // The last things that happened, for whoever debugs a seed. Off unless asked for: it costs half of the time.
  void trace_on(size_t lines) { lines_max_ = lines; }
  bool tracing() const { return lines_max_ > 0; }
  void trace(std::string line) {
    if (lines_max_ == 0) return;
    lines_.push_back(std::move(line));
    if (lines_.size() > lines_max_) lines_.pop_front();
  }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::optional<std::string> broken_;
  size_t lines_max_ = 0;
  std::deque<std::string> lines_;
};

}  // namespace errand::sim

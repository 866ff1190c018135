// Ids: `task_01jcq5...`: a kind, then a time-ordered unique tail (48 bits of milliseconds and 80 of chance, in 26
// characters of Crockford's base 32, lower case). Later ids sort after earlier ones, also within a millisecond.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace errand {

// One type per kind, so that a session's id cannot be passed where a task's is meant.
template <class Tag>
struct Id {
  std::string value;

  Id() = default;
  explicit Id(std::string v) : value(std::move(v)) {}
  explicit Id(std::string_view v) : value(v) {}
  explicit Id(const char* v) : value(v) {}
  bool empty() const { return value.empty(); }
  explicit operator bool() const { return !value.empty(); }
  auto operator<=>(const Id&) const = default;
};

using TaskId = Id<struct TaskTag>;
using SessionId = Id<struct SessionTag>;
using MessageId = Id<struct MessageTag>;
using BatchId = Id<struct BatchTag>;
using NoticeId = Id<struct NoticeTag>;
using AgentId = Id<struct AgentTag>;

// Where randomness comes from: the kernel in the server, a seed in the simulator.
class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;
};

class SystemRandom final : public Random {
 public:
  uint64_t next() override;
};

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override;
  // 0 <= result < bound; bound > 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  // True once in `n`.
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// Makes ids. Not thread-safe: the engine thread owns one.
class IdSource {
 public:
  IdSource(Clock& clock, Random& random) : clock_(clock), random_(random) {}
  TaskId task() { return TaskId("task_" + tail()); }
  SessionId session() { return SessionId("ses_" + tail()); }
  MessageId message() { return MessageId("msg_" + tail()); }
  BatchId batch() { return BatchId("batch_" + tail()); }
  NoticeId notice() { return NoticeId("ntc_" + tail()); }
  AgentId agent() { return AgentId("agent_" + tail()); }
  std::string request() { return "req_" + tail(); }

 private:
  std::string tail();

  Clock& clock_;
  Random& random_;
  int64_t last_ms_ = 0;
  uint64_t high_ = 0;  // The upper 16 bits of chance.
  uint64_t low_ = 0;   // The lower 64.
};

// True for `prefix` followed by 26 characters of the alphabet.
bool is_id(std::string_view text, std::string_view prefix);

// n random bytes as base64url without padding: tokens and codes.
std::string random_secret(Random& random, int bytes);

}  // namespace errand

template <class Tag>
struct std::hash<errand::Id<Tag>> {
  size_t operator()(const errand::Id<Tag>& id) const noexcept { return std::hash<std::string>()(id.value); }
};

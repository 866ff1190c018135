// What waits to be stored: how many inputs, and the memory that they hold. Whatever waits carries a Charge, which is
// given back when it goes, whichever way it goes: so nothing can be forgotten in the count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "driver/driver.h"

namespace errand {

// Counted in here and in all that this is a part of. Counted by the engine's thread alone; a charge may be given back
// on another one, where a closure ends that a reader's thread holds.
struct Backlog {
  explicit Backlog(std::shared_ptr<Backlog> part_of = nullptr) : whole(std::move(part_of)) {}

  std::atomic<int64_t> inputs = 0;
  std::atomic<int64_t> bytes = 0;
  const std::shared_ptr<Backlog> whole;
};

class Charge {
 public:
  Charge() = default;
  Charge(std::shared_ptr<Backlog> backlog, size_t bytes) : backlog_(std::move(backlog)) {
    count(1, 0);
    add(bytes);
  }
  Charge(Charge&& other) noexcept : backlog_(std::move(other.backlog_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    backlog_ = std::move(other.backlog_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~Charge() { give_back(); }

  // What it stands for has grown.
  void add(size_t bytes) {
    bytes_ += static_cast<int64_t>(bytes);
    count(0, static_cast<int64_t>(bytes));
  }

 private:
  void count(int64_t inputs, int64_t bytes) const {
    for (Backlog* each = backlog_.get(); each != nullptr; each = each->whole.get()) {
      each->inputs += inputs;
      each->bytes += bytes;
    }
  }
  void give_back() {
    count(-1, -bytes_);
    backlog_.reset();
    bytes_ = 0;
  }

  std::shared_ptr<Backlog> backlog_;
  int64_t bytes_ = 0;
};

// What a caller gives is there about this often until it is stored: what came in, the task or message that is made of
// it, its event, that event's frame, and the row that is written. So many times it is counted.
inline constexpr size_t copies_until_stored = 5;

// About how much memory these take, each by itself.
size_t weight(const Report& report);
size_t weight(const std::vector<Report>& reports);
size_t weight(const Message& message);
size_t weight(const std::unordered_map<MessageId, Message>& messages);
size_t weight(const Launch& launch);

}  // namespace errand

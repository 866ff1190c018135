// A line of tasks in the order of their ranks, made for long ones: a million in line are loaded in a fraction of a
// second, and the place of any of them is found in microseconds. Sorted pieces, one behind the other: what comes last
// is put behind the last one, and nothing is allocated for each. Engine thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/id.h"

namespace errand {

struct Rank {
  int64_t at = 0;
  uint64_t order = 0;  // Of arrival, where the times are equal: no two ranks are the same.
  auto operator<=>(const Rank&) const = default;
};

class Line {
 public:
  struct Entry {
    Rank rank;
    const TaskId* id = nullptr;  // Borrowed: it lives as long as it is in line.
  };

  bool empty() const { return pieces_.empty(); }
  const Entry& front() const { return pieces_.front().entries[pieces_.front().gone]; }
  void insert(const Entry& entry);
  // Nothing where it is not in line.
  void erase(const Rank& rank);
  int64_t size() const;
  // How many are before this rank.
  int64_t before(const Rank& rank) const;

 private:
  struct Piece {
    std::vector<Entry> entries;
    size_t gone = 0;  // Left at its front: the first in line leaves most often.

    auto begin() const { return entries.begin() + static_cast<std::ptrdiff_t>(gone); }
    size_t size() const { return entries.size() - gone; }
  };
  // The piece that this rank is in, or would be put into.
  size_t piece_of(const Rank& rank) const;
  void split(size_t piece);

  std::deque<Piece> pieces_;  // None is empty.
};

}  // namespace errand

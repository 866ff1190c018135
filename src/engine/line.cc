#include "engine/line.h"

#include <algorithm>

namespace errand {
namespace {
constexpr size_t piece_max = 512;
}

size_t Line::piece_of(const Rank& rank) const {
  const auto after =
      std::ranges::upper_bound(pieces_, rank, {}, [](const Piece& piece) { return piece.begin()->rank; });
  return after == pieces_.begin() ? 0 : static_cast<size_t>(after - pieces_.begin()) - 1;
}

void Line::insert(const Entry& entry) {
  const bool last = pieces_.empty() || pieces_.back().entries.back().rank < entry.rank;
  if (last) {
    if (pieces_.empty() || pieces_.back().entries.size() >= piece_max) pieces_.emplace_back();
    pieces_.back().entries.push_back(entry);
    return;
  }
  size_t at = piece_of(entry.rank);
  if (pieces_[at].entries.size() >= piece_max) {
    split(at);
    at = piece_of(entry.rank);
  }
  Piece& piece = pieces_[at];
  piece.entries.insert(std::ranges::upper_bound(piece.begin(), piece.entries.cend(), entry.rank, {}, &Entry::rank),
                       entry);
}

void Line::split(size_t at) {
  Piece& full = pieces_[at];
  if (full.gone > 0) {  // There is room once those are really gone.
    full.entries.erase(full.entries.begin(), full.begin());
    full.gone = 0;
    return;
  }
  const auto middle = full.entries.begin() + static_cast<std::ptrdiff_t>(full.entries.size() / 2);
  Piece second{{middle, full.entries.end()}, 0};
  full.entries.erase(middle, full.entries.end());
  pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(second));
}

void Line::erase(const Rank& rank) {
  if (pieces_.empty()) return;
  const size_t at = piece_of(rank);
  Piece& piece = pieces_[at];
  const auto found = std::ranges::lower_bound(piece.begin(), piece.entries.cend(), rank, {}, &Entry::rank);
  if (found == piece.entries.cend() || found->rank != rank) return;
  if (found == piece.begin())
    ++piece.gone;
  else
    piece.entries.erase(found);
  if (piece.size() == 0) pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(at));
}

int64_t Line::size() const {
  size_t count = 0;
  for (const Piece& piece : pieces_) count += piece.size();
  return static_cast<int64_t>(count);
}

int64_t Line::before(const Rank& rank) const {
  if (pieces_.empty()) return 0;
  const size_t at = piece_of(rank);
  size_t count = 0;
  for (size_t i = 0; i < at; ++i) count += pieces_[i].size();
  const Piece& piece = pieces_[at];
  const auto place = std::ranges::lower_bound(piece.begin(), piece.entries.cend(), rank, {}, &Entry::rank);
  return static_cast<int64_t>(count) + (place - piece.begin());
}

}  // namespace errand

// A file of zeroes beside the database that is given up when the disk is full, so that deleting and checkpointing,
// which need space themselves, can run; and taken back when there is space again. While it is given up only what frees
// space is stored: else the next creations would eat it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace errand::sqlite {

// Of the disk that a file is on; all there can be where it does not say.
int64_t free_bytes(const std::string& path);

class Ballast {
 public:
  // Takes (true) or gives up (false) the space; false where it cannot.
  using Hold = std::function<bool(bool take)>;
  explicit Ballast(Hold hold) : hold_(std::move(hold)) {}

  // A file of so many bytes; with 0 there is no ballast, and `take` always succeeds.
  static Hold file(std::string path, int64_t bytes);

  // False: there is not enough space.
  bool take() { return taken_ = taken_ || hold_(true); }
  // For a start on a full disk: what an earlier server held back. False: there was none.
  bool give_up_old() { return hold_(false); }
  // True: space was given up.
  bool give_up() { return std::exchange(taken_, false) && hold_(false); }
  bool taken() const { return taken_; }

 private:
  Hold hold_;
  bool taken_ = false;
};

}  // namespace errand::sqlite

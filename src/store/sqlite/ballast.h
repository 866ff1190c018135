// A file of zeroes beside the database that is given up when the disk is full, so that deleting and checkpointing,
// which need space themselves, can run; and taken back when there is space again. While it is given up only what frees
// space is stored: else the next creations would eat it.
#pragma once

#include <cstdint>
#include <string>

namespace errand::sqlite {

class Ballast {
 public:
  // Nothing is done yet. With 0 bytes there is no ballast, and `take` always succeeds.
  Ballast(std::string path, int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  // Makes the file where it is not there. False: there is not enough space.
  bool take();
  // True: space was given up.
  bool give_up();
  bool taken() const { return taken_; }

 private:
  std::string path_;
  int64_t bytes_;
  bool taken_ = false;
};

}  // namespace errand::sqlite

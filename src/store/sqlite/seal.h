// Seals: a 64-bit sum over the columns of a row, stored with it and checked when it is read. SQLite does not check its
// pages, so without it a flipped bit on the disk would be answered as the truth.
//
// Writing and reading go through the columns in the same order, which keeps both in one place (rows.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

class Seal {
 public:
  void add(int64_t number) { mix(static_cast<uint64_t>(number)); }
  void add(std::string_view text);
  void add_null() { mix(0x6E756C6C); }
  int64_t sum() const { return static_cast<int64_t>(hash_ ^ (hash_ >> 31)); }

 private:
  void mix(uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9FB21C651E98DF25;
    hash_ ^= hash_ >> 28;
  }
  uint64_t hash_ = 0x2545F4914F6CDD1D;
};

inline int64_t seal_of(std::string_view text) {
  Seal seal;
  seal.add(text);
  return seal.sum();
}

// Binds the columns of a row one after the other.
class RowOut {
 public:
  RowOut(Statement& statement, int first = 1) : statement_(statement), next_(first) {}
  void put(int64_t number) {
    seal_.add(number);
    statement_.bind(next_++, number);
  }
  void put(std::string_view text) {
    seal_.add(text);
    statement_.bind(next_++, text);
  }
  void put_null() {
    seal_.add_null();
    statement_.bind_null(next_++);
  }
  void put_or_null(std::string_view text) { text.empty() ? put_null() : put(text); }
  void put_or_null(Time time) { time ? put(time.ms) : put_null(); }
  void put_or_null(const std::optional<int>& number) { number ? put(*number) : put_null(); }
  // Sealed and not bound: a column that is not written here.
  void seal_only(int64_t number) { seal_.add(number); }
  void seal_only(std::string_view text) { seal_.add(text); }
  void put_sum() { statement_.bind(next_++, seal_.sum()); }
  int next() const { return next_; }

 private:
  Statement& statement_;
  int next_;
  Seal seal_;
};

// Reads them again.
class RowIn {
 public:
  RowIn(const Statement& statement, int first = 0) : statement_(statement), next_(first) {}
  int64_t number() {
    const int64_t value = statement_.integer(next_++);
    seal_.add(value);
    return value;
  }
  int integer() { return static_cast<int>(number()); }
  std::string_view text() {
    const std::string_view value = statement_.text(next_++);
    seal_.add(value);
    return value;
  }
  bool take_null() {
    if (!statement_.is_null(next_)) return false;
    seal_.add_null();
    ++next_;
    return true;
  }
  Time time() { return {number()}; }
  std::string_view text_or_null() { return take_null() ? std::string_view() : text(); }
  Time time_or_null() { return take_null() ? Time{} : time(); }
  std::optional<int> integer_or_null() { return take_null() ? std::nullopt : std::optional(integer()); }
  void seal_only(int64_t number) { seal_.add(number); }
  void seal_only(std::string_view text) { seal_.add(text); }
  // The sum that was stored is the sum of what was read.
  bool take_sum() { return statement_.integer(next_++) == seal_.sum(); }
  int next() const { return next_; }

 private:
  const Statement& statement_;
  int next_;
  Seal seal_;
};

}  // namespace errand::sqlite

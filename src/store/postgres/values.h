// What goes into a statement and comes out of it, in PostgreSQL's binary form: every number is a bigint, every text a
// bytea (bytes in are bytes out, whatever their encoding), so there are two types and nothing to parse.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

struct pg_result;

namespace errand::postgres {

// The parameters of one statement. They are copied.
class Values {
 public:
  Values& add(int64_t number);
  Values& add(std::string_view text);
  Values& add(const char* text) { return add(std::string_view(text)); }
  Values& add_null();
  Values& add_or_null(std::string_view text) { return text.empty() ? add_null() : add(text); }
  Values& add_or_null(Time time) { return time ? add(time.ms) : add_null(); }
  Values& add_or_null(const std::optional<int>& number) { return number ? add(*number) : add_null(); }
  // bigint[] and bytea[].
  Values& add_array(std::span<const int64_t> numbers);
  Values& add_array(std::span<const std::string> texts);
  Values& add_array(std::span<const std::string_view> texts);

  size_t size() const { return places_.size(); }
  // As libpq wants them; they point into this.
  std::vector<const char*> pointers() const;
  std::vector<int> lengths() const;

 private:
  static constexpr int null_length = -1;
  struct Place {
    size_t at = 0;
    int length = null_length;
  };
  void begin() { places_.push_back({bytes_.size(), 0}); }
  void end() { places_.back().length = static_cast<int>(bytes_.size() - places_.back().at); }
  template <class Texts>
  Values& add_texts(const Texts& texts);

  std::string bytes_;
  std::vector<Place> places_;
};

// The answer to one statement. Texts live as long as it does.
class Rows {
 public:
  explicit Rows(pg_result* result) : result_(result) {}
  Rows(Rows&& other) noexcept : result_(std::exchange(other.result_, nullptr)) {}
  Rows& operator=(Rows&& other) noexcept {
    std::swap(result_, other.result_);
    return *this;
  }
  ~Rows();

  int count() const;
  int64_t affected() const;  // Rows that were written.
  std::string_view text(int row, int column) const;
  int64_t integer(int row, int column) const;
  bool is_null(int row, int column) const;
  Time time(int row, int column) const { return {is_null(row, column) ? 0 : integer(row, column)}; }
  std::optional<int> integer_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional(static_cast<int>(integer(row, column)));
  }

 private:
  pg_result* result_;
};

// One row of them, for those who read a whole value from it.
struct Row {
  const Rows& rows;
  int at = 0;
  std::string_view text(int column) const { return rows.text(at, column); }
  int64_t integer(int column) const { return rows.integer(at, column); }
  bool is_null(int column) const { return rows.is_null(at, column); }
  Time time(int column) const { return rows.time(at, column); }
  std::optional<int> integer_or_null(int column) const { return rows.integer_or_null(at, column); }
};

}  // namespace errand::postgres

#include "store/sqlite/number_list.h"

#include <algorithm>
#include <sqlite3.h>

namespace errand::sqlite {
namespace {

bool reached(int64_t number, int64_t from, Direction direction) {
  return direction == Direction::down ? number <= from : number >= from;
}

class StatementList final : public NumberList {
 public:
  StatementList(Database& db, Statement& statement, Direction direction, int steps)
      : NumberList(direction), db_(db), statement_(statement), steps_(steps) {}
  ~StatementList() override { statement_.reset(); }

  Result<std::optional<int64_t>> seek(int64_t from) override {
    if (ended_) return std::nullopt;
    if (current_ && reached(*current_, from, direction_)) return current_;
    for (int i = 0; current_ && i < steps_; ++i) {
      if (const Status stepped = step(); !stepped) return std::unexpected(stepped.error());
      if (ended_) return std::nullopt;
      if (reached(*current_, from, direction_)) return current_;
    }
    statement_.reset();
    statement_.bind(1, from);
    if (const Status stepped = step(); !stepped) return std::unexpected(stepped.error());
    if (ended_) return std::nullopt;
    return current_;
  }

  // A jump over half a million tasks is half a million steps: as few instructions as can be.
  Result<std::optional<int64_t>> skip(int64_t from, int64_t count) override {
    const auto first = seek(from);
    if (!first || !*first) return first;
    int code = SQLITE_ROW;
    while (count-- > 0 && code == SQLITE_ROW) code = statement_.step();
    if (code == SQLITE_ROW) return current_ = statement_.integer(0);
    ended_ = true;
    if (code != SQLITE_DONE) return std::unexpected(db_.error(code, "read a list"));
    return std::nullopt;
  }

 private:
  Status step() {
    const int code = statement_.step();
    if (code == SQLITE_ROW) {
      current_ = statement_.integer(0);
      return {};
    }
    ended_ = true;
    if (code == SQLITE_DONE) return {};
    return std::unexpected(db_.error(code, "read a list"));
  }

  Database& db_;
  Statement& statement_;
  int steps_;
  std::optional<int64_t> current_;
  bool ended_ = false;
};

class ReadyList final : public NumberList {
 public:
  ReadyList(std::vector<int64_t> numbers, Direction direction) : NumberList(direction), numbers_(std::move(numbers)) {
    std::ranges::sort(numbers_);
    if (direction == Direction::down) std::ranges::reverse(numbers_);
  }

  Result<std::optional<int64_t>> seek(int64_t from) override {
    while (next_ < numbers_.size() && !reached(numbers_[next_], from, direction_)) ++next_;
    if (next_ == numbers_.size()) return std::nullopt;
    return numbers_[next_];
  }

 private:
  std::vector<int64_t> numbers_;
  size_t next_ = 0;
};

class Union final : public NumberList {
 public:
  Union(std::vector<NumberListPtr> lists, Direction direction) : NumberList(direction), lists_(std::move(lists)) {}

  Result<std::optional<int64_t>> seek(int64_t from) override {
    std::optional<int64_t> nearest;
    for (const NumberListPtr& list : lists_) {
      const auto number = list->seek(from);
      if (!number) return number;
      if (*number && (!nearest || reached(*nearest, **number, direction_))) nearest = *number;
    }
    return nearest;
  }

 private:
  std::vector<NumberListPtr> lists_;
};

class Intersection final : public NumberList {
 public:
  Intersection(std::vector<NumberListPtr> lists, Direction direction)
      : NumberList(direction), lists_(std::move(lists)) {}

  Result<std::optional<int64_t>> seek(int64_t from) override {
    size_t agreed = 0;
    for (size_t i = 0; agreed < lists_.size(); i = (i + 1) % lists_.size()) {
      const auto number = lists_[i]->seek(from);
      if (!number || !*number) return number;
      agreed = **number == from ? agreed + 1 : 1;
      from = **number;
    }
    return from;
  }

 private:
  std::vector<NumberListPtr> lists_;
};

class Difference final : public NumberList {
 public:
  Difference(NumberListPtr list, NumberListPtr without, Direction direction, bool part)
      : NumberList(direction), list_(std::move(list)), without_(std::move(without)), part_(part) {}

  Result<std::optional<int64_t>> seek(int64_t from) override {
    while (true) {
      const auto number = list_->seek(from);
      if (!number || !*number) return number;
      const auto left_out = without_->seek(**number);
      if (!left_out) return left_out;
      if (*left_out != *number) return number;
      from = **number + step();
    }
  }

  // The list's own way of jumping, and on by as many as lie on the way and are not meant.
  Result<std::optional<int64_t>> skip(int64_t from, int64_t count) override {
    if (!part_) return NumberList::skip(from, count);
    while (count > 0) {
      const auto target = list_->skip(from, count);
      if (!target || !*target) return target;
      count = 0;
      auto left_out = without_->seek(from);
      while (left_out && *left_out && !reached(**left_out, **target, direction_)) {
        ++count;
        left_out = without_->seek(**left_out + step());
      }
      if (!left_out) return left_out;
      from = **target;
    }
    return seek(from);
  }

 private:
  int64_t step() const { return direction_ == Direction::down ? -1 : 1; }

  NumberListPtr list_, without_;
  const bool part_;
};

}  // namespace

Result<std::optional<int64_t>> NumberList::skip(int64_t from, int64_t count) {
  const int64_t step = direction_ == Direction::down ? -1 : 1;
  auto number = seek(from);
  while (number && *number && count-- > 0) number = seek(**number + step);
  return number;
}

NumberListPtr statement_list(Database& db, Statement& statement, Direction direction, int steps) {
  return std::make_unique<StatementList>(db, statement, direction, steps);
}

NumberListPtr ready_list(std::vector<int64_t> numbers, Direction direction) {
  return std::make_unique<ReadyList>(std::move(numbers), direction);
}

NumberListPtr union_of(std::vector<NumberListPtr> lists, Direction direction) {
  if (lists.size() == 1) return std::move(lists.front());
  return std::make_unique<Union>(std::move(lists), direction);
}

NumberListPtr difference_of(NumberListPtr list, NumberListPtr without, Direction direction, bool part) {
  return std::make_unique<Difference>(std::move(list), std::move(without), direction, part);
}

NumberListPtr intersection_of(std::vector<NumberListPtr> lists, Direction direction) {
  if (lists.size() == 1) return std::move(lists.front());
  return std::make_unique<Intersection>(std::move(lists), direction);
}

}  // namespace errand::sqlite

// Lists of task numbers in order: what a filter is to the database.
//
// Every filter (a state, an agent, a batch, a label, a search) has an index whose entries come in the order of the task
// numbers. A page is the intersection of such lists, found by leaping: each list in turn is asked for its next number
// at or behind the largest step so far. That costs about as many steps as the shortest list has, whatever is combined,
// and no combination needs an index of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "store/sqlite/database.h"

namespace errand::sqlite {

enum class Direction : uint8_t { up, down };

class NumberList {
 public:
  virtual ~NumberList() = default;
  // The first number at `from` or behind it (in the list's direction). `from` never goes back.
  virtual Result<std::optional<int64_t>> seek(int64_t from) = 0;
  // The number behind the next `count` ones.
  virtual Result<std::optional<int64_t>> skip(int64_t from, int64_t count);

  explicit NumberList(Direction direction) : direction_(direction) {}

 protected:
  const Direction direction_;
};
using NumberListPtr = std::unique_ptr<NumberList>;

// From a statement like "... n <= ?1 ORDER BY n DESC" (or ">= ?1 ... ORDER BY n"), ?1 being bound here and the others
// before. It is reset when the list goes. `steps` is how many entries it walks before it rather seeks again.
NumberListPtr statement_list(Database& db, Statement& statement, Direction direction, int steps);
// Numbers that are in hand, in any order.
NumberListPtr ready_list(std::vector<int64_t> numbers, Direction direction);
NumberListPtr union_of(std::vector<NumberListPtr> lists, Direction direction);
// What is in `list` and not in `without`, which is short: as many numbers as people marked by hand. `part`: all of
// `without` is in `list`, so that a jump need not look at each number.
NumberListPtr difference_of(NumberListPtr list, NumberListPtr without, Direction direction, bool part);
// At least one.
NumberListPtr intersection_of(std::vector<NumberListPtr> lists, Direction direction);

}  // namespace errand::sqlite

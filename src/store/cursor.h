// Page cursors: where the next page begins, as a text that only a store reads. A cursor belongs to the filter and the
// sort it was made for; with another it is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace errand {

// The last task of the page before.
struct Place {
  int64_t number = 0;  // The store's number of the task: goes up with each insert, never used again.
  Time updated = {};   // With Sort::updated.
  int band = 0;        // With Sort::attention: of Band.
  bool operator==(const Place&) const = default;
};

// In a list that is sorted so: `place` comes after `other`.
bool comes_after(const Place& place, const Place& other, Sort sort);

std::string make_cursor(const TaskFilter& filter, Sort sort, const Place& last);
// invalid_argument if no store made the cursor, or it belongs to another list.
Result<Place> read_cursor(std::string_view cursor, const TaskFilter& filter, Sort sort);

}  // namespace errand

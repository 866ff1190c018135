// What others than the task changed in its work tree behind its end: a test, most often. It is put aside, which means
// that it is not listed and not merged as the task's, for as long as nobody changes it again. A merge names it.
//
// A record has `aside_from`, the end that the task left: all from there on is put aside, up to `aside_to`. While that
// is empty the record is held (Record::is_held), and its end stays as it is.
#pragma once

#include <string>

#include "base/result.h"
#include "changes/record.h"

namespace errand::changes {

// The same snapshot without what was put aside: files that are as they were then are as they were before. `index`: a
// file for an index, which is removed. The store's lock is held.
Result<std::string> without_aside(const Store& store, const Record& record, const std::string& snapshot,
                                  const std::string& index);

}  // namespace errand::changes

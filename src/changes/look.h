// What a task changed: the orders that show it (list, file, patch), and the look that all others decide by.
#pragma once

#include <string>

#include "base/result.h"
#include "changes/done.h"
#include "changes/listing.h"

namespace errand::changes {

enum class Whose : uint8_t {
  tasks,  // Without what was put aside (aside.h).
  all,
};

struct Now {
  std::string commit;  // A snapshot of the work tree.
  Listing listing;     // What changed from the start up to it.
};
// `fresh`: nothing of what is known from the last look is used. not_found, reason `lost`.
Result<Now> look_now(const Order& order, const Record& record, bool fresh, Whose whose = Whose::tasks);

// The end is as it is now: snapshot, list and patch are kept with the task, and the record is written. Where nothing
// came behind a merge, the task is merged again, and what is kept is what was merged.
Status keep_final(const Order& order, Record& record);

Done list(const Order& order, const Record& record);
Done file(const Order& order, const Record& record);
// The file that has it: the server sends it from there.
Done patch(const Order& order, const Record& record);

}  // namespace errand::changes

// One order, given as JSON, answered as JSON, for a process of its own under the supervisor (decision 31).
// driver/watched/orders.h has it started.
//
//   begin    before a turn: the start snapshot, and the task's own work tree where it has one. May be repeated.
//   ready    behind the set-up command of a new work tree: what that changed is not the task's
//   finish   behind a turn: the end snapshot, the list and the patch, kept with the task
//   list     the files that changed: as they are now, or as the task left them
//   file     one file's patch
//   patch    all of it: the name of a file beside the record
//   merge, undo, discard, restore    what the user decides; before a merge `merging`, and before an undo `undoing`,
//   says
//            that it comes
//   hold     before a test runs in the work tree: what is changed there from now on is not the task's
//   take     a merge of what the task left at its end: nothing that was done in its work tree since
//   publish  a commit of what changed, for somebody else's repository; no branch is moved
//   settle   after a crash: what was being merged is finished or taken back, a work tree that was half made goes
//   clean    long after a merge or a discard: what is left of it is removed, or why it stays is kept
//   forget   the task was removed; a work tree with changes that nobody took stays
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace errand::changes {

struct Order {
  std::string order;
  std::string data_dir;
  std::string home;
  std::string task;
  std::string work_dir = {};
  std::string title = {};
  bool isolate = false;
  bool dirty = false;          // The work tree begins with what is uncommitted.
  bool sandboxed = false;      // It is a clone.
  std::string setup_run = {};  // The run of the set-up command that is to follow; empty: none is.
  std::string now = {};        // Wall time in milliseconds, by the server's clock; empty: by this machine's.
  std::string max_bytes = {};  // Of all work trees together; 0 or empty: no bound.
  std::string path = {};       // `file`: as the list has it.
  std::string mode = {};
  std::string message = {};
  bool with_later = false;  // `merge`: also what was changed in the work tree since a test.
  bool operator==(const Order&) const = default;
};

std::string encode(const Order& order);
Result<Order> decode_order(std::string_view text);

// The answer as JSON: {"isolation": ..., "reply": ...} or {"isolation": ..., "error": {code, message, reason, files}}.
// `isolation` is null where the task has none.
std::string carry_out(const Order& order);
// The whole of main: reads the order from its one argument, prints the answer.
int run_order(const std::string& text);

}  // namespace errand::changes

// What the user decides about a task's changes: the orders that merge, publish, discard, and take that back. The record
// is of a task with a work tree of its own.
#pragma once

#include "changes/done.h"

namespace errand::changes {

// Known before the merge, or its undoing, begins: a server that is killed in between finds what to settle.
Done merging(const Order& order, Record record);
Done undoing(const Order& order, Record record);
Done merge(const Order& order, Record record);
Done undo(const Order& order, Record record);
Done publish(const Order& order, Record record);
// A test is about to run in the work tree: what it leaves there is not the task's (aside.h).
Done hold(const Order& order, Record record);
Done discard(const Order& order, Record record);
Done restore(const Order& order, Record record);

}  // namespace errand::changes

// What an order answers, and the names of what is kept of its task: for the orders alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "changes/merge.h"
#include "changes/orders.h"
#include "changes/record.h"

namespace errand::changes {

// A reply, or why not. `record` is what is known then.
struct Done {
  std::optional<Record> record;
  std::string reply = "null";
  std::optional<Refused> refused;
};
inline Done refused(std::optional<Record> record, const Error& error, std::vector<std::string> files = {}) {
  return {std::move(record), "null", Refused{error, std::move(files)}};
}

// Wall time in milliseconds.
std::string now_text(const Order& order);
// A snapshot's reference in the store: start, end, now, ...
inline std::string ref_of(const Record& record, const char* which) {
  return "refs/errand/" + record.task + "/" + which;
}

inline std::string own_index(const Order& order) { return task_folder(order.data_dir, order.task) + "/index"; }
inline std::string final_list(const Order& order) { return task_folder(order.data_dir, order.task) + "/changes.json"; }
inline std::string final_patch(const Order& order) {
  return task_folder(order.data_dir, order.task) + "/changes.patch";
}

}  // namespace errand::changes

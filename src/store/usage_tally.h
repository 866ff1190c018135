// Adds rows of usage up, the same for every store.
#pragma once

#include <map>
#include <string>

#include "task/usage.h"

namespace errand {

class UsageTally {
 public:
  explicit UsageTally(const UsageQuery& query) : query_(query) {}

  // A row of the time that was asked for.
  void add(const UsageRow& row);
  UsageReport report() &&;

 private:
  UsageQuery query_;
  std::map<std::string, UsageSum> groups_;
  UsageSum total_;
};

}  // namespace errand

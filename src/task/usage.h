// What calls of models used, and what they cost (R15.3): one row a call, and sums of rows. Plain values.
//
// A row outlives its task: whoever clears tasks still wants to know what a month cost. It has nothing of the task's
// content; the task's id in it may name a task that no longer exists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace errand {

// Where a cost comes from. Stored as a number: never renumbered. With `unknown` there is no cost, which is not 0.
enum class PriceSource : uint8_t {
  unknown,
  provider,  // The provider said what the call cost.
  table,     // The table of prices in the binary (model/catalog.h).
  setting,   // The agent's own options (input_usd, ...).
  agent,     // The agent's program said it.
};
std::string_view name(PriceSource source);

// Each token is in exactly one of the four.
struct TokenCounts {
  int64_t input = 0;  // Neither read from nor written to a cache.
  int64_t output = 0;
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  bool operator==(const TokenCounts&) const = default;
};

struct UsageRow {
  Time at;
  TaskId task_id;
  int turn = 0;
  std::string provider;  // Empty where nobody said it.
  std::string model;     // Likewise.
  std::string agent;     // Its name at launch.
  std::string folder;    // The task's work dir.
  TokenCounts tokens;
  std::optional<double> cost_usd;  // Nothing: not known.
  PriceSource source = PriceSource::unknown;
  std::string priced_at = {};  // With `table`: the date of the table, YYYY-MM-DD.
  bool operator==(const UsageRow&) const = default;
};

enum class UsageBy : uint8_t { day, model, agent, folder };
std::string_view name(UsageBy by);
std::optional<UsageBy> parse_usage_by(std::string_view text);

struct UsageQuery {
  UsageBy by = UsageBy::day;
  Time from, to;           // [from, to); never: no bound.
  int utc_offset_min = 0;  // Where a day begins: minutes east of UTC.
  int limit = 1'000;       // Groups.
};

struct UsageSum {
  std::string key;  // A day (YYYY-MM-DD), or the name of the model, agent or folder; empty: not known.
  int64_t calls = 0;
  int64_t unpriced = 0;  // Calls whose cost is not known: the sum below is without them.
  TokenCounts tokens;
  double cost_usd = 0;
  bool operator==(const UsageSum&) const = default;
};

struct UsageReport {
  std::vector<UsageSum> groups;  // Days: the latest first. Else the most expensive first, then the most tokens.
  UsageSum total;                // Of all rows, also of groups that were left out.
  bool more = false;             // There are more groups than the limit.
};

}  // namespace errand

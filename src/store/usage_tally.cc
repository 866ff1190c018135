#include "store/usage_tally.h"

#include <algorithm>

#include "base/time.h"

namespace errand {
namespace {

std::string key_of(const UsageRow& row, const UsageQuery& query) {
  switch (query.by) {
    case UsageBy::day:
      return format_time(row.at + Millis{query.utc_offset_min} * 60'000).substr(0, 10);
    case UsageBy::model:
      return row.model;
    case UsageBy::agent:
      return row.agent;
    case UsageBy::folder:
      return row.folder;
  }
  return {};
}

void add_to(UsageSum& sum, const UsageRow& row) {
  sum.calls += 1;
  sum.tokens.input += row.tokens.input;
  sum.tokens.output += row.tokens.output;
  sum.tokens.cache_read += row.tokens.cache_read;
  sum.tokens.cache_write += row.tokens.cache_write;
  if (row.cost_usd)
    sum.cost_usd += *row.cost_usd;
  else
    sum.unpriced += 1;
}

int64_t all_tokens(const TokenCounts& tokens) {
  return tokens.input + tokens.output + tokens.cache_read + tokens.cache_write;
}

}  // namespace

void UsageTally::add(const UsageRow& row) {
  add_to(total_, row);
  add_to(groups_[key_of(row, query_)], row);
}

UsageReport UsageTally::report() && {
  UsageReport out;
  for (auto& [key, sum] : groups_) {
    sum.key = key;
    out.groups.push_back(std::move(sum));
  }
  std::ranges::sort(out.groups, [&](const UsageSum& a, const UsageSum& b) {
    if (query_.by == UsageBy::day) return a.key > b.key;
    if (a.cost_usd != b.cost_usd) return a.cost_usd > b.cost_usd;
    const int64_t tokens_a = all_tokens(a.tokens), tokens_b = all_tokens(b.tokens);
    return tokens_a != tokens_b ? tokens_a > tokens_b : a.key < b.key;
  });
  out.more = std::ssize(out.groups) > query_.limit;
  if (out.more) out.groups.resize(static_cast<size_t>(query_.limit));
  out.total = total_;
  return out;
}

}  // namespace errand

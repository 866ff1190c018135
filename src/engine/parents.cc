#include "engine/parents.h"

#include <utility>

namespace errand {
namespace {
constexpr size_t known_max = 10'000;
constexpr size_t ended_max = 10'000;
}  // namespace

void Parents::remember(const SessionId& id) {
  if (known_.size() >= known_max) known_.clear();
  known_.insert(id);
}

void Parents::finish_end(const SessionId& id) {
  if (const auto one = ending_.find(id); one != ending_.end()) ending_.erase(one);
}

void Parents::ended(const SessionId& id) {
  known_.erase(id);
  if (ended_.size() >= ended_max) ended_.clear();
  ended_.insert(id);
}

void Parents::born(const SessionId& id) {
  const auto births = births_.find(id);
  if (births == births_.end() || --births->second.under_way > 0) return;
  std::vector<Work> waiting = std::move(births->second.then);
  births_.erase(births);
  for (Work& then : waiting) then();
}

void Parents::when_born(const SessionId& id, Work then) {
  const auto births = births_.find(id);
  if (births == births_.end()) return then();
  births->second.then.push_back(std::move(then));
}

}  // namespace errand

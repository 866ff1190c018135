#include "engine/slots.h"

#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>

namespace errand {
namespace {
constexpr Millis head_start_per_priority = 60'000;
}

struct Slots::Lane {
  LaneKey key;
  // A tree that counts: a task's place in a line of 100,000 is found in a few steps.
  __gnu_pbds::tree<Rank, TaskId, std::less<>, __gnu_pbds::rb_tree_tag, __gnu_pbds::tree_order_statistics_node_update>
      line;
};

Slots::Slots(SlotLimits limits) : limits_(std::move(limits)) {}
Slots::~Slots() = default;

Slots::Lane& Slots::lane(const std::string& agent, const std::string& model) {
  std::unique_ptr<Lane>& lane = lanes_[{agent, model}];
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->key = {agent, model};
  }
  return *lane;
}

void Slots::enqueue(const QueuedTask& task) {
  if (places_.contains(task.id)) return;
  Lane& in = lane(task.agent_id, task.model);
  const Rank rank{task.queued_at.ms - task.priority * head_start_per_priority, ++arrivals_};
  in.line.insert({rank, task.id});
  places_.emplace(task.id, Place{&in, rank});
}

bool Slots::remove(const TaskId& id) {
  const auto place = places_.find(id);
  if (place == places_.end()) return false;
  Lane* const from = place->second.lane;
  from->line.erase(place->second.rank);
  places_.erase(place);
  if (from->line.empty()) {
    const LaneKey key = from->key;  // The lane's own key goes with it.
    lanes_.erase(key);
  }
  return true;
}

bool Slots::lane_has_room(const LaneKey& key) const {
  const auto full = [](const std::map<std::string, int>& limits, const std::map<std::string, int>& used,
                       const std::string& name) {
    const auto limit = limits.find(name);
    if (limit == limits.end()) return false;
    const auto count = used.find(name);
    return count != used.end() && count->second >= limit->second;
  };
  if (may_begin_ && !may_begin_(key.first, key.second)) return false;
  return !full(limits_.per_agent, by_agent_, key.first) && !full(limits_.per_model, by_model_, key.second);
}

bool Slots::has_room(const std::string& agent, const std::string& model) const {
  return running() < limits_.total && lane_has_room({agent, model});
}

const Slots::Lane* Slots::first_lane() const {
  if (running() >= limits_.total) return nullptr;
  const Lane* best = nullptr;
  for (const auto& [key, lane] : lanes_)
    if (lane_has_room(key) && (best == nullptr || lane->line.begin()->first < best->line.begin()->first))
      best = lane.get();
  return best;
}

std::optional<TaskId> Slots::first() const {
  const Lane* const best = first_lane();
  return best == nullptr ? std::nullopt : std::optional(best->line.begin()->second);
}

std::optional<TaskId> Slots::next() {
  const Lane* const best = first_lane();
  if (best == nullptr) return {};
  const TaskId id = best->line.begin()->second;
  const LaneKey key = best->key;
  remove(id);
  hold(id, key.first, key.second);
  return id;
}

void Slots::hold(const TaskId& id, const std::string& agent, const std::string& model) {
  if (!holders_.emplace(id, LaneKey{agent, model}).second) return;
  ++by_agent_[agent];
  ++by_model_[model];
}

void Slots::release(const TaskId& id) {
  const auto holder = holders_.find(id);
  if (holder == holders_.end()) return;
  const auto drop = [](std::map<std::string, int>& used, const std::string& name) {
    if (const auto it = used.find(name); it != used.end() && --it->second == 0) used.erase(it);
  };
  drop(by_agent_, holder->second.first);
  drop(by_model_, holder->second.second);
  holders_.erase(holder);
}

std::optional<int64_t> Slots::position(const TaskId& id) const {
  const auto place = places_.find(id);
  if (place == places_.end()) return {};
  int64_t before = 0;
  for (const auto& [key, lane] : lanes_) before += static_cast<int64_t>(lane->line.order_of_key(place->second.rank));
  return before + 1;
}

}  // namespace errand

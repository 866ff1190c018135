#include "engine/slots.h"

namespace errand {
namespace {
constexpr Millis head_start_per_priority = 60'000;
}

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

// `last`: the lane of the one before, since most are of the same.
void Slots::put(QueuedTask& task, Lane*& last) {
  const auto [place, is_new] = places_.try_emplace(std::move(task.id));
  if (!is_new) return;
  if (last == nullptr || last->key.first != task.agent_id || last->key.second != task.model)
    last = &lane(task.agent_id, task.model);
  place->second = {last, {task.queued_at.ms - task.priority * head_start_per_priority, ++arrivals_}};
  last->line.insert({place->second.rank, &place->first});
}

void Slots::enqueue(QueuedTask task) {
  Lane* none = nullptr;
  put(task, none);
}

void Slots::enqueue_all(std::vector<QueuedTask> tasks) {
  places_.reserve(places_.size() + tasks.size());
  Lane* last = nullptr;
  for (QueuedTask& task : tasks) put(task, last);
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
    if (lane_has_room(key) && (best == nullptr || lane->line.front().rank < best->line.front().rank)) best = lane.get();
  return best;
}

std::optional<TaskId> Slots::first() const {
  const Lane* const best = first_lane();
  return best == nullptr ? std::nullopt : std::optional(*best->line.front().id);
}

std::optional<TaskId> Slots::next() {
  const Lane* const best = first_lane();
  if (best == nullptr) return {};
  TaskId id = *best->line.front().id;
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

int64_t Slots::queued(const std::function<bool(const std::string&, const std::string&)>& which) const {
  int64_t count = 0;
  for (const auto& [key, lane] : lanes_)
    if (which(key.first, key.second)) count += lane->line.size();
  return count;
}

void Slots::each_holder(const std::function<void(const TaskId&, const std::string&)>& tell) const {
  for (const auto& [id, key] : holders_) tell(id, key.first);
}

std::optional<int64_t> Slots::position(const TaskId& id) const {
  const auto place = places_.find(id);
  if (place == places_.end()) return {};
  int64_t before = 0;
  for (const auto& [key, lane] : lanes_) before += lane->line.before(place->second.rank);
  return before + 1;
}

}  // namespace errand

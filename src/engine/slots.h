// Slots: who may work, and who is next (R1.7). Bookkeeping only; it knows no tasks. Engine thread only.
//
// The line is in the order of `rank`: the time of queueing, with a head start of a minute for each point of priority.
// That order never changes once a task is in line, so nothing starves: whatever came a minute (a point) later can no
// longer get in front. Tasks whose agent or model has no room are passed over without losing their place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/line.h"
#include "store/store.h"

namespace errand {

struct SlotLimits {
  int total = 3;
  std::map<std::string, int> per_agent;
  std::map<std::string, int> per_model;
};

class Slots {
 public:
  explicit Slots(SlotLimits limits);
  // Whose turns may begin at all: those of this agent and model.
  using Gate = std::function<bool(const std::string& agent, const std::string& model)>;
  void set_gate(Gate may_begin) { may_begin_ = std::move(may_begin); }
  void set_limits(SlotLimits limits) { limits_ = std::move(limits); }
  ~Slots();

  // In line; a task that is there already stays where it is.
  void enqueue(QueuedTask task);
  // As many at once, at the start.
  void enqueue_all(std::vector<QueuedTask> tasks);
  // Out of line. False: it was not in it.
  bool remove(const TaskId& id);
  // The first in line that has room.
  std::optional<TaskId> first() const;
  // The same; it leaves the line and holds a slot from now on.
  std::optional<TaskId> next();
  // Would this one get a slot now, before all that wait?
  bool has_room(const std::string& agent, const std::string& model) const;

  // Holds a slot, also over the limit (a task that goes on after it was answered, one that was authorised).
  void hold(const TaskId& id, const std::string& agent, const std::string& model);
  void release(const TaskId& id);
  bool holds(const TaskId& id) const { return holders_.contains(id); }

  // Its place in line, from 1.
  std::optional<int64_t> position(const TaskId& id) const;
  int64_t running() const { return static_cast<int64_t>(holders_.size()); }
  void each_holder(const std::function<void(const TaskId& id, const std::string& agent)>& tell) const;
  // How many of these are in line: those of the agents and models that `which` names.
  int64_t queued(const std::function<bool(const std::string& agent, const std::string& model)>& which) const;
  int64_t queued() const { return static_cast<int64_t>(places_.size()); }

 private:
  using LaneKey = std::pair<std::string, std::string>;
  struct Lane {  // The line of one agent and model. Its entries point to the keys of places_.
    LaneKey key;
    Line line;
  };
  // May throw, as far as the library knows: then it keeps the hash of each key, which a million long ones are worth.
  struct HashId {
    size_t operator()(const TaskId& id) const { return std::hash<TaskId>()(id); }
  };
  struct Place {
    Lane* lane = nullptr;
    Rank rank;
  };

  bool lane_has_room(const LaneKey& key) const;
  const Lane* first_lane() const;
  Lane& lane(const std::string& agent, const std::string& model);
  void put(QueuedTask& task, Lane*& last);

  SlotLimits limits_;
  Gate may_begin_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::unordered_map<TaskId, Place, HashId> places_;
  std::unordered_map<TaskId, LaneKey> holders_;
  std::map<std::string, int> by_agent_, by_model_;
  uint64_t arrivals_ = 0;
};

}  // namespace errand

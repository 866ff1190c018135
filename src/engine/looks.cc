#include "engine/looks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace errand {
namespace {

std::string key_of(const std::string& driver, const Launch& launch) {
  std::string key = driver;
  const auto add = [&key](std::string_view text) { key.append(1, '\0').append(text); };
  add(name(launch.sandbox));
  add(launch.work_dir);
  for (const std::string& folder : launch.add_dirs) add(folder);
  return key;
}

// The folder above: what hangs is a mount, and what is on it lies side by side.
std::string place_of(const std::string& folder) {
  const size_t last = folder.find_last_not_of('/');
  const size_t slash = last == folder.npos ? folder.npos : folder.rfind('/', last);
  return slash == folder.npos ? std::string() : folder.substr(0, slash);
}

Error unreachable(const std::string& about) {
  return {Code::unavailable,
          fmt::format("The {} does not answer: the disk or the network mount that it is on hangs. Name another, or "
                      "launch this again when it can be reached.",
                      about),
          "work_dir_unreachable"};
}

}  // namespace

Looks::Looks(Executor& threads, Executor& loop, Clock& clock, TimerQueue& timers, std::function<void()> wake)
    : threads_(threads), loop_(loop), clock_(clock), wake_(std::move(wake)), deadline_(timers) {}

void Looks::look(const std::string& driver, const Launch& launch, Driver::Look look, Then then) {
  std::string key = key_of(driver, launch);
  if (believed(key)) return then({});
  Waiter waiter{
      std::move(then), clock_.steady(),
      fmt::format("work_dir {}{}", launch.work_dir, launch.add_dirs.empty() ? "" : " (or a folder of add_dirs)")};
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    Entry& entry = entries_.at(known->second);
    (entry.runs ? entry.later : entry.waiters).push_back(std::move(waiter));
    return arm();
  }
  if (entries_.size() >= at_once_max)
    return loop_.post([here = std::weak_ptr(here_), waiter = std::move(waiter)]() mutable {
      if (!here.expired()) waiter.then(std::unexpected(unreachable(waiter.about)));
    });
  const uint64_t id = ++last_id_;
  by_key_.emplace(key, id);
  Entry& entry = entries_[id];
  entry = {.key = std::move(key), .place = place_of(launch.work_dir), .look = std::move(look)};
  entry.waiters.push_back(std::move(waiter));
  if (Place& place = places_[entry.place]; place.running < side_by_side_max)
    begin(id, entry);
  else
    place.waiting.push_back(id);
  arm();
}

bool Looks::believed(const std::string& key) {
  const auto good = good_.find(key);
  if (good == good_.end()) return false;
  if (clock_.steady() - good->second < believed_ms) return true;
  good_.erase(good);
  return false;
}

void Looks::begin(uint64_t id, Entry& entry) {
  ++places_[entry.place].running;
  entry.runs = true;
  entry.begun = clock_.steady();
  // What the thread has is its own: who waits may be long gone when it is back.
  threads_.post([this, id, &loop = loop_, here = std::weak_ptr(here_), look = entry.look] {
    Status found = look();
    loop.post([this, id, here, found = std::move(found)]() mutable {
      if (!here.expired()) done(id, std::move(found));
    });
  });
}

void Looks::done(uint64_t id, Status found) {
  const auto at = entries_.find(id);
  Entry entry = std::move(at->second);
  const std::string place = entry.place;
  std::vector<Waiter> answered = std::move(entry.waiters);
  if (found) {
    std::ranges::move(std::exchange(entry.later, {}), std::back_inserter(answered));
    if (good_.size() >= believed_max) good_.clear();
    good_[entry.key] = entry.begun;
  }
  if (entry.later.empty()) {
    by_key_.erase(entry.key);
    entries_.erase(at);
  } else {
    entry.waiters = std::exchange(entry.later, {});
    entry.runs = false;
    at->second = std::move(entry);
    places_[place].waiting.push_front(id);
  }
  leave(place);
  for (Waiter& waiter : answered) waiter.then(found);
}

// A thread is free again.
void Looks::leave(const std::string& name) {
  Place& place = places_.at(name);
  --place.running;
  while (!place.waiting.empty() && place.running < side_by_side_max) {
    const uint64_t next = place.waiting.front();
    place.waiting.pop_front();
    const auto at = entries_.find(next);
    if (at->second.waiters.empty()) {  // All of them were answered meanwhile.
      by_key_.erase(at->second.key);
      entries_.erase(at);
    } else {
      begin(next, at->second);
    }
  }
  if (place.running == 0) places_.erase(name);
}

// One timer for all: it stands at the earliest, or earlier.
void Looks::arm() {
  if (deadline_.pending()) return;
  deadline_.set(patience_ms, [this] { due(); });
  wake_();
}

void Looks::due() {
  const Time now = clock_.steady();
  std::vector<Waiter> late;
  Time next;
  for (auto& [id, entry] : entries_)
    for (std::vector<Waiter>* waiters : {&entry.waiters, &entry.later}) {
      // They stand in the order in which they asked.
      const auto in_time =
          std::ranges::find_if(*waiters, [&](const Waiter& waiter) { return now - waiter.asked < patience_ms; });
      std::move(waiters->begin(), in_time, std::back_inserter(late));
      waiters->erase(waiters->begin(), in_time);
      if (!waiters->empty() && (!next || waiters->front().asked < next)) next = waiters->front().asked;
    }
  if (next) {
    deadline_.set(next + patience_ms - now, [this] { due(); });
    wake_();
  }
  for (Waiter& waiter : late) waiter.then(std::unexpected(unreachable(waiter.about)));
}

void Looks::dismiss(const Error& why) {
  std::vector<Waiter> all;
  for (auto& [id, entry] : entries_)
    for (std::vector<Waiter>* waiters : {&entry.waiters, &entry.later})
      std::ranges::move(std::exchange(*waiters, {}), std::back_inserter(all));
  for (Waiter& waiter : all) waiter.then(std::unexpected(why));
}

}  // namespace errand

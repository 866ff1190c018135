#include "engine/line.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "engine/slots.h"

namespace errand {
namespace {

// Against a sorted map, with ranks that come mostly at the end, as they do, and sometimes anywhere.
TEST(Line, IsInOrderAndKnowsEveryPlaceWhateverComesAndGoes) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const TaskId id("task_x");
  Line line;
  std::map<Rank, int> model;
  uint64_t arrivals = 0;
  for (int step = 0; step < 40'000; ++step) {
    const bool grows = step < 20'000;
    const unsigned roll = random() % 10;
    if (grows ? roll < 8 : roll < 2) {
      const Rank rank{roll < 6 ? step : static_cast<int64_t>(random() % 20'000), ++arrivals};
      line.insert({rank, &id});
      model.emplace(rank, 0);
    } else if (!model.empty() && roll < 9) {
      line.erase(model.begin()->first);
      model.erase(model.begin());
    } else if (!model.empty()) {
      auto any = model.lower_bound(Rank{static_cast<int64_t>(random() % 20'000), 0});
      if (any == model.end()) any = model.begin();
      line.erase(any->first);
      line.erase(any->first);  // Nothing the second time.
      model.erase(any);
    }
    ASSERT_EQ(line.empty(), model.empty());
    if (model.empty()) continue;
    ASSERT_EQ(line.front().rank, model.begin()->first);
    if (step % 500 != 0) continue;
    int64_t place = 0;
    for (const auto& [rank, unused] : model) ASSERT_EQ(line.before(rank), place++);
  }
}

QueuedTask waiting(int number, std::string agent, int64_t at, int priority = 0) {
  QueuedTask task;
  task.id = TaskId("task_" + std::to_string(number));
  task.agent_id = std::move(agent);
  task.queued_at = Time{at};
  task.priority = priority;
  return task;
}

TEST(Slots, AllAtOnceIsTheSameAsOneByOne) {
  std::vector<QueuedTask> tasks;
  tasks.reserve(3'001);
  for (int i = 0; i < 3'000; ++i) tasks.push_back(waiting(i, i % 3 == 0 ? "a" : "b", (i * 7'919) % 100'000, i % 5));
  tasks.push_back(tasks[17]);  // Twice in the list, once in line.
  Slots one(SlotLimits{.total = 10'000}), all(SlotLimits{.total = 10'000});
  for (const QueuedTask& task : tasks) one.enqueue(task);
  all.enqueue_all(tasks);
  ASSERT_EQ(all.queued(), 3'000);
  for (const QueuedTask& task : tasks) ASSERT_EQ(all.position(task.id), one.position(task.id));
  while (const auto id = one.next()) ASSERT_EQ(all.next(), id);
  EXPECT_EQ(all.next(), std::nullopt);
}

}  // namespace
}  // namespace errand

#include "engine/recovery.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/log.h"

namespace errand {

struct Recovery::Found {
  std::vector<StoredLive> working;
  std::vector<QueuedTask> queued;
  std::vector<std::pair<BatchId, StoredBatch>> batches;
  Time next_expiry;
  std::vector<Commit::Setting> settings;
};

// Blocking.
Result<Recovery::Found> Recovery::read(Store& store) {
  Found found;
  std::unordered_set<BatchId> batches;
  Result<std::vector<Task>> working = store.working();
  if (!working) return std::unexpected(working.error());
  for (Task& task : *working) {
    Result<StoredLive> entry = read_live(store, std::move(task));
    if (!entry) return std::unexpected(entry.error());
    if (entry->task.launch.batch_id) batches.insert(entry->task.launch.batch_id);
    found.working.push_back(std::move(*entry));
  }
  Result<std::vector<QueuedTask>> queued = store.queued();
  if (!queued) return std::unexpected(queued.error());
  found.queued = std::move(*queued);
  for (const QueuedTask& task : found.queued)
    if (task.batch_id) batches.insert(task.batch_id);
  for (const BatchId& id : batches) {
    Result<StoredBatch> batch = read_batch(store, id);
    if (!batch) return std::unexpected(batch.error());
    found.batches.emplace_back(id, std::move(*batch));
  }
  Result<Time> next = store.next_expiry();
  if (!next) return std::unexpected(next.error());
  found.next_expiry = *next;
  for (const char* prefix : {"agents/", "granted/", "settings/"}) {
    Result<std::vector<Commit::Setting>> settings = store.settings(prefix);
    if (!settings) return std::unexpected(settings.error());
    std::ranges::move(*settings, std::back_inserter(found.settings));
  }
  return found;
}

void Recovery::recover(Reply<void> reply) {
  shared_.recovering = true;
  shared_.read(&Recovery::read, [this, reply = std::move(reply)](Result<Found> found) mutable {
    if (!found) return reply(std::unexpected(found.error()));
    take_up(std::move(*found));
    shared_.recovering = false;
    shared_.schedule();
    reply({});
  });
}

void Recovery::take_up(Found found) {
  rooms_.admin.use_stored(found.settings);
  for (auto& [id, batch] : found.batches) rooms_.batches.add(id, std::move(batch));
  const size_t in_line = found.queued.size();
  rooms_.slots.enqueue_all(std::move(found.queued));
  for (StoredLive& stored : found.working) {
    const LivePtr live = std::make_shared<Live>(stored.task.id);
    live->take(std::move(stored));
    rooms_.lives.add(live);
    rooms_.batches.take_up(*live->task);
    rooms_.starts.settle(*live);
    rooms_.quotas.settle(*live->task);
    const Driver* const driver = agents_.driver_of(*live->task);
    if (driver != nullptr && driver->capabilities().reattach) {
      rooms_.turns.take_up(live);
    } else {
      rooms_.lives.submit(
          live, {.input = input::Lost{live->task->run,
                                      "The server stopped while it ran, and its agent cannot continue. Retry starts "
                                      "it again."}});
    }
  }
  log_info("engine", "took up " + std::to_string(found.working.size()) + " tasks at work, " + std::to_string(in_line) +
                         " in line");
  rooms_.retention.start(found.next_expiry);
  end_orphans();
}

// R2.3: a process whose task is gone is ended, and what its runs left goes.
void Recovery::end_orphans() {
  // Of a store that is damaged nobody knows what is gone.
  if (shared_.store.health().state == StoreState::damaged) return;
  for (const auto& [name, driver] : agents_.drivers()) {
    driver->known_runs([this, driver, alive = shared_.alive()](std::vector<Driver::KnownRun> runs) {
      if (alive.expired() || runs.empty()) return;
      shared_.read(
          [runs = std::move(runs)](Store& store) {
            // Per run: 0 keep, 1 end, 2 forget the task.
            std::vector<std::pair<Driver::KnownRun, int>> verdicts;
            for (const Driver::KnownRun& run : runs) {
              const Result<Task> task = store.get(run.task);
              int verdict = 0;
              if (!task && task.error().code == Code::not_found)
                verdict = 2;
              else if (task && run.alive && (task->run != run.run || task->phase != TurnPhase::working))
                verdict = 1;
              if (verdict != 0) verdicts.emplace_back(run, verdict);
            }
            return verdicts;
          },
          [this, driver](std::vector<std::pair<Driver::KnownRun, int>> verdicts) {
            for (const auto& [run, verdict] : verdicts) {
              if (rooms_.lives.find(run.task)) continue;  // It was taken up, or is being made, meanwhile.
              log_warning("engine", "ending what is left of " + run.task.value + "." + std::to_string(run.run));
              if (verdict == 2)
                driver->forget(run.task);
              else
                driver->end_run(run.task, run.run);
            }
          });
    });
  }
}

}  // namespace errand

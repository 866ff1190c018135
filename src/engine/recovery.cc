// After a start: what was at work is taken up or settled, what waited waits again, what has no task is ended.
#include <algorithm>
#include <iterator>

#include "base/log.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {

constexpr int message_page = 50;
constexpr Millis forget_after_start_ms = 60'000;  // A start has better things to do.

}  // namespace

// The agent's message that is still open: its newest one, though users may have written behind it.
Result<std::optional<Message>> open_message(Store& store, const SessionId& session) {
  for (int64_t before = INT64_MAX;;) {
    Result<MessagePage> page = store.messages(session, 0, before, message_page);
    if (!page) return std::unexpected(page.error());
    for (auto message = page->messages.rbegin(); message != page->messages.rend(); ++message) {
      if (message->role != Role::assistant) continue;
      if (message->completed_at) return std::nullopt;
      return std::move(*message);
    }
    if (!page->more || page->messages.empty()) return std::nullopt;
    before = page->messages.front().seq;
  }
}

struct EngineImpl::Recovered {
  struct Working {
    Task task;
    int64_t last_message = 0;
    std::optional<Message> open;
    std::vector<Message> messages;
  };
  std::vector<Working> working;
  std::vector<QueuedTask> queued;
  std::vector<std::pair<BatchId, StoredBatch>> batches;
  Time next_expiry;
  std::vector<Commit::Setting> settings;
};

void EngineImpl::recover(Reply<void> reply) {
  recovering_ = true;
  recovered_ = std::move(reply);
  feeds_.start_at(parts_.store.last_pos());
  read(
      [](Store& store) -> Result<Recovered> {
        Recovered recovered;
        std::unordered_set<BatchId> batches;
        Result<std::vector<Task>> working = store.working();
        if (!working) return std::unexpected(working.error());
        for (Task& task : *working) {
          Recovered::Working entry{.task = std::move(task)};
          Result<Session> session = store.session(entry.task.session_id);
          if (!session) return std::unexpected(session.error());
          entry.last_message = session->last_message;
          Result<std::optional<Message>> open = open_message(store, entry.task.session_id);
          if (!open) return std::unexpected(open.error());
          entry.open = std::move(*open);
          for (const WaitingMessage& waiting : entry.task.waiting) {
            Result<Message> message = store.message(waiting.id);
            if (!message) return std::unexpected(message.error());
            entry.messages.push_back(std::move(*message));
          }
          if (entry.task.launch.batch_id) batches.insert(entry.task.launch.batch_id);
          recovered.working.push_back(std::move(entry));
        }
        Result<std::vector<QueuedTask>> queued = store.queued();
        if (!queued) return std::unexpected(queued.error());
        recovered.queued = std::move(*queued);
        for (const QueuedTask& task : recovered.queued)
          if (task.batch_id) batches.insert(task.batch_id);
        for (const BatchId& id : batches) {
          Result<StoredBatch> batch = read_batch(store, id);
          if (!batch) return std::unexpected(batch.error());
          recovered.batches.emplace_back(id, std::move(*batch));
        }
        Result<Time> next = store.next_expiry();
        if (!next) return std::unexpected(next.error());
        recovered.next_expiry = *next;
        for (const char* prefix : {"agents/", "settings/"}) {
          Result<std::vector<Commit::Setting>> settings = store.settings(prefix);
          if (!settings) return std::unexpected(settings.error());
          std::ranges::move(*settings, std::back_inserter(recovered.settings));
        }
        return recovered;
      },
      [this](Result<Recovered> recovered) {
        if (!recovered) return std::exchange(recovered_, nullptr)(std::unexpected(recovered.error()));
        take_up(std::move(*recovered));
      });
}

void EngineImpl::take_up(Recovered recovered) {
  use_stored(recovered.settings);
  for (auto& [id, batch] : recovered.batches) batches_.add(id, std::move(batch));
  const size_t in_line = recovered.queued.size();
  slots_.enqueue_all(std::move(recovered.queued));
  for (Recovered::Working& entry : recovered.working) {
    assert_task(entry.task);
    const LivePtr live = std::make_shared<Live>(entry.task.id);
    live->recorder.start(entry.last_message, std::move(entry.open));
    for (Message& message : entry.messages) live->messages.insert_or_assign(message.id, std::move(message));
    live->task = std::make_shared<const Task>(std::move(entry.task));
    lives_.emplace(live->id, live);
    batches_.take_up(*live->task);
    settle_slot(*live);
    quotas_.settle(*live->task);
    const Driver* const driver = driver_of(*live->task);
    if (driver != nullptr && driver->capabilities().reattach) {
      take_up_turn(live);
    } else {
      submit(live, {.input = input::Lost{live->task->run,
                                         "The server was ended while it ran, and its agent cannot take up the work "
                                         "again; retry starts it anew."}});
    }
  }
  log_info("engine", "took up " + std::to_string(recovered.working.size()) + " tasks at work, " +
                         std::to_string(in_line) + " in line");
  next_expiry_ = recovered.next_expiry;
  wall_ahead_ = wall().ms - steady().ms;
  arm_retention();
  arm_forgetting(forget_after_start_ms);
  end_orphans();
  recovering_ = false;
  schedule();
  std::exchange(recovered_, nullptr)({});
}

// R2.3: a process whose task is gone is ended, and what its runs left goes.
void EngineImpl::end_orphans() {
  // Of a store that is damaged nobody knows what is gone.
  if (parts_.store.health().state == StoreState::damaged) return;
  for (const auto& [name, driver] : parts_.drivers) {
    driver->known_runs([this, driver, alive = std::weak_ptr(alive_)](std::vector<Driver::KnownRun> runs) {
      if (alive.expired() || runs.empty()) return;
      read(
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
              if (lives_.contains(run.task)) continue;  // It was taken up, or is being made, meanwhile.
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

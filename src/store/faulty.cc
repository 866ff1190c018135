#include "store/faulty.h"

#include <deque>

#include "base/mutex.h"

namespace errand {
namespace {

// The groups whose answers are owed, in order: the answer of a group that failed at once waits for those before it.
class Line {
 public:
  using Results = std::vector<Result<Committed>>;

  struct Slot {
    Store::Answer answer;
    std::optional<Results> results;
    bool silent = false;
  };

  std::shared_ptr<Slot> add(Store::Answer answer) {
    const Lock lock(mutex_);
    return slots_.emplace_back(std::make_shared<Slot>(std::move(answer)));
  }

  // On the executor.
  void settle(const std::shared_ptr<Slot>& slot, Results results) {
    std::vector<std::shared_ptr<Slot>> ready;
    {
      const Lock lock(mutex_);
      slot->results = std::move(results);
      while (!slots_.empty() && slots_.front()->results) {
        ready.push_back(std::move(slots_.front()));
        slots_.pop_front();
      }
    }
    for (const auto& each : ready)
      if (!each->silent) each->answer(std::move(*each->results));
  }

 private:
  Mutex mutex_;
  std::deque<std::shared_ptr<Slot>> slots_ GUARDED_BY(mutex_);
};

class FaultyStore final : public Store {
 public:
  FaultyStore(std::unique_ptr<Store> inner, Executor& answers, Faults faults)
      : inner_(std::move(inner)), answers_(answers), faults_(std::move(faults)) {}

  void commit(Group group, Answer answer) override {
    const Fault fault = faults_.commit ? faults_.commit(*group) : Fault::none;
    const std::shared_ptr<Line::Slot> slot = line_->add(std::move(answer));
    slot->silent = fault == Fault::lost || fault == Fault::unanswered;
    const size_t size = group->size();
    if (fault == Fault::full || fault == Fault::broken || fault == Fault::lost) {
      answers_.post([line = line_, slot, size, fault] { line->settle(slot, failed(size, fault)); });
      return;
    }
    inner_->commit(std::move(group), [line = line_, slot, size, fault](Line::Results results) {
      line->settle(slot, fault == Fault::stored_but_failed ? failed(size, fault) : std::move(results));
    });
  }

  Result<Task> get(const TaskId& id) override {
    return read([&] { return inner_->get(id); });
  }
  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override {
    return read([&] { return inner_->list(filter, page); });
  }
  Result<int64_t> count(const TaskFilter& filter) override {
    return read([&] { return inner_->count(filter); });
  }
  StateCounts counts() override { return inner_->counts(); }
  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    return read([&] { return inner_->find_prefix(prefix, limit); });
  }
  Result<std::vector<Task>> working() override {
    return read([&] { return inner_->working(); });
  }
  Result<std::vector<QueuedTask>> queued() override {
    return read([&] { return inner_->queued(); });
  }
  Result<std::vector<TaskId>> expired(Time now, int limit) override {
    return read([&] { return inner_->expired(now, limit); });
  }
  Result<Time> next_expiry() override {
    return read([&] { return inner_->next_expiry(); });
  }
  Result<BatchCounts> batch_counts(const BatchId& id) override {
    return read([&] { return inner_->batch_counts(id); });
  }
  Result<BatchPage> batches(const std::string& cursor, int limit) override {
    return read([&] { return inner_->batches(cursor, limit); });
  }
  Result<UsageReport> usage(const UsageQuery& query) override {
    return read([&] { return inner_->usage(query); });
  }
  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    return read([&] { return inner_->tasks_of_parent(parent); });
  }
  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    return read([&] { return inner_->events_after(id, seq, limit); });
  }
  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    return read([&] { return inner_->changes_after(pos, limit); });
  }
  int64_t last_pos() override { return inner_->last_pos(); }
  Result<Session> session(const SessionId& id) override {
    return read([&] { return inner_->session(id); });
  }
  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    return read([&] { return inner_->messages(id, after, before, limit); });
  }
  Result<Message> message(const MessageId& id) override {
    return read([&] { return inner_->message(id); });
  }
  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    return read([&] { return inner_->notices(id, after, limit); });
  }
  Result<Notice> notice(const NoticeId& id) override {
    return read([&] { return inner_->notice(id); });
  }
  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override {
    return read([&] { return inner_->notices_of_task(id); });
  }
  Result<std::optional<Commit::Key>> find_key(const std::string& key) override {
    return read([&] { return inner_->find_key(key); });
  }
  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override {
    return read([&] { return inner_->settings(prefix); });
  }
  StoreHealth health() override { return inner_->health(); }
  std::string describe() override { return inner_->describe() + ", failing on purpose"; }

 private:
  static Line::Results failed(size_t size, Fault fault) {
    const Error error = fault == Fault::full
                            ? Error{Code::storage_full, "The disk is full: free some space and try again.", {}}
                            : Error{Code::internal, "The store failed: nothing was stored.", "io"};
    return Line::Results(size, std::unexpected(error));
  }

  template <class F>
  auto read(F call) -> decltype(call()) {
    if (faults_.read)
      if (const std::optional<Error> error = faults_.read()) return std::unexpected(*error);
    return call();
  }

  std::unique_ptr<Store> inner_;
  Executor& answers_;
  Faults faults_;
  std::shared_ptr<Line> line_ = std::make_shared<Line>();
};

}  // namespace

Faults random_faults(SeededRandom& random, uint64_t one_in) {
  Faults faults;
  faults.commit = [&random, one_in](const std::vector<Commit>&) {
    if (!random.one_in(one_in)) return Fault::none;
    return random.one_in(2) ? Fault::full : Fault::broken;
  };
  return faults;
}

std::unique_ptr<Store> make_faulty(std::unique_ptr<Store> inner, Executor& answers, Faults faults) {
  return std::make_unique<FaultyStore>(std::move(inner), answers, std::move(faults));
}

}  // namespace errand

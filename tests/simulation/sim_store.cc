#include "tests/simulation/sim_store.h"

#include <utility>

namespace errand::sim {
namespace {

class SimStore final : public Store {
 public:
  explicit SimStore(SimStoreParts parts)
      : inner_(std::move(parts.inner)), loop_(parts.loop), planted_(parts.planted), verdict_(parts.verdict) {}

  void commit(Group group, Answer answer) override {
    std::vector<Commit> kept = *group;
    const std::optional<size_t> lie = take_out(kept);
    inner_->commit(std::move(kept), [this, lie, answer = std::move(answer)](Results results) mutable {
      for (const Result<Committed>& result : results) check(result);
      if (lie) results.insert(results.begin() + static_cast<ptrdiff_t>(*lie), Committed{.first_pos = 1});
      loop_.post([answer = std::move(answer), results = std::move(results)]() mutable { answer(std::move(results)); });
    });
  }

  Result<Task> get(const TaskId& id) override { return inner_->get(id); }
  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override { return inner_->list(filter, page); }
  Result<int64_t> count(const TaskFilter& filter) override { return inner_->count(filter); }
  StateCounts counts() override { return inner_->counts(); }
  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    return inner_->find_prefix(prefix, limit);
  }
  Result<std::vector<Task>> working() override { return inner_->working(); }
  Result<std::vector<QueuedTask>> queued() override { return inner_->queued(); }
  Result<std::vector<TaskId>> expired(Time now, int limit) override { return inner_->expired(now, limit); }
  Result<Time> next_expiry() override { return inner_->next_expiry(); }
  Result<BatchCounts> batch_counts(const BatchId& id) override { return inner_->batch_counts(id); }
  Result<BatchPage> batches(const std::string& cursor, int limit) override { return inner_->batches(cursor, limit); }
  Result<UsageReport> usage(const UsageQuery& query) override { return inner_->usage(query); }
  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    return inner_->tasks_of_parent(parent);
  }
  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    return inner_->events_after(id, seq, limit);
  }
  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    return inner_->changes_after(pos, limit);
  }
  int64_t last_pos() override { return inner_->last_pos(); }
  Result<Session> session(const SessionId& id) override { return inner_->session(id); }
  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    return inner_->messages(id, after, before, limit);
  }
  Result<Message> message(const MessageId& id) override { return inner_->message(id); }
  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    return inner_->notices(id, after, limit);
  }
  Result<Notice> notice(const NoticeId& id) override { return inner_->notice(id); }
  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override { return inner_->notices_of_task(id); }
  Result<std::optional<Commit::Key>> find_key(const std::string& key) override { return inner_->find_key(key); }
  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override { return inner_->settings(prefix); }
  StoreHealth health() override { return inner_->health(); }
  std::string describe() override { return inner_->describe(); }

 private:
  using Results = std::vector<Result<Committed>>;

  void check(const Result<Committed>& result) {
    if (result || (result.error().code != Code::conflict && result.error().code != Code::invalid_argument)) return;
    verdict_.broken("the store was given what does not fit: " + result.error().message);
  }

  // The place of the commit that is to be lost; it is taken out of the group.
  std::optional<size_t> take_out(std::vector<Commit>& group) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i].task_id.empty() || !planted_.loses_this_commit()) continue;
      group.erase(group.begin() + static_cast<ptrdiff_t>(i));
      return i;
    }
    return std::nullopt;
  }

  std::unique_ptr<Store> inner_;
  StepQueue& loop_;
  Planted& planted_;
  Verdict& verdict_;
};

}  // namespace

std::unique_ptr<Store> make_sim_store(SimStoreParts parts) { return std::make_unique<SimStore>(std::move(parts)); }

}  // namespace errand::sim

#include "store/memory/memory_store.h"

#include <algorithm>
#include <map>
#include <set>

#include "store/cursor.h"
#include "store/memory/memory_disk.h"
#include "store/search_text.h"
#include "store/usage_tally.h"

namespace errand {
namespace {

class MemoryStore final : public Store {
 public:
  MemoryStore(std::shared_ptr<MemoryDisk> disk, Executor& answers) : disk_(std::move(disk)), answers_(answers) {}

  void commit(Group group, Answer answer) override {
    answers_.post([disk = disk_, group = std::move(group), answer = std::move(answer)]() mutable {
      std::vector<Result<Committed>> results;
      for (const Commit& commit : *group) results.push_back(store(*disk, commit));
      answer(std::move(results));
    });
  }

  Result<Task> get(const TaskId& id) override {
    const Lock lock(disk_->mutex);
    const auto* row = disk_->find(id);
    if (!row) return std::unexpected(disk_->unknown(id));
    return row->task;
  }

  Result<TaskPage> list(const TaskFilter& filter, const Page& page) override {
    if (const Status ok = check_page(page); !ok) return std::unexpected(ok.error());
    const Result<std::vector<std::string>> terms = query_terms(filter.query);
    if (!terms) return std::unexpected(terms.error());
    Place last;
    if (!page.cursor.empty()) {
      const Result<Place> place = read_cursor(page.cursor, filter, page.sort);
      if (!place) return std::unexpected(place.error());
      last = *place;
    }
    const Lock lock(disk_->mutex);
    std::vector<std::pair<Place, const Task*>> found;
    for (const auto& [number, row] : disk_->tasks) {
      if (!passes(row.task, filter, *terms)) continue;
      Place place{.number = number};
      if (page.sort == Sort::updated) place.updated = row.task.updated_at;
      if (page.sort == Sort::attention) place.band = static_cast<int>(band_of(row.task));
      found.push_back({place, &row.task});
    }
    const auto earlier = [&](const Place& a, const Place& b) { return comes_after(b, a, page.sort); };
    std::ranges::sort(found, [&](const auto& a, const auto& b) { return earlier(a.first, b.first); });
    if (filter.fold) {
      std::set<BatchId> seen;
      std::erase_if(found, [&](const auto& entry) {
        const BatchId& batch = entry.second->launch.batch_id;
        return !batch.empty() && !seen.insert(batch).second;
      });
    }
    auto from = found.begin();
    if (!page.cursor.empty())
      from = std::ranges::find_if(found, [&](const auto& entry) { return earlier(last, entry.first); });
    from += std::min<int64_t>(page.offset, found.end() - from);

    TaskPage out;
    for (; from != found.end(); ++from) {
      if (std::ssize(out.tasks) == page.limit) {
        out.next_cursor = make_cursor(filter, page.sort, std::prev(from)->first);
        break;
      }
      out.tasks.push_back(*from->second);
    }
    return out;
  }

  Result<int64_t> count(const TaskFilter& filter) override {
    const Result<std::vector<std::string>> terms = query_terms(filter.query);
    if (!terms) return std::unexpected(terms.error());
    const Lock lock(disk_->mutex);
    std::set<BatchId> seen;
    return std::ranges::count_if(disk_->tasks, [&](const auto& entry) {
      const Task& task = entry.second.task;
      if (!passes(task, filter, *terms)) return false;
      return !filter.fold || task.launch.batch_id.empty() || seen.insert(task.launch.batch_id).second;
    });
  }

  StateCounts counts() override {
    const Lock lock(disk_->mutex);
    StateCounts out;
    for (const auto& [number, row] : disk_->tasks) ++out.by_state[static_cast<int>(row.task.state)];
    return out;
  }

  Result<std::vector<TaskId>> find_prefix(const std::string& prefix, int limit) override {
    const Lock lock(disk_->mutex);
    std::set<TaskId> out;
    for (const auto& [id, number] : disk_->numbers)
      if (id.value.starts_with(prefix)) out.insert(id);
    while (std::ssize(out) > limit) out.erase(std::prev(out.end()));
    return std::vector<TaskId>(out.begin(), out.end());
  }

  Result<std::vector<Task>> working() override {
    const Lock lock(disk_->mutex);
    std::vector<Task> out;
    for (const auto& [number, row] : disk_->tasks)
      if (row.task.phase == TurnPhase::working) out.push_back(row.task);
    return out;
  }

  Result<std::vector<QueuedTask>> queued() override {
    const Lock lock(disk_->mutex);
    std::vector<QueuedTask> out;
    for (const auto& [number, row] : disk_->tasks)
      if (row.task.phase == TurnPhase::queued) out.push_back(queued_task(row.task));
    return out;
  }

  Result<std::vector<TaskId>> expired(Time now, int limit) override {
    const Lock lock(disk_->mutex);
    std::vector<TaskId> out;
    for (const auto& [when, task] : mortal()) {
      if (task->expires_at > now || std::ssize(out) == limit) break;
      out.push_back(task->id);
    }
    return out;
  }

  Result<Time> next_expiry() override {
    const Lock lock(disk_->mutex);
    const auto tasks = mortal();
    return tasks.empty() ? Time{} : tasks.begin()->first.first;
  }

  Result<BatchCounts> batch_counts(const BatchId& id) override {
    const Lock lock(disk_->mutex);
    BatchCounts out;
    if (id.empty()) return out;
    for (const auto& [number, row] : disk_->tasks)
      if (row.task.launch.batch_id == id) ++out.by_state[static_cast<int>(row.task.state)];
    return out;
  }

  Result<BatchPage> batches(const std::string& cursor, int limit) override {
    if (const Status ok = check_page({.limit = limit}); !ok) return std::unexpected(ok.error());
    const Lock lock(disk_->mutex);
    std::map<BatchId, BatchInfo, std::greater<>> all;
    for (const auto& [number, row] : disk_->tasks) {
      const Task& task = row.task;
      if (task.launch.batch_id.empty()) continue;
      const auto [entry, first] = all.try_emplace(task.launch.batch_id);
      BatchInfo& info = entry->second;
      if (first) info = {.id = task.launch.batch_id, .counts = {}, .title = task.title, .created_at = task.created_at};
      ++info.counts.by_state[static_cast<int>(task.state)];
    }
    BatchPage out;
    for (auto at = cursor.empty() ? all.begin() : all.upper_bound(BatchId(cursor)); at != all.end(); ++at) {
      if (std::ssize(out.batches) == limit) {
        out.next_cursor = out.batches.back().id.value;
        break;
      }
      out.batches.push_back(std::move(at->second));
    }
    return out;
  }

  Result<UsageReport> usage(const UsageQuery& query) override {
    const Lock lock(disk_->mutex);
    UsageTally tally(query);
    for (const UsageRow& row : disk_->usage)
      if (row.at >= query.from && (!query.to || row.at < query.to)) tally.add(row);
    return std::move(tally).report();
  }

  Result<std::vector<TaskId>> tasks_of_parent(const SessionId& parent) override {
    const Lock lock(disk_->mutex);
    std::vector<TaskId> out;
    if (parent.empty()) return out;
    for (const auto& [number, row] : disk_->tasks)
      if (row.task.launch.parent_session_id == parent) out.push_back(row.task.id);
    return out;
  }

  Result<std::vector<Event>> events_after(const TaskId& id, int64_t seq, int limit) override {
    const Lock lock(disk_->mutex);
    const auto* row = disk_->find(id);
    if (!row) return std::unexpected(disk_->unknown(id));
    std::vector<Event> out;
    for (size_t i = static_cast<size_t>(std::max<int64_t>(seq, 0)); i < row->events.size() && std::ssize(out) < limit;
         ++i)
      out.push_back(row->events[i]);
    return out;
  }

  Result<std::vector<Change>> changes_after(int64_t pos, int limit) override {
    const Lock lock(disk_->mutex);
    if (pos > disk_->last_pos || (pos > 0 && pos < disk_->forgotten_pos)) return std::unexpected(history_gone());
    std::vector<Change> out;
    for (auto at = disk_->order.upper_bound(pos); at != disk_->order.end() && std::ssize(out) < limit; ++at) {
      const auto& [id, seq] = at->second;
      Change& change = out.emplace_back();
      change.pos = at->first;
      if (seq == 0)
        change.gone = disk_->tombstones.at(id);
      else
        change.event = disk_->find(id)->events[static_cast<size_t>(seq - 1)];
    }
    return out;
  }

  int64_t last_pos() override {
    const Lock lock(disk_->mutex);
    return disk_->last_pos;
  }

  Result<Session> session(const SessionId& id) override {
    const Lock lock(disk_->mutex);
    const auto row = disk_->sessions.find(id);
    if (row == disk_->sessions.end()) return std::unexpected(unknown_session(id));
    return row->second.session;
  }

  Result<MessagePage> messages(const SessionId& id, int64_t after, int64_t before, int limit) override {
    const Lock lock(disk_->mutex);
    const auto row = disk_->sessions.find(id);
    if (row == disk_->sessions.end()) return std::unexpected(unknown_session(id));
    MessagePage out;
    const std::vector<MessageId>& all = row->second.messages;
    const auto size = std::ssize(all);
    // [first, last) of `all`, which is numbered from 1.
    int64_t first = std::clamp<int64_t>(after, 0, size);
    int64_t last = before > 0 ? std::clamp<int64_t>(before - 1, first, size) : size;
    out.more = last - first > limit;
    if (out.more) (before > 0 && after == 0 ? first = last - limit : last = first + limit);
    for (int64_t i = first; i < last; ++i)
      out.messages.push_back(disk_->shown(disk_->messages.at(all[static_cast<size_t>(i)])));
    const auto* task = disk_->find(row->second.session.task_id);
    if (task) out.task_seq = task->task.last_seq;
    return out;
  }

  Result<Message> message(const MessageId& id) override {
    const Lock lock(disk_->mutex);
    const auto row = disk_->messages.find(id);
    if (row == disk_->messages.end()) return std::unexpected(unknown_message(id));
    return disk_->shown(row->second);
  }

  Result<std::vector<Notice>> notices(const SessionId& id, int64_t after, int limit) override {
    const Lock lock(disk_->mutex);
    std::vector<Notice> out;
    for (const auto& [key, notice] : disk_->notices)
      if (!id.empty() && notice.session_id == id && !notice.taken_at && notice.seq > after) out.push_back(notice);
    std::ranges::sort(out, {}, &Notice::seq);
    if (std::ssize(out) > limit) out.resize(static_cast<size_t>(limit));
    return out;
  }

  Result<Notice> notice(const NoticeId& id) override {
    const Lock lock(disk_->mutex);
    const auto row = disk_->notices.find(id);
    if (row == disk_->notices.end()) return std::unexpected(unknown_notice(id));
    return row->second;
  }

  Result<std::vector<Notice>> notices_of_task(const TaskId& id) override {
    const Lock lock(disk_->mutex);
    std::vector<Notice> out;
    for (const auto& [key, notice] : disk_->notices)
      if (notice.task_id == id) out.push_back(notice);
    return out;
  }

  Result<std::optional<Commit::Key>> find_key(const std::string& key) override {
    const Lock lock(disk_->mutex);
    const auto row = disk_->keys.find(key);
    if (row == disk_->keys.end()) return std::optional<Commit::Key>();
    return std::optional(row->second);
  }

  Result<std::vector<Commit::Setting>> settings(const std::string& prefix) override {
    const Lock lock(disk_->mutex);
    std::vector<Commit::Setting> out;
    for (const auto& [key, json] : disk_->settings)
      if (key.starts_with(prefix)) out.push_back({key, json});
    return out;
  }

  StoreHealth health() override { return {}; }
  std::string describe() override { return "memory"; }

 private:
  static Result<Committed> store(MemoryDisk& disk, const Commit& commit) {
    for (const auto& file : commit.sync_first)
      if (const Status synced = file->sync(); !synced) return std::unexpected(synced.error());
    const Lock lock(disk.mutex);
    return disk.apply(commit);
  }

  // Tasks at rest that may go by themselves, soonest first.
  std::map<std::pair<Time, int64_t>, const Task*> mortal() REQUIRES(disk_->mutex) {
    std::set<TaskId> owing;
    for (const auto& [id, notice] : disk_->notices)
      if (!notice.taken_at && !notice.session_id.empty()) owing.insert(notice.task_id);
    std::map<std::pair<Time, int64_t>, const Task*> out;
    for (const auto& [number, row] : disk_->tasks)
      if (row.task.expires_at && !at_work(row.task.state) && !owing.contains(row.task.id))
        out.emplace(std::pair(row.task.expires_at, number), &row.task);
    return out;
  }

  std::shared_ptr<MemoryDisk> disk_;
  Executor& answers_;
};

}  // namespace

std::shared_ptr<MemoryDisk> make_memory_disk() { return std::make_shared<MemoryDisk>(); }

std::unique_ptr<Store> open_memory_store(std::shared_ptr<MemoryDisk> disk, Executor& answers) {
  return std::make_unique<MemoryStore>(std::move(disk), answers);
}

}  // namespace errand

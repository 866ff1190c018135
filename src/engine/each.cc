#include "engine/each.h"

#include <utility>

#include "engine/batches.h"

namespace errand {
namespace {

constexpr int at_once = 200;

// All that the filter finds. Blocking.
Result<std::vector<TaskId>> find_all(Store& store, const TaskFilter& filter) {
  std::vector<TaskId> ids;
  Page page{.limit = at_once};
  for (;;) {
    Result<TaskPage> found = store.list(filter, page);
    if (!found) return std::unexpected(found.error());
    for (Task& task : found->tasks) ids.push_back(std::move(task.id));
    if (found->next_cursor.empty()) break;
    page.cursor = found->next_cursor;
  }
  if (!ids.empty() || filter.batch_id.empty()) return ids;
  // None was left to act on; or the id is wrong, and that must not look like done.
  const Result<BatchCounts> known = store.batch_counts(filter.batch_id);
  if (!known) return std::unexpected(known.error());
  if (known->total() == 0) return no_batch(filter.batch_id);
  return ids;
}

}  // namespace

void Each::act(std::vector<TaskId> ids, Act act, std::move_only_function<void(int64_t)> done) {
  if (ids.empty()) return done(0);
  const auto row = std::make_shared<Row>(std::move(ids), std::move(act), std::move(done));
  for (int i = 0; i < at_once; ++i) act_on_next(row);
}

void Each::act_on_next(const std::shared_ptr<Row>& row) {
  if (row->next == row->ids.size()) return;
  const TaskId& id = row->ids[row->next++];
  row->act(id, [this, row](bool ok) {
    if (ok) ++row->acted;
    if (++row->ended == row->ids.size()) return row->done(row->acted);
    // Not inside: where each is answered at once, that would go as deep as the list is long.
    shared_.later([this, row] { act_on_next(row); });
  });
}

void Each::act_on(TaskFilter filter, Act act, Reply<int64_t> reply) {
  shared_.read([filter = std::move(filter)](Store& store) { return find_all(store, filter); },
               [this, act = std::move(act), reply = std::move(reply)](Result<std::vector<TaskId>> ids) mutable {
                 if (!ids) return reply(std::unexpected(ids.error()));
                 this->act(std::move(*ids), std::move(act),
                           [reply = std::move(reply)](int64_t acted) mutable { reply(acted); });
               });
}

}  // namespace errand

#include "engine/batches.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand {
namespace {

constexpr size_t batches_kept = 10'000;

BatchFailure failure_of(const Task& task) {
  const TaskError error = task.error.value_or(TaskError{});
  return {.title = std::string(first_characters(task.title, 80)),
          .code = error.code,
          .message = std::string(first_characters(first_line(error.message), 200))};
}

void count_move(BatchCounts& counts, const BatchPlace& from, const BatchPlace& to) {
  if (from.state) --counts.by_state[std::to_underlying(*from.state)];
  if (to.state) ++counts.by_state[std::to_underlying(*to.state)];
}

int begins(const BatchPlace& from, const BatchPlace& to) { return !from.works() && to.works() ? 1 : 0; }

}  // namespace

std::unexpected<Error> no_batch(const BatchId& id) {
  return fail(
      Code::not_found,
      fmt::format("No batch has the id \"{}\", or all its tasks were removed. The `batch_id` of a task names its "
                  "batch.",
                  id.value),
      "unknown_batch");
}

Result<StoredBatch> read_batch(Store& store, const BatchId& id) {
  const Result<BatchCounts> counts = store.batch_counts(id);
  if (!counts) return std::unexpected(counts.error());
  StoredBatch batch{.counts = *counts, .failures = {}};
  if (counts->by_state[std::to_underlying(TaskState::failed)] == 0) return batch;
  const Result<TaskPage> failed = store.list({.states = {TaskState::failed}, .batch_id = id},
                                             {.limit = static_cast<int>(batch_failures_max), .sort = Sort::oldest});
  if (!failed) return std::unexpected(failed.error());
  for (const Task& task : failed->tasks) batch.failures.emplace(task.id, failure_of(task));
  return batch;
}

Batches::Batch* Batches::find(const BatchId& id) {
  if (id.empty()) return nullptr;
  const auto batch = batches_.find(id);
  return batch == batches_.end() ? nullptr : &batch->second;
}

void Batches::count(Batch& batch, const BatchPlace& from, const BatchPlace& to) {
  count_move(batch.counts, from, to);
  batch.stopping += static_cast<int>(to.stops()) - static_cast<int>(from.stops());
}

void Batches::add(const BatchId& id, StoredBatch stored) {
  const auto [batch, added] = batches_.try_emplace(id);
  if (!added) return;
  batch->second.stored = batch->second.counts = stored.counts;
  batch->second.failures = std::move(stored.failures);
}

void Batches::take_up(const Task& task) {
  Batch* const batch = find(task.launch.batch_id);
  if (batch != nullptr && BatchPlace::of(task).stops()) ++batch->stopping;
}

void Batches::move(BatchMoves& moves, const BatchId& id, BatchPlace from, BatchPlace to) {
  Batch* const batch = find(id);
  if (batch == nullptr) return;
  count(*batch, from, to);
  batch->begins += begins(from, to);
  batch->comes_to_rest += begins(to, from);
  moves.push_back({id, from, to});
}

void Batches::note_failure(const Task& task) {
  Batch* const batch = find(task.launch.batch_id);
  if (batch == nullptr) return;
  if (task.state != TaskState::failed)
    batch->failures.erase(task.id);
  else if (batch->failures.size() < batch_failures_max)
    batch->failures.insert_or_assign(task.id, failure_of(task));
}

std::optional<bool> Batches::is_whole(const BatchId& id, const BatchMoves& own) const {
  const auto found = batches_.find(id);
  if (found == batches_.end()) return false;
  const Batch& batch = found->second;
  int others_begin = batch.begins, others_rest = batch.comes_to_rest;
  for (const BatchMove& move : own) {
    others_begin -= begins(move.from, move.to);
    others_rest -= begins(move.to, move.from);
  }
  const int64_t working = batch.counts.working() + batch.stopping;
  if (working - others_begin > 0) return false;
  if (working + others_rest == 0) return true;
  return std::nullopt;
}

Notice Batches::whole_notice(const Task& last, NoticeId id, Time now) const {
  const Batch& batch = batches_.at(last.launch.batch_id);
  Notice notice = batch_notice(last, batch.counts, std::move(id), now);
  std::string failures;
  JsonOut out(failures);
  out.array();
  for (const auto& [task, failure] : batch.failures) {
    notice.text +=
        fmt::format("\n- Failed: {} \"{}\" ({}): {}", task.value, failure.title, failure.code, failure.message);
    out.object().field("task_id", task).field("title", failure.title);
    out.field("code", failure.code).field("message", failure.message).end();
  }
  out.end();
  const int64_t more =
      batch.counts.by_state[std::to_underlying(TaskState::failed)] - static_cast<int64_t>(batch.failures.size());
  if (more > 0) notice.text += fmt::format("\n- Failed: {} more", more);
  notice.data.insert(notice.data.size() - 1, ",\"failures\":" + failures);
  return notice;
}

void Batches::undo(const BatchMoves& moves) {
  for (const BatchMove& move : moves)
    if (Batch* const batch = find(move.batch)) {
      count(*batch, move.to, move.from);
      batch->begins -= begins(move.from, move.to);
      batch->comes_to_rest -= begins(move.to, move.from);
    }
}

void Batches::hold(const Task& task) { batches_.at(task.launch.batch_id).held.push_back(task.id); }

std::vector<TaskId> Batches::settle(const BatchMoves& moves, bool stored) {
  std::vector<TaskId> waited;
  undo(moves);
  for (const BatchMove& move : moves)
    if (Batch* const batch = find(move.batch)) {
      if (stored) {
        count(*batch, move.from, move.to);
        count_move(batch->stored, move.from, move.to);
      }
      std::ranges::move(std::exchange(batch->held, {}), std::back_inserter(waited));
    }
  return waited;
}

std::optional<BatchCounts> Batches::stored(const BatchId& id) const {
  const auto batch = batches_.find(id);
  if (batch == batches_.end()) return std::nullopt;
  return batch->second.stored;
}

void Batches::let_go(const BatchId& id) {
  const auto known = batches_.find(id);
  if (known == batches_.end()) return;
  const Batch& batch = known->second;
  const bool moves = batch.stopping > 0 || batch.begins > 0 || batch.comes_to_rest > 0 || !batch.held.empty();
  if (moves) return;
  const bool empty = batch.stored.total() == 0 && batch.counts.total() == 0;
  const bool idle = batch.stored.working() == 0;
  if (empty || (idle && batches_.size() > batches_kept)) batches_.erase(known);
}

}  // namespace errand

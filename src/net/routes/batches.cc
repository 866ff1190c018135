// Batches: several tasks as one (R7.2).
#include <algorithm>

#include "api/query.h"
#include "api/replies.h"
#include "api/requests.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"

namespace errand::net {
namespace {

// Results that one reply has at most.
constexpr size_t results_max = 1000;

bool refused_body(const Call& call) {
  const Status status = api::parse_nothing(call.request().body);
  if (!status) call.refuse(status.error());
  return !status;
}

auto counted(std::string_view field) {
  return [field](int64_t count) { return api::count_reply(field, count); };
}

// The batch's tasks, oldest first, and whether there are more of them than that.
struct Members {
  std::vector<TaskId> ids;
  bool more = false;
};

Result<Members> read_members(Store& store, const BatchId& batch) {
  Members members;
  TaskFilter filter;
  filter.batch_id = batch;
  Page page{.limit = 500, .cursor = {}, .offset = 0, .sort = Sort::oldest};
  do {
    const Result<TaskPage> tasks = store.list(filter, page);
    if (!tasks) return std::unexpected(tasks.error());
    for (const Task& task : tasks->tasks) members.ids.push_back(task.id);
    page.cursor = tasks->next_cursor;
  } while (!page.cursor.empty() && members.ids.size() < results_max);
  members.more = !page.cursor.empty();
  return members;
}

// Gathers the results of a batch: each is read through the engine, so that the first reading is remembered.
class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  Gathering(Call call, BatchId batch, BatchCounts counts, Members members)
      : call_(std::move(call)), batch_(std::move(batch)), counts_(counts), members_(std::move(members)) {}

  void start(Tasks& tasks) {
    results_.resize(members_.ids.size());
    waiting_ = members_.ids.size();
    if (waiting_ == 0) return finish();
    const auto got = [self = shared_from_this()](size_t i, Result<ResultView> result) {
      // One that was removed meanwhile is not in the answer.
      if (result) self->results_[i].emplace(std::move(*result));
      if (--self->waiting_ == 0) self->finish();
    };
    for (size_t i = 0; i < members_.ids.size(); ++i) {
      if (call_.request().who.only_looks()) {
        tasks.get(members_.ids[i], [got, i](Result<TaskView> view) {
          got(i, view ? Result<ResultView>({std::move(*view), false}) : std::unexpected(view.error()));
        });
      } else {
        tasks.result(members_.ids[i], 0, [got, i](Result<ResultView> result) { got(i, std::move(result)); });
      }
    }
  }

 private:
  void finish() {
    std::vector<ResultView> found;
    for (std::optional<ResultView>& result : results_) {
      if (result) found.push_back(std::move(*result));
    }
    call_.answer(200, api::batch_results_reply(batch_, counts_, found, members_.more));
  }

  Call call_;
  BatchId batch_;
  BatchCounts counts_;
  Members members_;
  std::vector<std::optional<ResultView>> results_;
  size_t waiting_ = 0;
};

void gather(Context& context, Call call, const BatchId& batch, const BatchCounts& counts) {
  read_then(
      context, std::move(call), [&store = context.parts.store, batch] { return read_members(store, batch); },
      [&context, batch, counts](Call found, Members members) {
        std::make_shared<Gathering>(std::move(found), batch, counts, std::move(members))
            ->start(context.parts.engine.tasks());
      });
}

}  // namespace

void list_batches(Context& context, Call call) {
  const Result<api::BatchesQuery> query = api::parse_batches(call.request().query);
  if (!query) return call.refuse(query.error());
  read_then(
      context, std::move(call),
      [&store = context.parts.store, query = *query] { return store.batches(query.cursor, query.limit); },
      [](const Call& found, const BatchPage& page) { found.answer(200, api::batches_reply(page)); });
}

void get_batch(Context& context, Call call) {
  const BatchId id(call.args[0]);
  context.parts.engine.batches().get(id, answering<BatchCounts>(std::move(call), 200, [id](const BatchCounts& counts) {
                                       return api::batch_reply(id, counts);
                                     }));
}

void delete_batch(Context& context, Call call) {
  if (refused_body(call)) return;
  const BatchId id(call.args[0]);
  context.parts.engine.batches().remove(id, answering<int64_t>(std::move(call), 200, counted("removed")));
}

void cancel_batch(Context& context, Call call) {
  if (refused_body(call)) return;
  const BatchId id(call.args[0]);
  context.parts.engine.batches().cancel(id, "user", answering<int64_t>(std::move(call), 200, counted("cancelled")));
}

void retry_batch(Context& context, Call call) {
  if (refused_body(call)) return;
  const BatchId id(call.args[0]);
  const auto retry = [&context, id](Call may) {
    context.parts.engine.batches().retry(id, answering<int64_t>(std::move(may), 200, counted("retried")));
  };
  if (call.request().who.may(Scope::exec)) return retry(std::move(call));
  // Who starts no commands begins none again.
  TaskFilter commands;
  commands.batch_id = id;
  commands.kind = TaskKind::command;
  read_then(
      context, std::move(call),
      [&store = context.parts.store, commands] {
        return store.list(commands, {.limit = 1, .cursor = {}, .offset = 0, .sort = Sort::newest});
      },
      [retry](Call found, const TaskPage& page) {
        if (!page.tasks.empty() && refused_scope(found, Scope::exec)) return;
        retry(std::move(found));
      });
}

void clear_batch(Context& context, Call call) {
  if (refused_body(call)) return;
  Tasks::Scope scope;
  scope.batch.emplace(call.args[0]);
  context.parts.engine.tasks().clear(std::move(scope), answering<Cleared>(std::move(call), 200, api::cleared_reply));
}

void batch_results(Context& context, Call call) {
  const Result<api::BatchQuery> query = api::parse_batch(call.request().query);
  if (!query) return call.refuse(query.error());
  const BatchId id(call.args[0]);
  Reply<BatchCounts> reply = [&context, id, call = std::move(call)](const Result<BatchCounts>& counts) {
    if (!counts) return call.refuse(counts.error());
    gather(context, call, id, *counts);
  };
  if (query->until) {
    context.parts.engine.batches().wait(id, *query->until, query->block_ms, std::move(reply));
  } else {
    context.parts.engine.batches().get(id, std::move(reply));
  }
}

}  // namespace errand::net

#include "engine/removal.h"

#include <memory>
#include <utility>

#include "engine/batches.h"

namespace errand {
namespace {
constexpr int removal_page = 200;
}  // namespace

void Removal::remove_tree(TaskId id, Gone why, bool only_at_rest, Reply<void> reply) {
  shared_.read(
      [id](Store& store) -> Result<std::vector<TaskId>> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        return store.tasks_of_parent(task->session_id);
      },
      [this, id, why, only_at_rest, reply = std::move(reply)](Result<std::vector<TaskId>> children) mutable {
        if (!children) return reply(std::unexpected(children.error()));
        auto self = [this, id, why, only_at_rest, reply = std::move(reply)](Result<int64_t> gone_before) mutable {
          if (!gone_before) return reply(std::unexpected(gone_before.error()));
          Action action{.input = input::Remove{only_at_rest}};
          action.gone = why;
          action.reply = [reply = std::move(reply)](Result<TaskPtr> gone) mutable {
            if (gone)
              reply({});
            else
              reply(std::unexpected(gone.error()));
          };
          lives_.submit(id, std::move(action));
        };
        if (children->empty()) return self(0);
        remove_each(std::move(*children), Gone::session_ended, false, std::move(self));
      });
}

void Removal::remove_stragglers(const SessionId& session) {
  shared_.read([session](Store& store) { return store.tasks_of_parent(session); },
               [this](Result<std::vector<TaskId>> children) {
                 if (children && !children->empty())
                   remove_each(std::move(*children), Gone::session_ended, false, [](const Result<int64_t>&) {});
               });
}

void Removal::remove_each(std::vector<TaskId> ids, Gone why, bool only_at_rest, Reply<int64_t> reply) {
  struct Count {
    Result<int64_t> removed = 0;
    Reply<int64_t> reply;
  };
  if (ids.empty()) return reply(0);
  auto count = std::make_shared<Count>(0, std::move(reply));
  each_.act(
      std::move(ids),
      [this, count, why, only_at_rest](const TaskId& id, Each::Done each_done) {
        remove_tree(id, why, only_at_rest,
                    [count, only_at_rest, each_done = std::move(each_done)](Result<void> done) mutable {
                      if (done && count->removed) {
                        ++*count->removed;
                      } else if (!done) {
                        const Code code = done.error().code;
                        const bool none_of_ours = code == Code::not_found || (only_at_rest && code == Code::conflict);
                        if (!none_of_ours) count->removed = std::unexpected(done.error());
                      }
                      each_done(done.has_value());
                    });
      },
      [count](int64_t) { count->reply(std::move(count->removed)); });
}

struct Removal::Clearing {
  TaskFilter filter;
  Cleared so_far;
  Reply<Cleared> reply;
};

void Removal::clear(const Tasks::Scope& scope, Reply<Cleared> reply) {
  if (scope.task) {
    return remove_tree(*scope.task, Gone::cleared, true, [reply = std::move(reply)](Result<void> done) mutable {
      if (!done && done.error().code != Code::conflict) return reply(std::unexpected(done.error()));
      reply(Cleared{done ? 1 : 0, done ? 0 : 1});
    });
  }
  TaskFilter filter;
  if (scope.batch) filter.batch_id = *scope.batch;
  if (scope.parent_session) filter.parent_session_id = *scope.parent_session;
  clear_page(std::make_shared<Clearing>(std::move(filter), Cleared{}, std::move(reply)));
}

// A page at a time, so that a long list neither fills the memory nor the inbox. What refuses to go (it was resumed
// meanwhile) is skipped by the count of what is left, not asked again.
void Removal::clear_page(const std::shared_ptr<Clearing>& clearing) {
  TaskFilter at_rest = clearing->filter;
  at_rest.states = {TaskState::completed, TaskState::failed, TaskState::cancelled};
  shared_.read([at_rest](Store& store) { return store.list(at_rest, {.limit = removal_page}); },
               [this, clearing](Result<TaskPage> page) {
                 if (!page) return clearing->reply(std::unexpected(page.error()));
                 if (page->tasks.empty()) return count_left(clearing);
                 std::vector<TaskId> ids;
                 for (const Task& task : page->tasks) ids.push_back(task.id);
                 remove_each(std::move(ids), Gone::cleared, true, [this, clearing](Result<int64_t> removed) {
                   if (!removed) return clearing->reply(std::unexpected(removed.error()));
                   clearing->so_far.removed += *removed;
                   if (*removed > 0) return clear_page(clearing);
                   clearing->reply(fail(Code::unavailable, "Some tasks could not be removed now; try again."));
                 });
               });
}

void Removal::count_left(const std::shared_ptr<Clearing>& clearing) {
  TaskFilter working = clearing->filter;
  working.states = {TaskState::pending, TaskState::running, TaskState::resumed};
  shared_.read([working](Store& store) { return store.count(working); },
               [clearing](Result<int64_t> left) {
                 if (!left) return clearing->reply(std::unexpected(left.error()));
                 clearing->so_far.left = *left;
                 const BatchId& batch = clearing->filter.batch_id;
                 if (batch && clearing->so_far.removed + *left == 0) return clearing->reply(no_batch(batch));
                 clearing->reply(clearing->so_far);
               });
}

}  // namespace errand

// Removing tasks: delete, clear, retention, and the end of what a removed task left running.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_impl.h"
#include "engine/find_session.h"

namespace errand {
namespace {
constexpr int removal_page = 200;
constexpr Millis retention_retry_ms = 60'000;
constexpr Millis clock_set_ms = 3'600'000;  // The wall clock moved this far against the steady one: somebody set it.
constexpr Millis clock_set_hold_ms = 3'600'000;  // And has this long to set it right.
// Marks of what went: why a task or a session is not there, and which idempotency keys were used.
constexpr Millis mark_kept_ms = 30LL * 86'400'000;
constexpr int64_t tombstones_max = 100'000;
constexpr size_t ended_sessions_max = 10'000;
constexpr int forget_rows = 1'000;      // In one commit,
constexpr int64_t forget_each = 1'000;  // and as soon as so many were made.
constexpr Millis forget_pause_ms = 60'000;
}  // namespace

void EngineImpl::remove(TaskId id, Gone why, Reply<void> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  remove_tree(std::move(id), why, false, std::move(reply));
}

// The tasks that it launched go first (their parent session is the task's own and ends with it).
void EngineImpl::remove_tree(TaskId id, Gone why, bool only_at_rest, Reply<void> reply) {
  read(
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
          submit(id, std::move(action));
        };
        if (children->empty()) return self(0);
        remove_each(std::move(*children), Gone::session_ended, false, std::move(self));
      });
}

// What was launched under a task while it was being removed goes behind it.
void EngineImpl::remove_stragglers(const SessionId& session) {
  read([session](Store& store) { return store.tasks_of_parent(session); },
       [this](Result<std::vector<TaskId>> children) {
         if (children && !children->empty())
           remove_each(std::move(*children), Gone::session_ended, false, [](const Result<int64_t>&) {});
       });
}

// Answers how many were removed; or why one could not be, though it is there (and, for `only_at_rest`, is at rest).
void EngineImpl::remove_each(std::vector<TaskId> ids, Gone why, bool only_at_rest, Reply<int64_t> reply) {
  struct Count {
    Result<int64_t> removed = 0;
    Reply<int64_t> reply;
  };
  if (ids.empty()) return reply(0);
  auto count = std::make_shared<Count>(0, std::move(reply));
  act_on_each(
      std::move(ids),
      [this, count, why, only_at_rest](const TaskId& id, EachDone each_done) {
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

void EngineImpl::clear(Scope scope, Reply<Cleared> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  if (scope.task) {
    return remove_tree(*scope.task, Gone::cleared, true, [reply = std::move(reply)](Result<void> done) mutable {
      if (!done && done.error().code != Code::conflict) return reply(std::unexpected(done.error()));
      reply(Cleared{done ? 1 : 0, done ? 0 : 1});
    });
  }
  TaskFilter filter;
  if (scope.batch) filter.batch_id = *scope.batch;
  if (scope.parent_session) filter.parent_session_id = *scope.parent_session;
  // A page at a time, so that a long list neither fills the memory nor the inbox. What refuses to go (it was resumed
  // meanwhile) is skipped by the count of what is left, not asked again.
  struct Clearing {
    TaskFilter filter;
    Cleared so_far;
    Reply<Cleared> reply;
  };
  auto state = std::make_shared<Clearing>(filter, Cleared{}, std::move(reply));
  auto step = std::make_shared<std::function<void()>>();
  std::weak_ptr<std::function<void()>> weak = step;
  *step = [this, state, weak] {
    auto self = weak.lock();
    TaskFilter at_rest = state->filter;
    at_rest.states = {TaskState::completed, TaskState::failed, TaskState::cancelled};
    read([at_rest](Store& store) { return store.list(at_rest, {.limit = removal_page}); },
         [this, state, self](Result<TaskPage> page) {
           if (!page) return state->reply(std::unexpected(page.error()));
           if (page->tasks.empty()) {
             TaskFilter working = state->filter;
             working.states = {TaskState::pending, TaskState::running, TaskState::resumed};
             return read([working](Store& store) { return store.count(working); },
                         [state](Result<int64_t> left) {
                           if (!left) return state->reply(std::unexpected(left.error()));
                           state->so_far.left = *left;
                           const BatchId& batch = state->filter.batch_id;
                           if (batch && state->so_far.removed + *left == 0) return state->reply(no_batch(batch));
                           state->reply(state->so_far);
                         });
           }
           std::vector<TaskId> ids;
           for (const Task& task : page->tasks) ids.push_back(task.id);
           remove_each(std::move(ids), Gone::cleared, true, [state, self](Result<int64_t> removed) {
             if (!removed) return state->reply(std::unexpected(removed.error()));
             state->so_far.removed += *removed;
             if (*removed == 0)
               state->reply(fail(Code::unavailable, "Some tasks could not be removed now; try again."));
             else
               (*self)();
           });
         });
  };
  (*step)();
}

// The rows are gone and nothing runs any more: folders and logs go too.
void EngineImpl::ghost_gone(const LivePtr& live) {
  slots_.release(live->id);
  if (live->task)
    if (Driver* const driver = driver_of(*live->task)) driver->forget(live->id);
  feeds_.forget(live->id);
  ghosts_.erase(live->id);
  schedule();
}

void EngineImpl::arm_retention() {
  timers_.cancel(std::exchange(retention_timer_, 0));
  if (!next_expiry_) return;
  const Millis delay = std::max<Millis>({next_expiry_ - wall(), retention_held_ - steady(), 0});
  retention_timer_ = timers_.add(delay, [this] {
    retention_timer_ = 0;
    retention_due();
  });
  schedule();
}

// A clock that is set forward must not make everything old at once.
bool EngineImpl::clock_was_set() {
  const Millis ahead = wall().ms - steady().ms;
  const Millis moved = ahead - std::exchange(wall_ahead_, ahead);
  if (std::abs(moved) <= clock_set_ms) return false;
  log_warning("engine", fmt::format("the clock was set {} by {}: nothing is removed by its age for {}",
                                    moved > 0 ? "forward" : "back", format_duration(std::abs(moved)),
                                    format_duration(clock_set_hold_ms)));
  retention_held_ = steady() + clock_set_hold_ms;
  return true;
}

void EngineImpl::retention_due() {
  if (clock_was_set() || steady() < retention_held_) return arm_retention();
  if (std::exchange(retention_running_, true)) return;
  struct Found {
    std::vector<TaskId> ids;
    Time next;
  };
  read(
      [now = wall()](Store& store) -> Result<Found> {
        Result<std::vector<TaskId>> ids = store.expired(now, removal_page);
        if (!ids) return std::unexpected(ids.error());
        Result<Time> next = store.next_expiry();
        if (!next) return std::unexpected(next.error());
        return Found{std::move(*ids), *next};
      },
      [this](Result<Found> found) {
        retention_running_ = false;
        if (!found) {
          log_warning("engine", "retention: " + found.error().message);
          next_expiry_ = wall() + retention_retry_ms;
          return arm_retention();
        }
        next_expiry_ = found->next;
        if (found->ids.empty()) {
          // What is due and does not go has a notice that nobody took: it is looked at again later.
          if (next_expiry_ && next_expiry_ <= wall()) next_expiry_ = wall() + retention_retry_ms;
          return arm_retention();
        }
        remove_each(std::move(found->ids), Gone::expired, true, [this](Result<int64_t> removed) {
          next_expiry_ = removed ? wall() : wall() + retention_retry_ms;
          arm_retention();
        });
      });
}

void EngineImpl::mark_made() {
  if (++marks_made_ == forget_each)
    arm_forgetting(0);
  else if (forget_timer_ == 0 && marks_made_ < forget_each)
    arm_forgetting(mark_kept_ms);
}

void EngineImpl::arm_forgetting(Millis delay) {
  timers_.cancel(std::exchange(forget_timer_, 0));
  forget_timer_ = timers_.add(std::max<Millis>({delay, retention_held_ - steady(), 0}), [this] {
    forget_timer_ = 0;
    forget_due();
  });
  schedule();
}

// What is forgotten was said for long enough: a not-found says no more why, and a key may be used again.
void EngineImpl::forget_due() {
  if (clock_was_set() || steady() < retention_held_) return arm_forgetting(0);
  marks_made_ = 0;
  read([](Store& store) { return store.settings(ended_mark_prefix); },
       [this](Result<std::vector<Commit::Setting>> marks) {
         if (draining_) return;
         if (!marks) return arm_forgetting(forget_pause_ms);
         Prepared prepared;
         prepared.commit.now = wall();
         const Time before = wall() - mark_kept_ms;
         OldMarks sessions = old_marks(*marks, before, ended_sessions_max, forget_rows);
         const bool full = sessions.gone.size() == forget_rows;
         prepared.commit.settings = std::move(sessions.gone);
         prepared.commit.forget = {.before = before, .most = tombstones_max, .rows = forget_rows};
         prepared.done = [this, full, oldest = sessions.oldest](const Result<Committed>& stored) {
           if (!stored) return arm_forgetting(forget_pause_ms);
           if (full || stored->forgotten == forget_rows) return arm_forgetting(0);
           Time next = stored->oldest_tombstone;
           if (!next || (oldest && oldest < next)) next = oldest;
           if (next) arm_forgetting(std::max(next + mark_kept_ms - wall(), forget_pause_ms));
         };
         stage(std::move(prepared));
       });
}

}  // namespace errand

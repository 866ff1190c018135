// Parent sessions and what they are owed.
#include <algorithm>

#include <fmt/format.h>

#include "engine/engine_impl.h"
#include "engine/find_session.h"

namespace errand {
namespace {
constexpr int notices_page = 500;
}  // namespace

void EngineImpl::open_session(Session session, Reply<Session> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  Prepared prepared;
  prepared.commit.now = wall();
  if (session.id.empty()) {
    session.id = ids_.session();
  } else {
    // Whoever opens one by its name means it, though one of that name has ended before.
    prepared.commit.settings.push_back(no_ended_mark(session.id));
  }
  if (session.origin.empty()) session.origin = "rest";
  session.created_at = wall();
  prepared.commit.session = session;
  prepared.done = [this, id = session.id, reply = std::move(reply)](Result<Committed> stored) mutable {
    if (!stored) return reply(std::unexpected(stored.error()));
    parents_.not_ended(id);
    // An existing one stayed as it is: answer what is stored.
    read([id](Store& store) { return store.session(id); }, std::move(reply));
  };
  stage(std::move(prepared));
}

void EngineImpl::end_session(SessionId id, Reply<int64_t> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  // From now on nothing is launched under it. What was launched before is waited for, and goes with the others.
  parents_.begin_end(id);
  Reply<int64_t> done = [this, id, reply = std::move(reply)](Result<int64_t> removed) mutable {
    parents_.finish_end(id);
    reply(std::move(removed));
  };
  parents_.when_born(id, [this, id, done = std::move(done)]() mutable { end_session_on(id, 0, std::move(done)); });
}

// Its tasks go first; where one cannot go the session stays, and the call can be repeated.
void EngineImpl::end_session_on(SessionId id, int64_t removed_before, Reply<int64_t> reply) {
  struct Found {
    Session session;
    std::vector<TaskId> tasks;
  };
  read(
      [id](Store& store) -> Result<Found> {
        Result<Session> session = find_session(store, id);
        if (!session) return std::unexpected(session.error());
        Result<std::vector<TaskId>> tasks = store.tasks_of_parent(id);
        if (!tasks) return std::unexpected(tasks.error());
        return Found{std::move(*session), std::move(*tasks)};
      },
      [this, id, removed_before, reply = std::move(reply)](Result<Found> found) mutable {
        if (!found) return reply(std::unexpected(found.error()));
        if (found->session.task_id)
          return reply(fail(Code::conflict, fmt::format("This is the conversation of {}; delete the task to end it.",
                                                        found->session.task_id.value)));
        if (!found->tasks.empty())
          return remove_each(std::move(found->tasks), Gone::session_ended, false,
                             [this, id, removed_before, reply = std::move(reply)](Result<int64_t> removed) mutable {
                               if (!removed) return reply(std::move(removed));
                               end_session_on(id, removed_before + *removed, std::move(reply));
                             });
        parents_.ended(id);
        Prepared prepared;
        prepared.commit.now = wall();
        prepared.commit.remove_session = id;
        prepared.commit.settings.push_back(ended_mark(id, wall()));
        prepared.done = [this, id, removed_before, reply = std::move(reply)](Result<Committed> stored) mutable {
          if (!stored) {
            parents_.not_ended(id);
            return reply(std::unexpected(stored.error()));
          }
          mark_made();
          wake_notice_waiters(id);  // They, and its streams, see that it is gone.
          reply(removed_before);
        };
        stage(std::move(prepared));
      });
}

void EngineImpl::read_notices(SessionId id, int64_t after, int limit, Reply<std::vector<Notice>> reply) {
  read(
      [id, after, limit](Store& store) -> Result<std::vector<Notice>> {
        if (Result<Session> session = find_session(store, id); !session) return std::unexpected(session.error());
        return store.notices(id, after, limit);
      },
      std::move(reply));
}

void EngineImpl::notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) {
  if (after <= 0 || draining_) return await_notices(std::move(id), after, limit, block_ms, std::move(reply));
  // Whoever asks for what comes after one has the earlier ones: they are marked before the answer.
  read([id](Store& store) { return store.notices(id, 0, notices_page); },
       [this, id, after, limit, block_ms, reply = std::move(reply)](Result<std::vector<Notice>> open) mutable {
         if (!open) return reply(std::move(open));
         std::erase_if(*open, [after](const Notice& notice) { return notice.seq > after; });
         take_notices(std::move(*open),
                      [this, id, after, limit, block_ms, reply = std::move(reply)](Result<void> taken) mutable {
                        if (!taken) return reply(std::unexpected(taken.error()));
                        await_notices(id, after, limit, block_ms, std::move(reply));
                      });
       });
}

void EngineImpl::await_notices(SessionId id, int64_t after, int limit, Millis block_ms,
                               Reply<std::vector<Notice>> reply) {
  if (block_ms <= 0 || draining_) return read_notices(std::move(id), after, limit, std::move(reply));
  // The waiter is there before the store is read: a notice of the moment between wakes it.
  const auto answer = std::make_shared<Reply<std::vector<Notice>>>(std::move(reply));
  const auto key = notice_waiters_.add({id}, Until::all, block_ms, [this, id, after, limit, answer](Woken why) {
    if (why == Woken::dismissed) return answer_later(std::move(*answer), busy_error());
    read_notices(id, after, limit, std::move(*answer));
  });
  schedule();
  read_notices(id, after, limit, [this, key, answer](Result<std::vector<Notice>> found) {
    if (found && found->empty()) return;
    if (notice_waiters_.give_up(key)) (*answer)(std::move(found));
  });
}

void EngineImpl::wake_notice_waiters(const SessionId& id) {
  notice_waiters_.wake(id, Woken::came);
  feeds_.wake(id);
}

// Marks them taken. Where the task is still there it is an event of its life too.
void EngineImpl::take_notices(std::vector<Notice> notices, Reply<void> reply) {
  struct Count {
    size_t left;
    Status status;
    Reply<void> reply;
  };
  std::erase_if(notices, [](const Notice& notice) { return static_cast<bool>(notice.taken_at); });
  if (notices.empty()) return reply({});
  auto count = std::make_shared<Count>(notices.size(), Status{}, std::move(reply));
  const auto one_done = [count](Status status) {
    if (!status) count->status = status;
    if (--count->left == 0) count->reply(count->status);
  };
  for (const Notice& notice : notices) {
    Action action{.input = input::NoticeTaken{notice.id}};
    action.taken.push_back(notice.id);
    action.reply = [this, id = notice.id, one_done](Result<TaskPtr> task) {
      if (task) return one_done({});
      if (task.error().code != Code::not_found) return one_done(std::unexpected(task.error()));
      Prepared prepared;
      prepared.commit.now = wall();
      prepared.commit.taken.push_back(id);
      prepared.done = [one_done](Result<Committed> stored) {
        if (stored)
          one_done({});
        else
          one_done(std::unexpected(stored.error()));
      };
      stage(std::move(prepared));
    };
    submit(notice.task_id, std::move(action));
  }
}

void EngineImpl::take_notice(SessionId session, NoticeId id, Reply<Notice> reply) {
  if (draining_ || overloaded()) return answer_later(std::move(reply), busy_error());
  read([id](Store& store) { return store.notice(id); },
       [this, session, id, reply = std::move(reply)](Result<Notice> notice) mutable {
         if (!notice) return reply(std::move(notice));
         if (notice->session_id != session)
           return reply(fail(Code::not_found, "This notice belongs to another session.", "other_session"));
         take_notices({*notice}, [this, id, reply = std::move(reply)](Result<void> taken) mutable {
           if (!taken) return reply(std::unexpected(taken.error()));
           read([id](Store& store) { return store.notice(id); }, std::move(reply));
         });
       });
}

}  // namespace errand

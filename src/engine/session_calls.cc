#include "engine/session_calls.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "engine/find_session.h"

namespace errand {
namespace {
constexpr int notices_page = 500;
}  // namespace

SessionCalls::SessionCalls(Rooms rooms)
    : shared_(rooms.shared),
      commits_(rooms.commits),
      lives_(rooms.lives),
      parents_(rooms.parents),
      removal_(rooms.removal),
      retention_(rooms.retention),
      feeds_(rooms.feeds),
      notes_(rooms.notes),
      waiters_(rooms.shared.timers) {}

void SessionCalls::open_session(Session session, Reply<Session> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  Commit commit;
  if (session.id.empty()) {
    session.id = shared_.ids.session();
  } else {
    // Whoever opens one by its name means it, though one of that name has ended before.
    commit.settings.push_back(no_ended_mark(session.id));
  }
  if (session.origin.empty()) session.origin = "rest";
  session.created_at = shared_.wall();
  commit.session = session;
  commits_.store(std::move(commit),
                 [this, id = session.id, reply = std::move(reply)](const Result<Committed>& stored) mutable {
                   if (!stored) return reply(std::unexpected(stored.error()));
                   parents_.not_ended(id);
                   // An existing one stayed as it is: answer what is stored.
                   shared_.read([id](Store& store) { return store.session(id); }, std::move(reply));
                 });
}

void SessionCalls::end_session(SessionId id, Reply<int64_t> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  // From now on nothing is launched under it. What was launched before is waited for, and goes with the others.
  parents_.begin_end(id);
  Reply<int64_t> done = [this, id, reply = std::move(reply)](Result<int64_t> removed) mutable {
    parents_.finish_end(id);
    reply(std::move(removed));
  };
  parents_.when_born(id, [this, id, done = std::move(done)]() mutable { end_on(id, 0, std::move(done)); });
}

// Its tasks go first; where one cannot go the session stays, and the call can be repeated.
void SessionCalls::end_on(SessionId id, int64_t removed_before, Reply<int64_t> reply) {
  struct Found {
    Session session;
    std::vector<TaskId> tasks;
  };
  shared_.read(
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
          return reply(
              fail(Code::conflict, fmt::format("This session belongs to the task {}. Delete the task to end it.",
                                               found->session.task_id.value)));
        if (!found->tasks.empty())
          return removal_.remove_each(
              std::move(found->tasks), Gone::session_ended, false,
              [this, id, removed_before, reply = std::move(reply)](Result<int64_t> removed) mutable {
                if (!removed) return reply(std::move(removed));
                end_on(id, removed_before + *removed, std::move(reply));
              });
        end_empty(id, removed_before, std::move(reply));
      });
}

// None of its tasks is left.
void SessionCalls::end_empty(const SessionId& id, int64_t removed, Reply<int64_t> reply) {
  Commit commit;
  commit.remove_session = id;
  commit.settings.push_back(ended_mark(id, shared_.wall()));
  commits_.store(std::move(commit),
                 [this, id, removed, reply = std::move(reply)](const Result<Committed>& stored) mutable {
                   if (!stored) return reply(std::unexpected(stored.error()));
                   // Known in the order in which it is stored: another end that fails, or somebody who opened it before
                   // this, takes nothing of it back. Until here it is being ended.
                   parents_.ended(id);
                   retention_.mark_made();
                   wake(id);  // They, and its streams, see that it is gone.
                   reply(removed);
                 });
}

void SessionCalls::read_notices(SessionId id, int64_t after, int limit, Reply<std::vector<Notice>> reply) {
  shared_.read(
      [id, after, limit](Store& store) -> Result<std::vector<Notice>> {
        if (Result<Session> session = find_session(store, id); !session) return std::unexpected(session.error());
        return store.notices(id, after, limit);
      },
      std::move(reply));
}

void SessionCalls::notices(SessionId id, int64_t after, int limit, Millis block_ms, Reply<std::vector<Notice>> reply) {
  if (after <= 0 || shared_.draining) return await_notices(std::move(id), after, limit, block_ms, std::move(reply));
  // Whoever asks for what comes after one has the earlier ones: they are marked before the answer.
  shared_.read([id](Store& store) { return store.notices(id, 0, notices_page); },
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

void SessionCalls::await_notices(SessionId id, int64_t after, int limit, Millis block_ms,
                                 Reply<std::vector<Notice>> reply) {
  if (block_ms <= 0 || shared_.draining) return read_notices(std::move(id), after, limit, std::move(reply));
  // The waiter is there before the store is read: a notice of the moment between wakes it.
  const auto answer = std::make_shared<Reply<std::vector<Notice>>>(std::move(reply));
  const auto key = waiters_.add({id}, Until::all, block_ms, [this, id, after, limit, answer](Woken why) {
    if (why == Woken::dismissed) return shared_.answer_later(std::move(*answer), commits_.refusal());
    read_notices(id, after, limit, std::move(*answer));
  });
  shared_.schedule();
  read_notices(id, after, limit, [this, key, answer](Result<std::vector<Notice>> found) {
    if (found && found->empty()) return;
    if (waiters_.give_up(key)) (*answer)(std::move(found));
  });
}

void SessionCalls::wake(const SessionId& id) {
  waiters_.wake(id, Woken::came);
  feeds_.wake(id);
}

// Marks them taken. Where the task is still there it is an event of its life too.
void SessionCalls::take_notices(std::vector<Notice> notices, Reply<void> reply) {
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
      Commit commit;
      commit.taken.push_back(id);
      commits_.store(std::move(commit), [one_done](const Result<Committed>& stored) {
        one_done(stored ? Status() : std::unexpected(stored.error()));
      });
    };
    lives_.submit(notice.task_id, std::move(action));
  }
}

void SessionCalls::take_notice(SessionId session, NoticeId id, Reply<Notice> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  shared_.read([id](Store& store) { return store.notice(id); },
               [this, session, id, reply = std::move(reply)](Result<Notice> notice) mutable {
                 if (!notice) return reply(std::move(notice));
                 if (notice->session_id != session)
                   return reply(fail(Code::not_found, "This notice belongs to another session.", "other_session"));
                 take_notices({*notice}, [this, id, reply = std::move(reply)](Result<void> taken) mutable {
                   if (!taken) return reply(std::unexpected(taken.error()));
                   shared_.read([id](Store& store) { return store.notice(id); }, std::move(reply));
                 });
               });
}

void SessionCalls::session_state(SessionId id, Reply<std::vector<StatePiece>> reply) {
  notes_.read(std::move(id), std::move(reply));
}

void SessionCalls::keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) {
  notes_.keep(std::move(id), std::move(key), std::move(value), std::move(reply));
}

}  // namespace errand

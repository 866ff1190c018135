// Notices to a task's own session (R5.5): what a task launched has ended, or asks. They join its conversation at its
// next step; of a task at rest they wait for its next turn, or begin one where the setting `wake` says so.
//
// The notice's row is the truth: it is taken in the commit in which the agent's taking of the message is stored.
// Everything here may be forgotten and done again.
#include <algorithm>

#include "engine/engine_impl.h"

namespace errand {
namespace {
constexpr int delivered_at_once = 100;
}

Action EngineImpl::noticed(const SessionId& session, const Notice& notice, bool wake) {
  Message message;
  // The same notice is the same message, however often it is looked at.
  message.id = MessageId("msg_" + notice.id.value.substr(notice.id.value.find('_') + 1));
  message.session_id = session;
  message.role = Role::user;
  message.created_at = wall();
  message.parts.push_back({.type = PartType::notice, .text = notice.text});
  Action action{.input = input::Noticed{notice.id, message.id, wake}};
  action.messages.push_back(std::move(message));
  return action;
}

bool EngineImpl::takes_notices(const Live& live) const {
  if (!live.task || live.removed || live.task->launch.kind != TaskKind::agent) return false;
  const Driver* const driver = driver_of(*live.task);
  // While it waits for its children, what it waits for is about to tell it itself.
  const bool for_children = live.task->wait && live.task->wait->kind == WaitKind::children;
  return driver != nullptr && driver->capabilities().message_while_running && live.turn && at_work(live.task->state) &&
         !live.task->stopping && !for_children;
}

void EngineImpl::deliver_notices(const LivePtr& live) {
  if (!takes_notices(*live)) return;
  read([session = live->task->session_id](Store& store) { return store.notices(session, 0, delivered_at_once); },
       [this, live](Result<std::vector<Notice>> notices) {
         if (!notices || !takes_notices(*live)) return;
         std::unordered_set<NoticeId> known;
         for (const WaitingMessage& message : live->task->waiting)
           if (message.notice) known.insert(message.notice);
         for (const Notice& notice : *notices)
           if (!live->taken_notices.contains(notice.id) && !known.contains(notice.id))
             submit(live, noticed(live->task->session_id, notice, false));
       });
}

// A notice was made for the session of this task.
void EngineImpl::told_task(const TaskId& id) {
  const LivePtr live = find_live(id);
  if (live && live->task && at_work(live->task->state)) return deliver_notices(live);
  if (settings_.wake) wake_task(id);
}

void EngineImpl::wake_task(const TaskId& id) {
  struct Found {
    Task task;
    std::vector<Notice> notices;
  };
  read(
      [id](Store& store) -> Result<Found> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        Result<std::vector<Notice>> notices = store.notices(task->session_id, 0, delivered_at_once);
        if (!notices) return std::unexpected(notices.error());
        return Found{std::move(*task), std::move(*notices)};
      },
      [this, id](Result<Found> found) {
        if (!found || found->task.launch.kind != TaskKind::agent || draining_) return;
        for (const Notice& notice : found->notices) submit(id, noticed(found->task.session_id, notice, true));
      });
}

// The agent has them: its children's records say so too.
void EngineImpl::notices_taken(const LivePtr& live, const std::vector<NoticeId>& taken) {
  for (const NoticeId& id : taken) {
    live->taken_notices.insert(id);
    read([id](Store& store) { return store.notice(id); },
         [this, id](Result<Notice> notice) {
           if (notice && notice->task_id) submit(notice->task_id, {.input = input::NoticeTaken{id}});
         });
  }
}

}  // namespace errand

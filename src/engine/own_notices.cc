#include "engine/own_notices.h"

#include <unordered_set>

namespace errand {
namespace {
constexpr int delivered_at_once = 100;
}

Action OwnNotices::noticed(const SessionId& session, const Notice& notice, bool wake) {
  Message message;
  // The same notice is the same message, however often it is looked at.
  message.id = MessageId("msg_" + notice.id.value.substr(notice.id.value.find('_') + 1));
  message.session_id = session;
  message.role = Role::user;
  message.created_at = shared_.wall();
  message.parts.push_back({.type = PartType::notice, .text = notice.text});
  Action action{.input = input::Noticed{notice.id, message.id, wake}};
  action.messages.push_back(std::move(message));
  return action;
}

bool OwnNotices::takes(const Live& live) const {
  if (!live.task || live.removed || live.task->launch.kind != TaskKind::agent) return false;
  const Driver* const driver = agents_.driver_of(*live.task);
  // While it waits for its children, what it waits for is about to tell it itself.
  const bool for_children = live.task->wait && live.task->wait->kind == WaitKind::children;
  return driver != nullptr && driver->capabilities().message_while_running && live.turn && at_work(live.task->state) &&
         !live.task->stopping && !for_children;
}

void OwnNotices::deliver(const LivePtr& live) {
  if (!takes(*live)) return;
  shared_.read(
      [session = live->task->session_id](Store& store) { return store.notices(session, 0, delivered_at_once); },
      [this, live](Result<std::vector<Notice>> notices) {
        if (!notices || !takes(*live)) return;
        std::unordered_set<NoticeId> known;
        for (const WaitingMessage& message : live->task->waiting)
          if (message.notice) known.insert(message.notice);
        for (const Notice& notice : *notices)
          if (!live->taken_notices.contains(notice.id) && !known.contains(notice.id))
            lives_.submit(live, noticed(live->task->session_id, notice, false));
      });
}

void OwnNotices::told(const TaskId& id) {
  const LivePtr live = lives_.find(id);
  if (live && live->task && at_work(live->task->state)) return deliver(live);
  if (shared_.settings.wake) wake(id);
}

void OwnNotices::wake(const TaskId& id) {
  struct Found {
    Task task;
    std::vector<Notice> notices;
  };
  shared_.read(
      [id](Store& store) -> Result<Found> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        Result<std::vector<Notice>> notices = store.notices(task->session_id, 0, delivered_at_once);
        if (!notices) return std::unexpected(notices.error());
        return Found{std::move(*task), std::move(*notices)};
      },
      [this, id](Result<Found> found) {
        if (!found || found->task.launch.kind != TaskKind::agent || shared_.draining) return;
        for (const Notice& notice : found->notices) lives_.submit(id, noticed(found->task.session_id, notice, true));
      });
}

void OwnNotices::taken(const LivePtr& live, const std::vector<NoticeId>& taken) {
  for (const NoticeId& id : taken) {
    live->taken_notices.insert(id);
    shared_.read([id](Store& store) { return store.notice(id); },
                 [this, id](Result<Notice> notice) {
                   if (notice && notice->task_id) lives_.submit(notice->task_id, {.input = input::NoticeTaken{id}});
                 });
  }
}

}  // namespace errand

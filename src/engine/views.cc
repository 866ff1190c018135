#include "engine/views.h"

#include <utility>

#include "task/json_in.h"

namespace errand {

TaskMoment Views::moment(const Task& task) const {
  TaskMoment moment{.now = shared_.wall()};
  if (task.phase != TurnPhase::queued) return moment;
  moment.queue_position = slots_.position(task.id);
  if (why_queued_) moment.queue_reason = why_queued_(task);
  return moment;
}

TaskView Views::of(TaskPtr task) const {
  TaskMoment now = moment(*task);
  return {std::move(task), std::move(now)};
}

Reply<TaskPtr> Views::shown_to(Reply<TaskView> reply) const {
  return [this, reply = std::move(reply)](Result<TaskPtr> task) mutable {
    if (task)
      reply(of(std::move(*task)));
    else
      reply(std::unexpected(task.error()));
  };
}

void Views::get(TaskId id, Reply<TaskView> reply) const {
  shared_.read(
      [id = std::move(id)](Store& store) -> Result<TaskPtr> {
        Result<Task> task = store.get(id);
        if (!task) return std::unexpected(task.error());
        return std::make_shared<const Task>(std::move(*task));
      },
      shown_to(std::move(reply)));
}

Message user_message(Shared& shared, const SessionId& session, int turn, const NewMessage& message) {
  Message out;
  out.id = shared.ids.message();
  out.session_id = session;
  out.role = Role::user;
  out.turn = turn;
  out.created_at = shared.wall();
  if (!message.content.empty()) {
    if (Result<std::vector<Part>> parts = decode_parts(message.content)) out.parts = std::move(*parts);
  } else {
    out.parts.push_back({.type = PartType::text, .text = message.text});
  }
  return out;
}

}  // namespace errand

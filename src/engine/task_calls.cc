#include "engine/task_calls.h"

#include <utility>

#include <fmt/format.h>

#include "driver/driver.h"

namespace errand {

TaskCalls::TaskCalls(Rooms rooms)
    : shared_(rooms.shared),
      commits_(rooms.commits),
      lives_(rooms.lives),
      agents_(rooms.agents),
      launching_(rooms.launching),
      removal_(rooms.removal),
      views_(rooms.views),
      waits_(rooms.waits) {}

void TaskCalls::launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) {
  launching_.launch(std::move(launch), std::move(key), std::move(fingerprint), std::move(reply));
}

void TaskCalls::get(TaskId id, Reply<TaskView> reply) { views_.get(std::move(id), std::move(reply)); }

void TaskCalls::cancel(TaskId id, std::string by, Reply<TaskView> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  reply = commits_.charged(std::move(reply), by.size());
  lives_.submit(id, {.input = input::Cancel{std::move(by)}, .reply = views_.shown_to(std::move(reply))});
}

void TaskCalls::answer(TaskId id, input::Answered answer, Reply<TaskView> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  reply = commits_.charged(std::move(reply), answer.message.size());
  lives_.submit(id, {.input = std::move(answer), .reply = views_.shown_to(std::move(reply))});
}

void TaskCalls::edit(TaskId id, input::Edit edit, Reply<TaskView> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  size_t bytes = edit.title ? edit.title->size() : 0;
  for (const auto& [label, value] : edit.labels) bytes += label.size() + (value ? value->size() : 0);
  reply = commits_.charged(std::move(reply), bytes);
  lives_.submit(id, {.input = std::move(edit), .reply = views_.shown_to(std::move(reply))});
}

void TaskCalls::retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  reply = commits_.charged(std::move(reply), message ? message->text.size() + message->content.size() : 0);
  get(id, [this, id, message = std::move(message), reply = std::move(reply)](Result<TaskView> found) mutable {
    if (!found) return reply(std::unexpected(found.error()));
    const Task& task = found->task;
    Action action{.input = input::Retry{}};
    if (message) {
      if (task.launch.kind == TaskKind::command)
        return reply(fail(Code::unsupported, "A command takes no message; retry it without one."));
      Message body = user_message(shared_, task.session_id, task.turn + 1, *message);
      action.input = input::Retry{body.id};
      action.messages.push_back(std::move(body));
    }
    action.reply = views_.shown_to(std::move(reply));
    lives_.submit(id, std::move(action));
  });
}

void TaskCalls::message(TaskId id, NewMessage message, Reply<MessageTaken> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  // Who sends without end is refused before anything is read for it.
  if (const LivePtr live = lives_.find(id); live && live->task && at_work(live->task->state))
    if (Status room = room_for_message(*live->task); !room)
      return shared_.answer_later(std::move(reply), std::unexpected(room.error()));
  reply = commits_.charged(std::move(reply), message.text.size() + message.content.size());
  get(id, [this, id, message = std::move(message), reply = std::move(reply)](Result<TaskView> found) mutable {
    if (!found) return reply(std::unexpected(found.error()));
    const Task& task = found->task;
    Driver* const driver = agents_.driver_of(task);
    if (task.launch.kind == TaskKind::command || driver == nullptr)
      return reply(fail(Code::unsupported, "A command takes no messages; only an agent's task is a conversation."));
    const Capabilities can = driver->capabilities();
    if (task.state == TaskState::completed && !can.resume)
      return reply(fail(Code::unsupported, "This agent cannot continue a conversation. Start a new task."));
    WaitingMessage::When when = message.when;
    if (when == WaitingMessage::When::steer && !can.message_while_running) when = WaitingMessage::When::queue;
    Message body = user_message(shared_, task.session_id, task.turn, message);
    Action action{.input = input::Prompt{body.id, when}};
    const MessageId message_id = body.id;
    action.messages.push_back(std::move(body));
    action.reply = [this, message_id, reply = std::move(reply)](Result<TaskPtr> after) mutable {
      if (!after) return reply(std::unexpected(after.error()));
      const int turn = (*after)->turn;
      reply(MessageTaken{views_.of(std::move(*after)), turn, message_id});
    };
    lives_.submit(id, std::move(action));
  });
}

void TaskCalls::resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) {
  get(id, [this, id, message = std::move(message), reply = std::move(reply)](Result<TaskView> found) mutable {
    if (!found) return reply(std::unexpected(found.error()));
    const TaskState state = found->task.state;
    if (state == TaskState::resumed)
      return reply(
          fail(Code::conflict, "The task is currently being resumed; wait for its notice, or send it a message."));
    if (state != TaskState::completed)
      return reply(
          fail(Code::conflict, fmt::format("Only completed tasks can be resumed; this one is {}.", name(state))));
    this->message(id, std::move(message), std::move(reply));
  });
}

void TaskCalls::resolve(std::string text, Reply<TaskId> reply) {
  if (!text.starts_with("task_")) text = "task_" + text;
  shared_.read(
      [text](Store& store) { return store.find_prefix(text, 6); },
      [text, reply = std::move(reply)](Result<std::vector<TaskId>> found) mutable {
        if (!found) return reply(std::unexpected(found.error()));
        if (found->size() == 1) return reply(std::move(found->front()));
        for (TaskId& id : *found)
          if (id.value == text) return reply(std::move(id));
        if (found->empty()) return reply(fail(Code::not_found, fmt::format("There is no task \"{}\".", text)));
        std::string names;
        for (const TaskId& id : *found) names += (names.empty() ? "" : ", ") + id.value;
        reply(fail(Code::conflict, fmt::format("Several ids begin with \"{}\": {}. Give more of the id.", text, names),
                   "ambiguous"));
      });
}

void TaskCalls::remove(TaskId id, Gone why, Reply<void> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  removal_.remove_tree(std::move(id), why, false, std::move(reply));
}

void TaskCalls::clear(Scope scope, Reply<Cleared> reply) {
  if (commits_.refuse()) return shared_.answer_later(std::move(reply), commits_.refusal());
  removal_.clear(scope, std::move(reply));
}

}  // namespace errand

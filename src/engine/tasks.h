// The engine's face for whoever works with tasks: routes, tools, MCP. task_batches.h is the one for batches of them.
//
// Every call is made on the engine's thread and answers later, on the same thread, never inside the call. What it
// answers is durable. Errors that any call may answer: `unavailable`, reason `stopping`, while the server leaves;
// `exhausted` while too much waits to be stored (then nothing was changed); and what the store says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "engine/task_view.h"
#include "engine/waiters.h"
#include "store/store.h"
#include "task/decide.h"
#include "task/notice.h"
#include "task/task.h"

namespace errand {

class Driver;

// What POST .../message answers.
struct MessageTaken {
  TaskView view;
  int turn = 0;
  MessageId message_id;
};

struct Cleared {
  int64_t removed = 0;
  int64_t left = 0;  // At work: they are not cleared.
};

// What /result answers: an ended task's result, or a running one's progress. The first reading of an ended one marks
// it.
struct ResultView {
  TaskView view;
  bool timed_out = false;  // `block` ran out: not an error.
};

struct NewMessage {
  std::string text;     // Or:
  std::string content;  // JSON list of parts, checked by api/.
  WaitingMessage::When when = WaitingMessage::When::steer;
};

class Tasks {
 public:
  // What `clear` may be about; nothing set: all tasks.
  struct Scope {
    std::optional<TaskId> task;
    std::optional<BatchId> batch;
    std::optional<SessionId> parent_session;
  };

  virtual ~Tasks() = default;

  // Stores a new task, begun at once where a slot is free. `key` is the Idempotency-Key or empty; `fingerprint` tells
  // one request from another under the same key: the same request again is answered with the task that the first one
  // made. Errors: not_found (agent, batch, session), forbidden (more than the launching task may do), unsupported,
  // invalid_argument, conflict (the key, a session that has ended), unavailable (the folder does not answer).
  virtual void launch(Launch launch, std::string key, std::string fingerprint, Reply<TaskView> reply) = 0;
  // As it is stored. not_found says why it is gone, for as long as that is known.
  virtual void get(TaskId id, Reply<TaskView> reply) = 0;
  // It is `cancelled` when this answers; what is left of its run ends behind it. With it go the tasks that it launched.
  virtual void cancel(TaskId id, std::string by, Reply<TaskView> reply) = 0;
  // A failed or cancelled one, anew; an agent's may be told something with it.
  virtual void retry(TaskId id, std::optional<NewMessage> message, Reply<TaskView> reply) = 0;
  // Stores a message for the turn at work or the next one; of a completed task it makes that turn.
  virtual void message(TaskId id, NewMessage message, Reply<MessageTaken> reply) = 0;
  // Explicit resume: only `completed` tasks (R5.3), else conflict.
  virtual void resume(TaskId id, NewMessage message, Reply<MessageTaken> reply) = 0;
  // An open question's answer. conflict where it was answered before.
  virtual void answer(TaskId id, input::Answered answer, Reply<TaskView> reply) = 0;
  // Its title, labels, pin and archive, in any state.
  virtual void edit(TaskId id, input::Edit edit, Reply<TaskView> reply) = 0;
  // The rows go at once, with those of the tasks that it launched; what runs is ended behind it.
  virtual void remove(TaskId id, Gone why, Reply<void> reply) = 0;
  // Removes what is at rest.
  virtual void clear(Scope scope, Reply<Cleared> reply) = 0;
  // Marks the first reading. Waits until the task is over where `block_ms` > 0.
  virtual void result(TaskId id, Millis block_ms, Reply<ResultView> reply) = 0;
  // Answers when all (or the first) of these tasks are over or gone, or the time is up. Marks nothing. Whoever no
  // longer waits gives up by the number that was returned: then there is no answer. A number that was answered is no
  // error.
  virtual uint64_t wait(std::vector<TaskId> ids, Until until, Millis block_ms, Reply<void> reply) = 0;
  virtual void give_up(uint64_t wait) = 0;
  // A unique id that begins with `text` (the whole id included). not_found, or conflict where several do.
  virtual void resolve(std::string text, Reply<TaskId> reply) = 0;
  // What is known of a task that was read from the store, beside what is stored. Answers at once.
  virtual TaskMoment moment(const Task& task) const = 0;
  // The driver of its agent; null where that is no longer here. Answers at once; valid as long as the engine.
  virtual Driver* driver_of(const Task& task) const = 0;
};

}  // namespace errand

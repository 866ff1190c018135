#include "engine/live.h"

#include <utility>

#include "engine/turn_sink.h"

namespace errand {
namespace {

constexpr int message_page = 50;

// Its newest one, though users may have written behind it.
Result<std::optional<Message>> open_message(Store& store, const SessionId& session) {
  for (int64_t before = INT64_MAX;;) {
    Result<MessagePage> page = store.messages(session, 0, before, message_page);
    if (!page) return std::unexpected(page.error());
    for (auto message = page->messages.rbegin(); message != page->messages.rend(); ++message) {
      if (message->role != Role::assistant) continue;
      if (message->completed_at) return std::nullopt;
      return std::move(*message);
    }
    if (!page->more || page->messages.empty()) return std::nullopt;
    before = page->messages.front().seq;
  }
}

}  // namespace

Result<StoredLive> read_live(Store& store, Task task) {
  StoredLive stored{.task = std::move(task)};
  Result<Session> session = store.session(stored.task.session_id);
  if (!session) return std::unexpected(session.error());
  stored.last_message = session->last_message;
  if (stored.task.phase == TurnPhase::working) {
    Result<std::optional<Message>> open = open_message(store, stored.task.session_id);
    if (!open) return std::unexpected(open.error());
    stored.open = std::move(*open);
  }
  for (const WaitingMessage& waiting : stored.task.waiting) {
    Result<Message> message = store.message(waiting.id);
    if (!message) return std::unexpected(message.error());
    stored.messages.push_back(std::move(*message));
  }
  return stored;
}

Live::Live(TaskId task_id) : id(std::move(task_id)) {}
Live::~Live() = default;

void Live::take(StoredLive from) {
  assert_task(from.task);
  recorder.start(from.last_message, std::move(from.open));
  for (Message& message : from.messages) messages.insert_or_assign(message.id, std::move(message));
  task = std::make_shared<const Task>(std::move(from.task));
}

}  // namespace errand

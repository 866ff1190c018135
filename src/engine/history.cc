#include "engine/history.h"

#include <algorithm>
#include <deque>
#include <iterator>

namespace errand {
namespace {

constexpr int history_page = 500;
constexpr size_t history_max = 20'000;
constexpr size_t history_bytes_max = 256u << 20;

size_t bytes_of(const Message& message) {
  size_t bytes = sizeof(Message);
  for (const Part& part : message.parts)
    bytes += sizeof(Part) + part.text.size() + part.input.size() + part.url.size() + part.opaque.size();
  return bytes;
}

}  // namespace

std::vector<Message> in_taking_order(std::vector<Message> messages) {
  std::vector<Message> out;
  std::deque<Message> sent;
  const auto take_until = [&](const Message* next) {
    // A later turn is behind it in any case: a clock that was set moves nothing over the end of a turn.
    while (!sent.empty() &&
           (next == nullptr || sent.front().turn < next->turn || sent.front().completed_at <= next->created_at)) {
      out.push_back(std::move(sent.front()));
      sent.pop_front();
    }
  };
  for (Message& message : messages) {
    if (message.role == Role::user) {
      sent.push_back(std::move(message));
      continue;
    }
    take_until(&message);
    out.push_back(std::move(message));
  }
  take_until(nullptr);
  return out;
}

Result<std::vector<Message>> read_history(Store& store, const Task& task) {
  const auto untaken = [&](const MessageId& id) {
    const auto waiting = std::ranges::find(task.waiting, id, &WaitingMessage::id);
    return waiting != task.waiting.end() && !waiting->taken;
  };
  std::deque<Message> history;  // The newest are read first.
  size_t bytes = 0;
  for (int64_t before = INT64_MAX;;) {
    Result<MessagePage> page = store.messages(task.session_id, 0, before, history_page);
    if (!page) return std::unexpected(page.error());
    if (page->messages.empty()) break;
    before = page->messages.front().seq;
    for (auto message = page->messages.rbegin(); message != page->messages.rend(); ++message) {
      if (untaken(message->id)) continue;
      bytes += bytes_of(*message);
      if (history.size() == history_max || bytes > history_bytes_max) {
        page->more = false;
        break;
      }
      history.push_front(std::move(*message));
    }
    if (!page->more) break;
  }
  return in_taking_order({std::make_move_iterator(history.begin()), std::make_move_iterator(history.end())});
}

}  // namespace errand

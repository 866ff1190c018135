#include "engine/forks.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>

#include "driver/conversations.h"
#include "engine/find_session.h"
#include "engine/history.h"

namespace errand {
namespace {

constexpr int page_size = 500;
constexpr size_t messages_max = 20'000;
// A token is seldom longer than this: with more of it than the limit has tokens, what is older cannot fit.
constexpr size_t token_bytes_max = 32;

// What a message may weigh in the copy, at most about this.
size_t weight(const Message& message, const fork::Limits& limits) {
  const auto result_max = static_cast<size_t>(std::max<int64_t>(limits.tool_result_chars, 3'000)) * 4;
  size_t bytes = 0;
  for (const Part& part : message.parts)
    bytes += part.input.size() +
             (part.type == PartType::tool_result ? std::min(part.text.size(), result_max) : part.text.size());
  return bytes;
}

// The call that launches the fork: of the last message's calls without a result, the last one that launches tasks.
std::string launching_call(const std::vector<Message>& history) {
  if (history.empty()) return {};
  const std::vector<Part>& parts = history.back().parts;
  for (auto call = parts.rbegin(); call != parts.rend(); ++call)
    if (call->type == PartType::tool_call && call->name.ends_with("_task") &&
        std::none_of(parts.rbegin(), call, [&](const Part& part) {
          return part.type == PartType::tool_result && part.call_id == call->call_id;
        }))
      return call->call_id;
  return {};
}

Status not_there(const SessionId& parent) {
  return fail(
      Code::not_found,
      fmt::format("No session {} exists to copy. Name one that exists, or launch without `fork`.", parent.value),
      "unknown_session");
}

struct Range {
  int64_t before = INT64_MAX;
  bool by_driver = false;
};

// What there is to read; `driver` is the child's.
Result<Range> range_of(Store& store, const SessionId& parent, const MessageId& last, const std::string& driver) {
  const Result<Session> session = find_session(store, parent);
  if (!session && session.error().reason == "session_ended") return std::unexpected(session.error());
  if (!session && session.error().code == Code::not_found) return std::unexpected(not_there(parent).error());
  if (!session) return std::unexpected(session.error());
  if (session->last_message == 0) {
    // The conversation of a foreign program, which is copied by that program.
    if (session->task_id.empty() && session->origin == driver) return Range{.by_driver = true};
    return fail(Code::conflict,
                fmt::format("The session {} has no messages to copy{}; launch without `fork`.", parent.value,
                            session->task_id.empty() ? fmt::format(" (its origin is \"{}\")", session->origin) : ""),
                "no_conversation");
  }
  if (last.empty()) return Range{};
  const Result<Message> message = store.message(last);
  if (!message && message.error().code != Code::not_found) return std::unexpected(message.error());
  if (!message || message->session_id != parent)
    return fail(Code::not_found,
                fmt::format("The session {} has no message {}: name one that it has, or leave `parent_message_id` out.",
                            parent.value, last.value),
                "unknown_message");
  return Range{.before = message->seq + 1};
}

// Blocking.
Result<fork::Prepared> read_parent(Store& store, const SessionId& parent, const MessageId& last,
                                   const std::string& driver, const fork::Limits& limits) {
  const Result<Range> range = range_of(store, parent, last, driver);
  if (!range) return std::unexpected(range.error());
  if (range->by_driver) return fork::Prepared{};
  std::deque<Message> newest;
  size_t bytes = 0;
  bool enough = false;
  int64_t unread = 0;
  for (int64_t before = range->before; !enough;) {
    Result<MessagePage> page = store.messages(parent, 0, before, page_size);
    if (!page) return std::unexpected(page.error());
    if (page->messages.empty()) break;
    before = page->messages.front().seq;
    for (auto message = page->messages.rbegin(); message != page->messages.rend() && !enough; ++message) {
      bytes += weight(*message, limits);
      unread = message->seq - 1;
      // What nobody has taken yet is no part of the conversation.
      const bool taken = message->role != Role::user || message->completed_at;
      if (taken || message->id == last) newest.push_front(std::move(*message));
      enough = newest.size() == messages_max || bytes / token_bytes_max > static_cast<size_t>(limits.tokens);
    }
    if (!page->more) break;
  }
  std::vector<Message> history =
      in_taking_order({std::make_move_iterator(newest.begin()), std::make_move_iterator(newest.end())});
  const std::string launched_by = launching_call(history);
  return fork::prepare(std::move(history), {}, launched_by, limits, unread);
}

// A conversation that another program has given, all of it.
Result<fork::Prepared> prepare_foreign(std::vector<Message> messages, const MessageId& last,
                                       const fork::Limits& limits) {
  if (last) {
    const auto found = std::ranges::find(messages, last, &Message::id);
    if (found != messages.end()) messages.erase(found + 1, messages.end());
  }
  const std::string launched_by = launching_call(messages);
  return fork::prepare(std::move(messages), last, launched_by, limits);
}

// The driver whose program may keep this session, and its name.
std::pair<std::string, Conversations*> keeper_of(const SessionId& session,
                                                 const std::map<std::string, Driver*>& drivers) {
  for (const auto& [name, driver] : drivers)
    if (auto* const conversations = dynamic_cast<Conversations*>(driver);
        conversations && conversations->may_have(session))
      return {name, conversations};
  return {};
}

}  // namespace

void Forks::inherit(const Launch& launch, Reply<fork::Prepared> then) {
  const auto agent = agents_.find(launch.agent_id);
  const auto nothing = [](Store&) -> Result<fork::Prepared> { return fork::Prepared{}; };
  if (agent == nullptr) return shared_.read(nothing, std::move(then));  // The launch will say so.
  const auto stored = [this, parent = launch.parent_session_id, last = launch.parent_message_id, driver = agent->driver,
                       limits = shared_.settings.fork](Reply<fork::Prepared> answer) {
    shared_.read([=](Store& store) { return read_parent(store, parent, last, driver, limits); }, std::move(answer));
  };
  const auto [name, keeper] = keeper_of(launch.parent_session_id, agents_.drivers());
  if (!keeper) return stored(std::move(then));
  const Driver* const driver = agents_.driver(agent->driver);
  // What its own program copies is not read here, and what cannot be used neither.
  const bool unread = (name == agent->driver && keeper->copies()) || driver == nullptr || !driver->capabilities().fork;
  keeper->has(launch.parent_session_id, [this, alive = shared_.alive(), keeper, unread, nothing, stored,
                                         parent = launch.parent_session_id, last = launch.parent_message_id,
                                         limits = shared_.settings.fork, then = std::move(then)](bool has) mutable {
    if (alive.expired()) return;
    if (!has) return stored(std::move(then));
    if (unread) return shared_.read(nothing, std::move(then));
    keeper->read(parent, [this, alive = std::move(alive), last, limits,
                          then = std::move(then)](Result<std::vector<Message>> messages) mutable {
      if (alive.expired()) return;
      if (!messages) return then(std::unexpected(messages.error()));
      shared_.read([messages = std::move(*messages), last,
                    limits](Store&) mutable { return prepare_foreign(std::move(messages), last, limits); },
                   std::move(then));
    });
  });
}

std::vector<Message> Forks::copies(fork::Prepared inherited, const SessionId& session, Time now) {
  std::vector<Message> out = std::move(inherited.messages);
  if (!inherited.preamble.empty())
    out.push_back({.role = Role::system,
                   .created_at = now,
                   .parts = {{.type = PartType::text, .text = std::move(inherited.preamble)}}});
  std::unordered_map<std::string, MessageId> renamed;
  Time at;
  for (Message& message : out) {
    MessageId id = shared_.ids.message();
    if (message.id) renamed.emplace(message.id.value, id);
    message.id = std::move(id);
    message.session_id = session;
    message.seq = 0;
    message.turn = 0;
    // In the order of their numbers, whatever clock they were written by.
    at = std::max(at, message.created_at);
    message.created_at = message.completed_at = std::min(at, now);
    // What a driver noted of other messages names their copies.
    for (Part& part : message.parts)
      if (part.type == PartType::notice && !part.opaque.empty())
        if (const size_t found = part.opaque.find("msg_"); found != std::string::npos)
          if (const auto to = renamed.find(part.opaque.substr(found)); to != renamed.end())
            part.opaque.replace(found, std::string::npos, to->second.value);
  }
  return out;
}

}  // namespace errand

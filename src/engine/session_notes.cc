#include "engine/session_notes.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"

namespace errand {
namespace {

namespace json = boost::json;

constexpr size_t changes_max = 1'000;

Result<std::vector<StatePiece>> read_state(Store& store, const SessionId& id) {
  const std::string prefix = session_setting_prefix(id);
  Result<std::vector<Commit::Setting>> stored = store.settings(prefix);
  if (!stored) return std::unexpected(stored.error());
  std::vector<StatePiece> pieces;
  for (const Commit::Setting& setting : *stored) {
    json::error_code error;
    const json::value value = json::parse(setting.json, error);
    const json::object* object = value.if_object();
    const json::value* text = object ? object->if_contains("value") : nullptr;
    const json::value* at = object ? object->if_contains("updated_at_ms") : nullptr;
    if (!text || !text->is_string() || !at || !at->is_int64())
      return fail(Code::internal, "A kept piece of this session's state cannot be read.", "corrupt");
    pieces.push_back({setting.name.substr(prefix.size()), std::string(text->get_string()), Time{at->get_int64()}});
  }
  return pieces;
}

std::unexpected<Error> too_large(std::string message) {
  return fail(Code::too_large, std::move(message), "state_full");
}

Status check_room(const std::vector<StatePiece>& kept, const std::string& key, size_t bytes) {
  size_t total = key.size() + bytes;
  size_t others = 0;
  for (const StatePiece& piece : kept) {
    if (piece.key == key) continue;
    ++others;
    total += piece.key.size() + piece.value.size();
  }
  if (others >= state_pieces_max)
    return too_large(fmt::format("A session keeps at most {} pieces of state; drop one first.", state_pieces_max));
  if (total > state_bytes_max)
    return too_large(fmt::format("A session keeps at most {} bytes of state and this would be {}; drop some first.",
                                 state_bytes_max, total));
  return {};
}

}  // namespace

void SessionNotes::read(SessionId id, Reply<std::vector<StatePiece>> reply) {
  shared_.read([id = std::move(id)](Store& store) { return read_state(store, id); }, std::move(reply));
}

void SessionNotes::keep(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) {
  if (commits_.refuse() || changes_.size() >= changes_max)
    return shared_.answer_later(std::move(reply), commits_.refusal());
  if (key.empty() || key.size() > state_key_bytes_max)
    return shared_.answer_later(
        std::move(reply), too_large(fmt::format("A key of a session's state has 1 to {} bytes.", state_key_bytes_max)));
  if (value && value->size() > state_value_bytes_max)
    return shared_.answer_later(std::move(reply),
                                too_large(fmt::format("A piece of a session's state has at most {} bytes; this has {}.",
                                                      state_value_bytes_max, value->size())));
  changes_.push_back({std::move(id), std::move(key), std::move(value), std::move(reply)});
  next();
}

void SessionNotes::next() {
  if (busy_ || changes_.empty()) return;
  busy_ = true;
  Change change = std::move(changes_.front());
  changes_.pop_front();
  // Copied first: the order in which a call's arguments are made is the compiler's choice.
  const SessionId session = change.session;
  shared_.read([session](Store& store) { return read_state(store, session); },
               [this, change = std::move(change)](Result<std::vector<StatePiece>> kept) mutable {
                 if (kept) return store(std::move(change), *kept);
                 busy_ = false;
                 change.reply(std::unexpected(kept.error()));
                 next();
               });
}

void SessionNotes::store(Change change, const std::vector<StatePiece>& kept) {
  const bool known = std::ranges::find(kept, change.key, &StatePiece::key) != kept.end();
  Status allowed;
  if (change.value)
    allowed = check_room(kept, change.key, change.value->size());
  else if (!known)
    allowed = fail(Code::not_found, fmt::format("This session keeps nothing under \"{}\".", change.key), "no_key");
  auto settle = [this, reply = std::move(change.reply)](Status status) mutable {
    busy_ = false;
    reply(std::move(status));
    next();
  };
  if (!allowed) return settle(std::move(allowed));

  Commit commit;
  Commit::Setting setting{session_setting_prefix(change.session) + change.key, {}};
  if (change.value) {
    const Time now = shared_.wall();
    // State always has a session to go with.
    commit.session = Session{.id = change.session, .origin = "rest", .created_at = now};
    JsonOut(setting.json).object().field("value", *change.value).field("updated_at_ms", now.ms).end();
  }
  commit.settings.push_back(std::move(setting));
  commits_.store(std::move(commit), [settle = std::move(settle)](const Result<Committed>& stored) mutable {
    settle(stored ? Status() : std::unexpected(stored.error()));
  });
}

}  // namespace errand

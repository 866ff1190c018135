// What sessions keep across turns (R8.6): stored settings whose names begin with the session's, so that the store lets
// them go with it.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/json_out.h"
#include "engine/engine_impl.h"

namespace errand {
namespace {

namespace json = boost::json;

constexpr size_t state_changes_max = 1'000;

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

void EngineImpl::session_state(SessionId id, Reply<std::vector<StatePiece>> reply) {
  read([id = std::move(id)](Store& store) { return read_state(store, id); }, std::move(reply));
}

void EngineImpl::keep_state(SessionId id, std::string key, std::optional<std::string> value, Reply<void> reply) {
  if (draining_ || overloaded() || state_changes_.size() >= state_changes_max)
    return answer_later(std::move(reply), busy_error());
  if (key.empty() || key.size() > state_key_bytes_max)
    return answer_later(std::move(reply),
                        too_large(fmt::format("A key of a session's state has 1 to {} bytes.", state_key_bytes_max)));
  if (value && value->size() > state_value_bytes_max)
    return answer_later(std::move(reply),
                        too_large(fmt::format("A piece of a session's state has at most {} bytes; this has {}.",
                                              state_value_bytes_max, value->size())));
  state_changes_.push_back({std::move(id), std::move(key), std::move(value), std::move(reply)});
  next_state_change();
}

void EngineImpl::next_state_change() {
  if (state_busy_ || state_changes_.empty()) return;
  state_busy_ = true;
  read([id = state_changes_.front().session](Store& store) { return read_state(store, id); },
       [this](Result<std::vector<StatePiece>> kept) {
         if (kept) return store_state_change(std::move(*kept));
         StateChange change = std::move(state_changes_.front());
         state_changes_.pop_front();
         state_busy_ = false;
         change.reply(std::unexpected(kept.error()));
         next_state_change();
       });
}

void EngineImpl::store_state_change(std::vector<StatePiece> kept) {
  auto change = std::make_shared<StateChange>(std::move(state_changes_.front()));
  state_changes_.pop_front();
  const auto settle = [this, change](Status status) {
    state_busy_ = false;
    change->reply(std::move(status));
    next_state_change();
  };
  const bool known = std::ranges::find(kept, change->key, &StatePiece::key) != kept.end();
  Status allowed;
  if (change->value) {
    allowed = check_room(kept, change->key, change->value->size());
  } else if (!known) {
    allowed = fail(Code::not_found, fmt::format("This session keeps nothing under \"{}\".", change->key), "no_key");
  }
  if (!allowed) return settle(allowed);

  Prepared prepared;
  prepared.commit.now = wall();
  Commit::Setting setting{session_setting_prefix(change->session) + change->key, {}};
  if (change->value) {
    // State always has a session to go with.
    prepared.commit.session = Session{.id = change->session, .origin = "rest", .created_at = wall()};
    JsonOut(setting.json).object().field("value", *change->value).field("updated_at_ms", wall().ms).end();
  }
  prepared.commit.settings.push_back(std::move(setting));
  prepared.done = [settle](Result<Committed> stored) {
    if (stored)
      settle({});
    else
      settle(std::unexpected(stored.error()));
  };
  stage(std::move(prepared));
}

}  // namespace errand

#include "driver/claude/history.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <boost/json.hpp>

#include "base/text.h"
#include "base/time.h"
#include "driver/claude/wire.h"

namespace errand::claude {
namespace {

namespace json = boost::json;

struct Record {
  std::string uuid, parent;
  bool spoken = false;  // It is something that was said.
  std::string text;     // Of a user who has said no more than a text.
  Event event;
  Time at;
};

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}
bool flag_at(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_bool() && found->get_bool();
}

std::optional<Record> read_record(std::string_view line) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = 128;
  const json::value value = json::parse(line, error, {}, options);
  const json::object* object = error ? nullptr : value.if_object();
  if (!object) return std::nullopt;
  Record record;
  record.uuid = text_at(*object, "uuid");
  record.parent = text_at(*object, "parentUuid");
  if (record.uuid.empty()) return std::nullopt;
  const bool aside =
      flag_at(*object, "isSidechain") || flag_at(*object, "isMeta") || flag_at(*object, "isApiErrorMessage");
  const std::string type = text_at(*object, "type");
  if (aside || (type != "user" && type != "assistant")) return record;
  record.spoken = true;
  record.event = parse_line(line);
  record.at = parse_time(text_at(*object, "timestamp")).value_or(Time{});
  if (const json::value* message = object->if_contains("message"); message && message->is_object())
    record.text = text_at(message->get_object(), "content");
  return record;
}

void add_block(const Block& block, Message& message) {
  Part part;
  switch (block.type) {
    case Block::Type::text:
      part = {.type = PartType::text, .text = block.text};
      break;
    case Block::Type::thinking:
      part = {.type = PartType::reasoning, .text = block.text};
      break;
    case Block::Type::tool_use:
      part = {.type = PartType::tool_call, .call_id = block.id, .name = block.name, .input = block.input};
      break;
    case Block::Type::tool_result:
      part = {.type = PartType::tool_result,
              .text = block.text,
              .call_id = block.id,
              .is_error = block.is_error,
              .size = std::ssize(block.text)};
      break;
    case Block::Type::other:
      return;
  }
  message.parts.push_back(std::move(part));
}

// Results stand with their calls, all else of a user is his own message.
void add(const Record& record, std::vector<Message>& messages) {
  const Event& event = record.event;
  if (event.type == Event::Type::assistant) {
    if (messages.empty() || messages.back().id.value != event.message_id)
      messages.push_back({.id = MessageId(event.message_id), .role = Role::assistant, .created_at = record.at});
    for (const Block& block : event.blocks) add_block(block, messages.back());
    return;
  }
  Message own{.id = MessageId(record.uuid), .role = Role::user, .created_at = record.at};
  if (!record.text.empty()) own.parts.push_back({.type = PartType::text, .text = record.text});
  for (const Block& block : event.blocks) {
    const bool result = block.type == Block::Type::tool_result;
    if (!result)
      add_block(block, own);
    else if (!messages.empty() && messages.back().role == Role::assistant)
      add_block(block, messages.back());
  }
  if (!own.parts.empty()) messages.push_back(std::move(own));
}

}  // namespace

std::vector<Message> read_history(std::string_view text) {
  std::vector<Record> records;
  std::unordered_map<std::string, size_t> places;
  std::optional<size_t> last;
  for (const std::string_view line : split(text, '\n')) {
    std::optional<Record> record = read_record(line);
    if (!record) continue;
    if (record->spoken) last = records.size();
    places[record->uuid] = records.size();
    records.push_back(*std::move(record));
  }
  // Back from the last one; a place only goes down, so that a circle ends it.
  std::vector<size_t> way;
  for (std::optional<size_t> at = last; at;) {
    way.push_back(*at);
    const auto before = places.find(records[*at].parent);
    at = before != places.end() && before->second < *at ? std::optional(before->second) : std::nullopt;
  }
  std::vector<Message> messages;
  for (auto at = way.rbegin(); at != way.rend(); ++at)
    if (records[*at].spoken) add(records[*at], messages);
  return messages;
}

}  // namespace errand::claude

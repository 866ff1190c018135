// Messages as they are stored, and put together from their events.
#include <boost/json.hpp>

#include "task/json_fields.h"
#include "task/json_in.h"

namespace errand {

using namespace stored;

namespace {

void decode_part(const json::value& value, Part& part, bool& ok) {
  Fields fields(value);
  fields.name_of("type", part.type, parse_part_type);
  fields.text("text", part.text);
  fields.text("call_id", part.call_id);
  fields.text("name", part.name);
  fields.text("input", part.input);
  fields.flag("is_error", part.is_error);
  fields.flag("truncated", part.truncated);
  fields.integer("size", part.size);
  fields.integer("ms", part.ms);
  fields.text("media_type", part.media_type);
  fields.text("url", part.url);
  fields.text("opaque", part.opaque);
  ok = ok && fields.ok();
}

bool is_prose(const Part& part) { return part.type == PartType::text || part.type == PartType::reasoning; }

void apply_delta(Message& open, Fields& fields) {
  size_t index = 0;
  Part piece;
  fields.integer("part", index);
  fields.name_of("type", piece.type, parse_part_type);
  fields.text("text", piece.text);
  if (!fields.ok()) return;
  std::vector<Part>& parts = open.parts;
  if (index < parts.size() && is_prose(parts[index])) {
    parts[index].text += piece.text;
  } else if (!parts.empty() && parts.back().type == piece.type) {
    // An index that does not fit (a damaged event) must not tear a text apart.
    parts.back().text += piece.text;
  } else {
    parts.push_back(std::move(piece));
  }
}

}  // namespace

std::string encode_parts(const std::vector<Part>& parts) {
  std::string text;
  JsonOut out(text);
  out.array();
  for (const Part& part : parts) {
    out.object().field("type", name(part.type));
    Sparse fields(out);
    fields.field("text", part.text);
    fields.field("call_id", part.call_id);
    fields.field("name", part.name);
    fields.field("input", part.input);
    fields.field("is_error", part.is_error);
    fields.field("truncated", part.truncated);
    fields.field("size", part.size);
    fields.field("ms", part.ms);
    fields.field("media_type", part.media_type);
    fields.field("url", part.url);
    fields.field("opaque", part.opaque);
    out.end();
  }
  out.end();
  return text;
}

Result<std::vector<Part>> decode_parts(std::string_view text) {
  const auto value = parse(text);
  std::vector<Part> parts;
  bool ok = true;
  const auto take = [&](const json::value& element) { decode_part(element, parts.emplace_back(), ok); };
  if (!value || !each_of(*value, take) || !ok) return damaged("message");
  return parts;
}

void apply_event(Message& open, const Event& event) {
  if (event.type != EventType::message_delta && event.type != EventType::tool_started &&
      event.type != EventType::tool_completed) {
    return;
  }
  const auto value = parse(event.data);
  if (!value) return;
  Fields fields(*value);
  if (event.type == EventType::message_delta) return apply_delta(open, fields);

  Part part;
  fields.text("call_id", part.call_id);
  if (event.type == EventType::tool_started) {
    part.type = PartType::tool_call;
    fields.text("name", part.name);
    if (const json::value* input = fields.find("input")) part.input = json::serialize(*input);
  } else {
    part.type = PartType::tool_result;
    fields.text("output", part.text);
    fields.flag("truncated", part.truncated);
    fields.integer("size", part.size);
    fields.flag("is_error", part.is_error);
    fields.integer("ms", part.ms);
  }
  if (fields.ok()) open.parts.push_back(std::move(part));
}

}  // namespace errand

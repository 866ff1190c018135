#include "driver/fake/place.h"

#include <boost/json.hpp>

#include "base/json_out.h"

namespace errand::fake {

std::string encode_place(const Place& place) {
  std::string out;
  JsonOut json(out);
  json.object().key("prompt").array();
  for (const std::string& id : place.prompt) json.value(id);
  json.end().field("step", place.step).field("sub", place.sub).field("part", place.part).field("open", place.open);
  json.field("said", place.said).field("asks", place.asks).key("answers").object();
  for (const auto& [slot, answer] : place.answers) json.field(slot, answer);
  json.end().end();
  return out;
}

Result<Place> decode_place(std::string_view text) {
  try {
    const boost::json::object root = boost::json::parse(text).as_object();
    Place place;
    for (const auto& id : root.at("prompt").as_array()) place.prompt.emplace_back(id.as_string());
    place.step = root.at("step").to_number<int64_t>();
    place.sub = root.at("sub").to_number<int64_t>();
    place.part = root.at("part").to_number<int>();
    place.open = root.at("open").as_bool();
    place.said = root.at("said").to_number<int64_t>();
    place.asks = root.at("asks").to_number<int>();
    for (const auto& [slot, answer] : root.at("answers").as_object())
      place.answers.emplace(slot, answer.as_string().c_str());
    if (place.step < 0 || place.sub < 0 || place.part < 0) return fail(Code::internal, "The checkpoint is damaged.");
    return place;
  } catch (const std::exception&) {
    return fail(Code::internal, "The checkpoint is damaged.");
  }
}

}  // namespace errand::fake

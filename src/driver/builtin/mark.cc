#include "driver/builtin/mark.h"

#include <boost/json.hpp>

#include "base/json_out.h"

namespace errand::builtin {
namespace json = boost::json;

std::string encode_mark(const Mark& mark) {
  if (mark.begun.empty()) return {};
  std::string text;
  JsonOut out(text);
  out.object().key("begun").array();
  for (const std::string& id : mark.begun) out.value(id);
  out.end().end();
  return text;
}

Mark decode_mark(std::string_view text) {
  Mark mark;
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const object = error ? nullptr : value.if_object();
  const json::value* const begun = object == nullptr ? nullptr : object->if_contains("begun");
  if (begun == nullptr || !begun->is_array()) return mark;
  for (const json::value& id : begun->get_array())
    if (id.is_string()) mark.begun.emplace(id.get_string());
  return mark;
}

}  // namespace errand::builtin

#include "model/json_in.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace errand::model {

namespace json = boost::json;

namespace {
constexpr size_t depth_max = 64;
constexpr int64_t count_max = int64_t{1} << 40;  // More tokens than there are.
}  // namespace

bool parse_json(std::string_view text, json::value& into) {
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = depth_max;
  options.allow_invalid_utf8 = true;  // text() mends it.
  into = json::parse({text.data(), text.size()}, error, {}, options);
  return !error;
}

const json::value* find(const json::value& in, std::string_view name) {
  const json::object* object = in.if_object();
  const json::value* value = object ? object->if_contains({name.data(), name.size()}) : nullptr;
  return value && !value->is_null() ? value : nullptr;
}

const json::value* find(const json::value& in, std::string_view name, std::string_view inner) {
  const json::value* value = find(in, name);
  return value ? find(*value, inner) : nullptr;
}

std::string text(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  const json::string* string = value ? value->if_string() : nullptr;
  if (!string) return {};
  const std::string_view view(string->data(), string->size());
  return is_utf8(view) ? std::string(view) : to_utf8(view);
}

std::optional<int64_t> integer(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const int64_t number = value->to_number<int64_t>(error);
  if (error || number < 0 || number > count_max) return std::nullopt;
  return number;
}

std::optional<double> real(const json::value& in, std::string_view name) {
  const json::value* value = find(in, name);
  if (!value || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const double number = value->to_number<double>(error);
  return error ? std::nullopt : std::optional(number);
}

bool is_object(std::string_view text) {
  json::value value;
  return parse_json(text, value) && value.is_object();
}

}  // namespace errand::model

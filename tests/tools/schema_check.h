// A small checker of JSON against the part of JSON Schema 2020-12 that our schemas use. For tests.
#pragma once

#include <set>
#include <string>

#include <boost/json.hpp>

namespace errand::tools {

inline bool has_type(const boost::json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  if (type == "number") return value.is_number();
  return false;
}

// Where and how `value` breaks the schema; empty where it does not. A word of the schema that it does not know is a
// breach too: nothing is quietly unchecked.
inline std::string breach(const boost::json::value& schema_value, const boost::json::value& value,
                          const std::string& at = "$") {
  static const std::set<std::string_view> known = {"type",
                                                   "properties",
                                                   "required",
                                                   "additionalProperties",
                                                   "items",
                                                   "enum",
                                                   "anyOf",
                                                   "minItems",
                                                   "maxItems",
                                                   "minimum",
                                                   "maximum",
                                                   "maxLength",
                                                   "exclusiveMinimum",
                                                   "description"};
  const boost::json::object& schema = schema_value.as_object();
  for (const auto& word : schema)
    if (!known.contains(word.key())) return at + ": the schema says " + std::string(word.key());
  if (const auto* any = schema.if_contains("anyOf")) {
    std::string all;
    for (const boost::json::value& one : any->as_array()) {
      const std::string broken = breach(one, value, at);
      if (broken.empty()) return {};
      all += broken + "; ";
    }
    return all;
  }
  if (const auto* type = schema.if_contains("type")) {
    bool fits = type->is_string() && has_type(value, type->as_string());
    if (type->is_array())
      for (const boost::json::value& one : type->as_array()) fits = fits || has_type(value, one.as_string());
    if (!fits) return at + ": is no " + boost::json::serialize(*type) + ": " + boost::json::serialize(value);
  }
  if (const auto* choices = schema.if_contains("enum")) {
    bool found = false;
    for (const boost::json::value& choice : choices->as_array()) found = found || choice == value;
    if (!found) return at + ": is none of " + boost::json::serialize(*choices);
  }
  if (value.is_array()) {
    if (const auto* items = schema.if_contains("items"))
      for (size_t i = 0; i < value.as_array().size(); ++i)
        if (std::string broken = breach(*items, value.as_array()[i], at + "[" + std::to_string(i) + "]");
            !broken.empty())
          return broken;
  }
  if (!value.is_object()) return {};
  const auto* properties = schema.if_contains("properties");
  if (const auto* required = schema.if_contains("required"))
    for (const boost::json::value& name : required->as_array())
      if (!value.as_object().contains(name.as_string())) return at + ": misses " + std::string(name.as_string());
  for (const auto& member : value.as_object()) {
    const std::string place = at + "." + std::string(member.key());
    const boost::json::value* property = properties ? properties->as_object().if_contains(member.key()) : nullptr;
    const auto* others = schema.if_contains("additionalProperties");
    if (!property && others && others->is_bool() && !others->as_bool()) return place + ": is not in the schema";
    if (!property && others && others->is_object()) property = others;
    if (!property) continue;
    if (std::string broken = breach(*property, member.value(), place); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace errand::tools

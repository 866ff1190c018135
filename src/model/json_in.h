// Reading a provider's JSON: what is missing or of another type is empty, never an error. For .cc files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boost::json {
class value;
}

namespace errand::model {

// Bounded in depth; nothing where it is no JSON.
bool parse_json(std::string_view text, boost::json::value& into);
// The member, where `in` is an object that has one that is not null.
const boost::json::value* find(const boost::json::value& in, std::string_view name);
const boost::json::value* find(const boost::json::value& in, std::string_view name, std::string_view inner);
std::string text(const boost::json::value& in, std::string_view name);
std::optional<int64_t> integer(const boost::json::value& in, std::string_view name);
std::optional<double> real(const boost::json::value& in, std::string_view name);
bool is_object(std::string_view json);

}  // namespace errand::model

// Reading and writing the fields of stored JSON. Inside task/ only: json_in.cc, json_launch.cc, json_message.cc, which
// know the library; here it has a name only.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json_out.h"
#include "base/result.h"
#include "task/task.h"

namespace boost::json {
class object;
class value;
}  // namespace boost::json

namespace errand::stored {

namespace json = boost::json;

std::unexpected<Error> damaged(std::string_view what);

// A parsed text; empty where it is none.
std::shared_ptr<const json::value> parse(std::string_view text);

// Reads fields of one object. An absent field keeps its default; one of a wrong type makes the whole unreadable.
class Fields {
 public:
  explicit Fields(const json::value& value);

  bool ok() const { return ok_; }
  void fail() { ok_ = false; }
  const json::value* find(const char* name) const;

  void text(const char* name, std::string& into);
  void integer64(const char* name, int64_t& into, int64_t least, int64_t most);
  void number(const char* name, double& into);
  void flag(const char* name, bool& into);
  void texts(const char* name, std::vector<std::string>& into);
  void integers(const char* name, std::vector<int>& into);  // None of them negative.
  void map(const char* name, StringMap& into);
  void each(const char* name, const std::function<void(const json::value&)>& visit);
  // An object inside.
  void inner(const char* name, const std::function<void(Fields&)>& visit);

  template <class Tag>
  void id(const char* name, Id<Tag>& into) {
    text(name, into.value);
  }
  template <class Tag>
  void ids(const char* name, std::vector<Id<Tag>>& into) {
    std::vector<std::string> all;
    texts(name, all);
    for (std::string& one : all) into.emplace_back(std::move(one));
  }
  template <class Int>
  void integer(const char* name, Int& into) {
    int64_t value = static_cast<int64_t>(into);
    constexpr int64_t most = std::numeric_limits<Int>::max() > std::numeric_limits<int64_t>::max()
                                 ? std::numeric_limits<int64_t>::max()
                                 : static_cast<int64_t>(std::numeric_limits<Int>::max());
    integer64(name, value, static_cast<int64_t>(std::numeric_limits<Int>::min()), most);
    into = static_cast<Int>(value);
  }
  void time(const char* name, Time& into) { integer(name, into.ms); }
  template <class E, class Parse>
  void name_of(const char* name, E& into, Parse parse_enum) {
    if (!find(name)) return;
    std::string text_value;
    text(name, text_value);
    if (const auto value = parse_enum(text_value)) {
      into = *value;
    } else {
      fail();
    }
  }

 private:
  const json::object* object_;
  bool ok_ = true;
};

// The elements of a list; false where it is none.
bool each_of(const json::value& list, const std::function<void(const json::value&)>& visit);

// Writes a field only where it differs from the default: most launches say little. Names are literals, which need no
// escaping.
class Sparse {
 public:
  explicit Sparse(JsonOut& out) : out_(out) {}
  template <size_t N, class T>
  void field(const char (&name)[N], const T& value, const T& usual = T{}) {
    if (!(value == usual)) out_.field(name, value);
  }
  template <size_t N>
  void time(const char (&name)[N], Time time) {
    field(name, time.ms);
  }
  template <size_t N, class Tag>
  void id(const char (&name)[N], const Id<Tag>& id) {
    if (id) out_.field(name, id);
  }
  template <size_t N, class E>
  void name_of(const char (&field_name)[N], E value) {
    if (value != E{}) out_.field(field_name, name(value));
  }
  template <size_t N>
  void texts(const char (&name)[N], const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    out_.key(name).array();
    for (const std::string& text : texts) out_.value(text);
    out_.end();
  }
  template <size_t N, class Tag>
  void ids(const char (&name)[N], const std::vector<Id<Tag>>& ids) {
    if (ids.empty()) return;
    out_.key(name).array();
    for (const Id<Tag>& id : ids) out_.value(id.value);
    out_.end();
  }
  template <size_t N>
  void map(const char (&name)[N], const StringMap& map) {
    if (map.empty()) return;
    out_.key(name).object();
    for (const auto& [key, text] : map) out_.field(key, text);
    out_.end();
  }

 private:
  JsonOut& out_;
};

void encode_rules(JsonOut& out, std::string_view field, const std::vector<PermissionRule>& rules);
void decode_rules(Fields& outer, const char* field, std::vector<PermissionRule>& rules);

}  // namespace errand::stored

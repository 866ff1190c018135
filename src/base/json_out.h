// JsonOut: appends JSON to a string. For what we write (replies, events, stored values), without building a document:
// reading JSON is Boost.JSON's work, in .cc files.
//
//   JsonOut out(text);
//   out.object().field("id", id).field("n", 3).key("list").array().value("a").end().end();
//
// Commas are its business. Strings are escaped; invalid UTF-8 becomes U+FFFD, so that what a process printed can never
// make a reply that does not parse.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace errand {

class JsonOut {
 public:
  explicit JsonOut(std::string& out) : out_(out) {}

  JsonOut& object() { return open('{'); }
  JsonOut& array() { return open('['); }
  // Closes the innermost object or array.
  JsonOut& end();
  JsonOut& key(std::string_view name);
  // A name that stands in our own code needs no escaping.
  template <size_t N>
  JsonOut& key(const char (&name)[N]) {
    return plain_key({name, N - 1});
  }

  JsonOut& value(std::string_view text);
  JsonOut& value(const char* text) { return value(std::string_view(text)); }
  JsonOut& value(const std::string& text) { return value(std::string_view(text)); }
  JsonOut& value(bool flag);
  JsonOut& value(double number);
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  JsonOut& value(I number) {
    return integer(static_cast<int64_t>(number));
  }
  // RFC 3339, or null for "never".
  JsonOut& value(Time wall);
  // The id, or null where it is empty.
  template <class Tag>
  JsonOut& value(const Id<Tag>& id) {
    return id.empty() ? null() : value(std::string_view(id.value));
  }
  template <class T>
  JsonOut& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  JsonOut& null();
  // Text that is JSON already (from our own writers or checked on the way in).
  JsonOut& raw(std::string_view json);

  template <class T>
  JsonOut& field(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }
  template <size_t N, class T>
  JsonOut& field(const char (&name)[N], const T& v) {
    plain_key({name, N - 1});
    return value(v);
  }
  // The text, or null where it is empty.
  JsonOut& text_or_null(std::string_view name, std::string_view text);

 private:
  JsonOut& open(char bracket);
  JsonOut& integer(int64_t number);
  JsonOut& plain_key(std::string_view name);
  void separate();

  std::string& out_;
  uint64_t is_object_ = 0;  // One bit a level, innermost lowest; 64 levels are more than we ever write.
  bool first_ = true;
  bool after_key_ = false;
};

// Appends `text` quoted and escaped.
void append_json_string(std::string& out, std::string_view text);

}  // namespace errand

// Strict reading of JSON from outside. Everything that is not expected is refused by name: a field that nobody knows, a
// wrong type, a value out of range, a name given twice, text that is not UTF-8. Nothing is guessed or converted.
//
//   Result<Document> document = Document::parse(body);
//   Fields fields(document->value());
//   fields.text("message", request.message, {.bytes_max = 1 << 20});
//   if (Status status = fields.done(); !status) return std::unexpected(status.error());
//
// The first thing that is wrong is what the answer names. A field that is null counts as not given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace boost::json {
class value;
}

namespace errand {

inline constexpr size_t json_depth_max = 64;
// Far more than any request needs: it bounds the memory that a body of a given size can turn into.
inline constexpr size_t json_values_max = 100'000;

class Document {
 public:
  // Errors: invalid_argument with reason "bad_json" (or "too_deep", "too_many_values", "duplicate_key").
  static Result<Document> parse(std::string_view text);
  // The same; a text without anything is an empty object.
  static Result<Document> parse_or_empty(std::string_view text);

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();
  const boost::json::value& value() const { return *value_; }

 private:
  explicit Document(std::unique_ptr<boost::json::value> value);
  std::unique_ptr<boost::json::value> value_;
};

// What a text may be. NUL is never allowed: no path, variable or argument can hold it.
struct TextRule {
  size_t bytes_max = 4096;
  bool may_be_blank = false;
  bool one_line = false;  // No control characters.
};

// The longest durations that a request may name.
inline constexpr double seconds_max = 10.0 * 365 * 86'400;

class Fields {
 public:
  // `path` stands before the names in messages: "limits.", "content[2].".
  explicit Fields(const boost::json::value& value, std::string path = {});

  // Given and not null.
  bool has(std::string_view name);
  bool is_text(std::string_view name);
  bool is_list(std::string_view name);

  void text(std::string_view name, std::string& into, TextRule rule);
  void flag(std::string_view name, bool& into);
  template <class Int>
  void integer(std::string_view name, Int& into, int64_t min, int64_t max) {
    if (const auto value = integer_in(name, min, max)) into = static_cast<Int>(*value);
  }
  // More than 0, up to `max`.
  void positive(std::string_view name, double& into, double max);
  // Seconds on the wire, milliseconds inside. 0 says "none", which is -1 inside.
  void seconds_or_none(std::string_view name, Millis& into);
  void texts(std::string_view name, std::vector<std::string>& into, size_t count_max, TextRule rule);
  void map(std::string_view name, std::map<std::string, std::string>& into, size_t count_max, TextRule rule);
  // The same, where a name may have null instead of a text.
  void map_or_null(std::string_view name, std::map<std::string, std::optional<std::string>>& into, size_t count_max,
                   TextRule rule);
  // Names to numbers; the object takes the place of what was there.
  void numbers(std::string_view name, std::map<std::string, int>& into, size_t count_max, int min, int max);
  template <class E>
  void name_of(std::string_view name, E& into, std::optional<E> (*parse)(std::string_view), std::string_view choices) {
    std::string word;
    if (!has(name)) return;
    text(name, word, {.bytes_max = 100});
    if (failed()) return;
    if (const std::optional<E> value = parse(word)) {
      into = *value;
    } else {
      refuse(name, "must be " + std::string(choices), "out_of_range");
    }
  }
  // An object inside, and a list of objects. The visitor reads the fields; unknown ones are refused after it.
  void inner(std::string_view name, const std::function<void(Fields&)>& visit);
  void each(std::string_view name, size_t count_max, const std::function<void(Fields&)>& visit);

  // Says that a field is wrong: "`path.name` must be ...".
  void refuse(std::string_view name, std::string_view must, std::string_view reason = "invalid_field");
  // Says that the request is wrong as a whole.
  void refuse_all(std::string sentence, std::string_view reason);
  bool failed() const { return error_.has_value(); }
  // The first error; else an error where a field was given that nobody asked for.
  Status done();

 private:
  const boost::json::value* find(std::string_view name);
  std::optional<int64_t> integer_in(std::string_view name, int64_t min, int64_t max);
  std::optional<std::string> checked_text(std::string_view name, const boost::json::value& value, const TextRule& rule);

  const boost::json::value& value_;
  std::string path_;
  std::vector<std::string_view> known_;  // Names are the caller's own constants.
  std::optional<Error> error_;
};

}  // namespace errand

// Document: a text from outside as JSON values, checked first for what a parser would let pass.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

#include "base/fields.h"
#include "base/text.h"

namespace errand {
namespace {

namespace json = boost::json;

// The names of one object. Few are looked through, many are hashed.
class Names {
 public:
  // False: it is there already.
  bool add(const std::string& name) {
    if (!many_.empty()) return many_.insert(name).second;
    if (std::ranges::find(few_, name) != few_.end()) return false;
    few_.push_back(name);
    if (few_.size() == few_max) many_.insert(few_.begin(), few_.end());
    return true;
  }

 private:
  static constexpr size_t few_max = 16;
  std::vector<std::string> few_;
  std::unordered_set<std::string> many_;
};

// Walks the text without building anything: counts values and finds names that are given twice (Boost.JSON keeps the
// last, other readers the first: two programs that see different requests are how checks are passed by).
class Checker {
 public:
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);

  const std::string& reason() const { return reason_; }
  const std::string& sentence() const { return sentence_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code& error) { return count(error); }
  bool on_array_end(size_t, json::error_code&) { return true; }
  bool on_object_begin(json::error_code& error) {
    names_.emplace_back();
    return count(error);
  }
  bool on_object_end(size_t, json::error_code&) {
    names_.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, size_t, json::error_code& error) {
    key_.append(part.data(), part.size());
    const bool fresh = names_.back().add(key_);
    if (!fresh) {
      return stop(error, "duplicate_key",
                  "The name `" + std::string(first_characters(key_, 100)) + "` is given twice in one JSON object.");
    }
    key_.clear();
    return true;
  }
  bool on_string_part(json::string_view, size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, size_t, json::error_code& error) { return count(error); }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t, json::string_view, json::error_code& error) { return count(error); }
  bool on_uint64(uint64_t, json::string_view, json::error_code& error) { return count(error); }
  bool on_double(double, json::string_view, json::error_code& error) { return count(error); }
  bool on_bool(bool, json::error_code& error) { return count(error); }
  bool on_null(json::error_code& error) { return count(error); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool count(json::error_code& error) {
    if (++values_ <= json_values_max) return true;
    return stop(error, "too_many_values",
                "The JSON has more than " + std::to_string(json_values_max) + " values; send less at once.");
  }
  bool stop(json::error_code& error, std::string reason, std::string sentence) {
    reason_ = std::move(reason);
    sentence_ = std::move(sentence);
    error = json::make_error_code(json::error::exception);
    return false;
  }

  std::vector<Names> names_;  // Of the objects that are open.
  std::string key_;
  size_t values_ = 0;
  std::string reason_;
  std::string sentence_;
};

Status check(std::string_view text, const json::parse_options& options) {
  json::basic_parser<Checker> parser(options);
  json::error_code error;
  const size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (!error) return {};
  const Checker& checker = parser.handler();
  if (!checker.reason().empty()) return fail(Code::invalid_argument, checker.sentence(), checker.reason());
  if (error == json::error::too_deep) {
    return fail(Code::invalid_argument, "The JSON is nested deeper than " + std::to_string(json_depth_max) + " levels.",
                "too_deep");
  }
  return fail(Code::invalid_argument,
              "The body is not valid JSON: " + error.message() + " near byte " + std::to_string(read) + ".",
              "bad_json");
}

}  // namespace

Document::Document(std::unique_ptr<json::value> value) : value_(std::move(value)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Result<Document> Document::parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = json_depth_max;
  try {
    if (const Status status = check(text, options); !status) return std::unexpected(status.error());
    return Document(std::make_unique<json::value>(json::parse(text, {}, options)));
  } catch (const std::exception& error) {
    return fail(Code::invalid_argument, std::string("The body cannot be read as JSON: ") + error.what() + ".",
                "bad_json");
  }
}

Result<Document> Document::parse_or_empty(std::string_view text) { return parse(trim(text).empty() ? "{}" : text); }

}  // namespace errand

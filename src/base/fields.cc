#include "base/fields.h"

#include <algorithm>
#include <cmath>

#include <boost/json.hpp>

namespace errand {
namespace {

namespace json = boost::json;

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string plain_number(double number) {
  std::string text = std::to_string(static_cast<int64_t>(number));
  return text;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

}  // namespace

Fields::Fields(const json::value& value, std::string path) : value_(value), path_(std::move(path)) {
  known_.reserve(path_.empty() ? 64 : 8);
  if (value_.is_object()) return;
  if (path_.empty()) {
    refuse_all("The body must be a JSON object.", "wrong_type");
  } else {
    refuse_all(quoted(path_.substr(0, path_.size() - 1)) + " must be an object.", "wrong_type");
  }
}

void Fields::refuse(std::string_view name, std::string_view must, std::string_view reason) {
  refuse_all(quoted(path_ + std::string(name)) + " " + std::string(must) + ".", reason);
}

void Fields::refuse_all(std::string sentence, std::string_view reason) {
  if (!error_) error_ = Error{Code::invalid_argument, std::move(sentence), std::string(reason)};
}

const json::value* Fields::find(std::string_view name) {
  known_.push_back(name);
  const json::object* object = value_.if_object();
  if (!object || failed()) return nullptr;
  const json::value* value = object->if_contains(name);
  return value && !value->is_null() ? value : nullptr;
}

bool Fields::has(std::string_view name) { return find(name) != nullptr; }

bool Fields::is_text(std::string_view name) {
  const json::value* value = find(name);
  return value && value->is_string();
}

bool Fields::is_list(std::string_view name) {
  const json::value* value = find(name);
  return value && value->is_array();
}

std::optional<std::string> Fields::checked_text(std::string_view name, const json::value& value, const TextRule& rule) {
  const json::string* text = value.if_string();
  if (!text) {
    refuse(name, "must be a text", "wrong_type");
    return std::nullopt;
  }
  const std::string_view view(text->data(), text->size());
  if (view.size() > rule.bytes_max) {
    refuse(name,
           "must not be longer than " + std::to_string(rule.bytes_max) + " bytes (it has " +
               std::to_string(view.size()) + ")",
           "too_long");
  } else if (!rule.may_be_blank && is_blank(view)) {
    refuse(name, "must not be empty", "empty");
  } else if (view.find('\0') != std::string_view::npos) {
    refuse(name, "must not contain a NUL character", "nul");
  } else if (rule.one_line && std::ranges::any_of(view, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    refuse(name, "must not contain control characters", "control_character");
  } else {
    return std::string(view);
  }
  return std::nullopt;
}

void Fields::text(std::string_view name, std::string& into, TextRule rule) {
  const json::value* value = find(name);
  if (!value) return;
  if (auto checked = checked_text(name, *value, rule)) into = std::move(*checked);
}

void Fields::flag(std::string_view name, bool& into) {
  const json::value* value = find(name);
  if (!value) return;
  if (const bool* flag = value->if_bool()) {
    into = *flag;
  } else {
    refuse(name, "must be true or false", "wrong_type");
  }
}

std::optional<int64_t> Fields::integer_in(std::string_view name, int64_t min, int64_t max) {
  const json::value* value = find(name);
  if (!value) return std::nullopt;
  if (!value->is_number()) {
    refuse(name, "must be a whole number", "wrong_type");
    return std::nullopt;
  }
  json::error_code error;
  const auto number = value->to_number<int64_t>(error);
  if (error || number < min || number > max) {
    refuse(name, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max), "out_of_range");
    return std::nullopt;
  }
  return number;
}

void Fields::positive(std::string_view name, double& into, double max) {
  const json::value* value = find(name);
  if (!value) return;
  if (!value->is_number()) return refuse(name, "must be a number", "wrong_type");
  const auto number = value->to_number<double>();
  if (!(number > 0) || number > max) {
    return refuse(name, "must be more than 0 and at most " + plain_number(max), "out_of_range");
  }
  into = number;
}

void Fields::seconds_or_none(std::string_view name, Millis& into) {
  const json::value* value = find(name);
  if (!value) return;
  if (!value->is_number()) return refuse(name, "must be a number of seconds", "wrong_type");
  const auto seconds = value->to_number<double>();
  if (!(seconds >= 0) || seconds > seconds_max) {
    return refuse(name, "must be a number of seconds from 0 (none) to " + plain_number(seconds_max), "out_of_range");
  }
  // Rounded up, so that a tiny duration does not become "none".
  into = seconds == 0 ? -1 : static_cast<Millis>(std::ceil(seconds * 1000));
}

void Fields::texts(std::string_view name, std::vector<std::string>& into, size_t count_max, TextRule rule) {
  const json::value* value = find(name);
  if (!value) return;
  const json::array* array = value->if_array();
  if (!array) return refuse(name, "must be a list of texts", "wrong_type");
  if (array->size() > count_max) {
    return refuse(name, "must have at most " + std::to_string(count_max) + " elements", "too_many");
  }
  for (size_t i = 0; i < array->size(); ++i) {
    auto checked = checked_text(std::string(name) + "[" + std::to_string(i) + "]", (*array)[i], rule);
    if (!checked) return;
    into.push_back(std::move(*checked));
  }
}

void Fields::map(std::string_view name, std::map<std::string, std::string>& into, size_t count_max, TextRule rule) {
  const json::value* value = find(name);
  if (!value) return;
  const json::object* object = value->if_object();
  if (!object) return refuse(name, "must be an object of names and texts", "wrong_type");
  if (object->size() > count_max) {
    return refuse(name, "must have at most " + std::to_string(count_max) + " members", "too_many");
  }
  for (const auto& [key, member] : *object) {
    auto checked = checked_text(std::string(name) + "." + std::string(key), member, rule);
    if (!checked) return;
    into.emplace(std::string(key), std::move(*checked));
  }
}

void Fields::map_or_null(std::string_view name, std::map<std::string, std::optional<std::string>>& into,
                         size_t count_max, TextRule rule) {
  const json::value* value = find(name);
  if (!value) return;
  const json::object* object = value->if_object();
  if (!object) return refuse(name, "must be an object of names and texts", "wrong_type");
  if (object->size() > count_max) {
    return refuse(name, "must have at most " + std::to_string(count_max) + " members", "too_many");
  }
  for (const auto& [key, member] : *object) {
    std::optional<std::string>& text = into[std::string(key)];
    if (member.is_null()) continue;
    text = checked_text(std::string(name) + "." + std::string(key), member, rule);
    if (!text) return;
  }
}

void Fields::numbers(std::string_view name, std::map<std::string, int>& into, size_t count_max, int min, int max) {
  const json::value* value = find(name);
  if (!value) return;
  const json::object* object = value->if_object();
  if (!object) return refuse(name, "must be an object of names and numbers", "wrong_type");
  if (object->size() > count_max) {
    return refuse(name, "must have at most " + std::to_string(count_max) + " members", "too_many");
  }
  into.clear();
  Fields members(*value, path_ + std::string(name) + ".");
  for (const auto& [key, member] : *object)
    if (const auto number = members.integer_in(key, min, max)) into.emplace(key, static_cast<int>(*number));
  if (const Status status = members.done(); !status) error_ = status.error();
}

void Fields::inner(std::string_view name, const std::function<void(Fields&)>& visit) {
  const json::value* value = find(name);
  if (!value) return;
  Fields fields(*value, path_ + std::string(name) + ".");
  visit(fields);
  if (const Status status = fields.done(); !status) error_ = status.error();
}

void Fields::each(std::string_view name, size_t count_max, const std::function<void(Fields&)>& visit) {
  const json::value* value = find(name);
  if (!value) return;
  const json::array* array = value->if_array();
  if (!array) return refuse(name, "must be a list", "wrong_type");
  if (array->size() > count_max) {
    return refuse(name, "must have at most " + std::to_string(count_max) + " elements", "too_many");
  }
  for (size_t i = 0; i < array->size(); ++i) {
    Fields fields((*array)[i], path_ + std::string(name) + "[" + std::to_string(i) + "].");
    visit(fields);
    if (const Status status = fields.done(); !status) {
      error_ = status.error();
      return;
    }
  }
}

Status Fields::done() {
  if (error_) return std::unexpected(*error_);
  for (const auto& member : value_.get_object()) {
    if (std::ranges::find(known_, std::string_view(member.key())) != known_.end()) continue;
    std::string allowed;
    for (auto known = known_.begin(); known != known_.end(); ++known)
      if (std::find(known_.begin(), known, *known) == known)  // A field may be asked for twice.
        allowed.append(allowed.empty() ? "" : ", ").append(*known);
    // The name comes from outside: only so much of it is shown.
    const std::string_view name = std::string_view(member.key()).substr(0, 100);
    return fail(Code::invalid_argument,
                "Unknown field " + quoted(path_ + std::string(name)) +
                    ". Known here: " + (allowed.empty() ? "none" : allowed) + ".",
                "unknown_field");
  }
  return {};
}

}  // namespace errand

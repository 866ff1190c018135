#include "task/json_fields.h"

#include <boost/json.hpp>

namespace errand::stored {
namespace {

// Deeper than anything that is let in (api/ allows 64 levels), so that what was stored can always be read.
constexpr size_t depth_max = 128;

// Most stored texts are small: their values lie in one piece of memory and need no freeing one by one.
struct Parsed {
  unsigned char first[896];
  json::monotonic_resource memory{first, sizeof first};
  json::value value = json::value(json::storage_ptr(&memory));
};

}  // namespace

std::unexpected<Error> damaged(std::string_view what) {
  return errand::fail(Code::internal, "The stored " + std::string(what) + " cannot be read: the store is damaged.",
                      "corrupt");
}

std::shared_ptr<const json::value> parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::error_code error;
  try {
    const auto parsed = std::make_shared<Parsed>();
    unsigned char stack[2048];
    json::parser parser({}, options, stack);
    parser.reset(&parsed->memory);
    if (parser.write(text, error) != text.size() || error) return nullptr;
    parsed->value = parser.release();
    return {parsed, &parsed->value};
  } catch (const std::exception&) {  // Out of memory, or a size that the library refuses.
    return nullptr;
  }
}

Fields::Fields(const json::value& value) : object_(value.if_object()) { ok_ = object_ != nullptr; }

const json::value* Fields::find(const char* name) const { return object_ ? object_->if_contains(name) : nullptr; }

void Fields::text(const char* name, std::string& into) {
  const json::value* const value = find(name);
  if (!value) return;
  if (const json::string* text = value->if_string()) {
    into.assign(text->data(), text->size());
  } else {
    fail();
  }
}

void Fields::integer64(const char* name, int64_t& into, int64_t least, int64_t most) {
  const json::value* const value = find(name);
  if (!value) return;
  json::error_code error;
  const auto number = value->to_number<int64_t>(error);
  if (error || number < least || number > most) return fail();
  into = number;
}

void Fields::number(const char* name, double& into) {
  const json::value* const value = find(name);
  if (!value) return;
  json::error_code error;
  const auto number = value->to_number<double>(error);
  if (error) return fail();
  into = number;
}

void Fields::flag(const char* name, bool& into) {
  const json::value* const value = find(name);
  if (!value) return;
  if (const bool* flag = value->if_bool()) {
    into = *flag;
  } else {
    fail();
  }
}

void Fields::texts(const char* name, std::vector<std::string>& into) {
  each(name, [&](const json::value& value) {
    if (const json::string* text = value.if_string()) {
      into.emplace_back(text->data(), text->size());
    } else {
      fail();
    }
  });
}

void Fields::integers(const char* name, std::vector<int>& into) {
  each(name, [&](const json::value& value) {
    const int64_t* const number = value.if_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return fail();
    into.push_back(static_cast<int>(*number));
  });
}

void Fields::map(const char* name, StringMap& into) {
  const json::value* const value = find(name);
  if (!value) return;
  const json::object* const object = value->if_object();
  if (!object) return fail();
  for (const auto& [key, element] : *object) {
    const json::string* const text = element.if_string();
    if (!text) return fail();
    into[std::string(key)].assign(text->data(), text->size());
  }
}

void Fields::each(const char* name, const std::function<void(const json::value&)>& visit) {
  const json::value* const value = find(name);
  if (value && !each_of(*value, visit)) fail();
}

void Fields::inner(const char* name, const std::function<void(Fields&)>& visit) {
  const json::value* const value = find(name);
  if (!value) return;
  Fields fields(*value);
  visit(fields);
  if (!fields.ok()) fail();
}

bool each_of(const json::value& list, const std::function<void(const json::value&)>& visit) {
  const json::array* const array = list.if_array();
  if (!array) return false;
  for (const json::value& element : *array) visit(element);
  return true;
}

void encode_rules(JsonOut& out, std::string_view field, const std::vector<PermissionRule>& rules) {
  if (rules.empty()) return;
  out.key(field).array();
  for (const PermissionRule& rule : rules) {
    out.object().field("tool", rule.tool).field("pattern", rule.pattern);
    out.field("decision", name(rule.decision)).end();
  }
  out.end();
}

void decode_rules(Fields& outer, const char* field, std::vector<PermissionRule>& rules) {
  outer.each(field, [&](const json::value& element) {
    PermissionRule& rule = rules.emplace_back();
    Fields inner(element);
    inner.text("tool", rule.tool);
    inner.text("pattern", rule.pattern);
    inner.name_of("decision", rule.decision, parse_permission);
    if (!inner.ok()) outer.fail();
  });
}

}  // namespace errand::stored

#include "settings/change.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/fields.h"
#include "base/json_out.h"

namespace errand {
namespace {

constexpr size_t names_max = 1'000;  // In a table of limits.
constexpr TextRule text_rule{.bytes_max = 100, .one_line = true};

template <class T>
constexpr bool is_number = std::is_same_v<T, int> || std::is_same_v<T, int64_t>;

void write_value(JsonOut& out, const std::string& value) { out.value(value); }
void write_value(JsonOut& out, bool value) { out.value(value); }
void write_value(JsonOut& out, fork::Profile value) { out.value(name(value)); }
void write_value(JsonOut& out, const std::vector<std::string>& value) {
  out.array();
  for (const std::string& text : value) out.value(text);
  out.end();
}
void write_value(JsonOut& out, const std::map<std::string, int>& value) {
  out.object();
  for (const auto& [key, limit] : value) out.field(key, limit);
  out.end();
}

// Of what a request and the store have alike.
void read_value(const Setting& setting, Fields& fields, std::string_view key, std::string& into) {
  fields.text(key, into, text_rule);
  if (!fields.failed() && !setting.choices.empty() && std::ranges::find(setting.choices, into) == setting.choices.end())
    fields.refuse(key, fmt::format("must be {}", choices_text(setting, "`")), "out_of_range");
}
void read_value(const Setting&, Fields& fields, std::string_view key, bool& into) { fields.flag(key, into); }
void read_value(const Setting& setting, Fields& fields, std::string_view key, fork::Profile& into) {
  fields.name_of(key, into, fork::parse_profile, choices_text(setting, "`"));
}
void read_value(const Setting&, Fields& fields, std::string_view key, std::vector<std::string>& into) {
  fields.texts(key, into, names_max, text_rule);
}
void read_value(const Setting& setting, Fields& fields, std::string_view key, std::map<std::string, int>& into) {
  fields.numbers(key, into, names_max, static_cast<int>(setting.least), static_cast<int>(setting.most));
}

}  // namespace

void SettingsChange::mark(const Setting& setting) {
  ERRAND_CHECK(setting.reach == Reach::running, "a setting that changes while the server runs");
  if (std::ranges::find(given_, &setting) == given_.end()) given_.push_back(&setting);
}

EngineSettings& SettingsChange::take(std::string_view name) {
  const Setting* const setting = find_setting(name);
  ERRAND_CHECK(setting != nullptr, "a setting");
  mark(*setting);
  return values_.engine;
}

void SettingsChange::take(const Setting& setting, std::string_view key, Fields& fields) {
  mark(setting);
  std::visit(
      [&]<class T>(At<T> at) {
        T& into = at(values_);
        if constexpr (is_number<T>) {
          if (setting.scale == 1) return fields.integer(key, into, setting.least, setting.most);
          Millis span = 0;
          fields.seconds_or_none(key, span);
          into = static_cast<T>(std::max<Millis>(span, 0));
        } else {
          read_value(setting, fields, key, into);
        }
      },
      setting.field);
}

bool SettingsChange::take_stored(std::string_view wire_name, std::string_view json) {
  const Setting* const setting = find_setting(wire_name);
  if (!setting || setting->reach != Reach::running) return false;  // Of a newer errand: left as it is.
  const Result<Document> document = Document::parse(json);
  if (!document) return false;
  Fields fields(document->value());
  Settings read = values_;
  std::visit(
      [&]<class T>(At<T> at) {
        T& into = at(read);
        if constexpr (is_number<T>) {
          constexpr auto ms_max = static_cast<Millis>(seconds_max * 1'000);
          const bool scaled = setting->scale != 1;
          fields.integer("value", into, scaled ? 0 : setting->least, scaled ? ms_max : setting->most);
        } else {
          read_value(*setting, fields, "value", into);
        }
      },
      setting->field);
  if (fields.failed()) return false;
  values_ = std::move(read);
  mark(*setting);
  return true;
}

std::string SettingsChange::stored(const Setting& setting) const {
  std::string text;
  JsonOut out(text);
  out.object().key("value");
  std::visit(
      [&]<class T>(At<T> at) {
        if constexpr (is_number<T>) {
          out.value(value_of(at, values_));
        } else {
          write_value(out, value_of(at, values_));
        }
      },
      setting.field);
  out.end();
  return text;
}

void SettingsChange::apply(EngineSettings& to) const {
  Settings whole;
  whole.engine = std::move(to);
  for (const Setting* setting : given_) std::visit([&](auto at) { at(whole) = value_of(at, values_); }, setting->field);
  to = std::move(whole.engine);
}

void write_setting(JsonOut& out, const Setting& setting, const EngineSettings& settings) {
  out.key(setting.wire);
  Settings whole;
  whole.engine = settings;
  std::visit(
      [&]<class T>(At<T> at) {
        const T& value = at(whole);
        if constexpr (is_number<T>) {
          if (setting.zero_is_null && value <= 0) {
            out.null();
          } else if (setting.scale == 1) {
            out.value(value);
          } else {
            out.value(static_cast<double>(value) / static_cast<double>(setting.scale));
          }
        } else {
          write_value(out, value);
        }
      },
      setting.field);
}

}  // namespace errand

// What is to change while the server runs: values of the rows whose reach is `running`, with the names that were given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/engine_settings.h"
#include "settings/settings.h"
#include "settings/table.h"

namespace errand {

class JsonOut;
class Fields;

class SettingsChange {
 public:
  // Marks a setting as given, by either name, and returns where its new value goes. A name that may not change while
  // the server runs is a bug of the caller.
  EngineSettings& take(std::string_view name);
  // The same from a request: field `key` of it, which is there. What is wrong with it is noted in `fields`.
  void take(const Setting& setting, std::string_view key, Fields& fields);
  // The same from the store, where stored() wrote it. False: it is none of ours, or no value of it, and left out.
  bool take_stored(std::string_view wire_name, std::string_view json);

  bool empty() const { return given_.empty(); }
  const std::vector<const Setting*>& given() const { return given_; }
  // {"value": ...}: as take_stored() reads it. Durations are milliseconds there.
  std::string stored(const Setting& setting) const;
  // Those that were given; the rest of `to` stays as it is.
  void apply(EngineSettings& to) const;

 private:
  void mark(const Setting& setting);

  Settings values_;
  std::vector<const Setting*> given_;
};

// As GET /api/settings shows it: its name and its value.
void write_setting(JsonOut& out, const Setting& setting, const EngineSettings& settings);

}  // namespace errand

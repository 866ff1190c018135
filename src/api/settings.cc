#include "api/settings.h"

#include "api/fields.h"
#include "base/json_out.h"

namespace errand::api {
namespace {

void refuse_fixed(Fields& fields, std::string_view name) {
  if (fields.has(name))
    fields.refuse(name, "must be changed in errand.toml: it is read when the server starts", "fixed_setting");
}

void read_setting(Fields& fields, const Setting& setting, SettingsChange& change) {
  const bool by_wire_name = fields.has(setting.wire);
  if (by_wire_name) change.take(setting, setting.wire, fields);
  if (setting.name == setting.wire || !fields.has(setting.name)) return;
  if (by_wire_name) return fields.refuse(setting.name, "must be given once, under one of its names", "duplicate_key");
  change.take(setting, setting.name, fields);
}

}  // namespace

Result<SettingsChange> parse_settings_change(std::string_view body) {
  const Result<Document> document = Document::parse(body);
  if (!document) return std::unexpected(document.error());
  SettingsChange change;
  Fields fields(document->value());
  for (const Setting& setting : all_settings()) {
    if (setting.reach == Reach::running) read_setting(fields, setting, change);
    if (setting.reach == Reach::shown) refuse_fixed(fields, setting.wire);
  }
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  if (change.empty()) return fail(Code::invalid_argument, "Name at least one setting that is to change.", "empty");
  return change;
}

std::string settings_reply(const EngineSettings& settings) {
  std::string text;
  JsonOut out(text);
  out.object();
  for (const Setting& setting : all_settings())
    if (setting.reach != Reach::start) write_setting(out, setting, settings);
  out.end();
  return text;
}

}  // namespace errand::api

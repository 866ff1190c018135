// Settings over the API, and the OpenAPI document against the table of settings.
#include "api/settings.h"

#include <set>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/openapi.h"

namespace errand::api {
namespace {

namespace json = boost::json;
using Names = std::set<std::string>;

std::string reason(std::string_view body) {
  const Result<SettingsChange> change = parse_settings_change(body);
  return change ? "" : change.error().reason;
}

EngineSettings changed(std::string_view body) {
  const Result<SettingsChange> change = parse_settings_change(body);
  EXPECT_TRUE(change) << body << ": " << change.error().message;
  EngineSettings settings;
  if (change) change->apply(settings);
  return settings;
}

Names properties(std::string_view schema) {
  const json::value document = json::parse(openapi_document());
  Names names;
  for (const auto& property : document.at("components").at("schemas").at(schema).at("properties").as_object())
    names.emplace(property.key());
  return names;
}

TEST(Settings, ChangeOneByOneInTheUnitsOfTheWire) {
  EXPECT_EQ(changed(R"({"max_concurrent":6})").max_concurrent, 6);
  EXPECT_EQ(changed(R"({"idle_timeout_s":1.5})").idle_timeout_ms, 1'500);
  EXPECT_EQ(changed(R"({"retention_s":0})").retention_ms, 0);
  EXPECT_EQ(changed(R"({"max_per_agent":{"demo":2}})").max_per_agent, (std::map<std::string, int>{{"demo", 2}}));
  EXPECT_EQ(changed(R"({"fork_profile":"tiered"})").fork.profile, fork::Profile::tiered);
  EXPECT_TRUE(changed(R"({"wake":true})").wake);
}

TEST(Settings, AreUnderstoodByEitherNameAndNotByBoth) {
  EXPECT_EQ(changed(R"({"tools_family":"bgagent"})").tools_family, "bgagent");
  EXPECT_EQ(changed(R"({"tools.family":"bgagent"})").tools_family, "bgagent");
  EXPECT_EQ(reason(R"({"tools.family":"bgagent","tools_family":"bgagent"})"), "duplicate_key");
}

TEST(Settings, RefuseWhatTheyAreNot) {
  EXPECT_EQ(reason(R"({"max_concurrent":0})"), "out_of_range");
  EXPECT_EQ(reason(R"({"max_concurrent":"6"})"), "wrong_type");
  EXPECT_EQ(reason(R"({"tools_family":"mine"})"), "out_of_range");
  EXPECT_EQ(reason(R"({"max_restarts":6})"), "fixed_setting");
  EXPECT_EQ(reason(R"({"default_work_dir":"/"})"), "fixed_setting");
  EXPECT_EQ(reason(R"({"listen":"127.0.0.1:1"})"), "unknown_field");
  EXPECT_EQ(reason("{}"), "empty");
}

TEST(Settings, AreShownAsTheDocumentSays) {
  Names shown, running;
  for (const Setting& setting : all_settings()) {
    if (setting.reach != Reach::start) shown.insert(setting.wire);
    if (setting.reach == Reach::running) running.insert(setting.wire);
  }
  shown.insert("default_work_dir");
  EXPECT_EQ(properties("Settings"), shown);
  EXPECT_EQ(properties("SettingsChange"), running);
  const json::value reply = json::parse(settings_reply({}));
  Names told;
  for (const auto& field : reply.as_object()) told.emplace(field.key());
  EXPECT_EQ(told, shown);
  EXPECT_EQ(reply.at("idle_timeout_s").to_number<double>(), 300);
  EXPECT_TRUE(reply.at("retention_s").is_null());
  EXPECT_EQ(reply.at("fork_profile"), "plain");
}

}  // namespace
}  // namespace errand::api

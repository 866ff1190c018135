// The table of settings against itself, its documentation and what is stored.
#include "settings/table.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "settings/change.h"

namespace errand {
namespace {

TEST(SettingsTable, HasEachNameOnceAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(names.insert(setting.wire).second) << setting.name;
    EXPECT_EQ(find_setting(setting.name), &setting);
    EXPECT_EQ(find_setting(setting.wire), &setting);
    EXPECT_TRUE(setting.help.ends_with('.')) << setting.name;
    const bool number =
        std::holds_alternative<At<int>>(setting.field) || std::holds_alternative<At<int64_t>>(setting.field);
    if (number) {
      EXPECT_LT(setting.least, setting.most) << setting.name;
    }
    EXPECT_EQ(setting.name.ends_with("_s"), setting.unit == Unit::seconds) << setting.name;
    EXPECT_EQ(setting.name.ends_with("_bytes"), setting.unit == Unit::bytes) << setting.name;
  }
}

// Each row has a place of its own: what one sets, no other does.
TEST(SettingsTable, HasAFieldForEachRow) {
  Settings settings;
  std::set<const void*> places;
  for (const Setting& setting : all_settings())
    std::visit([&](auto at) { EXPECT_TRUE(places.insert(&at(settings)).second) << setting.name; }, setting.field);
}

// What is shown or changed while the server runs is the engine's: it stores it, and the API reads it there.
TEST(SettingsTable, ShowsOnlyWhatTheEngineHas) {
  Settings settings;
  const auto* const begin = reinterpret_cast<const char*>(&settings.engine);
  for (const Setting& setting : all_settings()) {
    const void* const place = std::visit([&](auto at) -> const void* { return &at(settings); }, setting.field);
    const auto offset = static_cast<const char*>(place) - begin;
    const bool in_engine = offset >= 0 && offset < static_cast<ptrdiff_t>(sizeof settings.engine);
    EXPECT_EQ(in_engine, setting.reach != Reach::start) << setting.name;
  }
}

TEST(SettingsTable, DefaultsAreInTheUnitsThatPeopleWrite) {
  EXPECT_EQ(default_text(*find_setting("idle_timeout_s")), "300");
  EXPECT_EQ(default_text(*find_setting("output_limit_bytes")), "64 MiB");
  EXPECT_EQ(default_text(*find_setting("limit_memory_bytes")), "2 GiB");
  EXPECT_EQ(default_text(*find_setting("tools.family")), "`background`");
  EXPECT_EQ(default_text(*find_setting("work_dirs")), "none");
}

TEST(SettingsTable, IsTheOneInTheDocumentation) {
  const std::string path = ERRAND_SOURCE_DIR "/docs/operating.md";
  std::stringstream file;
  file << std::ifstream(path).rdbuf();
  std::string text = file.str();
  const std::string made = settings_markdown();
  const size_t begin = text.find(made.substr(0, made.find('\n') + 1));
  ASSERT_NE(begin, std::string::npos);
  const size_t end = text.find("\n\n", begin) + 1;
  if (std::getenv("ERRAND_UPDATE_DOCS")) {
    text.replace(begin, end - begin, made);
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), made) << "run with ERRAND_UPDATE_DOCS=1";
}

TEST(SettingsChange, IsReadBackAsItWasStored) {
  SettingsChange change;
  change.take("idle_timeout_s").idle_timeout_ms = 1'500;
  change.take("fork.profile").fork.profile = fork::Profile::tiered;
  change.take("max_per_agent").max_per_agent = {{"demo", 2}};
  change.take("wake").wake = true;
  SettingsChange read;
  for (const Setting* setting : change.given()) EXPECT_TRUE(read.take_stored(setting->wire, change.stored(*setting)));
  EngineSettings settings{.max_concurrent = 7};
  read.apply(settings);
  EXPECT_EQ(settings.idle_timeout_ms, 1'500);
  EXPECT_EQ(settings.fork.profile, fork::Profile::tiered);
  EXPECT_EQ(settings.max_per_agent, (std::map<std::string, int>{{"demo", 2}}));
  EXPECT_TRUE(settings.wake);
  EXPECT_EQ(settings.max_concurrent, 7) << "what was not given";
}

TEST(SettingsChange, LeavesOutWhatIsStoredAndNotOurs) {
  SettingsChange change;
  EXPECT_FALSE(change.take_stored("of_a_newer_errand", R"({"value":1})"));
  EXPECT_FALSE(change.take_stored("max_concurrent", R"({"value":"many"})"));
  EXPECT_FALSE(change.take_stored("max_concurrent", R"({"value":0})"));
  EXPECT_FALSE(change.take_stored("max_concurrent", "{"));
  EXPECT_FALSE(change.take_stored("listen", R"({"value":"0.0.0.0:1"})")) << "only read at the start";
  EXPECT_FALSE(change.take_stored("tools_family", R"({"value":"mine"})"));
  EXPECT_TRUE(change.empty());
}

}  // namespace
}  // namespace errand

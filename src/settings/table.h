// Every setting of the server that has a name, one row each: the only list of them.
//
// The readers of the file, the environment and flags (read.h), `errand serve --help`, GET and PATCH /api/settings
// (api/settings.h), what the engine stores (change.h) and the table in docs/operating.md follow from the rows. To add a
// setting: a field (settings.h, or engine_settings.h where the engine works with it), a row here, its documentation
// (docs/operating.md; api/openapi.json where it is shown). The tests name what is missing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "settings/settings.h"

namespace errand {

// Where a setting's value is.
template <class T>
using At = T& (*)(Settings&);
using SettingField = std::variant<At<std::string>, At<bool>, At<int>, At<int64_t>, At<fork::Profile>,
                                  At<std::vector<std::string>>, At<std::map<std::string, int>>>;

enum class Unit : uint8_t { none, seconds, bytes };

// Beside the file and the environment, where every setting can be.
enum class Reach : uint8_t {
  start,    // Read at the start, and told to nobody.
  shown,    // Read at the start; GET /api/settings shows it.
  running,  // Also changed while the server runs: PATCH /api/settings, `errand settings`. Stored.
};

struct Setting {
  std::string_view name;  // In the file and wherever people read it: "fork.tokens" is `tokens` of [fork].
  SettingField field;
  std::string_view help;  // One or more sentences, for the documentation and --help; names of ours in `backticks`.
  Reach reach = Reach::start;
  // Of numbers: the bounds, as they are written outside, and of how many of the field's own units one is: 1,000 where
  // seconds outside are milliseconds inside.
  int64_t least = 0, most = 0;
  Unit unit = Unit::none;
  int64_t scale = 1;
  bool zero_is_null = false;                   // 0 says "none": the API shows null.
  std::vector<std::string_view> choices = {};  // Of texts that are one of a few.
  std::string_view flag = {};                  // Of `errand serve`: "--listen"; empty: it has none.
  std::string_view flag_value = {};            // How its help calls the value: "ADDRESS:PORT".
  std::string wire = {};                       // The name in the API: '_' for '.'. The table fills it in.
};

// In the order in which they are shown.
std::span<const Setting> all_settings();
// By either name; null where there is none. Valid for ever.
const Setting* find_setting(std::string_view name);

// "ERRAND_FORK_TOKENS".
std::string environment_name(const Setting& setting);
// "background, superagents, asyncagents or bgagent"; each in `quote`s.
std::string choices_text(const Setting& setting, std::string_view quote = {});
// "300", "64 MiB", "none": what it is where nobody says, for people.
std::string default_text(const Setting& setting);
// The table of the documentation, in Markdown.
std::string settings_markdown();

// What is in the field.
template <class T>
const T& value_of(At<T> at, const Settings& settings) {
  return at(const_cast<Settings&>(settings));  // A row names a place, and changes nothing there.
}

}  // namespace errand

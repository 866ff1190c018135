#include "settings/model_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand {
namespace {

constexpr std::array<std::string_view, 5> ours = {"api", "base_url", "key", "key_env", "model"};
constexpr std::array<std::string_view, 7> of_one_model = {"effort",     "context_tokens", "output_tokens",  "input_usd",
                                                          "output_usd", "cache_read_usd", "cache_write_usd"};

std::string lines_of(const ModelSettings& model) {
  std::string lines;
  const std::array<std::pair<std::string_view, const std::string*>, 5> fields = {{{"api", &model.api},
                                                                                  {"base_url", &model.base_url},
                                                                                  {"key", &model.key},
                                                                                  {"key_env", &model.key_env},
                                                                                  {"model", &model.model}}};
  for (const auto& [name, value] : fields) {
    if (value->empty()) continue;
    std::string text;  // JSON's strings are TOML's.
    JsonOut(text).value(*value);
    lines += fmt::format("{} = {}\n", name, text);
  }
  return lines;
}

bool is_header(std::string_view line) {
  const std::string_view text = trim(line);
  if (!text.starts_with("[model]")) return false;
  const std::string_view rest = trim(text.substr(7));
  return rest.empty() || rest.starts_with('#');
}

// A line `name = ...` of ours.
bool sets_ours(std::string_view line) {
  const size_t equals = line.find('=');
  return equals != std::string_view::npos && std::ranges::find(ours, trim(line.substr(0, equals))) != ours.end();
}

std::string edited(std::string_view text, const std::string& lines) {
  std::string out;
  bool inside = false, found = false;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (trim(line).starts_with('[')) inside = is_header(line);
    if (inside && is_header(line)) {
      out.append(line);
      if (!line.ends_with('\n')) out += '\n';
      out += lines;
      found = true;
      continue;
    }
    if (!inside || !sets_ours(line)) out.append(line);
  }
  if (found) return out;
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  return out + (out.empty() ? "" : "\n") + "[model]\n" + lines;
}

// Did the edit change what was wanted, and nothing else?
bool is_right(const toml::table& before, const toml::table& after, const ModelSettings& model) {
  toml::table others_before = before, others_after = after;
  others_before.erase("model");
  others_after.erase("model");
  if (others_before != others_after || !after["model"].is_table()) return false;
  toml::table rest_before = before["model"].is_table() ? *before["model"].as_table() : toml::table();
  toml::table rest_after = *after["model"].as_table();
  const std::array<const std::string*, 5> values = {&model.api, &model.base_url, &model.key, &model.key_env,
                                                    &model.model};
  for (size_t i = 0; i < ours.size(); ++i) {
    if (rest_after[ours[i]].value_or(std::string()) != *values[i]) return false;
    rest_before.erase(ours[i]);
    rest_after.erase(ours[i]);
  }
  return rest_before == rest_after;
}

}  // namespace

Result<std::string> with_model_table(std::string_view text, const ModelSettings& model) {
  const toml::parse_result before = toml::parse(text);
  if (!before)
    return fail(Code::invalid_argument, fmt::format("errand.toml cannot be read: line {}: {}",
                                                    before.error().source().begin.line, before.error().description()));
  const std::string lines = lines_of(model);
  std::string after = edited(text, lines);
  const toml::parse_result parsed = toml::parse(after);
  if (parsed && is_right(before.table(), parsed.table(), model)) return after;
  ModelSettings shown = model;
  if (!shown.key.empty()) shown.key = "...";
  return fail(Code::conflict,
              fmt::format("The table [model] of errand.toml is written in a way that only a person can change. Write "
                          "there:\n{}",
                          lines_of(shown)),
              "by_hand");
}

std::string kept_of_model(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  std::string names;
  if (!parsed) return names;
  for (const std::string_view name : of_one_model)
    if (parsed.table()["model"][name]) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace errand

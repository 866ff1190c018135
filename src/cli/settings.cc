#include "cli/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <variant>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/text.h"

namespace errand::cli {
namespace {

using Field = std::variant<std::string Settings::*, int64_t Settings::*, bool Settings::*,
                           std::vector<std::string> Settings::*, std::map<std::string, int64_t> Settings::*>;

struct Setting {
  std::string_view name;  // In the file; in the environment ERRAND_NAME, with '_' for '.'.
  Field field;
  int64_t least = 0, most = 0;  // Of numbers.
};

constexpr int64_t year_s = 31'536'000;
const Setting all_settings[] = {
    {"listen", &Settings::listen},
    {"store", &Settings::store},
    {"max_concurrent", &Settings::max_concurrent, 1, 10'000},
    {"max_per_agent", &Settings::max_per_agent, 1, 10'000},
    {"max_per_model", &Settings::max_per_model, 1, 10'000},
    {"allow_over_limit", &Settings::allow_over_limit},
    {"command_timeout_s", &Settings::command_timeout_s, 1, year_s},
    {"idle_timeout_s", &Settings::idle_timeout_s, 1, year_s},
    {"max_restarts", &Settings::max_restarts, 1, 100},
    {"retention_s", &Settings::retention_s, 0, 100 * year_s},
    {"output_limit_bytes", &Settings::output_limit_bytes, 4'096, 1LL << 40},
    {"artifacts_max_bytes", &Settings::artifacts_max_bytes, 0, 1LL << 40},
    {"artifacts_max_files", &Settings::artifacts_max_files, 0, 100'000},
    {"limit_cpu_s", &Settings::limit_cpu_s, 0, year_s},
    {"limit_memory_bytes", &Settings::limit_memory_bytes, 0, 1LL << 50},
    {"limit_processes", &Settings::limit_processes, 0, 1'000'000},
    {"limit_open_files", &Settings::limit_open_files, 0, 1LL << 30},
    {"limit_nice", &Settings::limit_nice, -20, 19},
    {"env_allow", &Settings::env_allow},
    {"work_dirs", &Settings::work_dirs},
    {"child_umask", &Settings::child_umask},
    {"orphan_s", &Settings::orphan_s, 60, year_s},
    {"behind_proxy", &Settings::behind_proxy},
    {"tls_cert", &Settings::tls_cert},
    {"tls_key", &Settings::tls_key},
    {"allow_hosts", &Settings::allow_hosts},
    {"log_level", &Settings::log_level},
    {"tools.family", &Settings::tools_family},
};

std::unexpected<Error> wrong(std::string_view where, std::string_view name, std::string_view what) {
  return fail(Code::invalid_argument, fmt::format("{}: {} {}.", where, name, what));
}

Status check_range(const Setting& setting, int64_t value, std::string_view where) {
  if (value >= setting.least && value <= setting.most) return {};
  return wrong(where, setting.name, fmt::format("must be {} to {}", setting.least, setting.most));
}

// --- the file

Status from_toml(Settings& into, const Setting& setting, const toml::node& node, std::string_view where) {
  if (const auto* text = std::get_if<std::string Settings::*>(&setting.field)) {
    if (!node.is_string()) return wrong(where, setting.name, "must be a text in quotes");
    into.*(*text) = node.as_string()->get();
  } else if (const auto* flag = std::get_if<bool Settings::*>(&setting.field)) {
    if (!node.is_boolean()) return wrong(where, setting.name, "must be true or false");
    into.*(*flag) = node.as_boolean()->get();
  } else if (const auto* number = std::get_if<int64_t Settings::*>(&setting.field)) {
    if (!node.is_integer()) return wrong(where, setting.name, "must be a whole number");
    into.*(*number) = node.as_integer()->get();
    return check_range(setting, into.*(*number), where);
  } else if (const auto* list = std::get_if<std::vector<std::string> Settings::*>(&setting.field)) {
    if (!node.is_array()) return wrong(where, setting.name, "must be a list of texts");
    (into.*(*list)).clear();
    for (const toml::node& element : *node.as_array()) {
      if (!element.is_string()) return wrong(where, setting.name, "must be a list of texts");
      (into.*(*list)).push_back(element.as_string()->get());
    }
  } else if (const auto* table = std::get_if<std::map<std::string, int64_t> Settings::*>(&setting.field)) {
    if (!node.is_table()) return wrong(where, setting.name, "must be a table of names and whole numbers");
    for (const auto& [key, element] : *node.as_table()) {
      if (!element.is_integer()) return wrong(where, setting.name, "must be a table of names and whole numbers");
      const int64_t value = element.as_integer()->get();
      if (Status range = check_range(setting, value, where); !range) return range;
      (into.*(*table))[std::string(key.str())] = value;
    }
  }
  return {};
}

// A table that is no setting itself groups some: [tools] family = ... is tools.family.
Status read_table(Settings& into, const toml::table& table, const std::string& group, const std::string& path) {
  for (const auto& [key, node] : table) {
    const std::string name = group + std::string(key.str());
    const auto setting = std::ranges::find(all_settings, name, &Setting::name);
    const bool groups =
        std::ranges::any_of(all_settings, [&](const Setting& one) { return one.name.starts_with(name + "."); });
    Status read;
    if (setting != std::end(all_settings)) {
      read = from_toml(into, *setting, node, path);
    } else if (groups && node.is_table()) {
      read = read_table(into, *node.as_table(), name + ".", path);
    } else {
      read = wrong(path, name, groups ? "is a group of settings: write it as a table" : "is no setting of errand");
    }
    if (!read) return read;
  }
  return {};
}

Status read_file(Settings& into, const std::string& path) {
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed)
    return fail(Code::invalid_argument, fmt::format("{}, line {}: {}.", path, parsed.error().source().begin.line,
                                                    parsed.error().description()));
  return read_table(into, parsed.table(), {}, path);
}

// --- the environment

Status from_text(Settings& into, const Setting& setting, const std::string& value, const std::string& where) {
  if (const auto* text = std::get_if<std::string Settings::*>(&setting.field)) {
    into.*(*text) = value;
  } else if (const auto* flag = std::get_if<bool Settings::*>(&setting.field)) {
    if (value != "true" && value != "false" && value != "1" && value != "0")
      return wrong("environment", where, "must be true or false");
    into.*(*flag) = value == "true" || value == "1";
  } else if (const auto* number = std::get_if<int64_t Settings::*>(&setting.field)) {
    int64_t parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || end != value.data() + value.size())
      return wrong("environment", where, "must be a whole number");
    into.*(*number) = parsed;
    return check_range(setting, parsed, "environment");
  } else if (const auto* list = std::get_if<std::vector<std::string> Settings::*>(&setting.field)) {
    (into.*(*list)).clear();
    for (const std::string_view part : split(value, ','))
      if (!trim(part).empty()) (into.*(*list)).emplace_back(trim(part));
  } else {
    return wrong("environment", where, "is a table: set it in the settings file");
  }
  return {};
}

std::string environment_name(std::string_view name) {
  std::string out = "ERRAND_";
  for (const char c : name) out.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '.' ? '_' : c);
  return out;
}

}  // namespace

Result<Settings> read_settings(const ServeArgs& args, const std::map<std::string, std::string>& environment) {
  Settings settings;
  const std::string path = args.config.value_or(args.data_dir + "/errand.toml");
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (Status read = read_file(settings, path); !read) return std::unexpected(read.error());
  } else if (args.config) {
    return fail(Code::not_found, fmt::format("There is no settings file {}.", path));
  }
  for (const Setting& setting : all_settings) {
    const std::string name = environment_name(setting.name);
    if (const auto value = environment.find(name); value != environment.end())
      if (Status read = from_text(settings, setting, value->second, name); !read) return std::unexpected(read.error());
  }
  if (args.listen) settings.listen = *args.listen;
  if (args.store) settings.store = *args.store;
  if (args.max_concurrent) settings.max_concurrent = *args.max_concurrent;
  if (args.behind_proxy) settings.behind_proxy = true;
  if (args.tls_cert) settings.tls_cert = *args.tls_cert;
  if (args.tls_key) settings.tls_key = *args.tls_key;
  if (args.log_level) settings.log_level = *args.log_level;
  settings.allow_hosts.insert(settings.allow_hosts.end(), args.allow_host.begin(), args.allow_host.end());
  if (settings.max_concurrent < 1) return fail(Code::invalid_argument, "max_concurrent must be at least 1.");
  if (settings.child_umask.empty() || settings.child_umask.size() > 4 ||
      settings.child_umask.find_first_not_of("01234567") != std::string::npos ||
      std::strtol(settings.child_umask.c_str(), nullptr, 8) > 0777)
    return fail(Code::invalid_argument, "child_umask is an octal number in quotes, such as \"022\" or \"077\".");
  for (const std::string& folder : settings.work_dirs)
    if (!folder.starts_with('/'))
      return fail(Code::invalid_argument, fmt::format("work_dirs: \"{}\" must be an absolute path.", folder));
  if (settings.tls_cert.empty() != settings.tls_key.empty())
    return fail(Code::invalid_argument, "tls_cert and tls_key go together.");
  return settings;
}

}  // namespace errand::cli

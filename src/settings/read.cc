#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "settings/settings.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/json_out.h"
#include "base/text.h"

namespace errand {
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
    {"fetch.enabled", &Settings::fetch_enabled},
    {"fetch.allow_private", &Settings::fetch_allow_private},
    {"fork.tool_result_chars", &Settings::fork_tool_result_chars, 0, 10'000'000},
    {"fork.tokens", &Settings::fork_tokens, 1'000, 100'000'000},
    {"fork.profile", &Settings::fork_profile},
    {"ask_timeout_s", &Settings::ask_timeout_s, 0, year_s},
    {"wake", &Settings::wake},
    {"loop_max", &Settings::loop_max, 0, 1'000},
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

// --- tables with names of the user's own: models and MCP servers

// What a field of such a table may be; the first that fits its name takes it.
class TableReader {
 public:
  TableReader(const toml::table& table, std::string name, std::string path)
      : table_(table), name_(std::move(name)), path_(std::move(path)) {}

  void text(std::string_view key, std::string& into) {
    take(key, "must be a text in quotes", [&](const toml::node& node) {
      if (node.is_string()) into = node.as_string()->get();
      return node.is_string();
    });
  }
  void texts(std::string_view key, std::vector<std::string>& into) {
    take(key, "must be a list of texts", [&](const toml::node& node) {
      bool good = node.is_array();
      if (good)
        for (const toml::node& element : *node.as_array()) {
          good = good && element.is_string();
          if (good) into.push_back(element.as_string()->get());
        }
      return good;
    });
  }
  void map(std::string_view key, std::map<std::string, std::string>& into) {
    take(key, "must be a table of names and texts", [&](const toml::node& node) {
      bool good = node.is_table();
      if (good)
        for (const auto& [name, element] : *node.as_table()) {
          good = good && element.is_string();
          if (good) into[std::string(name.str())] = element.as_string()->get();
        }
      return good;
    });
  }
  void number(std::string_view key, int64_t& into, int64_t least, int64_t most) {
    take(key, fmt::format("must be a whole number from {} to {}", least, most), [&](const toml::node& node) {
      if (node.is_integer()) into = node.as_integer()->get();
      return node.is_integer() && into >= least && into <= most;
    });
  }
  void amount(std::string_view key, std::map<std::string, std::string>& into) {
    take(key, "must be a number, 0 or more", [&](const toml::node& node) {
      const std::optional<double> value = node.value<double>();
      if (node.is_number() && *value >= 0) into[std::string(key)] = fmt::format("{}", *value);
      return node.is_number() && *value >= 0;
    });
  }
  Status done() const {
    if (error_) return std::unexpected(*error_);
    for (const auto& [key, node] : table_)
      if (std::ranges::find(known_, key.str()) == known_.end())
        return wrong(path_, fmt::format("{}.{}", name_, key.str()), "is no setting of errand");
    return {};
  }

 private:
  void take(std::string_view key, std::string must, const std::function<bool(const toml::node&)>& read) {
    known_.push_back(key);
    const toml::node* const node = table_.get(key);
    if (node != nullptr && !read(*node) && !error_)
      error_ = wrong(path_, fmt::format("{}.{}", name_, key), must).error();
  }

  const toml::table& table_;
  const std::string name_, path_;
  std::vector<std::string_view> known_;
  std::optional<Error> error_;
};

Status read_model(ModelSettings& into, const toml::table& table, const std::string& name, const std::string& path) {
  TableReader reader(table, name, path);
  reader.text("api", into.api);
  reader.text("base_url", into.base_url);
  reader.text("key", into.key);
  reader.text("key_env", into.key_env);
  reader.text("model", into.model);
  reader.text("effort", into.effort);
  reader.map("headers", into.headers);
  for (const char* key :
       {"context_tokens", "output_tokens", "input_usd", "output_usd", "cache_read_usd", "cache_write_usd"})
    reader.amount(key, into.numbers);
  return reader.done();
}

Status read_mcp(McpSettings& into, const toml::table& table, const std::string& name, const std::string& path) {
  TableReader reader(table, name, path);
  reader.texts("command", into.command);
  reader.texts("pass_env", into.pass_env);
  reader.map("env", into.env);
  reader.text("url", into.url);
  reader.map("headers", into.headers);
  reader.map("headers_env", into.headers_env);
  reader.number("timeout_s", into.timeout_s, 1, 86'400);
  if (Status read = reader.done(); !read) return read;
  if (into.command.empty() == into.url.empty()) return wrong(path, name, "must have a command or a url, and not both");
  return {};
}

// True: it was such a table, and is read.
Result<bool> read_named(Settings& into, const std::string& name, const toml::node& node, const std::string& path) {
  if (name != "model" && name != "models" && name != "mcp") return false;
  if (!node.is_table()) return wrong(path, name, "must be a table");
  if (name == "model") {
    if (Status read = read_model(into.models[""], *node.as_table(), name, path); !read)
      return std::unexpected(read.error());
    return true;
  }
  for (const auto& [key, inner] : *node.as_table()) {
    const std::string own(key.str());
    const std::string whole = fmt::format("{}.{}", name, own);
    if (!inner.is_table()) return wrong(path, whole, fmt::format("must be a table: [{}]", whole));
    const Status read = name == "models" ? read_model(into.models[own], *inner.as_table(), whole, path)
                                         : read_mcp(into.mcp[own], *inner.as_table(), whole, path);
    if (!read) return std::unexpected(read.error());
  }
  return true;
}

// A value of an agent's table as JSON. What it may be is the API's business: it reads the whole agent.
void write_json(JsonOut& out, const toml::node& node) {
  if (const auto* table = node.as_table()) {
    out.object();
    for (const auto& [key, value] : *table) {
      out.key(key.str());
      write_json(out, value);
    }
    out.end();
  } else if (const auto* list = node.as_array()) {
    out.array();
    for (const toml::node& element : *list) write_json(out, element);
    out.end();
  } else if (const auto* text = node.as_string()) {
    out.value(text->get());
  } else if (const auto* number = node.as_integer()) {
    out.value(number->get());
  } else if (const auto* real = node.as_floating_point()) {
    out.value(real->get());
  } else if (const auto* flag = node.as_boolean()) {
    out.value(flag->get());
  } else {
    out.null();  // A date: nothing of an agent is one.
  }
}

Status read_agents(Settings& into, const toml::node& node, const std::string& path) {
  const toml::table* const agents = node.as_table();
  if (!agents) return wrong(path, "agents", "must be tables: [agents.NAME]");
  for (const auto& [name, setup] : *agents) {
    const toml::table* const table = setup.as_table();
    if (!table) return wrong(path, "agents." + std::string(name.str()), "must be a table: [agents.NAME]");
    if (table->contains("name")) return wrong(path, "agents." + std::string(name.str()) + ".name", "is in its heading");
    std::string text;
    JsonOut out(text);
    out.object().field("name", name.str());
    for (const auto& [key, value] : *table) {
      out.key(key.str());
      write_json(out, value);
    }
    out.end();
    into.agents.push_back(std::move(text));
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
    Result<bool> named = group.empty() ? read_named(into, name, node, path) : Result<bool>(false);
    if (!named) {
      read = std::unexpected(named.error());
    } else if (*named) {
      continue;
    } else if (setting != std::end(all_settings)) {
      into.given.push_back(name);
      read = from_toml(into, *setting, node, path);
    } else if (name == "agents") {
      read = read_agents(into, node, path);
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

Result<Settings> read_settings(const SettingsSources& sources, const std::map<std::string, std::string>& environment) {
  Settings settings;
  const std::string path = sources.config.value_or(sources.data_dir + "/errand.toml");
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    if (Status read = read_file(settings, path); !read) return std::unexpected(read.error());
  } else if (sources.config) {
    return fail(Code::not_found, fmt::format("There is no settings file {}.", path));
  }
  for (const Setting& setting : all_settings) {
    const std::string name = environment_name(setting.name);
    if (const auto value = environment.find(name); value != environment.end()) {
      settings.given.emplace_back(setting.name);
      if (Status read = from_text(settings, setting, value->second, name); !read) return std::unexpected(read.error());
    }
  }
  if (sources.listen) settings.listen = *sources.listen;
  if (sources.store) settings.store = *sources.store;
  if (sources.max_concurrent) {
    settings.max_concurrent = *sources.max_concurrent;
    settings.given.emplace_back("max_concurrent");
  }
  if (sources.behind_proxy) settings.behind_proxy = true;
  if (sources.tls_cert) settings.tls_cert = *sources.tls_cert;
  if (sources.tls_key) settings.tls_key = *sources.tls_key;
  if (sources.log_level) settings.log_level = *sources.log_level;
  settings.allow_hosts.insert(settings.allow_hosts.end(), sources.allow_host.begin(), sources.allow_host.end());
  if (settings.max_concurrent < 1) return fail(Code::invalid_argument, "max_concurrent must be at least 1.");
  if (settings.child_umask.empty() || settings.child_umask.size() > 4 ||
      settings.child_umask.find_first_not_of("01234567") != std::string::npos ||
      std::strtol(settings.child_umask.c_str(), nullptr, 8) > 0777)
    return fail(Code::invalid_argument, "child_umask is an octal number in quotes, such as \"022\" or \"077\".");
  for (const std::string& folder : settings.work_dirs)
    if (!folder.starts_with('/'))
      return fail(Code::invalid_argument, fmt::format("work_dirs: \"{}\" must be an absolute path.", folder));
  if (settings.fork_profile != "plain" && settings.fork_profile != "tiered")
    return fail(Code::invalid_argument, "fork.profile is \"plain\" or \"tiered\".");
  if (settings.tls_cert.empty() != settings.tls_key.empty())
    return fail(Code::invalid_argument, "tls_cert and tls_key go together.");
  return settings;
}

}  // namespace errand

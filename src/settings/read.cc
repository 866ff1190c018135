#include "settings/read.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/home.h"
#include "base/json_out.h"
#include "base/text.h"
#include "settings/table.h"

namespace errand {
namespace {

std::unexpected<Error> wrong(std::string_view where, std::string_view name, std::string_view what) {
  return fail(Code::invalid_argument, fmt::format("{}: {} {}.", where, name, what));
}

// A number as it is written, into a field in its own unit.
template <class T>
Status take_number(const Setting& setting, int64_t value, T& into, std::string_view where) {
  if (value < setting.least || value > setting.most)
    return wrong(where, setting.name, fmt::format("must be {} to {}", setting.least, setting.most));
  into = static_cast<T>(value * setting.scale);
  return {};
}

Status take_text(const Setting& setting, const std::string& value, std::string& into, std::string_view where) {
  if (!setting.choices.empty() && std::ranges::find(setting.choices, value) == setting.choices.end())
    return wrong(where, setting.name, fmt::format("must be {}", choices_text(setting)));
  into = value;
  return {};
}
Status take_text(const Setting& setting, const std::string& value, fork::Profile& into, std::string_view where) {
  const std::optional<fork::Profile> profile = fork::parse_profile(value);
  if (!profile) return wrong(where, setting.name, fmt::format("must be {}", choices_text(setting)));
  into = *profile;
  return {};
}

// --- the file

// One value of the file, as the field's type has it.
class FromToml {
 public:
  FromToml(const Setting& setting, const toml::node& node, std::string_view where)
      : setting_(setting), node_(node), where_(where) {}

  Status operator()(std::string& into) const { return text(into); }
  Status operator()(fork::Profile& into) const { return text(into); }
  Status operator()(int& into) const { return number(into); }
  Status operator()(int64_t& into) const { return number(into); }
  Status operator()(bool& into) const {
    if (!node_.is_boolean()) return must("be true or false");
    into = node_.as_boolean()->get();
    return {};
  }
  Status operator()(std::vector<std::string>& into) const {
    if (!node_.is_array()) return must("be a list of texts");
    into.clear();
    for (const toml::node& element : *node_.as_array()) {
      if (!element.is_string()) return must("be a list of texts");
      into.push_back(element.as_string()->get());
    }
    return {};
  }
  Status operator()(std::map<std::string, int>& into) const {
    if (!node_.is_table()) return must("be a table of names and whole numbers");
    for (const auto& [key, element] : *node_.as_table()) {
      if (!element.is_integer()) return must("be a table of names and whole numbers");
      int& value = into[std::string(key.str())];
      if (Status taken = take_number(setting_, element.as_integer()->get(), value, where_); !taken) return taken;
    }
    return {};
  }

 private:
  std::unexpected<Error> must(std::string_view what) const {
    return wrong(where_, setting_.name, fmt::format("must {}", what));
  }
  Status text(auto& into) const {
    if (!node_.is_string()) return must("be a text in quotes");
    return take_text(setting_, node_.as_string()->get(), into, where_);
  }
  Status number(auto& into) const {
    if (!node_.is_integer()) return must("be a whole number");
    return take_number(setting_, node_.as_integer()->get(), into, where_);
  }

  const Setting& setting_;
  const toml::node& node_;
  const std::string_view where_;
};

Status from_toml(Settings& into, const Setting& setting, const toml::node& node, std::string_view where) {
  if (std::ranges::find(into.given, setting.wire) != into.given.end())
    return wrong(where, setting.name, fmt::format("is given twice, once as {}", setting.wire));
  into.given.push_back(setting.wire);
  return std::visit([&](auto at) { return FromToml(setting, node, where)(at(into)); }, setting.field);
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
        return wrong(path_, fmt::format("{}.{}", name_, key.str()), "is not a setting of errand");
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
    const Setting* const setting = find_setting(name);
    const bool groups =
        std::ranges::any_of(all_settings(), [&](const Setting& one) { return one.name.starts_with(name + "."); });
    Status read;
    Result<bool> named = group.empty() ? read_named(into, name, node, path) : Result<bool>(false);
    if (!named) {
      read = std::unexpected(named.error());
    } else if (*named) {
      continue;
    } else if (setting != nullptr) {
      read = from_toml(into, *setting, node, path);
    } else if (name == "agents") {
      read = read_agents(into, node, path);
    } else if (groups && node.is_table()) {
      read = read_table(into, *node.as_table(), name + ".", path);
    } else {
      read = wrong(path, name, groups ? "is a group of settings: write it as a table" : "is not a setting of errand");
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

// --- the environment and flags

// One value that is text, as the field's type has it. `source` and `name` are what a refusal calls it.
class FromText {
 public:
  FromText(const Setting& setting, const std::string& text, std::string_view source, std::string_view name)
      : setting_(setting), text_(text), source_(source), name_(name) {}

  Status operator()(std::string& into) const { return take_text(setting_, text_, into, source_); }
  Status operator()(fork::Profile& into) const { return take_text(setting_, text_, into, source_); }
  Status operator()(int& into) const { return number(into); }
  Status operator()(int64_t& into) const { return number(into); }
  Status operator()(bool& into) const {
    if (text_ != "true" && text_ != "false" && text_ != "1" && text_ != "0")
      return wrong(source_, name_, "must be true or false");
    into = text_ == "true" || text_ == "1";
    return {};
  }
  Status operator()(std::vector<std::string>& into) const {
    for (const std::string_view part : split(text_, ','))
      if (!trim(part).empty()) into.emplace_back(trim(part));
    return {};
  }
  Status operator()(std::map<std::string, int>&) const {
    return wrong(source_, name_, "is a table: set it in the settings file");
  }

 private:
  Status number(auto& into) const {
    int64_t parsed = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), parsed);
    if (error != std::errc() || end != text_.data() + text_.size())
      return wrong(source_, name_, "must be a whole number");
    return take_number(setting_, parsed, into, source_);
  }

  const Setting& setting_;
  const std::string& text_;
  const std::string_view source_, name_;
};

Status read_environment(Settings& into, const std::map<std::string, std::string>& environment) {
  for (const Setting& setting : all_settings()) {
    const std::string name = environment_name(setting);
    const auto value = environment.find(name);
    if (value == environment.end()) continue;
    into.given.push_back(setting.wire);
    if (const auto* list = std::get_if<At<std::vector<std::string>>>(&setting.field)) (*list)(into).clear();
    const FromText read(setting, value->second, "environment", name);
    if (Status taken = std::visit([&](auto at) { return read(at(into)); }, setting.field); !taken) return taken;
  }
  return {};
}

Status read_flags(Settings& into, const std::vector<std::pair<std::string, std::string>>& flags) {
  for (const auto& [name, text] : flags) {
    const Setting* const setting = find_setting(name);
    if (!setting) return wrong("flags", name, "is not a setting of errand");
    into.given.push_back(setting->wire);
    const FromText read(*setting, text, "flags", setting->flag);
    if (Status taken = std::visit([&](auto at) { return read(at(into)); }, setting->field); !taken) return taken;
  }
  return {};
}

// What a row of the table cannot say.
Status check_together(const Settings& settings) {
  if (settings.child_umask.empty() || settings.child_umask.size() > 4 ||
      settings.child_umask.find_first_not_of("01234567") != std::string::npos ||
      std::strtol(settings.child_umask.c_str(), nullptr, 8) > 0777)
    return fail(Code::invalid_argument, "child_umask is an octal number in quotes, such as \"022\" or \"077\".");
  if (const std::string folder = from_home(settings.engine.default_work_dir);
      !folder.empty() && !folder.starts_with('/'))
    return fail(Code::invalid_argument, fmt::format("default_work_dir: \"{}\" must be an absolute path.", folder));
  for (const std::string& folder : settings.work_dirs)
    if (!folder.starts_with('/'))
      return fail(Code::invalid_argument, fmt::format("work_dirs: \"{}\" must be an absolute path.", folder));
  if (settings.tls_cert.empty() != settings.tls_key.empty())
    return fail(Code::invalid_argument, "tls_cert and tls_key go together.");
  return {};
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
  Status read = read_environment(settings, environment);
  if (read) read = read_flags(settings, sources.flags);
  if (read) read = check_together(settings);
  if (!read) return std::unexpected(read.error());
  return settings;
}

}  // namespace errand

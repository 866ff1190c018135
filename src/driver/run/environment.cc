#include "driver/run/environment.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace errand::run {
namespace {

constexpr std::array names = {"PATH",  "HOME", "LANG",   "LANGUAGE",      "USER",        "LOGNAME",
                              "SHELL", "TZ",   "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"};
constexpr std::array prefixes = {"LC_", "XDG_"};
constexpr std::array secret_parts = {"KEY",  "TOKEN",  "SECRET",  "PASS", "PWD",          "AUTH",
                                     "CRED", "COOKIE", "PRIVATE", "DSN",  "DATABASE_URL", "CONNECTION"};
constexpr std::string_view path_otherwise = "/usr/local/bin:/usr/bin:/bin";

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

bool bad_name(std::string_view name) {
  return name.empty() || name.find_first_of(std::string_view("=\0", 2)) != name.npos;
}

}  // namespace

bool looks_secret(std::string_view name) {
  const std::string text = upper(name);
  return text.ends_with("_PAT") ||
         std::ranges::any_of(secret_parts, [&](std::string_view part) { return text.contains(part); });
}

bool passed_by_default(std::string_view name) {
  const bool known = std::ranges::find(names, name, [](const char* n) { return std::string_view(n); }) != names.end() ||
                     std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
  return known && !looks_secret(name);
}

bool allowed_by(const std::vector<std::string>& allowed, std::string_view name) {
  return std::ranges::any_of(allowed, [&](std::string_view rule) {
    if (!rule.ends_with('*')) return rule == name;
    return name.starts_with(rule.substr(0, rule.size() - 1)) && !looks_secret(name);
  });
}

Environment make_environment(const std::vector<std::string>& server, const std::vector<std::string>& allowed,
                             const Launch& launch, const StringMap& marks) {
  std::map<std::string, std::string> own;
  for (const std::string& variable : server)
    if (const size_t equals = variable.find('='); equals != std::string::npos && equals > 0)
      own.emplace(variable.substr(0, equals), variable.substr(equals + 1));

  Environment out;
  std::map<std::string, std::string> all;
  all["PATH"] = path_otherwise;
  for (const auto& [name, value] : own)
    if (passed_by_default(name) || allowed_by(allowed, name)) all[name] = value;
  // There is no terminal (R9.1): what asks for one is told so.
  all["TERM"] = "dumb";
  for (const std::string& name : launch.pass_env) {
    if (const auto found = own.find(name); found != own.end()) {
      all[name] = found->second;
    } else {
      out.missing.push_back(name);
    }
  }
  for (const auto& [name, value] : launch.env) all[name] = value;
  for (const auto& [name, value] : marks) all[name] = value;
  out.variables.reserve(all.size());
  for (const auto& [name, value] : all) {
    std::string& variable = out.variables.emplace_back(name);
    variable += '=';
    variable += value;
  }
  return out;
}

Status check_environment(const Launch& launch) {
  for (const auto& [name, value] : launch.env) {
    if (bad_name(name))
      return fail(Code::invalid_argument,
                  "A name in `env` is empty or has \"=\" or a NUL byte in it; correct the name.");
    if (value.contains('\0'))
      return fail(Code::invalid_argument, fmt::format("The value of `env.{}` has a NUL byte in it; remove it.", name));
  }
  for (const std::string& name : launch.pass_env)
    if (bad_name(name))
      return fail(
          Code::invalid_argument,
          "A name in `pass_env` is empty or has \"=\" or a NUL byte in it; give names only, values go into `env`.");
  return {};
}

}  // namespace errand::run

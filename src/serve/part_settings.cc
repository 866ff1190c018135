#include "serve/part_settings.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/home.h"

namespace errand::serve {

EngineSettings engine_settings(const Settings& settings) {
  EngineSettings out = settings.engine;
  const char* const home = std::getenv("HOME");
  std::error_code none;
  const bool has_home = home != nullptr && *home == '/' && std::filesystem::is_directory(home, none);
  if (!out.default_work_dir.empty()) {
    out.default_work_dir = from_home(out.default_work_dir);
  } else if (!settings.work_dirs.empty()) {
    out.default_work_dir = settings.work_dirs.front();
  } else {
    out.default_work_dir = has_home ? home : "/";
  }
  return out;
}

std::vector<builtin::ModelSetup> model_setups(const Settings& settings) {
  std::vector<builtin::ModelSetup> setups;
  setups.reserve(settings.models.size());
  for (const auto& [name, model] : settings.models)
    setups.push_back({.name = name,
                      .api = model.api,
                      .base_url = model.base_url,
                      .key = model.key,
                      .key_env = model.key_env,
                      .model = model.model,
                      .effort = model.effort,
                      .headers = model.headers,
                      .options = model.numbers});
  return setups;
}

std::map<std::string, builtin::McpServer> mcp_servers(const Settings& settings) {
  std::map<std::string, builtin::McpServer> servers;
  for (const auto& [name, server] : settings.mcp)
    servers.emplace(name, builtin::McpServer{.command = server.command,
                                             .env = server.env,
                                             .pass_env = server.pass_env,
                                             .url = server.url,
                                             .headers = server.headers,
                                             .headers_env = server.headers_env,
                                             .timeout_ms = server.timeout_s * 1'000});
  return servers;
}

std::string page_url(const Settings& settings, const std::string& url) {
  std::string page = settings.notify_page_url.empty() ? url : settings.notify_page_url;
  while (page.ends_with('/')) page.pop_back();
  return page;
}

std::vector<std::string> own_hosts(const Settings& settings) {
  std::vector<std::string> hosts = settings.allow_hosts;
  if (const std::optional<notify::Url> page = notify::parse_url(settings.notify_page_url))
    hosts.push_back(page->host + (page->port.empty() ? "" : ":" + page->port));
  return hosts;
}

notify::NotifierParts notifier_parts(const Settings& settings, const std::string& url, notify::NotifierParts base) {
  base.private_hosts = settings.notify_private_hosts;
  base.page_url = page_url(settings, url);
  base.utc_offset = [](Time wall) -> Millis {
    const std::time_t seconds = wall.ms / 1'000;
    std::tm local{};
    return localtime_r(&seconds, &local) != nullptr ? local.tm_gmtoff * 1'000 : 0;
  };
  return base;
}

net::Means means_of(const process::Abilities& can) {
  net::Means means;
  if (!can.known) return means;
  means.limits = {
      {"cpu", can.cgroup ? "counted by a control group, RLIMIT_CPU as a second bound"
                         : "checked, RLIMIT_CPU as a second bound"},
      {"memory", can.cgroup_memory ? "the kernel (memory.max of a control group)" : "checked 10 to 200 times a second"},
      {"processes", can.cgroup_pids
                        ? "checked, pids.max of a control group as a second bound"
                        : "checked 10 to 200 times a second, RLIMIT_NPROC as a second bound (not for root)"},
      {"open_files", "the kernel (RLIMIT_NOFILE), for each process"},
      {"kill", can.cgroup ? "at once (cgroup.kill), " + can.cgroup_text
                          : "process by process: no control group (" + can.cgroup_text + ")"}};
  means.sandbox = !can.bwrap.empty();
  means.sandbox_text = can.bwrap.empty() ? can.bwrap_text : can.bwrap;
  return means;
}

}  // namespace errand::serve

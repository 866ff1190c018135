#include "cli/service.h"

#include <algorithm>
#include <poll.h>

#include <fmt/format.h>

#include "base/home.h"
#include "base/text.h"
#include "cli/connection.h"
#include "cli/files.h"
#include "cli/program.h"

namespace errand::cli {
namespace {

constexpr std::string_view own_unit = "errand.service";
constexpr Millis start_ms = 15'000;

std::vector<std::string> systemctl(const Service& service) {
  return service.user ? std::vector<std::string>{"systemctl", "--user"} : std::vector<std::string>{"systemctl"};
}

}  // namespace

std::vector<Service> services_in(std::string_view cgroup) {
  std::vector<Service> all;
  // "0::/user.slice/user-1000.slice/user@1000.service/app.slice/errand.service/server": the innermost is its own.
  for (const std::string_view line : split(cgroup, '\n')) {
    const size_t colon = line.find(':');
    const size_t path = colon == std::string_view::npos ? colon : line.find(':', colon + 1);
    if (path == std::string_view::npos) continue;
    bool user = false;
    Service found;
    for (const std::string_view part : split(line.substr(path + 1), '/')) {
      if (!part.ends_with(".service")) continue;
      // The user's systemd is a service of the machine's.
      if (part.starts_with("user@")) {
        user = true;
        found.unit.clear();
      } else {
        found = {.unit = std::string(part), .user = user};
      }
    }
    if (!found.unit.empty() && std::ranges::find(all, found) == all.end()) all.push_back(std::move(found));
  }
  // Where control groups say nothing (in a container, say) its name does.
  const Service usual{.unit = std::string(own_unit), .user = true};
  if (std::ranges::find(all, usual) == all.end()) all.push_back(usual);
  return all;
}

std::optional<Service> service_of(int64_t pid) {
  if (pid <= 0 || !on_path("systemctl")) return std::nullopt;
  for (Service& service : services_in(read_file(fmt::format("/proc/{}/cgroup", pid)))) {
    std::vector<std::string> words = systemctl(service);
    words.insert(words.end(), {"show", "--property=MainPID", "--value", "--", service.unit});
    const std::optional<std::string> main = output_of(std::move(words));
    if (main && trim(*main) == std::to_string(pid)) return std::move(service);
  }
  return std::nullopt;
}

Status tell(const Service& service, const char* what) {
  std::vector<std::string> words = systemctl(service);
  words.insert(words.end(), {what, "--", service.unit});
  if (succeeds(std::move(words))) return {};
  const std::string own = service.user ? "systemctl --user" : "systemctl";
  return fail(Code::unavailable,
              fmt::format("systemd runs the server, as {0}, and could not {1} it. Type: {2} {1} {0}, or {3} status {0}",
                          service.unit, what, service.user ? own : "sudo " + own, own),
              "service");
}

Result<Target> wait_for(const Where& where, const Service& service, int64_t before) {
  for (const Time until = steady_now() + start_ms; steady_now() < until; ::poll(nullptr, 0, 20)) {
    Result<Target> server = find_server(where, Start::never);
    if (server && !server->url.empty() && server->pid != before) return server;
  }
  return fail(Code::unavailable,
              fmt::format("systemd started {0}, but no server answers for {1}: systemctl {2}status {0}", service.unit,
                          to_home(where.data_dir), service.user ? "--user " : ""),
              "unreachable");
}

}  // namespace errand::cli

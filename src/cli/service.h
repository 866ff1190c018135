// The systemd service that a server runs in, where it runs in one: such a server is stopped and started by systemd, so
// that it stays in its unit, with the unit's environment and limits, and comes back with the next login.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/find_server.h"

namespace errand::cli {

struct Service {
  std::string unit;  // "errand.service"
  bool user = true;  // Of the user's own systemd, not of the machine's.

  bool operator==(const Service&) const = default;
};

// The units that a process may belong to, by the text of its /proc/PID/cgroup, the likeliest first. Pure.
std::vector<Service> services_in(std::string_view cgroup);

// The unit whose main process this is, as systemd says: a process that was only started inside of one is nobody's.
std::optional<Service> service_of(int64_t pid);

// What systemd is asked to do with it: "start", "stop", "restart". It has done so when this returns. The error says
// what a person can type.
Status tell(const Service& service, const char* what);

// After systemd has started it: the server of the data folder, once it answers and is not process `before`. systemd
// does not wait so long, and whoever looks for a server meanwhile would start one beside it.
Result<Target> wait_for(const Where& where, const Service& service, int64_t before);

}  // namespace errand::cli

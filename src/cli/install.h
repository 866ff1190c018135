// What errand install writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/service.h"

namespace errand::cli {

// packaging/errand.service, for /usr/bin/errand.
std::string_view service_unit();
// Whether a systemd of this user answers.
bool has_systemd();
// The service that `errand install` set up for this data folder, where it starts with the login; else none.
std::optional<Service> installed_service(const std::string& data_dir);
// The manual page.
std::string man_page();

}  // namespace errand::cli

// What errand install writes.
#pragma once

#include <string>
#include <string_view>

namespace errand::cli {

// packaging/errand.service, for /usr/bin/errand.
std::string_view service_unit();
// Whether a systemd of this user answers.
bool has_systemd();
// The manual page.
std::string man_page();

}  // namespace errand::cli

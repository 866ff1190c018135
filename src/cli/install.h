// What errand install writes.
#pragma once

#include <string>
#include <string_view>

namespace errand::cli {

// packaging/errand.service, for /usr/bin/errand.
std::string_view service_unit();
// The manual page.
std::string man_page();

}  // namespace errand::cli

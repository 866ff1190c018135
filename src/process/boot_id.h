// Which boot of the machine this is. Two that differ lie on both sides of a power cut (or of a plain reboot): what was
// not synced before it may be gone after it. Within one boot, what a process has written the others see.
#pragma once

#include <string>

namespace errand::process {

// Letters, digits and dashes, the same for every process until the machine is started anew. Empty where the system does
// not say, or not reliably: then nobody may count on it. Blocking, for a start.
std::string boot_id(const std::string& file = "/proc/sys/kernel/random/boot_id");

}  // namespace errand::process

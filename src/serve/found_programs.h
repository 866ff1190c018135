// Where the programs of agents were found, kept from one start of the server to the next. A server that cron, systemd
// or an editor starts has a poorer PATH than the shell of its user. Without this it would not find the programs that
// its tasks run in, and would end their turns.
#pragma once

#include <string>
#include <vector>

namespace errand::serve {

// `environment` (NAME=VALUE), with the folders behind its PATH in which an earlier server found a program that is not
// on it. Only where the program is still there. Remembers in DATA/programs.json where each is now. For agents'
// programs: the PATH of commands is the server's own. Blocking; for the start of the server, behind the lock of its
// folder.
std::vector<std::string> with_found_programs(std::vector<std::string> environment, const std::string& data_dir);

}  // namespace errand::serve

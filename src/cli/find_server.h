// Which server the CLI talks to, and how it starts one where none runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/connection.h"

namespace errand::cli {

// What the command line and the environment say. Fixed for the life of the CLI.
struct Where {
  std::string data_dir;    // Absolute.
  std::string url;         // Of a server that is not this data folder's own; empty: the local one.
  std::string token;       // ERRAND_TOKEN; wins over a file.
  std::string token_file;  // For `url`; empty: the data folder's, where `url` is this machine.
};

struct Target {
  Endpoint endpoint;
  std::string url;        // For people and links: "http://127.0.0.1:4747"; empty where it did not say.
  std::string authority;  // The Host header.
  std::string token;
  std::string version;  // As server.json says; empty where unknown.
  int64_t pid = 0;      // As server.json says; 0 where unknown.
  std::string config;   // The settings file that it reads, as server.json says; empty where unknown.
  bool local = true;    // Shares this machine's files: the current folder means something to it.
};

enum class Start : uint8_t { never, if_none };

// How a server was started by hand or by a verb: its words behind the program, and where.
struct ServeWords {
  std::vector<std::string> words;  // Empty: as a verb starts one.
  std::string folder;              // What relative paths among the words mean; empty: the home folder.
};

// The server to use. The local one is reached at the URL that server.json gives, but only while the process that wrote
// it lives: of a server that was killed a stranger may have the port by now, and would be shown the token. Else through
// the unix socket of the data folder, which nobody else can have taken over. Where none answers and `start` allows it,
// one is started: by systemd where `errand install` gave this folder a unit, else in the background; of several CLIs
// that do so at once one starts it and the others wait for it. Fails with `unavailable`.
Result<Target> find_server(const Where& where, Start start);

// The same for one that was just stopped: it is started as it was started before (start_server.h).
Result<Target> start_again(const Where& where, const ServeWords& words);

// "http://host:port" or "https://…", nothing behind it but slashes. Plain http only to this machine, since the token
// would be readable on the way.
Result<Target> parse_url(const std::string& url);

// The default data folder: $ERRAND_DATA_DIR, $XDG_DATA_HOME/errand, ~/.local/share/errand.
std::string default_data_dir();

}  // namespace errand::cli

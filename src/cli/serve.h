// The two verbs that are not clients: the server and the supervisor. They are written beside main.cc, which knows the
// concrete classes; the command line only fills these.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace errand::cli {

// What is absent comes from the environment (ERRAND_…), then the settings file, then the default.
struct ServeArgs {
  std::string data_dir;               // Absolute.
  std::optional<std::string> listen;  // "127.0.0.1:4747"
  std::optional<std::string> store;   // A URL; absent: the SQLite file in the data folder.
  std::optional<int> max_concurrent;
  std::optional<std::string> config;  // A TOML file; absent: data_dir/errand.toml.
  bool behind_proxy = false;
  std::optional<std::string> tls_cert;  // PEM files.
  std::optional<std::string> tls_key;
  std::vector<std::string> allow_host;  // More names that the Host header may have.
  std::optional<std::string> log_level;
  bool json = false;  // The line that tells that it is ready, and why it is not, as JSON.
};

// Runs the server until it is told to stop. Returns the exit code.
int serve(const ServeArgs& args);

struct SupervisorArgs {
  std::string data_dir;  // Absolute.
};

// Runs the supervisor until it has nothing left to do. The server starts it; people need not.
int supervisor(const SupervisorArgs& args);

}  // namespace errand::cli

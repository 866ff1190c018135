// server.json: how clients find the server of a data folder.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "base/result.h"

namespace errand::serve {

// What server.json holds, and `serve --json` prints: {"pid", "url", "version", "config"} and a line end. `config`: the
// settings file that the server reads, there or not.
std::string about_server(const std::string& url, const std::string& config);

// Clients read the file at any time. So it is written beside its place first, when all that can fail is tried and no
// work was touched yet, and put into its place when the server is ready. It is not synced: after a power cut no server
// runs that it could speak of. Only the server that has the data folder's lock may call these.
class ServerFile {
 public:
  explicit ServerFile(const std::string& data_dir);

  Status prepare(const std::string& text);
  Status publish();
  // What is there of it by now. Calling it again does nothing.
  void remove();

 private:
  enum class State : uint8_t { none, prepared, published };
  std::unexpected<Error> not_written() const;

  const std::string path_, prepared_;
  State state_ = State::none;
};

}  // namespace errand::serve

// Requests to OpenCode under way, each with what is to be done with its answer. Destroyed, they are ended and nobody is
// called any more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "http/client.h"

namespace errand::opencode {

struct Reply {
  int status = 0;
  std::string body;
};

class Calls {
 public:
  using Done = std::move_only_function<void(Result<Reply>)>;

  explicit Calls(http::Client& client);
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // `done` may destroy this.
  void start(http::Request request, Done done);
  void clear();
  bool empty() const { return calls_.empty(); }

 private:
  class One;
  http::Client& client_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::unique_ptr<One>> calls_;
};

}  // namespace errand::opencode

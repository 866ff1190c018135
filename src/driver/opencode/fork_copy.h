// The session of a fork (R6.1): OpenCode's own copy of the whole parent; the rules of R6 on the copy; the preamble,
// with the parent's agent and model. A copy that was not finished is of no use: it goes, and the next try makes
// another.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "driver/opencode/fork_plan.h"
#include "driver/opencode/server.h"

namespace errand::opencode {

class ForkCopy {
 public:
  struct Made {
    std::string session;
    std::string preamble;
    int64_t messages = 0;  // That were taken over.
  };
  using Done = std::move_only_function<void(Result<Made>)>;
  // There is a copy, under this id.
  using Copied = std::move_only_function<void(const std::string& session)>;

  // Begins. `done` may destroy this. Destroyed, it does nothing more; a copy that is there stays: see abandon().
  ForkCopy(Server& server, std::shared_ptr<const Task> task, const fork::Limits& limits, Copied copied, Done done);
  ForkCopy(const ForkCopy&) = delete;
  ForkCopy& operator=(const ForkCopy&) = delete;

  // Ends it, and what was made of the copy goes.
  void abandon();

 private:
  using Then = std::move_only_function<void(std::string body)>;
  // Goes on with the answer, or fails.
  void step(http::Request request, Then then);
  void fail_with(const std::string& why);
  void copy(size_t keep);
  void plan(std::string body, size_t keep);
  void edit();
  void put_preamble();
  std::string at_copy(std::string_view path) const;

  Server& server_;
  std::shared_ptr<const Task> task_;
  fork::Limits limits_;
  Copied copied_;
  Done done_;
  ForkPlan plan_;
  std::string copy_;
  size_t next_edit_ = 0;
  size_t under_way_ = 0;
  Calls calls_;
  Beside beside_;  // A conversation may be 256 MiB of JSON.
};

}  // namespace errand::opencode

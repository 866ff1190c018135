// Doing one thing to several tasks: each is tried, each failure is told, and the exit code is the first failure's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/screen.h"

namespace errand::cli {

class Outcome {
 public:
  void done(std::string id, std::string reply) { succeeded_.emplace_back(std::move(id), std::move(reply)); }
  void failed(const Screen& screen, const Error& error) {
    int exit = screen.fail(error);
    if (exit_ == 0) exit_ = exit;
  }
  // It was told already.
  void failed_with(int exit) {
    if (exit_ == 0) exit_ = exit;
  }
  // Ids and the server's answers.
  const std::vector<std::pair<std::string, std::string>>& succeeded() const { return succeeded_; }
  int exit() const { return exit_; }

 private:
  std::vector<std::pair<std::string, std::string>> succeeded_;
  int exit_ = 0;
};

}  // namespace errand::cli

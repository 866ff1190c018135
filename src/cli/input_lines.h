// Lines from standard input while something else goes on: read as far as there is something, never waited for.
#pragma once

#include <deque>
#include <optional>
#include <string>

namespace errand::cli {

class InputLines {
 public:
  // The next whole line (at the end of the input also one without a newline); none where nothing has come yet.
  std::optional<std::string> next();
  // Everything was read, and nothing more will come.
  bool ended() const { return ended_ && lines_.empty(); }

 private:
  void read();

  std::string unfinished_;
  std::deque<std::string> lines_;
  bool ended_ = false;
};

}  // namespace errand::cli

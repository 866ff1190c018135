// Questions to the person at the terminal, line by line. Answers that run out (Ctrl-D, a terminal that has gone) are an
// error, reason `left`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/screen.h"

namespace errand::cli {

class Questions {
 public:
  explicit Questions(const Screen& screen) : screen_(screen) {}

  // One line, without what is around it; may be empty.
  Result<std::string> line(std::string_view prompt) const;
  // The same, and nothing that is typed or pasted is shown.
  Result<std::string> secret(std::string_view prompt) const;
  // "y" or "n"; `usual` where only Enter is pressed.
  Result<bool> yes(std::string_view prompt, bool usual) const;
  // The number of an option, from 0; `usual` where only Enter is pressed.
  Result<size_t> choose(std::string_view prompt, size_t options, size_t usual) const;

 private:
  const Screen& screen_;
};

}  // namespace errand::cli

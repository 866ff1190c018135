// The line that shows, on a terminal, that something is going on while the CLI waits: a spinner, what the task does,
// how long it has taken. It is on standard error, and it is gone when it is done.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/screen.h"
#include "cli/wire.h"

namespace errand::cli {

class ProgressLine {
 public:
  // Shows nothing unless standard error is a terminal, and nothing with -q or --json.
  explicit ProgressLine(const Screen& screen);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void set(std::string_view text) { text_ = text; }
  // Draws it, where it is time to.
  void tick();
  // Before anything else is written to the terminal.
  void erase();
  // While a line stands there unfinished: drawing would write over it.
  void hold(bool held) { held_ = held; }
  bool active() const { return active_; }

 private:
  const Screen& screen_;
  bool active_;
  bool drawn_ = false;
  bool held_ = false;
  int frame_ = 0;
  Time started_, last_drawn_;
  std::string text_;
};

// What a task does at this moment, in a few words: "Bash npm test", "waits for permission: …", "2nd in line".
std::string activity(const TaskInfo& task);
// A tool and what it was called with; a summary may begin with the tool's name already.
std::string tool_text(const ToolInfo& tool);

}  // namespace errand::cli

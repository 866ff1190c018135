// How tasks look in lists: status words with their glyphs and colours, ages, durations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/table.h"
#include "cli/wire.h"

namespace errand::cli {

// It waits for a person's answer or permission.
bool needs_input(const TaskInfo& task);

// "● running", "✓ completed", with what is finer than the status: "● waiting" for one that asks, "stopping".
std::string status_text(const TaskInfo& task);
// SGR parameters, the page's colours: blue, green, red, grey, amber.
std::string_view status_style(const TaskInfo& task);

// How long it worked, or has been working.
std::string duration_text(const TaskInfo& task, Time now);

// The table of `list`, `batch` and `wait`; ids as short as they can be.
// With their folders where the terminal has `columns` enough.
std::vector<Column> task_columns(int columns = 0);
std::vector<std::vector<Cell>> task_rows(const std::vector<TaskInfo>& tasks, Time now, int columns = 0);
// The same for programs: whole ids, bare words, times.
std::vector<std::vector<Cell>> task_fields(const std::vector<TaskInfo>& tasks);

}  // namespace errand::cli

#include "driver/run_name.h"

#include <charconv>

namespace errand {

std::string run_name(const RunName& run) {
  std::string name = run.task.value;
  if (!run.tool.empty()) name += "__" + run.tool + "_" + run.key;
  return name + "." + std::to_string(run.run);
}

std::string run_name(const TaskId& task, int run) { return run_name({task, run, {}, {}}); }

std::optional<RunName> parse_run_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  RunName run;
  const std::string_view number = name.substr(dot + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), run.run);
  if (error != std::errc() || end != number.data() + number.size() || run.run < 1) return std::nullopt;
  std::string_view task = name.substr(0, dot);
  if (const size_t mark = task.find("__"); mark != std::string_view::npos) {
    const std::string_view rest = task.substr(mark + 2);
    const size_t bar = rest.find('_');
    if (bar == std::string_view::npos || bar == 0 || bar + 1 == rest.size()) return std::nullopt;
    run.tool = rest.substr(0, bar);
    run.key = rest.substr(bar + 1);
    task = task.substr(0, mark);
  }
  if (task.empty()) return std::nullopt;
  run.task = TaskId(task);
  return run;
}

}  // namespace errand

// Any bytes as the arguments of any tool: read or refused in words, never a crash, and a summary is one short line.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "driver/builtin/tools/file_tools.h"
#include "driver/builtin/tools/process_tools.h"
#include "driver/builtin/tools/todo.h"

namespace {

using namespace errand;
using namespace errand::builtin;

class NoExecutor final : public Executor {
 public:
  void post(Work) override {}
};

struct Tools {
  NoExecutor executor;
  SystemClock clock;
  FileMemory memory;
  ToolContext context;
  std::vector<std::unique_ptr<Tool>> all;

  Tools() {
    Task task;
    task.id = TaskId("task_01");
    task.launch.work_dir = "/nonexistent";
    context.task = std::make_shared<const Task>(std::move(task));
    context.roots = {"/nonexistent"};
    const FileParts parts{executor, executor, clock, memory, {.data_dir = "/nonexistent2"}};
    for (auto* make : {make_read, make_write, make_edit, make_list, make_glob, make_grep}) all.push_back(make(parts));
    all.push_back(make_todo(executor, make_todo_lists()));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Tools tools;
  if (size < 1) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Tool& tool = *tools.all[data[0] % tools.all.size()];
  const auto call = tool.prepare(tools.context, std::string(input));
  if (!call && call.error().message.empty()) std::abort();
  const std::string summary = tool.summary(input);
  if (summary.find('\n') != std::string::npos || summary.size() > 1'000 || !is_utf8(summary)) std::abort();
  const Tool::Need command = need_of_command(input, "/");
  if (command.subject.empty()) std::abort();
  return 0;
}

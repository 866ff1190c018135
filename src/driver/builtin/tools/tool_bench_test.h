// What the tests of tools share: a task, a work dir, and calls that are waited for.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "base/test_folder.h"
#include "base/thread_pool.h"
#include "driver/builtin/tools/file_tools.h"
#include "tests/process/harness.h"

namespace errand::builtin {

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A task whose roots are `work`, and calls in its name.
class ToolBench {
 public:
  ToolBench() {
    edit_task([this](Task& task) { task.launch.work_dir = work.path(); });
  }

  template <class Change>
  void edit_task(Change change) {
    Task task = context.task ? *context.task : Task{};
    if (task.id.empty()) {
      task.id = TaskId("task_01");
      task.session_id = SessionId("ses_01");
      task.run = 1;
    }
    change(task);
    context.task = std::make_shared<const Task>(std::move(task));
    context.roots = {context.task->launch.work_dir};
    for (const std::string& folder : context.task->launch.add_dirs) context.roots.push_back(folder);
    context.message = MessageId("msg_01");
    context.call_id = "call_1";
  }

  // As the loop does: asks what it needs, says yes to it, runs it, waits.
  ToolOutcome call(const Tool& tool, const std::string& input) {
    Result<Tool::Prepared> prepared = tool.prepare(context, input);
    if (!prepared) return {.output = prepared.error().message, .is_error = true};
    ToolContext with = context;
    if (prepared->need.ask) with.permitted = prepared->need.subject;
    return run(*prepared, with);
  }
  // With what `with` permits.
  ToolOutcome run(const Tool& tool, const ToolContext& with, const std::string& input) {
    Result<Tool::Prepared> prepared = tool.prepare(with, input);
    if (!prepared) return {.output = prepared.error().message, .is_error = true};
    return run(*prepared, with);
  }
  ToolOutcome run(Tool::Prepared& prepared, const ToolContext& with) {
    std::optional<ToolOutcome> outcome;
    const std::unique_ptr<ToolRun> run = prepared.run(with, [&](ToolOutcome told) { outcome = std::move(told); });
    if (outcome) return {.output = "told inside the call", .is_error = true};
    if (!engine.until([&] { return outcome.has_value(); })) return {.output = "no answer", .is_error = true};
    return *outcome;
  }

  TestFolder data, work;
  process::PumpedExecutor engine;
  ThreadPool background{1};
  SystemClock clock;
  FileMemory memory;
  ToolContext context;
  FileParts parts{.background = background,
                  .engine = engine,
                  .clock = clock,
                  .memory = memory,
                  .places = {.data_dir = data.path(), .home = work.path() + "/home"}};
};

}  // namespace errand::builtin

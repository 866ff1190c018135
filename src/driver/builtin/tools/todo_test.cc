#include "driver/builtin/tools/todo.h"

#include <gtest/gtest.h>

#include "driver/builtin/tools/tool_bench_test.h"

namespace errand::builtin {
namespace {

TEST(Todo, KeepsTheListOfItsTask) {
  ToolBench bench;
  const auto lists = make_todo_lists();
  const auto todo = make_todo(bench.engine, lists);
  EXPECT_EQ(bench.call(*todo, "{}").output, "There is no list yet.");
  const std::string items =
      R"({"items":[{"content":"look","status":"completed"},{"content":"build","status":"in_progress"},{"content":"test","status":"pending"}]})";
  EXPECT_EQ(bench.call(*todo, items).output, "[x] look\n[>] build\n[ ] test\n");
  EXPECT_EQ(bench.call(*todo, "{}").output, "[x] look\n[>] build\n[ ] test\n");
  EXPECT_EQ(todo->summary(items), "1 of 3 done");
  EXPECT_FALSE(todo->prepare(bench.context, items)->need.ask);
  bench.edit_task([](Task& task) { task.id = TaskId("task_02"); });
  EXPECT_EQ(bench.call(*todo, "").output, "There is no list yet.");
  bench.edit_task([](Task& task) { task.id = TaskId("task_01"); });
  forget_todo(*lists, TaskId("task_01"));
  EXPECT_EQ(bench.call(*todo, "{}").output, "There is no list yet.");
}

TEST(Todo, AWrongListIsToldInWords) {
  ToolBench bench;
  const auto todo = make_todo(bench.engine, make_todo_lists());
  EXPECT_EQ(bench.call(*todo, R"({"items":[{"content":"x","status":"done"}]})").output,
            "`items[0].status` must be pending, in_progress or completed.");
  EXPECT_EQ(bench.call(*todo, R"({"items":[{"status":"pending"}]})").output, "`items[0].content` must be given.");
}

}  // namespace
}  // namespace errand::builtin

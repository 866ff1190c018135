// The `bash` tool over a real supervisor: what it gives, what it may not do, and what a server that comes back finds.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "driver/builtin/tools/process_tools.h"
#include "driver/run_name.h"
#include "model/model.h"
#include "process/journal.h"
#include "tests/process/harness.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

struct Bash : testing::Test {
  Bash() {
    task.id = TaskId("task_01");
    task.session_id = SessionId("ses_01");
    task.run = 3;
    task.launch.work_dir = work.path();
    make_tool();
  }
  void make_tool() { tool = builtin::make_bash({bench.client(), background, bench.executor, options}); }

  ToolContext context(std::string call = "call_1") const {
    ToolContext out;
    out.task = std::make_shared<const Task>(task);
    out.roots = {task.launch.work_dir};
    out.message = MessageId("msg_01");
    out.call_id = std::move(call);
    return out;
  }
  struct Call {
    std::optional<ToolOutcome> outcome;
    std::unique_ptr<ToolRun> run;
  };
  std::unique_ptr<Call> start(const std::string& input, const ToolContext& with) {
    auto call = std::make_unique<Call>();
    Result<Tool::Prepared> prepared = tool->prepare(with, input);
    if (!prepared) {
      call->outcome = {.output = prepared.error().message, .is_error = true};
      return call;
    }
    call->run = prepared->run(with, [call = call.get()](ToolOutcome told) { call->outcome = std::move(told); });
    EXPECT_FALSE(call->outcome);
    return call;
  }
  ToolOutcome run(const std::string& input) {
    const auto call = start(input, context(fmt::format("run_{}", ++calls_)));
    if (!wait(*call)) return {.output = "no answer", .is_error = true};
    if (call->run) call->run->stored();
    return *call->outcome;
  }
  bool wait(const Call& call) {
    return bench.executor.until([&] { return call.outcome.has_value(); });
  }
  static std::string command(const std::string& text, int timeout_s = 60) {
    std::string out = R"({"command":")";
    for (const char c : text) out += c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
    return out + fmt::format(R"(","timeout":{}}})", timeout_s);
  }
  int alive() {
    int count = 0;
    for (const process::RunStatus& status : bench.list()) count += status.alive;
    return count;
  }
  bool nothing_left() {
    return bench.executor.until([&] { return bench.list().empty(); });
  }
  Tool::Need need(const std::string& text) { return tool->prepare(context(), command(text))->need; }

  process::Bench bench;
  TestFolder work;
  ThreadPool background{1};
  run::Options options{.data_dir = bench.folder.path(),
                       .environment = {"PATH=/usr/bin:/bin", "MY_API_KEY=secret", "LANG=C.UTF-8"},
                       .grace_ms = 200};
  Task task;
  std::unique_ptr<Tool> tool;

 private:
  int calls_ = 0;
};

TEST_F(Bash, GivesWhatWasPrintedAndTheExitCode) {
  ToolOutcome got = run(command("echo out; echo err >&2; printf '\\033[31mred\\033[0m\\n'"));
  EXPECT_FALSE(got.is_error);
  EXPECT_EQ(got.output, "out\nerr\nred\n");
  got = run(command("printf half; exit 3"));
  EXPECT_TRUE(got.is_error);
  EXPECT_EQ(got.output, "half\n[exit code 3]");
  EXPECT_EQ(run(command("true")).output, "(it printed nothing)");
  EXPECT_EQ(run(command("kill -9 $$")).output, "[The command was ended by signal 9 (SIGKILL).]");
  EXPECT_TRUE(nothing_left());
}

// R12.2, R9.1.
TEST_F(Bash, HasTheTasksFolderAndEnvironmentAndNoInput) {
  task.launch.env = {{"MINE", "yes"}};
  const ToolOutcome got =
      run(command(R"(cat; pwd; echo "$ERRAND_TASK_ID:$MY_API_KEY:$MINE"; ls -d "$ERRAND_ARTIFACTS")"));
  EXPECT_EQ(got.output, fmt::format("{}\ntask_01::yes\n{}/artifacts/task_01\n", fs::canonical(work.path()).string(),
                                    options.data_dir));
}

TEST_F(Bash, PastItsTimeAllOfItIsEnded) {
  const std::string marker = process::new_marker();
  const ToolOutcome got =
      run(command("echo begun; (exec -a " + marker + " sleep 1000) & exec -a " + marker + " sleep 1000", 1));
  EXPECT_TRUE(got.is_error);
  EXPECT_TRUE(got.output.starts_with("begun\n[ended: it did not finish within 1 s;")) << got.output;
  EXPECT_TRUE(process::processes_with(marker).empty());
}

TEST_F(Bash, ALimitOfTheLaunchHolds) {
  task.launch.limits.processes = 5;
  const ToolOutcome got = run(command("for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & done; wait"));
  EXPECT_TRUE(got.is_error);
  EXPECT_TRUE(got.output.contains("limits.processes")) << got.output;
}

TEST_F(Bash, OfALongOutputHeadAndTailAreGivenAndTheWholeStays) {
  const ToolOutcome got = run(command("echo first; seq 1 60000; echo last"));
  EXPECT_FALSE(got.is_error);
  EXPECT_TRUE(got.output.starts_with("first\n1\n2\n"));
  EXPECT_LT(got.output.size(), tool_output_max);
  EXPECT_TRUE(got.output.contains("60000\nlast\n[the whole output is in "))
      << got.output.substr(got.output.size() - 300);
  const size_t at = got.output.find("[the whole output is in ") + 24;
  const std::string path = got.output.substr(at, got.output.find("; use read", at) - at);
  EXPECT_EQ(bench.list().size(), 1u);  // The supervisor has done what it was asked before.
  EXPECT_TRUE(process::read_text(path).contains("\n30000\n")) << path;
}

TEST_F(Bash, OfManyLongOutputsTheNewestStay) {
  for (int i = 0; i < 23; ++i) {
    const auto call = start(command("seq 1 20000"), context(fmt::format("call_{}", i)));
    ASSERT_TRUE(wait(*call));
    call->run->stored();
  }
  EXPECT_TRUE(bench.executor.until([&] { return bench.list().size() == 20; }));
}

// R9.2.
TEST_F(Bash, WhatWouldAskAPersonIsRefused) {
  const Result<Tool::Prepared> needed = tool->prepare(context(), command("git commit"));
  ASSERT_FALSE(needed);
  EXPECT_TRUE(needed.error().message.contains("git commit -m")) << needed.error().message;
  EXPECT_TRUE(run(command("vim x")).is_error);
  task.launch.allow_interactive = true;
  EXPECT_TRUE(tool->prepare(context(), command("git commit")));
}

TEST_F(Bash, EverySimpleCommandIsALineForTheRules) {
  EXPECT_EQ(need("git status; rm -rf /").subject, "git status\nrm -rf /");
  EXPECT_EQ(need("echo x > y").subject, "echo x\n> y");
  EXPECT_EQ(need("$CMD x").subject, "? $CMD x");
  EXPECT_TRUE(need("git status").ask);
  EXPECT_EQ(need("git status").tool, "bash");
}

TEST_F(Bash, AWrongCallIsToldInWords) {
  EXPECT_EQ(run("{}").output, "`command` must be given.");
  EXPECT_EQ(run(R"({"command":"x","timeout":601})").output, "`timeout` must be a whole number from 1 to 600.");
  EXPECT_EQ(run(R"({"command":"x\u0000"})").output, "`command` must not contain a NUL character.");
  task.launch.sandbox = Sandbox::workspace;
  task.launch.work_dir = "/tmp";
  EXPECT_TRUE(run(command("true")).is_error);
}

TEST_F(Bash, StoppedItIsGoneBeforeItIsTold) {
  const std::string marker = process::new_marker();
  const auto call = start(
      command("(trap '' TERM; exec -a " + marker + " sleep 1000) & exec -a " + marker + " sleep 1000"), context());
  ASSERT_TRUE(bench.executor.until([&] { return process::processes_with(marker).size() == 2; }));
  EXPECT_TRUE(call->run->stop());
  ASSERT_TRUE(wait(*call));
  EXPECT_TRUE(process::processes_with(marker).empty());
  EXPECT_TRUE(call->outcome->is_error);
  EXPECT_TRUE(call->outcome->output.contains("it was stopped")) << call->outcome->output;
}

TEST_F(Bash, DroppedNothingOfItIsLeft) {
  const std::string marker = process::new_marker();
  auto call = start(command("exec -a " + marker + " sleep 1000"), context());
  ASSERT_TRUE(bench.executor.until([&] { return process::processes_with(marker).size() == 1; }));
  call->run->drop();
  call->run.reset();
  EXPECT_TRUE(bench.executor.until([&] { return process::processes_with(marker).empty(); }));
  EXPECT_TRUE(nothing_left());
  EXPECT_FALSE(call->outcome);
}

TEST_F(Bash, EndedBeforeItHasBegunNothingIsStarted) {
  const std::string input = command("echo begun > log");
  auto call = start(input, context());
  EXPECT_FALSE(call->run->stop());  // There is nothing to wait for.
  call->run.reset();
  const auto left = start(input, context("call_2"));
  left->run.reset();  // The server goes.
  EXPECT_EQ(run(command("echo later")).output, "later\n");
  EXPECT_FALSE(call->outcome);
  EXPECT_FALSE(left->outcome);
  EXPECT_FALSE(fs::exists(work.path() + "/log"));
}

// R2.2: the server is gone and comes back; the command went on, and is never begun twice.
TEST_F(Bash, AServerThatComesBackTakesItUp) {
  const std::string input = command("echo begun >> log; while [ ! -e go ]; do sleep 0.02; done; echo done");
  auto call = start(input, context());
  ASSERT_TRUE(bench.executor.until([&] { return fs::exists(work.path() + "/log"); }));
  call.reset();
  tool.reset();
  bench.reconnect();
  make_tool();
  EXPECT_EQ(alive(), 1);
  ToolContext again = context();
  again.again = true;
  call = start(input, again);
  std::ofstream(work.path() + "/go").put('x');
  ASSERT_TRUE(wait(*call));
  EXPECT_EQ(call->outcome->output, "done\n");
  EXPECT_EQ(process::read_text(work.path() + "/log"), "begun\n");

  // It had ended, and the outcome was not stored yet: the same once more.
  call = start(input, again);
  ASSERT_TRUE(wait(*call));
  EXPECT_EQ(call->outcome->output, "done\n");
  EXPECT_EQ(process::read_text(work.path() + "/log"), "begun\n");
  call->run->stored();
  EXPECT_TRUE(nothing_left());
}

TEST_F(Bash, OneThatWasNeverBegunIsBegun) {
  ToolContext again = context("call_9");
  again.again = true;
  const auto call = start(command("echo hello"), again);
  ASSERT_TRUE(wait(*call));
  EXPECT_EQ(call->outcome->output, "hello\n");
}

TEST_F(Bash, CallsOfOneMessageAndOfAnotherHaveTheirOwnRuns) {
  ToolContext other = context();
  other.message = MessageId("msg_02");
  const auto a = start(command("echo a"), context()), b = start(command("echo b"), context("call_2")),
             c = start(command("echo c"), other);
  ASSERT_TRUE(wait(*a) && wait(*b) && wait(*c));
  EXPECT_EQ(a->outcome->output + b->outcome->output + c->outcome->output, "a\nb\nc\n");
  for (const process::RunStatus& status : bench.list()) {
    const std::optional<RunName> run = parse_run_name(status.run);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->task, task.id);
    EXPECT_EQ(run->run, 3);
    EXPECT_EQ(run->tool, "bash");
  }
  EXPECT_EQ(bench.list().size(), 3u);
}

TEST_F(Bash, AProbeSeesWhetherItWorks) {
  const auto call = start(command("sleep 1000"), context());
  ASSERT_TRUE(bench.executor.until([&] { return alive() == 1; }));
  std::optional<bool> works;
  std::string seen;
  const auto ask = [&] {
    works.reset();
    call->run->probe([&](bool did, std::string what) {
      works = did;
      seen = std::move(what);
    });
    return bench.executor.until([&] { return works.has_value(); });
  };
  ASSERT_TRUE(ask());
  ASSERT_TRUE(bench.executor.until([&] { return ask() && !*works; }));
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace errand::builtin

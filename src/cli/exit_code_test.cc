// The exit codes that scripts rely on.
#include "cli/exit_code.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

TaskInfo task(std::string status, std::string reason = {}) {
  TaskInfo info;
  info.status = std::move(status);
  info.reason = std::move(reason);
  return info;
}

TEST(ExitCode, OfErrors) {
  EXPECT_EQ(code(exit_of(Code::invalid_argument)), 2);
  EXPECT_EQ(code(exit_of(Code::not_found)), 3);
  EXPECT_EQ(code(exit_of(Code::unauthorized)), 4);
  EXPECT_EQ(code(exit_of(Code::forbidden)), 4);
  EXPECT_EQ(code(exit_of(Code::unavailable)), 5);
  for (Code other :
       {Code::conflict, Code::unsupported, Code::too_large, Code::exhausted, Code::storage_full, Code::internal})
    EXPECT_EQ(code(exit_of(other)), 1) << name(other);
}

TEST(ExitCode, OfTasks) {
  EXPECT_EQ(code(exit_of(task("completed"))), 0);
  EXPECT_EQ(code(exit_of(task("failed", "agent_error"))), 1);
  EXPECT_EQ(code(exit_of(task("failed", "timeout"))), 7);
  EXPECT_EQ(code(exit_of(task("cancelled", "cancelled_by_user"))), 6);
  for (const char* status : {"pending", "running", "resumed"}) EXPECT_EQ(code(exit_of(task(status))), 8) << status;
}

TEST(ExitCode, OfACommandIsItsOwn) {
  TaskInfo failed = task("failed", "exit");
  failed.exit_code = 42;
  EXPECT_EQ(exit_as_the_command(failed), 42);
  TaskInfo killed = task("failed", "signal");
  killed.signal = 11;
  EXPECT_EQ(exit_as_the_command(killed), 139);
  EXPECT_EQ(exit_as_the_command(task("completed")), 0);
  EXPECT_EQ(exit_as_the_command(task("failed", "spawn_failed")), 127);
}

TEST(ExitCode, OfACommandThatErrandEndedSaysWhy) {
  TaskInfo late = task("failed", "timeout");
  late.signal = 15;
  EXPECT_EQ(exit_as_the_command(late), 7);
  TaskInfo cancelled = task("cancelled");
  cancelled.signal = 15;
  EXPECT_EQ(exit_as_the_command(cancelled), 6);
}

TEST(ExitCode, OfSeveralIsTheWorst) {
  EXPECT_EQ(worse(Exit::ok, Exit::cancelled), Exit::cancelled);
  EXPECT_EQ(worse(Exit::cancelled, Exit::timed_out), Exit::timed_out);
  EXPECT_EQ(worse(Exit::failed, Exit::timed_out), Exit::failed);
  EXPECT_EQ(worse(Exit::failed, Exit::still_running), Exit::still_running);
}

}  // namespace
}  // namespace errand::cli

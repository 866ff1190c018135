// Control groups: what is written to them and read from them, on a folder that looks like one; and, where this machine
// lets us make real ones, that they hold.
#include "process/cgroup.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace errand::process {
namespace {

namespace fs = std::filesystem;

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/errand-cgroup-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    group_ = folder_ + "/task_a.1";
    fs::create_directory(group_);
    place_.reset(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { fs::remove_all(folder_); }
  void file(const std::string& name, const std::string& text) { std::ofstream(group_ + "/" + name) << text; }
  std::string content(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(group_ + "/" + name).rdbuf();
    return text.str();
  }

  std::string folder_, group_;
  Fd place_;
};

TEST_F(CgroupTest, LimitsAreTheKernelsWhereItsControllersAreThere) {
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.kill"})
    file(name, "");
  auto group = Cgroup::make(place_.get(), true, true, "task_a.1", {.memory_bytes = 1'000'000, .processes = 10});
  ASSERT_TRUE(group);
  EXPECT_EQ(content("memory.max"), "1000000");
  EXPECT_EQ(content("memory.swap.max"), "0") << "a limit is no reason to swap";
  EXPECT_EQ(content("memory.oom.group"), "1");
  EXPECT_EQ(content("pids.max"), "80") << "threads count there: the ceiling is above the limit";
  group->kill();
  EXPECT_EQ(content("cgroup.kill"), "1");
}

TEST_F(CgroupTest, WithoutControllersNothingIsAskedOfThem) {
  for (const char* name : {"memory.max", "pids.max"}) file(name, "untouched");
  ASSERT_TRUE(Cgroup::make(place_.get(), false, false, "task_a.1", {.memory_bytes = 1'000'000, .processes = 10}));
  EXPECT_EQ(content("memory.max") + content("pids.max"), "untoucheduntouched");
}

TEST_F(CgroupTest, ReadsWhatTheKernelSaysOfIt) {
  auto group = Cgroup::make(place_.get(), true, true, "task_a.1", {});
  ASSERT_TRUE(group);
  EXPECT_EQ(group->cpu_us(), -1) << "not known";
  EXPECT_FALSE(group->out_of_memory());
  EXPECT_FALSE(group->out_of_processes());
  file("cpu.stat", "usage_usec 1234567\nuser_usec 1\nsystem_usec 2\n");
  file("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\noom_group_kill 0\n");
  file("pids.events", "max 0\n");
  EXPECT_EQ(group->cpu_us(), 1'234'567);
  EXPECT_FALSE(group->out_of_memory()) << "at its limit, and nothing was ended";
  EXPECT_FALSE(group->out_of_processes());
  file("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n");
  file("pids.events", "max 3\n");
  EXPECT_TRUE(group->out_of_memory());
  EXPECT_TRUE(group->out_of_processes());
}

TEST_F(CgroupTest, APlaceThatIsNoGroupIsNotUsed) {
  CgroupPlace place = CgroupPlace::below(folder_, "/data");
  EXPECT_FALSE(place.ok());
  EXPECT_FALSE(place.why_not().empty());
  EXPECT_FALSE(CgroupPlace::below("/no/such/folder", "/data").ok());
  // Only what errand made is cleared.
  CgroupPlace::clear(folder_);
  EXPECT_TRUE(fs::exists(group_));
}

TEST(RealCgroup, EndsAForkingTreeInOneStepAndIsGoneAfterwards) {
  CgroupPlace place = CgroupPlace::below_own("/errand-test-" + std::to_string(::getpid()));
  if (!place.ok()) GTEST_SKIP() << "1 skipped: no control group can be made here: " << place.why_not();
  auto group = Cgroup::make(place.fd(), place.memory(), place.pids(), "task_a.1", {});
  ASSERT_TRUE(group);
  pid_t pid = fork_into(group->fd());
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::setsid();
    if (::fork() == 0) ::setsid();
    for (;;) ::pause();
  }
  group->kill();
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_GE(group->cpu_us(), 0);
  // What it left is dying, and nobody here waits for it.
  for (int i = 0; i < 1'000 && fs::exists(place.path() + "/task_a.1"); ++i) {
    group->remove();
    ::usleep(1'000);
  }
  EXPECT_FALSE(fs::exists(place.path() + "/task_a.1"));
  CgroupPlace::clear(place.path());
  EXPECT_FALSE(fs::exists(place.path()));
}

TEST(RealCgroup, WhatAnEarlierSupervisorLeftIsEnded) {
  const std::string data_dir = "/errand-test-left-" + std::to_string(::getpid());
  CgroupPlace first = CgroupPlace::below_own(data_dir);
  if (!first.ok()) GTEST_SKIP() << "1 skipped: no control group can be made here: " << first.why_not();
  auto group = Cgroup::make(first.fd(), false, false, "task_a.1", {});
  ASSERT_TRUE(group);
  pid_t pid = fork_into(group->fd());
  if (pid == 0) {
    ::close_range(3, ~0u, 0);
    for (;;) ::pause();
  }
  // One that lives keeps its place, whoever starts beside it.
  CgroupPlace other = CgroupPlace::below_own(data_dir + "-other");
  EXPECT_TRUE(fs::exists(first.path() + "/task_a.1"));
  CgroupPlace::clear(other.path());
  first = CgroupPlace();
  CgroupPlace second = CgroupPlace::below_own(data_dir);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(second.ok());
  CgroupPlace::clear(second.path());
}

TEST(RealCgroup, TwoThatLiveInOneFolderHaveGroupsOfTheirOwn) {
  const std::string data_dir = "/errand-test-two-" + std::to_string(::getpid());
  CgroupPlace first = CgroupPlace::below_own(data_dir);
  if (!first.ok()) GTEST_SKIP() << "1 skipped: no control group can be made here: " << first.why_not();
  CgroupPlace second = CgroupPlace::below_own(data_dir);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first.path(), second.path()) << "the first one takes its groups with it when it leaves";
  CgroupPlace::clear(first.path());
  EXPECT_TRUE(fs::exists(second.path()));
  CgroupPlace::clear(second.path());
}

}  // namespace
}  // namespace errand::process

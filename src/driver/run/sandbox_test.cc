// The words that bubblewrap is started with. That they hold is in tests/e2e/sandbox.test.mjs.
#include "driver/run/sandbox.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace errand::run {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder :
         {"home/.ssh", "home/.config/gh", "home/project/.git/hooks", "data/artifacts/task_1", "more"})
      fs::create_directories(root + "/" + folder);
    std::ofstream(root + "/home/.netrc") << "secret";
    std::ofstream(root + "/home/project/.git/config") << "[core]\n";
    plan = {.level = Sandbox::workspace,
            .bwrap = "/usr/bin/bwrap",
            .work_dir = root + "/home/project",
            .add_dirs = {root + "/more"},
            .artifacts = root + "/data/artifacts/task_1",
            .data_dir = root + "/data",
            .home = root + "/home"};
  }
  Words argv() const { return sandbox_argv(plan, {"/bin/sh", "-c", "work"}); }
  // Where these words stand one after the other; -1 where they do not.
  static long at(const Words& words, const Words& wanted) {
    const auto found = std::ranges::search(words, wanted);
    return found.empty() ? -1 : found.begin() - words.begin();
  }
  std::string refusal() const {
    const Status checked = check_sandbox(plan);
    return checked ? "" : checked.error().message;
  }

  TestFolder own{"/var/tmp"};
  std::string root = fs::canonical(own.path()).string();
  SandboxPlan plan;
};

TEST_F(SandboxTest, TheCommandComesLastWordForWord) {
  const Words words = argv();
  EXPECT_EQ(words.front(), "/usr/bin/bwrap");
  EXPECT_EQ(Words(words.end() - 6, words.end()), (Words{"--chdir", plan.work_dir, "--", "/bin/sh", "-c", "work"}));
  for (const char* word : {"--die-with-parent", "--unshare-pid"}) EXPECT_GE(at(words, {word}), 0) << word;
  EXPECT_GE(at(words, {"--cap-drop", "ALL"}), 0) << "root would keep its rights";
  EXPECT_GE(at(words, {"--ro-bind", "/", "/"}), 0);
}

TEST_F(SandboxTest, OnlyWhatIsNamedMayBeWritten) {
  const Words words = argv();
  Words writable;
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--bind") writable.push_back(words[i + 1]);
  std::ranges::sort(writable);
  EXPECT_EQ(writable, (Words{plan.artifacts, plan.work_dir, plan.work_dir + "/.git", root + "/more"}));
}

TEST_F(SandboxTest, SecretsAndErrandsOwnFolderAreHidden) {
  const Words words = argv();
  for (const char* folder : {"/home/.ssh", "/home/.config/gh", "/data"})
    EXPECT_GE(at(words, {"--tmpfs", root + folder}), 0) << folder;
  EXPECT_GE(at(words, {"--ro-bind", "/dev/null", root + "/home/.netrc"}), 0) << "a file stays a file";
  EXPECT_EQ(at(words, {"--tmpfs", root + "/home/.aws"}), -1) << "what is not there needs no mount";
  EXPECT_LT(at(words, {"--tmpfs", plan.data_dir}), at(words, {"--bind", plan.artifacts, plan.artifacts}))
      << "the artifact folder is in it, so it comes after it";
  EXPECT_GE(at(words, {"--tmpfs", "/tmp"}), 0);
}

TEST_F(SandboxTest, WhatGitWouldRunLaterStaysAsItIs) {
  const std::string git = plan.work_dir + "/.git";
  const Words words = argv();
  const long folder = at(words, {"--bind", git, git});
  EXPECT_GE(folder, 0) << "a mount of its own: it cannot be moved away";
  EXPECT_GT(at(words, {"--ro-bind", git + "/hooks", git + "/hooks"}), folder);
  EXPECT_GT(at(words, {"--ro-bind", git + "/config", git + "/config"}), folder);
  // What is not as git makes it could be exchanged: then nothing of it may be written.
  fs::remove_all(git + "/hooks");
  fs::create_directory_symlink(root + "/more", git + "/hooks");
  EXPECT_GE(at(argv(), {"--ro-bind", git, git}), 0);
  EXPECT_EQ(at(argv(), {"--bind", git, git}), -1);
}

TEST_F(SandboxTest, StrictHasNoNetworkAndNoHome) {
  EXPECT_EQ(at(argv(), {"--unshare-net"}), -1);
  EXPECT_EQ(at(argv(), {"--tmpfs", plan.home}), -1);
  plan.level = Sandbox::strict;
  const Words words = argv();
  EXPECT_GE(at(words, {"--unshare-net"}), 0);
  EXPECT_LT(at(words, {"--tmpfs", plan.home}), at(words, {"--bind", plan.work_dir, plan.work_dir}));
  EXPECT_GE(at(words, {"--tmpfs", plan.home}), 0);
}

TEST_F(SandboxTest, FoldersThatWouldMakeItNoSandboxAreRefused) {
  EXPECT_EQ(refusal(), "");
  for (const std::string& folder :
       {std::string("/"), std::string("/tmp"), std::string("/proc"), root, plan.home, plan.data_dir, plan.artifacts}) {
    plan.work_dir = folder;
    EXPECT_NE(refusal().find("name a folder of the project"), std::string::npos) << folder << ": " << refusal();
  }
  plan.work_dir = root + "/home/project";
  plan.add_dirs = {root + "/home/../home"};
  EXPECT_NE(refusal().find("home folder"), std::string::npos) << "however it is written";
  fs::create_directory_symlink("/", root + "/more/link");
  plan.add_dirs = {root + "/more/link"};
  EXPECT_FALSE(refusal().empty());
  plan.add_dirs = {root + "/missing"};
  EXPECT_NE(refusal().find("does not exist"), std::string::npos);
}

TEST_F(SandboxTest, ATasksOwnCloneIsWritableAndTheObjectsThatItReadsAreThere) {
  const std::string clone = root + "/data/changes/wt/task_1/project";
  fs::create_directories(clone + "/.git/hooks");
  fs::create_directories(clone + "/src");
  fs::create_directories(root + "/home/project/.git/objects");
  std::ofstream(clone + "/.git/config") << "[core]\n";
  plan.level = Sandbox::strict;
  plan.work_dir = clone + "/src";
  EXPECT_NE(refusal(), "") << "it is in errand's own folder";
  plan.clone = clone;
  plan.objects = root + "/home/project/.git/objects";
  EXPECT_EQ(refusal(), "");
  const Words words = argv();
  const std::string real = fs::canonical(clone), objects = fs::canonical(plan.objects);
  EXPECT_GE(at(words, {"--bind", real, real}), 0) << "all of it, also where it works in a folder below";
  EXPECT_GE(at(words, {"--ro-bind", real + "/.git/hooks", real + "/.git/hooks"}), 0);
  EXPECT_GE(at(words, {"--ro-bind", real + "/.git/config", real + "/.git/config"}), 0);
  EXPECT_GE(at(words, {"--ro-bind", objects, objects}), 0);
  plan.work_dir = root + "/data/changes/wt";
  EXPECT_NE(refusal(), "") << "that of no other task";
}

}  // namespace
}  // namespace errand::run

// A real repository for a test, made with the git program as a user has it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "changes/orders.h"
#include "changes/record.h"

namespace errand::changes {

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class TestRepo {
 public:
  TestRepo() {
    std::filesystem::create_directories(top());
    std::filesystem::create_directories(data());
    sh("git init -q -b main . && git config user.name Ada && git config user.email ada@example.org");
  }
  std::string top() const { return std::filesystem::canonical(folder_.path()).string() + "/repo"; }
  std::string data() const { return std::filesystem::canonical(folder_.path()).string() + "/data"; }
  std::string beside(const std::string& name) const { return folder_.path() + "/" + name; }
  void write(const std::string& name, std::string_view text) const { folder_.write("repo/" + name, text); }
  std::string read(const std::string& name) const { return file_text(top() + "/" + name); }
  bool has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(top() + "/" + name));
  }
  std::string sh(const std::string& script, const std::string& in = {}) const {
    const std::string file = folder_.path() + "/out";
    const std::string command = "cd '" + (in.empty() ? top() : in) + "' && export HOME='" + folder_.path() +
                                "' GIT_CONFIG_NOSYSTEM=1; { " + script + "\n} >'" + file + "' 2>&1";
    const int code = std::system(command.c_str());  // NOLINT: the test's own words.
    std::string text = file_text(file);
    EXPECT_EQ(code, 0) << script << "\n" << text;
    return text;
  }
  void commit(const std::string& message = "more") const { sh("git add -A && git commit -q -m '" + message + "'"); }
  // What must stay as it was: the index to the byte, the status, the references, the configuration, the stash.
  std::string user_state() const {
    const std::string index = file_text(top() + "/.git/index");
    return sh("GIT_OPTIONAL_LOCKS=0 git status --porcelain=v1 -z --ignored; git for-each-ref; cat .git/HEAD "
              ".git/config; "
              "git stash list") +
           index;
  }

  Order order(std::string what) const {
    return {.order = std::move(what),
            .data_dir = data(),
            .home = folder_.path(),
            .task = "task_01",
            .work_dir = top(),
            .title = "Fix it"};
  }
  std::string carry_out(const std::string& what) const { return changes::carry_out(order(what)); }
  Record record(const std::string& task = "task_01") const {
    return read_record(data(), task).value().value_or(Record{});
  }
  // Makes an isolated task and answers its work tree.
  std::string isolate(bool dirty = false) const {
    Order begin = order("begin");
    begin.isolate = true;
    begin.dirty = dirty;
    const std::string answer = changes::carry_out(begin);
    EXPECT_TRUE(answer.contains("\"reply\":")) << answer;
    return record().path;
  }
  std::string merge(const std::string& mode = "squash") const {
    Order merging = order("merge");
    merging.mode = mode;
    return changes::carry_out(merging);
  }

 private:
  TestFolder folder_;
};

// One with a task that works in a work tree of its own.
struct IsolatedRepo : TestRepo {
  explicit IsolatedRepo(bool dirty = false) {
    write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    write("b", "1\n");
    write(".gitignore", "ignored\n");
    commit();
    if (dirty) write("b", "dirty\n");
    tree = isolate(dirty);
  }
  // What the task does.
  void edit(const std::string& name, const std::string& text) const { std::ofstream(tree + "/" + name) << text; }
  bool is_there() const { return std::filesystem::exists(tree); }
  std::string tree;
};

}  // namespace errand::changes

// A world for the tests of tools: the real engine over the SQLite store on disk and scripted agents; everything on one
// hand-turned clock. Every answer is held to the tool's schemas.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "base/timers.h"
#include "driver/fake/demo.h"
#include "engine/engine.h"
#include "files/beneath.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/tools/schema_check.h"
#include "tools/family.h"
#include "tools/toolbox.h"

namespace errand::tools {

// Runs what is posted when it is told to; posted from any thread.
class QueueExecutor final : public Executor {
 public:
  void post(Work work) override {
    const std::scoped_lock lock(mutex_);
    queue_.push_back(std::move(work));
  }
  bool run_one() {
    Work work;
    {
      const std::scoped_lock lock(mutex_);
      if (queue_.empty()) return false;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<Work> queue_;
};

// Commands without processes: what it prints is its command, its end is what the script says.
class ScriptedCommands final : public fake::FakeDriver {
 public:
  using fake::FakeDriver::FakeDriver;
  Status check(const Launch& launch) const override {
    last_launch = launch;
    if (launch.command.contains("vim") && !launch.allow_interactive)
      return fail(Code::invalid_argument, "vim asks a person; nothing was started.", "interactive");
    return {};
  }
  Result<LogRead> read_log(const TaskId&, int, int64_t offset, int64_t limit) const override {
    LogRead read;
    read.size = static_cast<int64_t>(log.size());
    if (offset < 0) offset = std::max<int64_t>(0, read.size + offset);
    offset = std::min(offset, read.size);
    LogPiece piece{.stream = "stdout",
                   .offset = offset,
                   .at = {},
                   .bytes = log.substr(static_cast<size_t>(offset), static_cast<size_t>(limit))};
    read.next = offset + static_cast<int64_t>(piece.bytes.size());
    if (!piece.bytes.empty()) read.pieces.push_back(std::move(piece));
    return read;
  }

  std::vector<int> log_runs(const TaskId&, int last_run) const override {
    return last_run > 0 ? std::vector<int>{last_run} : std::vector<int>();
  }
  Result<ArtifactList> artifacts(const Task&) const override {
    ArtifactList list;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) {
        Artifact file;
        file.name = entry.path().filename().string();
        file.size = static_cast<int64_t>(entry.file_size());
        file.media_type = "text/plain";
        list.files.push_back(std::move(file));
      }
    return list;
  }
  Result<OpenArtifact> open_artifact(const Task&, std::string_view name) const override {
    const Result<files::Root> root = files::Root::open(folder);
    if (!root) return std::unexpected(root.error());
    Result<files::File> file = root->open_file(name);
    if (!file) return std::unexpected(file.error());
    OpenArtifact open{.info = {}, .file = std::move(*file)};
    open.info.name = name;
    return open;
  }

  mutable Launch last_launch;
  std::string log;
  std::string folder;  // Of the artifacts.
};

struct Answer {
  std::string text;
  boost::json::object data;
  bool is_error = false;

  std::string at(std::string_view key) const { return std::string(data.at(key).as_string()); }
  std::string id() const { return at("task_id"); }
};

class ToolTest : public testing::Test {
 protected:
  ToolTest() {
    std::filesystem::create_directory(folder_ / "artifacts");
    start();
  }
  ~ToolTest() override { stop(); }

  void start() {
    auto opened = open_sqlite_store({.path = folder_ / "errand.db", .readers = 1, .ballast_bytes = 0}, loop);
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    timers = std::make_unique<TimerQueue>(clock);
    demo = fake::make_demo_driver(*timers);
    forking = std::make_unique<fake::FakeDriver>(
        *timers, fake::FakeOptions{.script =
                                       [](const fake::Prompt& prompt) {
                                         if (prompt.text != "large") return fake::demo_script(prompt);
                                         std::string text;
                                         for (int i = 0; i < 20'000; ++i) text += "é" + std::to_string(i % 10);
                                         return fake::Script().say(text).finish();
                                       },
                                   .capabilities = {.message_while_running = true, .resume = true, .fork = true}});
    commands = std::make_unique<ScriptedCommands>(*timers, fake::FakeOptions{.script = [](const fake::Prompt& prompt) {
      fake::Script script;
      if (prompt.task->launch.command.contains("sleep")) script.wait(60'000);
      if (prompt.task->launch.command.contains("false")) return script.fail("exit", "It exited with code 1.");
      return script.say("printed").finish();
    }});
    commands->folder = folder_ / "artifacts";
    engine =
        make_engine({.store = *store,
                     .loop = loop,
                     .readers = loop,
                     .clock = clock,
                     .random = random,
                     .drivers = {{"demo", demo.get()}, {"forking", forking.get()}, {"command", commands.get()}},
                     .agents = {{.id = "command", .name = "command", .driver = "command"},
                                {.id = "demo", .name = "demo", .driver = "demo"},
                                {.id = "forker", .name = "forker", .driver = "forking"},
                                {.id = "away", .name = "away", .driver = "away", .unavailable = "it is not there."}}},
                    settings);
    bool ready = false;
    engine->recover([&](Result<void> recovered) { ready = recovered.has_value(); });
    until([&] { return ready; });
    toolbox = std::make_unique<Toolbox>(
        ToolParts{.engine = *engine, .store = *store, .loop = loop, .readers = loop, .clock = clock, .family = family});
  }
  void stop() {
    toolbox.reset();
    engine.reset();
    commands.reset();
    forking.reset();
    demo.reset();
    timers.reset();
    // What is still posted may read the store, and the store's last answers are posted while it closes.
    while (loop.run_one()) {
    }
    store.reset();
    while (loop.run_one()) {
    }
  }
  // As kill -9: what is in memory is gone, what was stored stays.
  void restart() {
    stop();
    start();
  }

  // The store writes on its own thread: until it answers there may be nothing to run.
  void until(const std::function<bool()>& reached) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!reached() && std::chrono::steady_clock::now() < give_up) {
      if (!loop.run_one()) std::this_thread::yield();
    }
    ASSERT_TRUE(reached()) << "it did not come to pass";
  }
  // The calling session has a conversation here, and the call that is made is in its last message.
  void talk_before() {
    Commit commit;
    commit.now = clock.wall();
    commit.session = Session{.id = SessionId("ses_parent"), .origin = "rest", .created_at = commit.now};
    Message asked{.id = MessageId("msg_asked"), .session_id = SessionId("ses_parent"), .role = errand::Role::user};
    asked.created_at = asked.completed_at = commit.now;
    asked.parts = {{.type = PartType::text, .text = "Look at both halves."}};
    Message calling{
        .id = MessageId("msg_call"), .session_id = SessionId("ses_parent"), .role = errand::Role::assistant};
    calling.created_at = commit.now;
    calling.parts = {
        {.type = PartType::tool_call, .call_id = "call_1", .name = "background_task", .input = R"({"fork":true})"}};
    commit.messages = {asked, calling};
    bool stored = false;
    store->commit({commit}, [&](const std::vector<Result<Committed>>& results) { stored = results.at(0).has_value(); });
    until([&] { return stored; });
  }
  // Turns the clock until it is so.
  void pass_until(const std::function<bool()>& reached, Millis step = 20) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    // What waits may wait for the store, which has a thread of its own, or for the clock: the store gets a moment.
    constexpr auto moment = std::chrono::milliseconds(5);
    auto idle_since = std::chrono::steady_clock::now();
    while (!reached() && std::chrono::steady_clock::now() < give_up) {
      const auto now = std::chrono::steady_clock::now();
      if (loop.run_one()) {
        idle_since = now;
        continue;
      }
      if (engine->administration().health().inbox > 0 && now - idle_since < moment) {
        std::this_thread::yield();
        continue;
      }
      idle_since = now;
      clock.advance(step);
      timers->run_due();
      engine->tick();
    }
    ASSERT_TRUE(reached()) << "it did not come to pass";
  }
  void pass_until_rest(const std::string& id) {
    pass_until([&] { return !at_work(get(id).state) && !get(id).stopping; });
  }

  // A call that is not answered yet.
  struct Pending {
    std::string name;
    std::optional<Result<ToolResult>> result;
    std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  };
  std::shared_ptr<Pending> begin(const std::string& name, const std::string& arguments,
                                 const SessionId& session = SessionId("ses_parent")) {
    auto pending = std::make_shared<Pending>();
    pending->name = name;
    toolbox->call(name, {.session = session, .message = MessageId("msg_call"), .cancellation = pending->cancellation},
                  arguments, [pending](Result<ToolResult> result) {
                    EXPECT_FALSE(pending->result) << "answered twice";
                    pending->result = std::move(result);
                  });
    EXPECT_FALSE(pending->result) << "answered inside the call";
    return pending;
  }
  Answer finish(const std::shared_ptr<Pending>& pending) {
    until([&] { return pending->result.has_value(); });
    if (!pending->result || !*pending->result) {
      ADD_FAILURE() << pending->name << ": " << (pending->result ? pending->result->error().message : "no answer");
      return {};
    }
    const ToolResult& result = **pending->result;
    Answer answer{result.text, {}, result.is_error};
    boost::json::error_code error;
    const boost::json::value data = boost::json::parse(result.data, error);
    EXPECT_FALSE(error) << result.data;
    if (data.is_object()) answer.data = data.as_object();
    if (answer.is_error) {
      EXPECT_EQ(answer.data.size(), 1U) << result.data;
      EXPECT_FALSE(answer.text.empty());
    } else {
      const std::string plain = parse_tool_name(pending->name).name;
      for (const ToolInfo& info : tool_infos())
        if (info.name == plain) EXPECT_EQ(breach(boost::json::parse(info.output_schema), data), "") << result.data;
    }
    return answer;
  }
  Answer call(const std::string& name, const std::string& arguments,
              const SessionId& session = SessionId("ses_parent")) {
    return finish(begin(name, arguments, session));
  }
  Answer good(const std::string& name, const std::string& arguments,
              const SessionId& session = SessionId("ses_parent")) {
    Answer answer = call(name, arguments, session);
    EXPECT_FALSE(answer.is_error) << name << " " << arguments << ": " << answer.text;
    return answer;
  }
  Answer bad(const std::string& name, const std::string& arguments,
             const SessionId& session = SessionId("ses_parent")) {
    Answer answer = call(name, arguments, session);
    EXPECT_TRUE(answer.is_error) << name << " " << arguments << ": " << answer.text;
    return answer;
  }
  std::string ask(const std::string& prompt, const std::string& more = {}) {
    return good("background_task", R"({"agent":"demo","prompt":")" + prompt + "\"" + more + "}").id();
  }
  Task get(const std::string& id) {
    Result<Task> task = store->get(TaskId(id));
    EXPECT_TRUE(task) << (task ? "" : task.error().message);
    return task.value_or(Task{});
  }
  int64_t task_count() { return *store->count({}); }
  std::vector<Notice> notices(const SessionId& session = SessionId("ses_parent")) {
    return store->notices(session, 0, 100).value_or(std::vector<Notice>{});
  }
  static std::string quoted(const std::string& text) { return boost::json::serialize(boost::json::string(text)); }
  static std::string about(const std::string& id, const std::string& more = {}) {
    return R"({"task_id":)" + quoted(id) + more + "}";
  }

  ManualClock clock;
  SeededRandom random{1};
  QueueExecutor loop;
  EngineSettings settings{.default_work_dir = "/tmp"};
  std::string family = "background";
  std::unique_ptr<Store> store;
  std::unique_ptr<TimerQueue> timers;
  std::unique_ptr<fake::FakeDriver> demo, forking;
  std::unique_ptr<ScriptedCommands> commands;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Toolbox> toolbox;

 private:
  TestFolder folder_;
};

}  // namespace errand::tools

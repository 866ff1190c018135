// Orders and the turns in front of turns, over a supervisor in the process: what waits for what, and what is told when.
#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "changes/record.h"
#include "driver/watched/orders.h"
#include "driver/watched/watched_driver.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::watched {
namespace {

using process::RunEnd;
using process::Stream;

// Everything happens on one thread, later, in order.
struct Later : Executor {
  std::deque<Work> works;
  void post(Work work) override { works.push_back(std::move(work)); }
};

struct Ear : Sink {
  std::vector<Report> reports;
  std::vector<Outcome> outcomes;
  std::vector<Work> stored;
  void report(std::vector<Report> batch, std::string) override {
    EXPECT_TRUE(outcomes.empty()) << "a report after the end";
    std::ranges::move(batch, std::back_inserter(reports));
  }
  void when_stored(Work then) override { stored.push_back(std::move(then)); }
  void ended(Outcome outcome) override { outcomes.push_back(std::move(outcome)); }
  std::string states() const {
    std::string all;
    for (const Report& report : reports)
      if (const auto* isolated = std::get_if<report::Isolated>(&report))
        all += (isolated->isolation ? isolated->isolation->state : "none") + " ";
    return all;
  }
};

// The real driver: what it was opened with, and a turn that does as it is told.
struct Inner : Driver {
  struct InnerTurn : Turn {
    explicit InnerTurn(Inner& of) : inner(of) {}
    Status send(const Message&) override { return {}; }
    void answer(const std::string& request, const std::string& decision, const std::string&) override {
      inner.heard += request + " " + decision + ". ";
    }
    bool lift_quota() override {
      inner.heard += "lifted. ";
      return true;
    }
    void stop() override { inner.sink->ended({.kind = Outcome::Kind::stopped}); }
    void drop() override { inner.dropped = true; }
    Inner& inner;
  };
  Capabilities capabilities() const override { return {.reattach = true}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& with) override {
    opened.push_back(std::move(request));
    sink = &with;
    return std::make_unique<InnerTurn>(*this);
  }
  void forget(const TaskId&) override {}
  std::vector<TurnRequest> opened;
  Sink* sink = nullptr;
  bool dropped = false;
  std::string heard;
};

struct WatchedTest : testing::Test {
  TestFolder folder;
  ManualClock clock;
  TimerQueue timers{clock};
  test::FakeSupervisor supervisor{timers};
  Later later;
  std::unique_ptr<Orders> orders;
  Inner inner;
  std::unique_ptr<Driver> driver;
  Watch watch = Watch::folders;
  Ear ear;
  Task task;

  WatchedTest() {
    task.id = TaskId("task_1");
    task.run = 3;
    task.title = "Fix it";
    task.launch.work_dir = folder.path();
    make();
  }
  void make() {
    driver.reset();
    orders = std::make_unique<Orders>(
        OrderOptions{.data_dir = folder.path(),
                     .program = "/errand",
                     .home = "/home/me",
                     .environment = {"PATH=/bin"},
                     .open_journal = [this](const std::string& run) { return supervisor.journal(run); }},
        OrderParts{.supervisor = supervisor, .files = later, .engine = later, .clock = clock, .timers = timers});
    driver = make_watched_driver(inner, {.watch = [this] { return watch; }},
                                 {.orders = *orders,
                                  .timers = timers,
                                  .folders = later,
                                  .engine = later,
                                  .supervisor = supervisor,
                                  .options = std::make_shared<run::Options>(run::Options{.data_dir = folder.path()})});
  }
  void pass() {
    for (bool more = true; more;) {
      more = false;
      while (!later.works.empty()) {
        Work work = std::move(later.works.front());
        later.works.pop_front();
        work();
        more = true;
      }
      while (timers.next_due() && timers.next_due() <= clock.steady()) more = timers.run_due() > 0 || more;
    }
  }
  std::unique_ptr<Turn> open(bool reattach = false) {
    auto turn =
        driver->open({.task = std::make_shared<Task>(task), .messages = {}, .history = {}, .reattach = reattach}, ear);
    EXPECT_TRUE(turn);
    pass();
    return *std::move(turn);
  }
  // The runs of orders, in the order of their names.
  std::vector<std::string> runs() const {
    std::vector<std::string> names;
    for (const auto& [name, run] : supervisor.runs)
      if (!run.end) names.push_back(name);
    return names;
  }
  void answer(const std::string& run, const std::string& text) {
    supervisor.print(run, Stream::out, text + "\n");
    supervisor.end(run, {});
    pass();
  }
  static std::string isolation(const std::string& state) {
    return R"({"kind":"worktree","state":")" + state +
           R"(","path":"/wt","work_dir":"/wt/src","branch":"errand/x","base":"abc","repo":"/repo","target":"main"})";
  }
  static std::string ready() { return R"({"isolation":)" + isolation("ready") + R"(,"reply":{"watched":true}})"; }
  static constexpr const char* watched = R"({"isolation":null,"reply":{"watched":true}})";
};

TEST_F(WatchedTest, AnAnswerIsTakenApart) {
  const Result<ChangesAnswer> good = read_answer(R"({"isolation":null,"reply":{"a":",\"reply\":"}})"
                                                 "\n");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->reply, R"({"a":",\"reply\":"})");
  EXPECT_FALSE(good->isolation);
  const Result<ChangesAnswer> refused =
      read_answer(R"({"isolation":)" + isolation("conflict") +
                  R"(,"error":{"code":"conflict","message":"Both.","reason":"conflict","files":["a.txt"]}})");
  ASSERT_TRUE(refused && refused->refused);
  EXPECT_EQ(refused->refused->code, Code::conflict);
  EXPECT_EQ(refused->files, std::vector<std::string>{"a.txt"});
  EXPECT_EQ(refused->isolation->work_dir, "/wt/src");
  for (const char* broken : {"", "{}", "null", R"({"isolation":null,"reply":)", R"({"isolation":3,"reply":1})"})
    EXPECT_FALSE(read_answer(broken)) << broken;
}

TEST_F(WatchedTest, ATurnHasASnapshotBeforeAndBehindIt) {
  const auto turn = open();
  EXPECT_EQ(runs(), std::vector<std::string>{"task_1__changes_begin3.0"});
  EXPECT_TRUE(inner.opened.empty());
  answer(runs().front(), watched);
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_EQ(inner.opened[0].task->launch.work_dir, folder.path());
  inner.sink->ended({.kind = Outcome::Kind::completed, .result = "done"});
  pass();
  EXPECT_TRUE(ear.outcomes.empty()) << "the end snapshot is not there yet";
  answer("task_1__changes_finish3.0", R"({"isolation":null,"reply":{}})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].result, "done");
  EXPECT_TRUE(supervisor.runs.empty()) << "nothing of the orders is left";
}

TEST_F(WatchedTest, WithoutASnapshotATurnInTheFolderItselfGoesOn) {
  const auto turn = open();
  supervisor.end(runs().front(), {.how = RunEnd::How::timeout});
  pass();
  ASSERT_EQ(inner.opened.size(), 1u);
  inner.sink->ended({});
  pass();
  EXPECT_EQ(ear.outcomes.size(), 1u) << "and nothing is asked behind it";
}

TEST_F(WatchedTest, WhatIsNotWatchedIsNotTouched) {
  watch = Watch::off;
  const auto turn = open();
  EXPECT_EQ(inner.opened.size(), 1u);
  EXPECT_EQ(inner.sink, &ear);
}

TEST_F(WatchedTest, OneWithItsOwnWorkTreeWorksThereAndOnlyWhenThatIsStored) {
  task.launch.isolate = Isolate::worktree;
  const auto turn = open();
  EXPECT_EQ(ear.states(), "preparing ");
  answer(runs().front(), ready());
  EXPECT_EQ(ear.states(), "preparing ready ");
  EXPECT_TRUE(inner.opened.empty());
  ASSERT_EQ(ear.stored.size(), 1u);
  ear.stored[0]();
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_EQ(inner.opened[0].task->launch.work_dir, "/wt/src");
  EXPECT_FALSE(inner.opened[0].reattach);
}

TEST_F(WatchedTest, OneThatCannotHaveItFailsAndIsNotRun) {
  task.launch.isolate = Isolate::worktree;
  const auto turn = open();
  answer(
      runs().front(),
      R"({"isolation":null,"error":{"code":"unsupported","message":"No repository.","reason":"isolation","files":[]}})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].kind, Outcome::Kind::failed);
  EXPECT_EQ(ear.outcomes[0].error->code, "isolation");
  EXPECT_EQ(ear.outcomes[0].error->message, "No repository.");
  EXPECT_TRUE(inner.opened.empty());
  EXPECT_EQ(ear.states(), "preparing none ");
}

TEST_F(WatchedTest, OneThatIsStoppedMeanwhileLeavesNothingHalfMade) {
  task.launch.isolate = Isolate::worktree;
  const auto turn = open();
  turn->stop();
  pass();
  EXPECT_EQ(runs(), std::vector<std::string>{"task_1__changes_settle3.0"}) << "the order was ended";
  answer(runs().front(), R"({"isolation":null,"reply":null})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].kind, Outcome::Kind::stopped);
  EXPECT_TRUE(inner.opened.empty());
}

TEST_F(WatchedTest, AfterARestartThePreparationIsHeardAndTheTurnBegins) {
  task.launch.isolate = Isolate::worktree;
  auto turn = open();
  turn.reset();  // The server was killed.
  make();
  task.isolation = Isolation{.kind = "worktree", .state = "preparing", .path = {}};
  turn = open(true);
  EXPECT_EQ(std::ranges::count(supervisor.calls, "spawn task_1__changes_begin3.0"), 2) << "the same run";
  EXPECT_EQ(runs().size(), 1u);
  answer(runs().front(), ready());
  ear.stored.back()();
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_FALSE(inner.opened[0].reattach) << "it cannot have begun";
}

// --- the set-up command

struct SetUpTest : WatchedTest {
  static constexpr const char* run = "task_1__setup_3.0";
  SetUpTest() {
    task.launch.isolate = Isolate::worktree;
    task.launch.isolate_setup = "npm ci";
  }
  static std::string to_be_set_up() {
    return R"({"isolation":)" + isolation("preparing") + R"(,"reply":{"watched":true,"set_up":true}})";
  }
  void stored() {
    std::vector<Work> all = std::exchange(ear.stored, {});
    for (Work& work : all) work();
    pass();
  }
  // Up to where it runs.
  std::unique_ptr<Turn> at_work() {
    auto turn = open();
    answer(runs().front(), to_be_set_up());
    EXPECT_TRUE(runs().empty()) << "nothing runs before it is stored where";
    stored();
    EXPECT_EQ(runs(), std::vector<std::string>{run});
    return turn;
  }
};

TEST_F(SetUpTest, ItRunsInTheWorkTreeAndTheTurnBeginsBehindIt) {
  const auto turn = at_work();
  EXPECT_EQ(supervisor.runs.at(run).request.work_dir, "/wt/src");
  EXPECT_EQ(supervisor.runs.at(run).request.argv, (std::vector<std::string>{"/bin/sh", "-c", "npm ci"}));
  EXPECT_EQ(ear.states(), "preparing preparing ");
  EXPECT_TRUE(inner.opened.empty());
  supervisor.end(run, {});
  pass();
  EXPECT_EQ(runs(), std::vector<std::string>{"task_1__changes_ready3.0"});
  answer(runs().front(), ready());
  EXPECT_TRUE(inner.opened.empty()) << "it is not stored yet";
  stored();
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_EQ(ear.states(), "preparing preparing ready ");
  EXPECT_TRUE(supervisor.runs.contains(run)) << "its log is kept";
}

TEST_F(SetUpTest, WhereItFailsTheTaskFailsAndNothingOfTheWorkTreeIsLeft) {
  const auto turn = at_work();
  supervisor.print(run, Stream::err, "no such package\n");
  supervisor.end(run, {.exit_code = 7});
  pass();
  EXPECT_TRUE(ear.outcomes.empty());
  answer("task_1__changes_settle3.0", R"({"isolation":null,"reply":null})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].kind, Outcome::Kind::failed);
  EXPECT_EQ(ear.outcomes[0].error->code, "isolation");
  EXPECT_TRUE(ear.outcomes[0].error->message.contains("exited with code 7")) << ear.outcomes[0].error->message;
  EXPECT_TRUE(ear.outcomes[0].error->message.contains("errand logs --setup task_1"));
  EXPECT_EQ(ear.states(), "preparing preparing none ");
  EXPECT_TRUE(inner.opened.empty());
}

TEST_F(SetUpTest, ItIsStoppedWithItsTask) {
  const auto turn = at_work();
  turn->stop();
  EXPECT_EQ(std::ranges::count(supervisor.calls, std::string("stop ") + run), 1);
  pass();
  if (!supervisor.runs.at(run).end) supervisor.end(run, {.how = RunEnd::How::stopped});
  pass();
  answer("task_1__changes_settle3.0", R"({"isolation":null,"reply":null})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].kind, Outcome::Kind::stopped);
  EXPECT_TRUE(inner.opened.empty());
}

TEST_F(SetUpTest, AfterARestartItIsHeardAndNotStartedAgain) {
  auto turn = at_work();
  turn.reset();  // The server was killed.
  make();
  task.isolation = Isolation{.kind = "worktree", .state = "preparing", .path = "/wt", .work_dir = "/wt/src"};
  turn = open(true);
  EXPECT_EQ(runs(), std::vector<std::string>{run}) << "no second work tree";
  supervisor.end(run, {});
  pass();
  answer("task_1__changes_ready3.0", ready());
  stored();
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_FALSE(inner.opened[0].reattach);
  EXPECT_EQ(std::ranges::count(supervisor.calls, std::string("spawn ") + run), 1);
}

TEST_F(SetUpTest, AfterARestartBeforeItBeganAllIsMadeAnew) {
  task.isolation = Isolation{.kind = "worktree", .state = "preparing", .path = "/wt", .work_dir = "/wt/src"};
  const auto turn = open(true);
  EXPECT_EQ(runs(), std::vector<std::string>{"task_1__changes_begin3.0"});
}

TEST_F(WatchedTest, WhatIsAnsweredOrLiftedWhileATurnIsTakenUpReachesIt) {
  const auto turn =
      *driver->open({.task = std::make_shared<Task>(task), .messages = {}, .history = {}, .reattach = true}, ear);
  ASSERT_TRUE(inner.opened.empty());
  turn->answer("ask_1", "allow", "");
  EXPECT_TRUE(turn->lift_quota());
  pass();
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_EQ(inner.heard, "ask_1 allow. lifted. ");
}

TEST_F(WatchedTest, AfterARestartATurnAtWorkGoesOnWhereItWas) {
  task.launch.isolate = Isolate::worktree;
  task.isolation = Isolation{.kind = "worktree", .state = "ready", .path = "/wt", .work_dir = "/wt/src"};
  const auto turn = open(true);
  ASSERT_EQ(inner.opened.size(), 1u);
  EXPECT_TRUE(inner.opened[0].reattach);
  EXPECT_EQ(inner.opened[0].task->launch.work_dir, "/wt/src");
  EXPECT_TRUE(runs().empty()) << "no second start snapshot";
}

TEST_F(WatchedTest, OrdersOfATaskWaitForEachOtherAndAFewTasksRunAtOnce) {
  std::vector<std::string> answered;
  for (int i = 1; i <= 5; ++i)
    for (const char* order : {"file", "patch"}) {
      auto other = std::make_shared<Task>(task);
      other->id = TaskId("task_" + std::to_string(i));
      orders->ask(other, {.order = order}, [&answered, i](const Result<ChangesAnswer>& answer) {
        answered.push_back(std::to_string(i) + (answer ? "" : answer.error().reason));
      });
    }
  pass();
  ASSERT_EQ(runs().size(), 3u);
  for (const std::string& run : runs()) EXPECT_TRUE(run.contains("__changes_file")) << run;
  while (!runs().empty()) answer(runs().front(), watched);
  EXPECT_EQ(answered.size(), 10u);
}

TEST_F(WatchedTest, NobodyDecidesWhileATurnIsAtWorkAndAListIsMadeOnceForAllWhoWait) {
  const auto turn = open();
  std::string reason;
  orders->ask(std::make_shared<Task>(task), {.order = "merge"},
              [&](const Result<ChangesAnswer>& answer) { reason = answer ? "" : answer.error().reason; });
  pass();
  EXPECT_EQ(reason, "at_work");
  int told = 0;
  for (int i = 0; i < 5; ++i)
    orders->ask(std::make_shared<Task>(task), {.order = "list"}, [&](const Result<ChangesAnswer>& answer) {
      EXPECT_TRUE(answer);
      ++told;
    });
  pass();
  answer("task_1__changes_begin3.0", watched);
  ASSERT_EQ(runs().size(), 1u);
  answer(runs().front(), R"({"isolation":null,"reply":{"files":[]}})");
  EXPECT_EQ(told, 5);
  EXPECT_TRUE(runs().empty());
}

TEST_F(WatchedTest, WhatAnEarlierServerOrderedIsHeardToItsEnd) {
  orders->ask(std::make_shared<Task>(task), {.order = "merge"}, [](const Result<ChangesAnswer>&) { FAIL(); });
  pass();
  const std::string run = runs().front();
  make();
  std::vector<std::string> heard;
  orders->take_up([&](const TaskId& id, const std::optional<Isolation>& isolation) {
    heard.push_back(id.value + " " + (isolation ? isolation->state : "none"));
  });
  pass();
  answer(run, R"({"isolation":)" + isolation("merged") + R"(,"reply":{"mode":"squash"}})");
  EXPECT_EQ(heard, std::vector<std::string>{"task_1 merged"});
  EXPECT_TRUE(supervisor.runs.empty());
}

// --- what is old

struct CleanUpTest : WatchedTest {
  static constexpr Millis hour = 3'600'000, day = 24 * hour;
  CleanUpTest() {
    orders->take_up([](const TaskId&, const std::optional<Isolation>&) {});
    pass();
  }
  void decided(const std::string& id, const std::string& state, Millis ago) {
    changes::Record record{.task = id};
    record.kind = "worktree";
    record.state = state;
    record.decided = std::to_string(clock.wall().ms - ago);
    ASSERT_TRUE(write_record(folder.path(), record));
  }
  std::string cleaned() {
    std::string all;
    for (const std::string& run : runs()) all += run.substr(0, run.find('_', run.find("__") + 2)) + " ";
    return all;
  }
  void advance(Millis by) {
    clock.advance(by);
    pass();
  }
};

TEST_F(CleanUpTest, WhatWasDecidedAMonthAgoIsLookedAtAndNothingElse) {
  decided("task_old", "merged", 31 * day);
  decided("task_thrown", "discarded", 31 * day);
  decided("task_young", "merged", 20 * day);
  decided("task_ready", "ready", 31 * day);
  advance(hour);
  EXPECT_EQ(cleaned(), "task_old__changes task_thrown__changes ");
  for (const std::string& run : runs()) answer(run, R"({"isolation":)" + isolation("merged") + R"(,"reply":null})");
  // As the order leaves them: one is removed, one stays and is looked at once a day.
  changes::Record gone = *changes::read_record(folder.path(), "task_old").value();
  gone.cleaned = std::to_string(clock.wall().ms);
  ASSERT_TRUE(write_record(folder.path(), gone));
  changes::Record stays = *changes::read_record(folder.path(), "task_thrown").value();
  stays.stays = "It has commits that were not merged.";
  stays.looked = std::to_string(clock.wall().ms);
  ASSERT_TRUE(write_record(folder.path(), stays));
  for (int i = 0; i < 23; ++i) advance(hour);
  EXPECT_EQ(cleaned(), "");
  advance(2 * hour);
  EXPECT_EQ(cleaned(), "task_thrown__changes ");
}

TEST_F(CleanUpTest, AClockThatIsSetForwardRemovesNothingForAnHour) {
  decided("task_old", "merged", day);
  clock.jump_wall(60 * day);
  advance(hour);
  EXPECT_EQ(cleaned(), "");
  clock.jump_wall(-60 * day);
  for (int i = 0; i < 4; ++i) advance(hour);
  EXPECT_EQ(cleaned(), "") << "it was set right";
}

TEST_F(CleanUpTest, ATaskAtWorkIsLeftAlone) {
  decided("task_1", "merged", 31 * day);
  orders->begin_turn(TaskId("task_1"));
  advance(hour);
  EXPECT_EQ(cleaned(), "");
  orders->end_turn(TaskId("task_1"));
  advance(hour);
  EXPECT_EQ(cleaned(), "task_1__changes ");
}

TEST_F(WatchedTest, WhatIsHalfMadeOfAFailedOneIsRemoved) {
  task.launch.isolate = Isolate::worktree;
  const auto turn = open();
  answer(runs().front(),
         R"({"isolation":)" + isolation("preparing") +
             R"(,"error":{"code":"storage_full","message":"No space.","reason":"isolation","files":[]}})");
  EXPECT_TRUE(ear.outcomes.empty());
  answer("task_1__changes_settle3.0", R"({"isolation":null,"reply":null})");
  ASSERT_EQ(ear.outcomes.size(), 1u);
  EXPECT_EQ(ear.outcomes[0].error->message, "No space.");
  EXPECT_EQ(ear.states(), "preparing none ");
}

}  // namespace
}  // namespace errand::watched

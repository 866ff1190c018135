// Lists: filters, order, pages, search (R10.2).
#include <algorithm>

#include <fmt/format.h>

#include "tests/contract/store_contract.h"

namespace errand {
namespace {

using Ids = std::vector<std::string>;

TEST_P(StoreContract, ListsAreNewestFirstAndMayBeTurned) {
  const Task a = add(new_task()), b = add(new_task()), c = add(new_task());
  EXPECT_EQ(found({}), (Ids{c.id.value, b.id.value, a.id.value}));
  EXPECT_EQ(found({}, {.sort = Sort::oldest}), (Ids{a.id.value, b.id.value, c.id.value}));
}

TEST_P(StoreContract, NewestIsWhatWasMadeLastWhateverTheClockSays) {
  const Task a = add(new_task());
  now_ = now_ - 3'600'000;
  const Task b = add(new_task());
  EXPECT_EQ(found({}), (Ids{b.id.value, a.id.value}));
}

TEST_P(StoreContract, SortByLastChange) {
  Task a = add(new_task()), b = add(new_task()), c = add(new_task());
  a = next(a);
  a.updated_at = later();
  update(a);
  EXPECT_EQ(found({}, {.sort = Sort::updated}), (Ids{a.id.value, c.id.value, b.id.value}));
  EXPECT_EQ(found({.states = {TaskState::pending}}, {.sort = Sort::updated}),
            (Ids{a.id.value, c.id.value, b.id.value}));
  for (const TaskFilter& filter : {TaskFilter{}, TaskFilter{.agent_id = "demo"}}) {
    const TaskPage first = *store().list(filter, {.limit = 2, .sort = Sort::updated});
    const TaskPage second = *store().list(filter, {.limit = 2, .cursor = first.next_cursor, .sort = Sort::updated});
    ASSERT_EQ(second.tasks.size(), 1u);
    EXPECT_EQ(second.tasks[0].id, b.id);
    EXPECT_EQ(second.next_cursor, "");
    EXPECT_EQ(found(filter, {.offset = 1, .sort = Sort::updated}), (Ids{c.id.value, b.id.value}));
  }
}

TEST_P(StoreContract, EveryFilterFilters) {
  Task a = new_task();
  a.launch.parent_session_id = SessionId("ses_p");
  a.launch.batch_id = BatchId("batch_1");
  a.launch.labels = {{"team", "core"}, {"os", "linux"}};
  a = add(a);
  now_ = now_ + 10'000;
  Task b = new_task();
  b.launch.kind = TaskKind::command;
  b.launch.agent_id = "command";
  b.launch.command = "make all";
  b.launch.labels = {{"team", "web"}};
  b = update(completed(add(b)));
  now_ = now_ + 10'000;
  Task c = new_task();
  c.launch.agent_id = "claude";
  c.launch.batch_id = BatchId("batch_1");
  c = update(running(add(c)));
  const Ids all{c.id.value, b.id.value, a.id.value};

  EXPECT_EQ(found({.states = {TaskState::completed}}), Ids{b.id.value});
  EXPECT_EQ(found({.states = {TaskState::pending, TaskState::running, TaskState::running}}),
            (Ids{c.id.value, a.id.value}));
  EXPECT_EQ(found({.states = {TaskState::failed}}), Ids{});
  EXPECT_EQ(found({.agent_id = "claude"}), Ids{c.id.value});
  EXPECT_EQ(found({.agent_id = "nobody"}), Ids{});
  EXPECT_EQ(found({.kind = TaskKind::command}), Ids{b.id.value});
  EXPECT_EQ(found({.kind = TaskKind::agent}), (Ids{c.id.value, a.id.value}));
  EXPECT_EQ(found({.agent_id = "demo", .kind = TaskKind::command}), Ids{});
  EXPECT_EQ(found({.batch_id = BatchId("batch_1")}), (Ids{c.id.value, a.id.value}));
  EXPECT_EQ(found({.states = {TaskState::running}, .batch_id = BatchId("batch_1")}), Ids{c.id.value});
  EXPECT_EQ(found({.parent_session_id = SessionId("ses_p")}), Ids{a.id.value});
  EXPECT_EQ(found({.label_key = "team", .label_value = "core"}), Ids{a.id.value});
  EXPECT_EQ(found({.label_key = "team", .label_value = "cor"}), Ids{});
  EXPECT_EQ(found({.label_key = "os", .label_value = "core"}), Ids{});
  EXPECT_EQ(found({.created_after = a.created_at}), (Ids{c.id.value, b.id.value}));
  EXPECT_EQ(found({.created_before = c.created_at}), (Ids{b.id.value, a.id.value}));
  EXPECT_EQ(found({.created_after = a.created_at, .created_before = c.created_at}), Ids{b.id.value});
  EXPECT_EQ(found({.created_after = a.created_at + -1, .created_before = c.created_at + 1}), all);
  EXPECT_EQ(found({.created_after = c.created_at}), Ids{});
  EXPECT_EQ(found({.created_before = a.created_at}), Ids{});
  EXPECT_EQ(found({.query = "make"}), Ids{b.id.value});

  EXPECT_EQ(*store().count({}), 3);
  EXPECT_EQ(*store().count({.states = {TaskState::completed, TaskState::running}}), 2);
  EXPECT_EQ(*store().count({.batch_id = BatchId("batch_1")}), 2);
  EXPECT_EQ(*store().count({.kind = TaskKind::agent}), 2);
  EXPECT_EQ(*store().count({.created_after = a.created_at}), 2);
  EXPECT_EQ(*store().count({.query = "look around"}), 3);

  store_it(removal(a));
  EXPECT_EQ(found({.label_key = "team", .label_value = "core"}), Ids{});
}

TEST_P(StoreContract, WhatTasksWaitForFilters) {
  const auto with_ask = [&](Task task, AskKind kind, const std::string& decision) {
    task.asks.push_back({.request_id = "r" + std::to_string(task.asks.size()),
                         .kind = kind,
                         .text = "May I?",
                         .options = {},
                         .at = now_,
                         .decision = decision,
                         .reply = {}});
    return task;
  };
  const auto with_wait = [&](Task task, WaitKind kind) {
    task.wait = Wait{.kind = kind, .text = "Later.", .until = now_ + 1000, .since = now_};
    return task;
  };
  update(running(add(new_task())));
  const Task permission = update(with_ask(running(add(new_task())), AskKind::permission, ""));
  Task answered = update(with_ask(running(add(new_task())), AskKind::answer, "answered"));
  // The first open question counts, and comes before what else it waits for.
  const Task second =
      update(with_wait(with_ask(with_ask(running(add(new_task())), AskKind::permission, "allow"), AskKind::answer, ""),
                       WaitKind::quota));
  const Task quota = update(with_wait(running(add(new_task())), WaitKind::quota));
  Task children = running(add(new_task()));
  children.state = TaskState::resumed;
  children = update(with_wait(children, WaitKind::children));

  const std::vector<AskKind> any_ask = {AskKind::permission, AskKind::answer};
  const std::vector<WaitKind> any_wait = {WaitKind::quota, WaitKind::children};
  EXPECT_EQ(found({.asks = any_ask}), (Ids{second.id.value, permission.id.value}));
  EXPECT_EQ(found({.asks = any_ask}, {.sort = Sort::oldest}), (Ids{permission.id.value, second.id.value}));
  EXPECT_EQ(found({.asks = any_ask}, {.limit = 1, .offset = 1}), Ids{permission.id.value});
  EXPECT_EQ(found({.asks = {AskKind::permission}}), Ids{permission.id.value});
  EXPECT_EQ(found({.asks = {AskKind::answer}}), Ids{second.id.value});
  EXPECT_EQ(found({.waits = any_wait}), (Ids{children.id.value, quota.id.value}));
  EXPECT_EQ(found({.states = {TaskState::resumed}, .waits = any_wait}), Ids{children.id.value});
  EXPECT_EQ(found({.states = {TaskState::running}, .asks = any_ask, .waits = any_wait}),
            (Ids{quota.id.value, second.id.value, permission.id.value}));
  EXPECT_EQ(found({.agent_id = "nobody", .asks = any_ask}), Ids{});
  EXPECT_EQ(*store().count({.asks = any_ask}), 2);
  EXPECT_EQ(*store().count({.states = {TaskState::running}, .waits = any_wait}), 1);

  const TaskPage first = *store().list({.asks = any_ask}, {.limit = 1});
  ASSERT_NE(first.next_cursor, "");
  EXPECT_EQ(found({.asks = any_ask}, {.limit = 1, .cursor = first.next_cursor}), Ids{permission.id.value});
  EXPECT_FALSE(store().list({.asks = {AskKind::answer}}, {.limit = 1, .cursor = first.next_cursor}))
      << "the cursor of another list";

  // It follows what happens to the task.
  answered = update(with_ask(next(answered), AskKind::permission, ""));
  EXPECT_EQ(found({.asks = {AskKind::permission}}), (Ids{answered.id.value, permission.id.value}));
  reopen();
  EXPECT_EQ(found({.asks = any_ask}), (Ids{second.id.value, answered.id.value, permission.id.value}));
  answered = next(answered);
  answered.asks.clear();
  update(answered);
  store_it(removal(permission));
  EXPECT_EQ(found({.asks = any_ask}), Ids{second.id.value});
}

TEST_P(StoreContract, TimesFilterAlsoWhereTheClockWentBack) {
  const Task a = add(new_task());
  now_ = now_ + 100'000;
  const Task b = add(new_task());
  now_ = now_ - 50'000;
  const Task c = add(new_task());
  EXPECT_EQ(found({.created_before = b.created_at}), (Ids{c.id.value, a.id.value}));
  EXPECT_EQ(found({.created_after = c.created_at}), Ids{b.id.value});
  EXPECT_EQ(found({.created_after = a.created_at, .created_before = b.created_at}), Ids{c.id.value});
}

TEST_P(StoreContract, CursorsStayRightWhileTasksAreAddedAndGo) {
  std::vector<Task> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(add(new_task()));
  const TaskFilter filter{.states = {TaskState::pending}};
  Ids seen;
  std::string cursor;
  int pages = 0;
  do {
    const TaskPage page = *store().list(filter, {.limit = 3, .cursor = cursor});
    for (const Task& task : page.tasks) seen.push_back(task.id.value);
    cursor = page.next_cursor;
    add(new_task());
    if (++pages == 1) store_it(removal(tasks[7]));  // The cursor's own place goes.
    if (pages == 2) reopen();
  } while (!cursor.empty());
  Ids expected;
  for (int i = 9; i >= 0; --i) expected.push_back(tasks[static_cast<size_t>(i)].id.value);
  EXPECT_EQ(seen, expected) << "task 7 was on the first page";
}

TEST_P(StoreContract, TheLastPageHasNoCursor) {
  for (int i = 0; i < 4; ++i) add(new_task());
  const TaskPage first = *store().list({}, {.limit = 2});
  ASSERT_NE(first.next_cursor, "");
  const TaskPage second = *store().list({}, {.limit = 2, .cursor = first.next_cursor});
  EXPECT_EQ(second.tasks.size(), 2u);
  EXPECT_EQ(second.next_cursor, "");
}

TEST_P(StoreContract, OffsetsJump) {
  std::vector<Task> tasks;
  for (int i = 0; i < 6; ++i) tasks.push_back(add(new_task(i % 2 ? "odd one" : "even one")));
  EXPECT_EQ(found({}, {.limit = 2, .offset = 3}), (Ids{tasks[2].id.value, tasks[1].id.value}));
  EXPECT_EQ(found({.query = "odd"}, {.limit = 5, .offset = 1}), (Ids{tasks[3].id.value, tasks[1].id.value}));
  EXPECT_EQ(found({}, {.offset = 6}), Ids{});
  EXPECT_EQ(found({}, {.offset = 600}), Ids{});
}

TEST_P(StoreContract, BadPagesAreRefused) {
  for (int i = 0; i < 3; ++i) add(new_task());
  const TaskPage page = *store().list({}, {.limit = 1});
  const std::vector<std::pair<TaskFilter, Page>> wrong = {
      {{}, {.limit = 0}},
      {{}, {.limit = 501}},
      {{}, {.offset = -1}},
      {{}, {.cursor = page.next_cursor, .offset = 1}},
      {{}, {.cursor = "zzz"}},
      {{}, {.cursor = page.next_cursor + "0"}},
      {{}, {.cursor = "c" + std::string(40, 'g')}},
      {{}, {.cursor = page.next_cursor, .sort = Sort::oldest}},
      {{.agent_id = "demo"}, {.cursor = page.next_cursor}},
  };
  for (size_t i = 0; i < wrong.size(); ++i) {
    const Result<TaskPage> refused = store().list(wrong[i].first, wrong[i].second);
    ASSERT_FALSE(refused) << i;
    EXPECT_EQ(refused.error().code, Code::invalid_argument) << i;
  }
  EXPECT_FALSE(store().list({.query = std::string(1'001, 'x')}, {}));
}

TEST_P(StoreContract, SearchFindsWordsPartsAndChinese) {
  const Task english = add(new_task("Refactor the HTTP server in src/net/Server.cc"));
  const Task chinese = add(new_task("请修复数据库连接的错误，并写测试"));
  Task command = new_task("");
  command.launch.kind = TaskKind::command;
  command.launch.agent_id = "command";
  command.launch.command = "cargo build --release";
  command.launch.title = command.title = "Überprüfung ДОМ";
  command = add(command);
  const Task result = update(completed(add(new_task("Say it")), "The answer is forty-two; 完成了"));

  const auto one = [](const Task& task) { return Ids{task.id.value}; };
  EXPECT_EQ(found({.query = "refactor"}), one(english));
  EXPECT_EQ(found({.query = "SERVER http"}), one(english)) << "any case, any order";
  EXPECT_EQ(found({.query = "factor"}), one(english)) << "a part of a word";
  EXPECT_EQ(found({.query = "fa"}), one(english));
  EXPECT_EQ(found({.query = "net/server.cc"}), one(english));
  EXPECT_EQ(found({.query = "refactor missing"}), Ids{});
  EXPECT_EQ(found({.query = "refractor"}), Ids{});
  EXPECT_EQ(found({.query = "数据库"}), one(chinese));
  EXPECT_EQ(found({.query = "连接"}), one(chinese));
  EXPECT_EQ(found({.query = "测"}), one(chinese));
  EXPECT_EQ(found({.query = "错误 数据"}), one(chinese));
  EXPECT_EQ(found({.query = "据数"}), Ids{}) << "the order of characters counts";
  EXPECT_EQ(found({.query = "数据连接"}), Ids{});
  EXPECT_EQ(found({.query = "--release"}), one(command));
  EXPECT_EQ(found({.query = "überprüfung"}), one(command));
  EXPECT_EQ(found({.query = "дом"}), one(command));
  EXPECT_EQ(found({.query = "ＣＡＲＧＯ"}), one(command)) << "full-width letters are letters";
  EXPECT_EQ(found({.query = "forty-two"}), one(result));
  EXPECT_EQ(found({.query = "完成"}), one(result));
  EXPECT_EQ(found({.query = "say 完成"}), one(result)) << "prompt and result together";
  EXPECT_EQ(found({.query = "   "}).size(), 4u) << "nothing is asked for";
  reopen();
  EXPECT_EQ(found({.query = "forty-two"}), one(result));
  EXPECT_EQ(found({.query = "数据库"}), one(chinese));
}

TEST_P(StoreContract, AQueryIsPlainText) {
  const Task task = add(new_task("He said \"never OR always\" AND NOT (x*y) NEAR col:umn ^up 100% a_b 'q'"));
  add(new_task("nothing of it"));
  for (const char* query :
       {"\"never", "OR", "AND NOT", "(x*y)", "*", "col:umn", "^up", "100%", "a_b", "'q'", "\"", "-", ";"}) {
    const Ids ids = found({.query = query});
    const bool expected = std::string(query) != "-" && std::string(query) != ";";
    EXPECT_EQ(ids, expected ? Ids{task.id.value} : Ids{}) << query;
  }
  EXPECT_EQ(found({.query = "never* OR x"}), Ids{});
}

TEST_P(StoreContract, SearchIsRightAtOnceAndCombinesWithFilters) {
  std::vector<Task> tasks;
  for (int i = 0; i < 300; ++i) {
    Task task = new_task(fmt::format("common words number {} {}", i, i % 10 == 0 ? "special" : ""));
    tasks.push_back(add(task));
    if (i % 60 == 0) {
      EXPECT_EQ(found({.query = fmt::format("number {}", i)}, {.limit = 1}), Ids{task.id.value}) << i;
    }
  }
  EXPECT_EQ(*store().count({.query = "special"}), 30);
  for (int i = 0; i < 300; i += 30)
    tasks[static_cast<size_t>(i)] = update(completed(tasks[static_cast<size_t>(i)], "outcome"));
  EXPECT_EQ(*store().count({.states = {TaskState::completed}, .query = "special"}), 10);
  EXPECT_EQ(*store().count({.query = "outcome"}), 10);
  EXPECT_EQ(found({.states = {TaskState::completed}, .query = "common"}, {.limit = 2}),
            (Ids{tasks[270].id.value, tasks[240].id.value}));
  EXPECT_EQ(found({.query = "special"}, {.limit = 1, .sort = Sort::oldest}), Ids{tasks[0].id.value});
  EXPECT_EQ(found({.query = "special"}, {.limit = 2, .sort = Sort::updated}).size(), 2u);

  Ids seen;
  std::string cursor;
  do {
    const TaskPage page = *store().list({.query = "special"}, {.limit = 7, .cursor = cursor});
    for (const Task& task : page.tasks) seen.push_back(task.id.value);
    cursor = page.next_cursor;
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 30u);
  EXPECT_TRUE(std::ranges::is_sorted(seen, std::greater<>()));

  for (int i = 0; i < 300; i += 10) store_it(removal(tasks[static_cast<size_t>(i)]));
  EXPECT_EQ(*store().count({.query = "special"}), 0);
  // A later result takes the place of an earlier one.
  Task again = next(completed(tasks[1], "outcome"));
  update(completed(tasks[1], "outcome"));
  again.result = "something else";
  update(again);
  EXPECT_EQ(*store().count({.query = "outcome"}), 0);
  EXPECT_EQ(*store().count({.query = "something else"}), 1);
}

}  // namespace
}  // namespace errand

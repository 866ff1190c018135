// How people keep their records (pins, archive, edits, batches as rows), and what calls of models used (R15).
#include <algorithm>

#include "tests/contract/store_contract.h"

namespace errand {
namespace {

using Ids = std::vector<std::string>;

Task asking(Task task, Time at) {
  task.asks.push_back({.request_id = "r1", .kind = AskKind::permission, .text = "May I?", .options = {}, .at = at});
  return task;
}

Task failed(Task task, Time at) {
  task.state = TaskState::failed;
  task.phase = TurnPhase::ended;
  task.reason = "exit";
  task.error = TaskError{"exit", "It ended with 1.", {}};
  task.completed_at = at;
  return task;
}

Task in_batch(Task task, const char* batch) {
  task.launch.batch_id = BatchId(batch);
  return task;
}

UsageRow row_of(const Task& task, Time at, std::optional<double> cost) {
  return {.at = at,
          .task_id = task.id,
          .turn = 1,
          .provider = "api.example.com",
          .model = "model-a",
          .agent = "demo",
          .folder = "/home/you/project",
          .tokens = {.input = 10, .output = 20, .cache_read = 300, .cache_write = 4'000},
          .cost_usd = cost,
          .source = cost ? PriceSource::table : PriceSource::unknown,
          .priced_at = cost ? "2026-11-15" : ""};
}

TEST_P(StoreContract, WhatNeedsYouComesFirst) {
  // Stored in the opposite order of attention.
  const Task rest = update(completed(add(new_task())));
  const Task pending = add(new_task());
  Task waiting = running(add(new_task()));
  waiting.wait = Wait{.kind = WaitKind::quota, .text = "Later.", .until = now_ + 1000, .since = now_};
  waiting = update(waiting);
  const Task working = update(running(add(new_task())));
  Task pinned = completed(add(new_task()));
  pinned.pinned = true;
  pinned = update(pinned);
  Task looked_at = failed(running(add(new_task())), now_);
  looked_at.retrieved_at = now_;
  looked_at = update(looked_at);
  const Task unseen = update(failed(running(add(new_task())), now_));
  const Task asks = update(asking(running(add(new_task())), now_));
  const Task newest = update(completed(add(new_task())));

  const Ids all{asks.id.value,    unseen.id.value, pinned.id.value,    working.id.value, waiting.id.value,
                pending.id.value, newest.id.value, looked_at.id.value, rest.id.value};
  EXPECT_EQ(found({}, {.sort = Sort::attention}), all);
  // Every page, by cursor and by offset, of every size.
  for (int limit = 1; limit <= 10; ++limit) {
    Ids paged;
    std::string cursor;
    do {
      const Result<TaskPage> page = store().list({}, {.limit = limit, .cursor = cursor, .sort = Sort::attention});
      ASSERT_TRUE(page) << page.error().message;
      for (const Task& task : page->tasks) paged.push_back(task.id.value);
      cursor = page->next_cursor;
    } while (!cursor.empty());
    EXPECT_EQ(paged, all) << limit;
  }
  for (size_t offset = 0; offset <= all.size(); ++offset) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(offset);
    EXPECT_EQ(found({}, {.offset = static_cast<int64_t>(offset), .sort = Sort::attention}), Ids(from, all.end()));
  }
  // With filters.
  EXPECT_EQ(found({.states = {TaskState::failed, TaskState::running}}, {.sort = Sort::attention}),
            (Ids{asks.id.value, unseen.id.value, working.id.value, waiting.id.value, looked_at.id.value}));
  EXPECT_EQ(found({.states = {TaskState::running}, .query = "look around"}, {.sort = Sort::attention}),
            (Ids{asks.id.value, working.id.value, waiting.id.value}));
  EXPECT_EQ(found({.pinned = true}, {.sort = Sort::attention}), Ids{pinned.id.value});
  EXPECT_EQ(found({.unseen = true, .pinned = false}, {.sort = Sort::attention}), Ids{unseen.id.value});
  // A cursor belongs to its order.
  const std::string cursor = store().list({}, {.limit = 2, .sort = Sort::attention})->next_cursor;
  EXPECT_FALSE(store().list({}, {.limit = 2, .cursor = cursor}));
}

TEST_P(StoreContract, ArchivedTasksAreListedOnlyWhereAskedFor) {
  std::vector<Task> tasks;
  for (int i = 0; i < 12; ++i) tasks.push_back(add(new_task()));
  Ids shown, hidden;
  for (size_t i = tasks.size(); i-- > 0;) {
    if (i % 3 == 0) {
      tasks[i] = next(tasks[i]);
      tasks[i].archived = true;
      tasks[i] = update(tasks[i]);
      hidden.push_back(tasks[i].id.value);
    } else {
      shown.push_back(tasks[i].id.value);
    }
  }
  EXPECT_EQ(found({}).size(), 12u);
  EXPECT_EQ(found({.archived = true}), hidden);
  for (const Sort sort : {Sort::newest, Sort::attention}) {
    for (size_t offset = 0; offset <= shown.size() + 1; ++offset) {
      const auto from = shown.begin() + static_cast<std::ptrdiff_t>(std::min(offset, shown.size()));
      EXPECT_EQ(found({.archived = false}, {.offset = static_cast<int64_t>(offset), .sort = sort}),
                Ids(from, shown.end()))
          << offset;
    }
  }
  Ids turned(shown.rbegin(), shown.rend());
  EXPECT_EQ(found({.archived = false}, {.sort = Sort::oldest}), turned);
  EXPECT_EQ(found({.archived = false}, {.offset = 3, .sort = Sort::oldest}), Ids(turned.begin() + 3, turned.end()));
  EXPECT_EQ(found({.states = {TaskState::pending}, .archived = false}, {.offset = 2}),
            Ids(shown.begin() + 2, shown.end()));
  EXPECT_EQ(*store().count({.archived = false}), 8);
  EXPECT_EQ(*store().count({.archived = true}), 4);
  EXPECT_EQ(*store().count({.states = {TaskState::pending}, .archived = false}), 8);
  EXPECT_EQ(*store().count({.states = {TaskState::failed}, .archived = false}), 0);
  reopen();
  EXPECT_EQ(found({.archived = true}), hidden);
  EXPECT_TRUE(store().get(tasks[0].id)->archived);
}

TEST_P(StoreContract, AnEditIsStoredAndFound) {
  Task task = new_task("Look around");
  task.title = "Look around";
  task.launch.labels = {{"team", "core"}, {"os", "linux"}};
  task = add(task);
  EXPECT_EQ(found({.query = "around"}), Ids{task.id.value});  // The search index may have it by now.
  Task after = next(task);
  after.title = "Zebra crossing";
  after.renamed = after.pinned = true;
  after.launch.labels = {{"team", "web"}};
  Commit edit = commit_of(after, 1);
  edit.edited = true;
  store_it(std::move(edit));
  after.last_seq += 0;
  const Task stored = *store().get(task.id);
  EXPECT_EQ(stored.title, "Zebra crossing");
  EXPECT_EQ(stored.launch.labels, (StringMap{{"team", "web"}}));
  EXPECT_TRUE(stored.pinned);
  EXPECT_TRUE(stored.renamed);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(found({.query = "zebra"}), Ids{task.id.value});
    EXPECT_EQ(found({.label_key = "team", .label_value = "web"}), Ids{task.id.value});
    EXPECT_EQ(found({.label_key = "team", .label_value = "core"}), Ids{});
    EXPECT_EQ(found({.label_key = "os", .label_value = "linux"}), Ids{});
    EXPECT_EQ(*store().count({.query = "zebra"}), 1);
    reopen();
  }
  store_it(removal(stored));
  EXPECT_EQ(found({.query = "zebra"}), Ids{});
  EXPECT_EQ(found({.label_key = "team", .label_value = "web"}), Ids{});
}

TEST_P(StoreContract, ABatchIsOneRow) {
  const Task alone = update(completed(add(new_task())));
  const Task a1 = update(completed(add(in_batch(new_task(), "batch_a"))));
  const Task b1 = update(completed(add(in_batch(new_task(), "batch_b"))));
  const Task a2 = update(failed(running(add(in_batch(new_task(), "batch_a"))), now_));
  const Task b2 = update(completed(add(in_batch(new_task(), "batch_b"))));
  const Task a3 = update(completed(add(in_batch(new_task(), "batch_a"))));
  const TaskFilter folded{.fold = true};
  EXPECT_EQ(found(folded), (Ids{a3.id.value, b2.id.value, alone.id.value}));
  EXPECT_EQ(found(folded, {.sort = Sort::oldest}), (Ids{alone.id.value, a1.id.value, b1.id.value}));
  // The one of it that needs somebody is what is shown of it.
  const Ids by_need{a2.id.value, b2.id.value, alone.id.value};
  EXPECT_EQ(found(folded, {.sort = Sort::attention}), by_need);
  EXPECT_EQ(found({.states = {TaskState::completed}, .fold = true}, {.sort = Sort::attention}),
            (Ids{a3.id.value, b2.id.value, alone.id.value}));
  EXPECT_EQ(*store().count(folded), 3);
  for (const Sort sort : {Sort::newest, Sort::oldest, Sort::updated, Sort::attention}) {
    const Ids whole = found(folded, {.sort = sort});
    Ids paged;
    std::string cursor;
    do {
      const Result<TaskPage> page = store().list(folded, {.limit = 1, .cursor = cursor, .sort = sort});
      ASSERT_TRUE(page);
      for (const Task& task : page->tasks) paged.push_back(task.id.value);
      cursor = page->next_cursor;
    } while (!cursor.empty());
    EXPECT_EQ(paged, whole);
    EXPECT_EQ(found(folded, {.offset = 1, .sort = sort}), Ids(whole.begin() + 1, whole.end()));
  }
}

TEST_P(StoreContract, BatchesAreListedWithTheirCounts) {
  EXPECT_TRUE(store().batches("", 10)->batches.empty());
  Task first = in_batch(new_task(), "batch_1");
  first.title = "The first of it";
  first = add(first);
  update(completed(add(in_batch(new_task(), "batch_1"))));
  add(in_batch(new_task(), "batch_3"));
  add(in_batch(new_task(), "batch_2"));
  add(new_task());
  const Result<BatchPage> page = store().batches("", 2);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->batches.size(), 2u);
  EXPECT_EQ(page->batches[0].id.value, "batch_3");
  EXPECT_EQ(page->batches[1].id.value, "batch_2");
  const Result<BatchPage> rest = store().batches(page->next_cursor, 2);
  ASSERT_TRUE(rest);
  ASSERT_EQ(rest->batches.size(), 1u);
  EXPECT_EQ(rest->next_cursor, "");
  EXPECT_EQ(rest->batches[0].id.value, "batch_1");
  EXPECT_EQ(rest->batches[0].title, "The first of it");
  EXPECT_EQ(rest->batches[0].created_at, first.created_at);
  EXPECT_EQ(rest->batches[0].counts, *store().batch_counts(BatchId("batch_1")));
  EXPECT_FALSE(store().batches("", 0));
  EXPECT_FALSE(store().batches("", 501));
}

TEST_P(StoreContract, UsageIsSummedAndOutlivesItsTask) {
  Task task = add(new_task());
  const Time day{1'763'164'800'000};  // 2025-11-15T00:00:00Z
  Commit used = commit_of(next(task), 1);
  used.usage = {row_of(task, day + 1'000, 0.25), row_of(task, day + 86'400'000, std::nullopt)};
  used.usage[1].model = "model-b";
  used.usage[1].folder = "/elsewhere";
  store_it(std::move(used));
  // A refused commit stores nothing.
  Commit refused = commit_of(next(task), 1);
  refused.usage = {row_of(task, day, 9.0)};
  EXPECT_FALSE(commit(std::move(refused)));

  task = *store().get(task.id);
  store_it(removal(task));
  reopen();
  const Result<UsageReport> days = store().usage({.by = UsageBy::day});
  ASSERT_TRUE(days);
  ASSERT_EQ(days->groups.size(), 2u);
  EXPECT_EQ(days->groups[0].key, "2025-11-16");
  EXPECT_EQ(days->groups[0].unpriced, 1);
  EXPECT_EQ(days->groups[0].cost_usd, 0);
  EXPECT_EQ(days->groups[1].key, "2025-11-15");
  EXPECT_EQ(days->groups[1].unpriced, 0);
  EXPECT_DOUBLE_EQ(days->groups[1].cost_usd, 0.25);
  EXPECT_EQ(days->total.calls, 2);
  EXPECT_EQ(days->total.unpriced, 1);
  EXPECT_EQ(days->total.tokens, (TokenCounts{.input = 20, .output = 40, .cache_read = 600, .cache_write = 8'000}));
  // A day begins where its people are.
  EXPECT_EQ(store().usage({.by = UsageBy::day, .utc_offset_min = -60})->groups[1].key, "2025-11-14");

  const Result<UsageReport> models = store().usage({.by = UsageBy::model});
  ASSERT_EQ(models->groups.size(), 2u);
  EXPECT_EQ(models->groups[0].key, "model-a");  // What cost the most.
  EXPECT_EQ(store().usage({.by = UsageBy::agent})->groups[0].key, "demo");
  const Result<UsageReport> folders = store().usage({.by = UsageBy::folder, .limit = 1});
  EXPECT_EQ(folders->groups.size(), 1u);
  EXPECT_TRUE(folders->more);
  EXPECT_EQ(folders->total.calls, 2);
  EXPECT_EQ(store().usage({.from = day + 1'001})->total.calls, 1);
  EXPECT_EQ(store().usage({.to = day + 1'000})->total.calls, 0);
  EXPECT_EQ(store().usage({.from = day + 1'000, .to = day + 1'001})->total.calls, 1);

  // Old rows are forgotten, bit by bit.
  Commit forget = bare();
  forget.forget = Commit::Forget{.before = {}, .most = 100, .rows = 1, .usage_before = day + 86'400'001};
  EXPECT_EQ(store_it(forget).usage_forgotten, 1);
  EXPECT_EQ(store().usage({})->groups[0].key, "2025-11-16");
  EXPECT_EQ(store_it(forget).usage_forgotten, 1);
  EXPECT_EQ(store_it(forget).usage_forgotten, 0);
  EXPECT_EQ(store().usage({})->total.calls, 0);
}

}  // namespace
}  // namespace errand

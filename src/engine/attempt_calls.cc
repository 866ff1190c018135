#include "engine/attempt_calls.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "driver/isolates.h"
#include "engine/batches.h"
#include "engine/live.h"

namespace errand {
namespace {

constexpr int tests_read_max = 500;

bool is_attempt(const Task& task) { return task.launch.isolate == Isolate::worktree || task.isolation.has_value(); }

// The state of its work tree; empty where it has none.
std::string_view tree_of(const Task& task) { return task.isolation ? std::string_view(task.isolation->state) : ""; }

// There is something in its work tree that nobody has decided about.
bool is_open(const Task& task) {
  const std::string_view state = tree_of(task);
  return state == "ready" || state == "conflict" || state == "kept";
}

std::string why_not_tested(const Task& attempt, const TaskPtr& test) {
  if (!is_over(attempt)) return "It is at work.";
  if (test && !is_over(*test)) return fmt::format("Its last test, {}, is still at work.", test->id.value);
  if (!attempt.isolation) return "It has no work tree: it failed before it had one.";
  if (!is_open(attempt)) return fmt::format("Its work tree is {}.", tree_of(attempt));
  return {};
}

}  // namespace

BatchId tests_of(const BatchId& batch) { return BatchId("tests-of-" + batch.value); }

// --- launching

void AttemptCalls::launch(std::vector<NewAttempt> attempts, Reply<std::vector<TaskView>> reply) {
  auto row = std::make_shared<Row>();
  row->launches = std::move(attempts);
  row->reply = std::move(reply);
  check_next(row, 0);
}

void AttemptCalls::check_next(const RowPtr& row, size_t index) {
  if (index == row->launches.size()) return check_folder(row);
  rooms_.launching.check(row->launches[index].launch, [this, row, index](Result<void> good) {
    if (!good) return row->reply(std::unexpected(good.error()));
    check_next(row, index + 1);
  });
}

// They differ in their agents only: one folder for all.
void AttemptCalls::check_folder(const RowPtr& row) {
  Launch first = row->launches.front().launch;
  if (first.work_dir.empty()) first.work_dir = rooms_.shared.settings.default_work_dir;
  const std::shared_ptr<const Agent> agent = rooms_.agents.find(first.agent_id);
  const auto* const isolates = agent ? dynamic_cast<const Isolates*>(rooms_.agents.driver(agent->driver)) : nullptr;
  if (isolates == nullptr)
    return row->reply(fail(Code::unsupported, "This server gives no task a work tree of its own.", "isolation"));
  rooms_.looks.look("attempts", first, isolates->may_isolate(first.work_dir), [this, row](Status good) {
    if (!good) return row->reply(std::unexpected(good.error()));
    launch_next(row);
  });
}

void AttemptCalls::launch_next(const RowPtr& row) {
  const size_t index = row->made.size();
  if (index == row->launches.size()) return row->reply(std::move(row->made));
  NewAttempt& next = row->launches[index];
  // The first one's batch is that of all, also where it was stored by an earlier try with the same key.
  if (index > 0) next.launch.batch_id = row->made.front().task.launch.batch_id;
  rooms_.launching.launch(std::move(next.launch), std::move(next.key), std::move(next.fingerprint),
                          [this, row](Result<TaskView> made) {
                            if (!made) return take_back(row, made.error());
                            row->made.push_back(std::move(*made));
                            launch_next(row);
                          });
}

void AttemptCalls::take_back(const RowPtr& row, Error why) {
  if (row->made.empty()) return row->reply(std::unexpected(std::move(why)));
  const TaskId last = row->made.back().task.id;
  rooms_.tasks.remove(last, Gone::deleted, [this, row, why = std::move(why)](const Result<void>&) {
    row->made.pop_back();
    take_back(row, why);
  });
}

// --- reading

Result<AttemptCalls::Family> AttemptCalls::read_family(Store& store, const BatchId& batch) {
  TaskFilter filter;
  filter.batch_id = batch;
  Result<TaskPage> page = store.list(filter, {.limit = 500, .cursor = {}, .offset = 0, .sort = Sort::oldest});
  if (!page) return std::unexpected(page.error());
  if (page->tasks.empty()) return no_batch(batch);
  Family family;
  for (Task& task : page->tasks)
    if (is_attempt(task)) family.attempts.push_back(std::make_shared<const Task>(std::move(task)));
  if (family.attempts.empty())
    return fail(Code::conflict,
                "The tasks of this batch worked in the folder itself, so there is nothing to compare. "
                "`errand ask --agents a,b \"...\"` starts attempts that can be compared.",
                "not_isolated");
  if (family.attempts.size() > attempts_max)
    return fail(
        Code::conflict,
        fmt::format("{} tasks of this batch have work trees of their own; at most {} are compared. `errand merge` "
                    "and `errand discard` decide about each.",
                    family.attempts.size(), attempts_max),
        "too_many");
  filter.batch_id = tests_of(batch);
  page = store.list(filter, {.limit = tests_read_max, .cursor = {}, .offset = 0, .sort = Sort::newest});
  if (!page) return std::unexpected(page.error());
  for (const TaskPtr& attempt : family.attempts) {
    const auto test = std::ranges::find_if(page->tasks, [&](const Task& task) {
      const auto label = task.launch.labels.find(attempt_label);
      return label != task.launch.labels.end() && label->second == attempt->id.value;
    });
    family.tests.push_back(test == page->tasks.end() ? nullptr : std::make_shared<const Task>(*test));
  }
  return family;
}

void AttemptCalls::read(const BatchId& batch, Reply<Family> reply) {
  rooms_.shared.read([batch](Store& store) { return read_family(store, batch); }, std::move(reply));
}

void AttemptCalls::compare(BatchId id, Reply<std::vector<ComparedAttempt>> reply) {
  read(id, [this, reply = std::move(reply)](Result<Family> family) mutable {
    if (!family) return reply(std::unexpected(family.error()));
    struct Gathered {
      std::vector<ComparedAttempt> attempts;
      size_t waiting = 1;
      Reply<std::vector<ComparedAttempt>> reply;
      void come() {
        if (--waiting == 0) reply(std::move(attempts));
      }
    };
    auto gathered = std::make_shared<Gathered>();
    gathered->reply = std::move(reply);
    gathered->attempts.reserve(family->attempts.size());
    for (size_t i = 0; i < family->attempts.size(); ++i) {
      ComparedAttempt& attempt =
          gathered->attempts.emplace_back(ComparedAttempt{.view = rooms_.views.of(family->attempts[i])});
      if (family->tests[i]) attempt.test.emplace(rooms_.views.of(family->tests[i]));
      if (!attempt.view.task.isolation || tree_of(attempt.view.task) == "preparing") {
        attempt.why = "It has no work tree yet.";
        continue;
      }
      ++gathered->waiting;
      rooms_.changes.ask(attempt.view.task.id, {.order = "list"}, [gathered, i](Result<ChangesReply> listed) {
        ComparedAttempt& one = gathered->attempts[i];
        if (!listed)
          one.why = listed.error().message;
        else if (listed->answer.refused)
          one.why = listed->answer.refused->message;
        else
          one.changes = std::move(listed->answer);
        gathered->come();
      });
    }
    gathered->come();
  });
}

// --- testing

void AttemptCalls::test(BatchId id, Launch command, Reply<TestsBegun> reply) {
  read(id, [this, id, command = std::move(command), reply = std::move(reply)](Result<Family> family) mutable {
    if (!family) return reply(std::unexpected(family.error()));
    auto row = std::make_shared<Row>();
    std::vector<NotDone> left;
    for (size_t i = 0; i < family->attempts.size(); ++i) {
      const Task& attempt = *family->attempts[i];
      if (std::string why = why_not_tested(attempt, family->tests[i]); !why.empty()) {
        left.push_back({attempt.id, std::move(why)});
        continue;
      }
      Launch launch = command;
      launch.work_dir = attempt.isolation->work_dir;
      launch.isolate = Isolate::none;
      launch.batch_id = tests_of(id);
      launch.labels[attempt_label] = attempt.id.value;
      row->launches.push_back({.launch = std::move(launch), .key = {}, .fingerprint = {}});
    }
    hold_next(
        std::make_shared<Held>(Held{.batch = id, .row = row, .left = std::move(left), .reply = std::move(reply)}));
  });
}

// What a test leaves in a work tree is not the attempt's: how that is without it is kept before the test begins.
void AttemptCalls::hold_next(const std::shared_ptr<Held>& held) {
  std::vector<NewAttempt>& tests = held->row->launches;
  if (held->held == tests.size()) return launch_held(held);
  const TaskId attempt(tests[held->held].launch.labels.at(attempt_label));
  rooms_.changes.ask(attempt, {.order = "hold"}, [this, held, attempt](const Result<ChangesReply>& kept) {
    if (kept && !kept->answer.refused) {
      ++held->held;
    } else {
      held->left.push_back({attempt, kept ? kept->answer.refused->message : kept.error().message});
      held->row->launches.erase(held->row->launches.begin() + static_cast<ptrdiff_t>(held->held));
    }
    hold_next(held);
  });
}

void AttemptCalls::launch_held(const std::shared_ptr<Held>& held) {
  if (held->row->launches.empty())
    return held->reply(fail(Code::conflict, "No attempt can be tested now: " + held->left.front().why, "at_work"));
  held->row->reply = [batch = tests_of(held->batch), left = std::move(held->left),
                      reply = std::move(held->reply)](Result<std::vector<TaskView>> tests) mutable {
    if (!tests) return reply(std::unexpected(tests.error()));
    reply(TestsBegun{.batch = std::move(batch), .tests = std::move(*tests), .left = std::move(left)});
  };
  launch_next(held->row);
}

// --- choosing

void AttemptCalls::choose(TaskId id, ChangesAsk merge, Reply<Chosen> reply) {
  if (rooms_.commits.refuse()) return rooms_.shared.answer_later(std::move(reply), rooms_.commits.refusal());
  rooms_.views.get(
      std::move(id), [this, merge = std::move(merge), reply = std::move(reply)](Result<TaskView> view) mutable {
        if (!view) return reply(std::unexpected(view.error()));
        const BatchId batch = view->task.launch.batch_id;
        if (batch.empty())
          return reply(fail(Code::conflict, "The task is in no batch, so there are no others to discard.", "no_batch"));
        read(batch, [this, view = std::move(*view), merge = std::move(merge),
                     reply = std::move(reply)](Result<Family> family) mutable {
          if (!family) return reply(std::unexpected(family.error()));
          choose_of(*family, std::move(view), std::move(merge), std::move(reply));
        });
      });
}

void AttemptCalls::choose_of(const Family& family, TaskView view, ChangesAsk merge, Reply<Chosen> reply) {
  auto choice = std::make_shared<Choice>(Chosen{.merged = {view, {}}, .discarded = {}});
  for (size_t i = 0; i < family.attempts.size(); ++i) {
    const Task& attempt = *family.attempts[i];
    const Task* const busy = !is_over(attempt)                               ? &attempt
                             : family.tests[i] && !is_over(*family.tests[i]) ? family.tests[i].get()
                                                                             : nullptr;
    if (busy != nullptr)
      return reply(fail(Code::conflict,
                        fmt::format("{} {} is at work. Wait for its end, or cancel it first: `errand cancel {}`.",
                                    busy == &attempt ? "The attempt" : "The test", busy->id.value, busy->id.value),
                        "at_work"));
    if (attempt.id != view.task.id && is_open(attempt)) choice->others.push_back(attempt.id);
  }
  choice->reply = std::move(reply);
  if (tree_of(view.task) == "merged") {
    choice->chosen.merged_before = true;
    return discard_next(choice);
  }
  merge.order = "take";
  rooms_.changes.ask(view.task.id, std::move(merge), [this, choice](Result<ChangesReply> merged) {
    if (!merged) return choice->reply(std::unexpected(merged.error()));
    const bool refused = merged->answer.refused.has_value();
    auto next = std::make_shared<Choice>(Chosen{.merged = std::move(*merged), .discarded = {}});
    if (refused) return choice->reply(std::move(next->chosen));
    next->others = std::move(choice->others);
    next->reply = std::move(choice->reply);
    discard_next(next);
  });
}

void AttemptCalls::discard_next(const std::shared_ptr<Choice>& choice) {
  if (choice->next == choice->others.size()) return choice->reply(std::move(choice->chosen));
  const TaskId id = choice->others[choice->next++];
  rooms_.changes.ask(id, {.order = "discard"}, [this, choice, id](const Result<ChangesReply>& gone) {
    if (gone && !gone->answer.refused)
      choice->chosen.discarded.push_back(id);
    else
      choice->chosen.left.push_back({id, gone ? gone->answer.refused->message : gone.error().message});
    discard_next(choice);
  });
}

}  // namespace errand

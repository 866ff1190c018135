// Every state with every input (R1.1): one loop over all that can be reached, and long random lives.
#include "task/decide.h"

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "task/decide_check.h"

namespace errand {
namespace {

constexpr Time start{1'763'200'000'000};

// Launches that decide tells apart.
std::vector<Launch> launches() {
  std::vector<Launch> out;
  for (const OnHang on_hang : {OnHang::fail, OnHang::restart})
    for (const std::optional<Permission> permission :
         {std::optional<Permission>{}, std::optional{Permission::allow}, std::optional{Permission::deny}}) {
      Launch launch{.agent_id = "demo", .prompt = "do it", .on_hang = on_hang, .max_restarts = 1};
      launch.permission = permission;
      out.push_back(launch);
    }
  out.push_back({.kind = TaskKind::command, .agent_id = "command", .command = "make", .retention_ms = 1'000});
  return out;
}

Step created(const Launch& launch) {
  const bool command = launch.kind == TaskKind::command;
  return create(launch, TaskId("task_1"), SessionId("ses_1"), command ? MessageId() : MessageId("msg_first"), start);
}

// What tells two tasks apart for `decide`; numbers that only grow are left out, so that there are finitely many.
using Shape = std::tuple<TaskState, TurnPhase, bool, bool, int, size_t, bool, bool, size_t, size_t, bool>;
Shape shape_of(const Task& task) {
  size_t untaken = 0;
  for (const WaitingMessage& message : task.waiting) untaken += message.taken ? 0 : 1;
  return {task.state,
          task.phase,
          task.stopping,
          task.interrupting,
          task.restarts,
          std::min<size_t>(task.asks.size(), 2),
          open_ask(task) != nullptr,
          task.wait.has_value(),
          std::min<size_t>(untaken, 2),
          std::min<size_t>(task.waiting.size() - untaken, 1),
          static_cast<bool>(task.retrieved_at)};
}

// One task of every shape that sequences of inputs can make out of a new one.
std::vector<Task> reachable(const Launch& launch) {
  std::map<Shape, Task> seen;
  std::deque<Task> open{created(launch).after};
  seen.emplace(shape_of(open.front()), open.front());
  int serial = 0;
  while (!open.empty()) {
    const Task task = std::move(open.front());
    open.pop_front();
    for (const Input& input : all_inputs(task, ++serial)) {
      const Result<Step> step = decide(task, input, start + serial);
      if (!step || step->removed) continue;
      if (seen.emplace(shape_of(step->after), step->after).second) open.push_back(step->after);
    }
  }
  std::vector<Task> out;
  for (auto& [shape, task] : seen) out.push_back(std::move(task));
  return out;
}

// R1.1: nothing but these can be reached, and each of them is: the loop below leaves none out.
TEST(Decide, ExactlyTheStatesOfTheTableCanBeReached) {
  std::set<std::tuple<TaskState, TurnPhase, bool>> found;
  for (const Launch& launch : launches())
    for (const Task& task : reachable(launch)) found.insert({task.state, task.phase, task.stopping});
  const std::set<std::tuple<TaskState, TurnPhase, bool>> expected{
      {TaskState::pending, TurnPhase::queued, false},   {TaskState::running, TurnPhase::working, false},
      {TaskState::running, TurnPhase::working, true},   {TaskState::resumed, TurnPhase::queued, false},
      {TaskState::resumed, TurnPhase::working, false},  {TaskState::resumed, TurnPhase::working, true},
      {TaskState::completed, TurnPhase::ended, false},  {TaskState::failed, TurnPhase::ended, false},
      {TaskState::failed, TurnPhase::working, true},    {TaskState::cancelled, TurnPhase::ended, false},
      {TaskState::cancelled, TurnPhase::working, true},
  };
  EXPECT_EQ(found, expected);
}

// R1.1, P4: every reachable task with every input, good, stale and nonsense, keeps all rules of decide_check.
TEST(Decide, EveryStateWithEveryInputKeepsThePromises) {
  int64_t tried = 0;
  for (const Launch& launch : launches()) {
    for (const Task& task : reachable(launch)) {
      for (const Input& input : all_inputs(task, 1'000'000)) {
        const Time now = start + 5'000;
        const Result<Step> result = decide(task, input, now);
        ++tried;
        ASSERT_EQ(broken_rule(task, input, result, now), "") << describe(task) << " <- " << describe(input);
      }
    }
  }
  RecordProperty("combinations", std::to_string(tried));
  EXPECT_GT(tried, 10'000);
}

// R1.1: only a retry leaves failed and cancelled, only a message leaves completed.
TEST(Decide, OnlyRetryAndPromptLeaveARest) {
  for (const Launch& launch : launches()) {
    for (const Task& task : reachable(launch)) {
      if (at_work(task.state)) continue;
      for (const Input& input : all_inputs(task, 1'000'000)) {
        const Result<Step> step = decide(task, input, start);
        if (!step || step->removed || step->after.state == task.state) continue;
        const bool completed = task.state == TaskState::completed;
        EXPECT_EQ(step->after.state, completed ? TaskState::resumed : TaskState::pending) << describe(task);
        const auto* noticed = std::get_if<input::Noticed>(&input);
        EXPECT_TRUE(completed ? std::holds_alternative<input::Prompt>(input) || (noticed && noticed->wake)
                              : std::holds_alternative<input::Retry>(input))
            << describe(task) << " <- " << describe(input);
      }
    }
  }
}

uint64_t first_seed() {
  const char* given = std::getenv("ERRAND_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

// A kind of input at random, then one of its values: so that the few values of `Start` come as often as the many of
// `TurnEnded`. Where messages pile up the agent takes them and finishes, or no turn would ever complete the task.
Input pick(const Task& task, int serial, SeededRandom& random) {
  const bool piled_up = task.waiting.size() > 6;
  if (task.phase == TurnPhase::working && (piled_up || random.one_in(4))) {
    for (const WaitingMessage& message : task.waiting)
      if (!message.taken) return input::Taken{task.run, message.id};
    return input::TurnEnded{.run = task.run, .outcome = input::TurnEnded::Outcome::completed, .result = "done"};
  }
  const std::vector<Input> inputs = all_inputs(task, serial);
  const size_t kind = random.below(std::variant_size_v<Input>);
  std::vector<const Input*> of_kind;
  for (const Input& input : inputs)
    if (input.index() == kind) of_kind.push_back(&input);
  return *of_kind[random.below(of_kind.size())];
}

// Random lives of 10,000 steps: as above, and what only a whole life shows (each turn ends once, `end` is told once).
TEST(Decide, RandomLivesKeepThePromises) {
  const std::vector<Launch> all = launches();
  for (uint64_t seed = first_seed(); seed < first_seed() + 4; ++seed) {
    SCOPED_TRACE("ERRAND_SEED=" + std::to_string(seed));
    SeededRandom random(seed);
    Time now = start;
    Step first = created(all[random.below(all.size())]);
    LifeCheck life(first);
    Task task = std::move(first.after);
    std::map<TaskState, int> visits;
    for (int i = 0; i < 10'000; ++i) {
      now = now + static_cast<Millis>(random.below(3) * 500);
      const Input input = pick(task, i, random);
      const Result<Step> result = decide(task, input, now);
      ASSERT_EQ(broken_rule(task, input, result, now), "")
          << "step " << i << ": " << describe(task) << " <- " << describe(input);
      if (!result || result->removed) continue;
      ASSERT_EQ(life.broken_rule(task, input, *result), "")
          << "step " << i << ": " << describe(task) << " <- " << describe(input);
      task = result->after;
      visits[task.state] += 1;
    }
    EXPECT_EQ(visits.size(), static_cast<size_t>(task_state_count)) << "a life that misses a state proves little";
  }
}

}  // namespace
}  // namespace errand

// The engine's face for attempts: the same work, done by several agents or models, each in a work tree of its own, so
// that one of them can be chosen (decision 37). Attempts are the tasks of a batch that have work trees of their own.
// Calls and answers as in tasks.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "driver/changes.h"
#include "engine/task_changes.h"
#include "engine/task_view.h"
#include "task/task.h"

namespace errand {

inline constexpr size_t attempts_max = 16;
// A test of an attempt is a command task, with this label naming the attempt.
inline constexpr const char* attempt_label = "attempt";
// The batch of a batch's tests.
BatchId tests_of(const BatchId& batch);

struct NewAttempt {
  Launch launch;
  std::string key, fingerprint;  // As in Tasks::launch.
};

struct ComparedAttempt {
  TaskView view;
  std::optional<ChangesAnswer> changes = std::nullopt;  // The list of what it changed, as far as that is known.
  std::string why = {};                                 // It is not, and this says why.
  std::optional<TaskView> test = std::nullopt;          // The newest.
};

struct NotDone {
  TaskId task;
  std::string why;
};

struct TestsBegun {
  BatchId batch;
  std::vector<TaskView> tests;
  std::vector<NotDone> left;  // Attempts that cannot be tested now.
};

struct Chosen {
  ChangesReply merged;            // A refusal is an answer: then nothing was changed.
  bool merged_before = false;     // By an earlier call; the answer of `merged` is empty.
  std::vector<TaskId> discarded;  // Now.
  std::vector<NotDone> left = {};
};

class TaskAttempts {
 public:
  virtual ~TaskAttempts() = default;

  // Stores them all, in one batch, or none: each is checked before the first is stored, and what was stored is removed
  // where one behind it cannot be. Errors are those of Tasks::launch; unsupported, reason `isolation`, where their
  // folder is in no repository.
  virtual void launch(std::vector<NewAttempt> attempts, Reply<std::vector<TaskView>> reply) = 0;
  // The attempts of a batch, oldest first. not_found; conflict, reason `not_isolated`, where it has none.
  virtual void compare(BatchId id, Reply<std::vector<ComparedAttempt>> reply) = 0;
  // Launches `command` in the work tree of every attempt that is over. What that leaves there is not the attempt's
  // (changes/aside.h). Errors as in compare() and Tasks::launch;
  // conflict, reason `at_work`, where none can be tested now.
  virtual void test(BatchId id, Launch command, Reply<TestsBegun> reply) = 0;
  // Merges this one, as it ended, and discards the others of its batch. Where it is merged already, only the latter: so
  // a call that was cut off can be repeated. conflict, reason `at_work`, while one of them is at work or tested; then
  // nothing was changed.
  virtual void choose(TaskId id, ChangesAsk merge, Reply<Chosen> reply) = 0;
};

// The engine's; valid as long as it.
class Engine;
TaskAttempts& attempts_of(Engine& engine);

}  // namespace errand

// Somebody who uses a store and remembers what it was told: commits by chance, and a check that everything that was
// answered is there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "store/store.h"
#include "tests/contract/store_contract.h"

namespace errand {

class StoreUser {
 public:
  explicit StoreUser(SeededRandom& random) : random_(random) {}

  // `errand.db` on the VFS. False: see `problem`.
  bool open(const std::string& vfs, std::function<bool(bool take)> ballast = {});
  void close();
  const std::string& problem() const { return problem_; }

  // One to eight commits in one group: tasks made, changed, removed, with messages and notices. Returns when they are
  // answered or the store has given up.
  void commit_something();
  // Of the last group: the first error's code.
  std::optional<Code> refused() const { return refused_; }
  // Only commits of this kind from now on.
  enum class Only : uint8_t { all, inserts, removals };
  void only(Only kind) { only_ = kind; }

  // Empty, or what is wrong.
  std::string verify();

  int64_t answered() const { return answered_; }
  const std::string& fatal() const { return fatal_; }
  Store& store() { return *store_; }

 private:
  // A task as it was last answered, and as it may be, where an answer never came.
  struct Known {
    std::optional<Task> stored;  // Nothing: removed, or never answered.
    bool removed = false;
    std::optional<Task> maybe;  // Asked for and not answered.
    bool maybe_removed = false;
  };
  Commit insert();
  Commit update(Known& known);
  Commit remove(Known& known);
  std::string verify(const TaskId& id, Known& known);

  SeededRandom& random_;
  QueueExecutor executor_;
  std::unique_ptr<Store> store_;
  std::map<TaskId, Known> known_;
  Only only_ = Only::all;
  int64_t answered_ = 0;
  int64_t made_ = 0;
  std::string problem_, fatal_;
  std::optional<Code> refused_;
  Time now_{1'763'200'000'000};
};

}  // namespace errand

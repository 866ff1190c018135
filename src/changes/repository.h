// The repository that a folder belongs to, found by reading alone; and the private store beside it.
//
// A store is a repository of errand's own whose configuration is ours: it sees the objects of the user's repository
// (alternates) and keeps new ones for itself. Everything that reads or writes files of a work tree goes through it, so
// no filter, hook, driver or monitor that the repository names is ever started, and the user's index, references and
// configuration are not touched.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "changes/git.h"

namespace errand::changes {

struct Repository {
  std::string top;         // The work tree, or the folder itself where there is no repository.
  std::string git_dir;     // Of this work tree; empty: no repository.
  std::string common_dir;  // Shared by all its work trees.
  bool is_git() const { return !git_dir.empty(); }
  bool operator==(const Repository&) const = default;
};

// The repository of `folder` (which is real and absolute), or a Repository that is none. not_found: no such folder.
// unsupported: a `.git` that cannot be understood.
Result<Repository> find_repository(const std::string& folder);

// What may not be looked at as a whole: the root, the home folder, and what holds errand's own data. Only for folders
// that are no repository, but for the last.
Status may_be_watched(const Repository& repository, const std::string& data_dir, const std::string& home);

// The current commit of the work tree, and the branch that it is on; both empty where there is none yet.
struct Head {
  std::string commit;
  std::string ref;  // "refs/heads/main"; empty: detached.
};
Result<Head> head_of(const Repository& repository);
Result<std::string> head_commit(const Repository& repository);  // The commit alone: half as many calls.

class Store {
 public:
  // Makes it where it is not there, and brings its settings (line ends, modes, what is ignored) up to date. The lock
  // must not be held.
  static Result<Store> open(const std::string& data_dir, const Repository& repository);
  // One that was made before, for a repository that may be gone.
  static Store at(std::string path) { return Store(std::move(path)); }

  const std::string& path() const { return path_; }
  // One at a time: held until the returned descriptor is closed. unavailable, reason `slow`.
  Result<Fd> lock() const;

  // A call in it.
  GitCall call(std::vector<std::string> args) const { return {.args = std::move(args), .git_dir = path_}; }
  Status set_ref(const std::string& ref, const std::string& commit) const;
  std::optional<std::string> ref(const std::string& ref) const;
  // All of the references that begin so go.
  void drop_refs(const std::string& prefix) const;
  // Removes the objects that no reference needs any more, at most once a day, with the lock held: a store is as large
  // as the snapshots of the tasks that are there. What is younger than an hour stays, for its reference may be set
  // next.
  void tidy() const;
  Result<std::string> commit_tree(const std::string& tree, const std::vector<std::string>& parents,
                                  const std::string& message) const;
  Result<std::string> tree_of(const std::string& commit) const;

 private:
  explicit Store(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Bytes of a small file; nothing where it cannot be read or is larger than `max`.
std::optional<std::string> read_small(const std::string& path, size_t max = size_t{64} << 10);

}  // namespace errand::changes

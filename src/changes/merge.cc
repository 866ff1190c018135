#include "changes/merge.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/text.h"
#include "changes/diff.h"
#include "changes/worktree.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

Refused refuse(Code code, std::string message, std::string reason, std::vector<std::string> files = {}) {
  return {{code, std::move(message), std::move(reason)}, std::move(files)};
}
Refused refuse(const Error& error) { return {error, {}}; }

std::string short_name(std::string_view ref) {
  return std::string(ref.starts_with("refs/heads/") ? ref.substr(11) : ref);
}

std::string merge_index(const std::string& data_dir, const Record& record) {
  return task_folder(data_dir, record.task) + "/merge.index";
}
std::string lock_text(const Record& record) { return "errand " + record.task + "\n"; }

// The work tree that has the branch checked out; empty: none.
Result<std::string> checked_out_at(const Record& record, const std::string& ref) {
  const Result<std::string> list =
      git_output({.args = {"worktree", "list", "--porcelain", "-z"}, .git_dir = record.repository.common_dir});
  if (!list) return std::unexpected(list.error());
  std::string at;
  for (const std::string_view line : split(*list, '\0')) {
    if (line.starts_with("worktree ")) at = line.substr(9);
    if (line.starts_with("branch ") && line.substr(7) == ref) return at;
  }
  return std::string();
}

Status move_ref(const Record& record, const std::string& ref, const std::string& from, const std::string& to) {
  const Result<GitDone> done = run_git(
      {.args = {"update-ref", "-m", "errand: " + record.task, ref, to, from}, .git_dir = record.repository.common_dir});
  if (!done) return std::unexpected(done.error());
  if (done->exit_code != 0)
    return fail(Code::conflict,
                fmt::format("The branch {} has moved meanwhile; try again. ({})", short_name(ref), done->err), "moved");
  return {};
}

// git's own lock of a work tree's index, with our name in it.
class IndexLock {
 public:
  static Result<IndexLock> take(const Record& record, const std::string& git_dir) {
    const std::string path = git_dir + "/index.lock";
    Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file) {
      struct stat what{};
      if (errno != EEXIST || ::stat(path.c_str(), &what) != 0)
        return fail(Code::unavailable, fmt::format("{} cannot be made: {}.", to_utf8(path), std::strerror(errno)),
                    "lock");
      return fail(
          Code::conflict,
          fmt::format("Another git works in that folder: {} is there since {} s. Where none does, remove that file.",
                      to_utf8(path), std::max<time_t>(0, ::time(nullptr) - what.st_mtime)),
          "lock");
    }
    const std::string text = lock_text(record);
    if (::write(file.get(), text.data(), text.size()) != std::ssize(text)) {
      ::unlink(path.c_str());
      return fail(Code::storage_full, "The disk is full; nothing was changed.", "lock");
    }
    return IndexLock(path);
  }
  IndexLock(IndexLock&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  IndexLock& operator=(IndexLock&&) = delete;
  ~IndexLock() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  // `index` takes the place of the one that is locked.
  bool install(const std::string& index) {
    std::error_code error;
    const std::string target = path_.substr(0, path_.size() - 5);
    if (!fs::copy_file(index, path_, fs::copy_options::overwrite_existing, error)) return false;
    if (::rename(path_.c_str(), target.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  explicit IndexLock(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Place {
  const Store& store;
  std::string top;
  std::string index;
  GitCall call(std::vector<std::string> args) const {
    GitCall made = store.call(std::move(args));
    made.work_tree = top;
    made.index = index;
    made.patience_ms = 120'000;
    return made;
  }
};

Result<std::set<std::string>> names(const GitCall& call) {
  const Result<std::string> out = git_output(call);
  if (!out) return std::unexpected(out.error());
  std::set<std::string> all;
  for (const std::string_view name : split(*out, '\0'))
    if (!name.empty()) all.emplace(name);
  return all;
}

bool is_there(const std::string& path) {
  struct stat what{};
  return ::lstat(path.c_str(), &what) == 0;
}

// Files of the work tree that the move would overwrite: changed or staged by the user, or not tracked at all.
Result<std::vector<std::string>> in_the_way(const Place& place, const std::string& from, const std::string& to) {
  Result<std::vector<ChangedFile>> changed = list_changes(place.store, from, to);
  if (!changed) return std::unexpected(changed.error());
  (void)run_git(place.call({"update-index", "-q", "--refresh", "--ignore-submodules"}));
  Result<std::set<std::string>> dirty =
      names(place.call({"diff-files", "--name-only", "-z", "--ignore-submodules=all"}));
  Result<std::set<std::string>> staged =
      names(place.call({"diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=all", from}));
  Result<std::set<std::string>> tracked = names(place.call({"ls-files", "-z"}));
  for (const auto* one : {&dirty, &staged, &tracked})
    if (!*one) return std::unexpected(one->error());
  std::set<std::string> found;
  const auto look = [&](const std::string& path, bool is_new) {
    if (dirty->contains(path) || staged->contains(path)) found.insert(path);
    if (!is_new || tracked->contains(path)) return;
    if (is_there(place.top + "/" + path)) found.insert(path);
    // A file where a folder is to be.
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string above = path.substr(0, slash);
      struct stat what{};
      if (::lstat((place.top + "/" + above).c_str(), &what) != 0) break;
      if (!S_ISDIR(what.st_mode) && !tracked->contains(above)) found.insert(above);
    }
  };
  for (const ChangedFile& file : *changed) {
    look(file.path, file.status == 'A' || file.status == 'R' || file.status == 'C');
    if (!file.old_path.empty()) look(file.old_path, false);
  }
  return std::vector<std::string>(found.begin(), found.end());
}

bool is_under_way(const std::string& git_dir) {
  return std::ranges::any_of(std::initializer_list<const char*>{"/MERGE_HEAD", "/CHERRY_PICK_HEAD", "/REVERT_HEAD",
                                                                "/rebase-merge", "/rebase-apply"},
                             [&](const char* name) { return is_there(git_dir + name); });
}

// The record says that it moves, whichever way: from `ready` and the like to `merged`, or back. Answers the state that
// a refusal leaves.
std::string begin_move(Record& record) {
  record.before = record.state;
  record.state = "merging";
  return record.before;
}
void end_move(Record& record, std::string state) {
  record.state = std::move(state);
  record.before.clear(), record.moving.clear();
  if (record.state != "merged") record.merged_from.clear(), record.merged_to.clear(), record.merged_at.clear();
}

// From here on files, or the branch, may be changed: whoever settles this must look.
Status write_moving(const std::string& data_dir, Record& record) {
  record.moving = "yes";
  return write_record(data_dir, record);
}

// Moves the branch, and with it the files of the work tree that has it.
std::optional<Refused> move_branch(const std::string& data_dir, Record& record, const std::string& ref,
                                   const std::string& from, const std::string& to) {
  const Store store = Store::at(record.store);
  Result<std::string> top = checked_out_at(record, ref);
  if (!top) return refuse(top.error());
  record.merged_at = *top;
  std::optional<IndexLock> lock;
  Place place{store, *top, merge_index(data_dir, record)};
  if (!top->empty()) {
    Result<Repository> there = find_repository(*top);
    if (!there) return refuse(there.error());
    if (is_under_way(there->git_dir))
      return refuse(Code::conflict,
                    fmt::format("A merge or rebase is under way in {}; finish it first.", to_utf8(*top)), "under_way");
    Result<IndexLock> taken = IndexLock::take(record, there->git_dir);
    if (!taken) return refuse(taken.error());
    lock.emplace(std::move(*taken));
    std::error_code error;
    fs::copy_file(there->git_dir + "/index", place.index, fs::copy_options::overwrite_existing, error);
    if (error) return refuse(Code::unavailable, "The index of the work tree cannot be read.", "index");
    Result<std::vector<std::string>> files = in_the_way(place, from, to);
    if (!files) return refuse(files.error());
    if (!files->empty())
      return refuse(
          Code::conflict,
          fmt::format("{} file{} of {} would be overwritten. Commit or move {} away, then try again.", files->size(),
                      files->size() == 1 ? "" : "s", to_utf8(*top), files->size() == 1 ? "it" : "them"),
          "in_the_way", std::move(*files));
    if (Status kept = write_moving(data_dir, record); !kept) return refuse(kept.error());
    if (Result<std::string> done = git_output(place.call({"read-tree", "-m", "-u", from, to})); !done)
      return refuse(Code::conflict, "The files of the work tree cannot be changed: " + done.error().message,
                    "in_the_way");
  } else if (Status kept = write_moving(data_dir, record); !kept) {
    return refuse(kept.error());
  }
  if (Status moved = move_ref(record, ref, from, to); !moved) {
    if (lock) (void)run_git(place.call({"read-tree", "-m", "-u", to, from}));
    return refuse(moved.error());
  }
  if (lock && !lock->install(place.index)) {
    // The disk is full, most likely. Where the branch cannot be put back, somebody has moved it: then only git can.
    if (!move_ref(record, ref, to, from))
      return refuse(Code::internal, "The index of the work tree cannot be written; `git reset` there makes it anew.",
                    "index");
    (void)run_git(place.call({"read-tree", "-m", "-u", to, from}));
    return refuse(Code::unavailable, "The index of the work tree cannot be written, so nothing was changed.", "index");
  }
  std::error_code ignored;
  fs::remove(place.index, ignored);
  return std::nullopt;
}

std::string setting_of(const Record& record, const char* name) {
  return git_line({.args = {"config", "--get", name}, .git_dir = record.repository.git_dir, .users_config = true})
      .value_or("");
}

// The user, as git knows them; errand where it does not.
std::vector<std::string> identity(const Record& record) {
  std::string name = setting_of(record, "user.name"), email = setting_of(record, "user.email");
  if (name.empty()) name = "errand";
  if (email.empty()) email = "errand@localhost";
  return {"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name,
          "GIT_COMMITTER_EMAIL=" + email};
}

// Both sides from the start, whatever history says: exactly what the task changed is brought over.
struct Joined {
  std::string tree;
  std::vector<std::string> conflicts;
};
Result<Joined> join(const Store& store, const Record& record, const std::string& target) {
  Result<std::string> base_tree = store.tree_of(record.start), ours_tree = store.tree_of(target),
                      theirs_tree = store.tree_of(record.end);
  for (const auto* tree : {&base_tree, &ours_tree, &theirs_tree})
    if (!*tree) return std::unexpected(tree->error());
  Result<std::string> base = store.commit_tree(*base_tree, {}, "base");
  if (!base) return std::unexpected(base.error());
  Result<std::string> ours = store.commit_tree(*ours_tree, {*base}, "ours");
  Result<std::string> theirs = store.commit_tree(*theirs_tree, {*base}, "theirs");
  if (!ours || !theirs) return std::unexpected(ours ? theirs.error() : ours.error());
  Result<GitDone> done =
      run_git(store.call({"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", *ours, *theirs}));
  if (!done) return std::unexpected(done.error());
  if (done->exit_code > 1) return fail(Code::internal, "git merge-tree failed: " + done->err, "git");
  Joined joined;
  for (const std::string_view part : split(done->out, '\0')) {
    if (joined.tree.empty())
      joined.tree = part;
    else if (!part.empty())
      joined.conflicts.emplace_back(part);
  }
  if (done->exit_code == 0) joined.conflicts.clear();
  return joined;
}

// What the task changed as a patch for the user's files, forwards or back.
class Patch {
 public:
  static Result<Patch> make(const std::string& data_dir, const Record& record, bool back) {
    const Store store = Store::at(record.store);
    const std::string file = task_folder(data_dir, record.task) + "/apply.patch";
    if (Status made = write_patch(store, record.start, record.end, file); !made) return std::unexpected(made.error());
    GitCall call = store.call({"apply", "--whitespace=nowarn"});
    if (back) call.args.emplace_back("-R");
    call.work_tree = record.repository.top;
    call.input_file = file;
    call.index = store.path() + "/none";
    return Patch(std::move(call));
  }
  Patch(Patch&& other) noexcept : call_(std::exchange(other.call_, {})) {}
  Patch& operator=(Patch&&) = delete;
  ~Patch() {
    std::error_code ignored;
    if (!call_.input_file.empty()) fs::remove(call_.input_file, ignored);
  }
  // Nothing is changed where it does not fit.
  std::optional<Refused> fits() const { return run("--check"); }
  std::optional<Refused> apply() const { return run(nullptr); }

 private:
  explicit Patch(GitCall call) : call_(std::move(call)) {}
  std::optional<Refused> run(const char* option) const {
    GitCall call = call_;
    if (option != nullptr) call.args.emplace_back(option);
    const Result<GitDone> done = run_git(call);
    if (!done) return refuse(done.error());
    if (done->exit_code == 0) return std::nullopt;
    return refuse(Code::conflict, "The patch does not fit the files as they are: " + done->err, "in_the_way");
  }
  GitCall call_;
};

std::optional<Refused> apply_patch(const std::string& data_dir, Record& record, bool back) {
  const Result<Patch> patch = Patch::make(data_dir, record, back);
  if (!patch) return refuse(patch.error());
  if (std::optional<Refused> refused = patch->fits()) return refused;
  if (Status kept = write_moving(data_dir, record); !kept) return refuse(kept.error());
  return patch->apply();
}

// Where a move was cut: whether the user has the changes now.
bool has_patch(const std::string& data_dir, const Record& record) {
  const Result<Patch> patch = Patch::make(data_dir, record, true);
  return patch && !patch->fits();
}
bool has_merge(const Record& record) {
  const Result<GitDone> done = run_git({.args = {"merge-base", "--is-ancestor", record.merged_to, record.target},
                                        .git_dir = record.repository.common_dir});
  return done && done->exit_code == 0;
}

// The files of the work tree follow the branch, which was moved from `from` to `to`, or was not.
void settle_files(const std::string& data_dir, const Record& record, const std::string& from, const std::string& to,
                  bool moved) {
  const Result<Repository> there =
      record.merged_at.empty() ? fail(Code::not_found, "") : find_repository(record.merged_at);
  const std::string lock = there ? there->git_dir + "/index.lock" : "";
  if (!there || read_small(lock, 200) != lock_text(record)) return;
  const Store store = Store::at(record.store);
  const Place place{store, there->top, merge_index(data_dir, record)};
  std::error_code error;
  if (!moved) {
    (void)run_git(place.call({"read-tree", "-m", "-u", to, from}));
    fs::remove(lock, error);
  } else if (fs::copy_file(place.index, lock, fs::copy_options::overwrite_existing, error)) {
    fs::rename(lock, there->git_dir + "/index", error);
  }
}

}  // namespace

std::optional<MergeMode> parse_merge_mode(std::string_view text) {
  if (text == "squash") return MergeMode::squash;
  if (text == "merge") return MergeMode::merge;
  if (text == "patch") return MergeMode::patch;
  return std::nullopt;
}

std::optional<Refused> merge_changes(const std::string& data_dir, Record& record, MergeMode mode,
                                     const std::string& message) {
  const Store store = Store::at(record.store);
  if (mode == MergeMode::patch) {
    if (store.tree_of(record.start) == store.tree_of(record.end))
      return refuse(Code::conflict, "The task changed nothing, so there is nothing to apply.", "nothing");
    const std::string before = begin_move(record);
    record.merged_from.clear(), record.merged_to.clear();
    record.merged_at = record.repository.top;
    std::optional<Refused> refused = apply_patch(data_dir, record, false);
    end_move(record, refused ? before : "merged");
    return refused;
  }
  if (record.target.empty())
    return refuse(
        Code::conflict,
        "The repository was on no branch when the task began, so there is none to merge into. `--patch` applies "
        "the changes to the files instead.",
        "no_target");
  const Result<std::string> target = git_line(
      {.args = {"rev-parse", "-q", "--verify", record.target + "^{commit}"}, .git_dir = record.repository.common_dir});
  if (!target)
    return refuse(
        Code::conflict,
        fmt::format("The branch {} has no commit (any more). `--patch` applies the changes to the files instead.",
                    short_name(record.target)),
        "no_target");
  Result<Joined> joined = join(store, record, *target);
  if (!joined) return refuse(joined.error());
  if (!joined->conflicts.empty())
    return refuse(
        Code::conflict,
        fmt::format("{} was changed in the same places. Ask the agent to bring its work up to date with it, and "
                    "merge again.",
                    short_name(record.target)),
        "conflict", std::move(joined->conflicts));
  if (store.tree_of(*target) == joined->tree)
    return refuse(Code::conflict, fmt::format("{} already has all of this.", short_name(record.target)), "nothing");
  GitCall commit = store.call({"commit-tree", joined->tree, "-p", *target});
  if (mode == MergeMode::merge) commit.args.insert(commit.args.end(), {"-p", record.end});
  commit.input = message + "\n";
  commit.env = identity(record);
  Result<std::string> made = git_line(commit);
  if (!made) return refuse(made.error());
  if (Status given = give_objects(store, users_objects(record), *made, *target); !given) return refuse(given.error());
  const std::string before = begin_move(record);
  record.merged_from = *target;
  record.merged_to = *made;
  std::optional<Refused> refused = move_branch(data_dir, record, record.target, *target, *made);
  end_move(record, refused ? before : "merged");
  return refused;
}

std::optional<Refused> publish_changes(Record& record, const std::string& message) {
  const Store store = Store::at(record.store);
  if (store.tree_of(record.start) == store.tree_of(record.end))
    return refuse(Code::conflict, "The task changed nothing, so there is nothing to push.", "nothing");
  const Result<std::string> onto = record.onto.empty()
                                       ? Result<std::string>(record.base)
                                       : git_line({.args = {"rev-parse", "-q", "--verify", record.onto + "^{commit}"},
                                                   .git_dir = record.repository.common_dir});
  if (!onto) return refuse(Code::conflict, "What was merged before is no longer in your repository.", "no_target");
  Result<Joined> joined = join(store, record, *onto);
  if (!joined) return refuse(joined.error());
  if (!joined->conflicts.empty())
    return refuse(
        Code::conflict,
        record.onto.empty()
            ? "The task changed lines of yours that are not committed. Commit them and merge the task instead."
            : fmt::format("What the task changed since the merge does not fit {}. Commit what was merged, or ask the "
                          "agent to bring its work up to date with it, and try again.",
                          short_name(record.target)),
        "conflict", std::move(joined->conflicts));
  const auto follows = [&](const std::string& ancestor, const std::string& commit) {
    const Result<GitDone> done = run_git(store.call({"merge-base", "--is-ancestor", ancestor, commit}));
    return done && done->exit_code == 0;
  };
  std::vector<std::string> parents = {*onto};
  if (!record.published.empty() && !follows(record.published, *onto)) {
    if (follows(*onto, record.published)) {
      if (store.tree_of(record.published) == joined->tree) return std::nullopt;
      parents.clear();
    }
    parents.insert(parents.begin(), record.published);
  }
  std::string commit = git_line({.args = {"rev-parse", "-q", "--verify", "refs/heads/" + record.branch},
                                 .git_dir = record.repository.common_dir})
                           .value_or("");
  const auto is_new = [&](const std::string& parent) { return commit != parent && follows(parent, commit); };
  if (commit.empty() || store.tree_of(commit) != joined->tree || !std::ranges::all_of(parents, is_new)) {
    GitCall call = store.call({"commit-tree", joined->tree});
    for (const std::string& parent : parents) call.args.insert(call.args.end(), {"-p", parent});
    call.input = message + "\n";
    call.env = identity(record);
    Result<std::string> made = git_line(call);
    if (!made) return refuse(made.error());
    commit = *made;
    if (Status given = give_objects(store, users_objects(record), commit, *onto); !given) return refuse(given.error());
  }
  if (Status kept = store.set_ref("refs/errand/" + record.task + "/published", commit); !kept)
    return refuse(kept.error());
  record.published = commit;
  return std::nullopt;
}

Refused nothing_to_undo() {
  return refuse(Code::conflict, "The task is not merged, so there is nothing to undo.", "state");
}

std::optional<Refused> undo_merge(const std::string& data_dir, Record& record) {
  if (record.state != "merged") return nothing_to_undo();
  std::optional<Refused> refused;
  if (record.merged_to.empty()) {
    begin_move(record);
    refused = apply_patch(data_dir, record, true);
  } else {
    const Result<std::string> now =
        git_line({.args = {"rev-parse", "-q", "--verify", record.target}, .git_dir = record.repository.common_dir});
    if (!now || *now != record.merged_to)
      return refuse(Code::conflict,
                    fmt::format("Something was built on the merge: {} has moved on. `git revert {}` takes it back.",
                                short_name(record.target), record.merged_to.substr(0, 12)),
                    "moved");
    begin_move(record);
    refused = move_branch(data_dir, record, record.target, record.merged_to, record.merged_from);
  }
  end_move(record, refused ? "merged" : "ready");
  return refused;
}

void settle_merge(const std::string& data_dir, Record& record) {
  const bool undoing = record.before == "merged";
  bool merged = undoing;
  if (!record.moving.empty() && record.merged_to.empty()) {
    merged = has_patch(data_dir, record);
  } else if (!record.moving.empty()) {
    merged = has_merge(record);
    const std::string &from = undoing ? record.merged_to : record.merged_from,
                      &to = undoing ? record.merged_from : record.merged_to;
    settle_files(data_dir, record, from, to, merged != undoing);
  }
  end_move(record, merged ? "merged" : undoing || record.before.empty() ? "ready" : record.before);
}

}  // namespace errand::changes

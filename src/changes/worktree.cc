#include "changes/worktree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/replace_file.h"
#include "base/text.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

constexpr Millis checkout_patience_ms = 600'000;
constexpr size_t included_files_max = 1'000;
constexpr uintmax_t included_bytes_max = uintmax_t{100} << 20;

GitCall in_repository(const Record& record, std::vector<std::string> args) {
  return {.args = std::move(args), .git_dir = record.repository.common_dir};
}

bool has_ref(const Record& record, const std::string& ref) {
  return git_output(in_repository(record, {"rev-parse", "-q", "--verify", ref})).has_value();
}

// Another prefix where a branch `errand` is in the way of `errand/...`.
std::string branch_name(const Record& record, std::string_view words) {
  const std::string id = record.task.substr(record.task.size() - std::min<size_t>(record.task.size(), 10));
  std::string prefix = "errand/";
  if (has_ref(record, "refs/heads/errand")) prefix = "errand-tasks/";
  if (has_ref(record, "refs/heads/errand-tasks")) prefix = "errand-task-";
  const std::string name = fmt::format("{}{}-{}", prefix, id, slug(words));
  return has_ref(record, "refs/heads/" + name) ? fmt::format("{}-{}", name, ::getpid()) : name;
}

std::unexpected<Error> cannot(const Error& why) {
  return fail(why.code, "The task's own work tree cannot be made: " + why.message, "isolation");
}

// By hand, as `git clone` would take what the repository's configuration says.
Status add_clone(const Store& store, const Record& record, const std::string& commit) {
  const std::string git_dir = record.path + "/.git";
  GitCall init{.args = {"init", "-q", "--template=", "--initial-branch=" + record.branch}, .git_dir = {}};
  if (commit.size() == 64) init.args.emplace_back("--object-format=sha256");
  init.args.push_back(record.path);
  if (Result<std::string> done = git_output(init); !done) return std::unexpected(done.error());
  std::error_code error;
  // The sandbox shields them only where they are there.
  fs::create_directories(git_dir + "/hooks", error);
  fs::create_directories(git_dir + "/objects/info", error);
  if (const int failed =
          replace_file(git_dir + "/objects/info/alternates", users_objects(record) + "\n", 0600, Durability::process);
      failed != 0)
    return fail(failed == ENOSPC ? Code::storage_full : Code::unavailable, std::strerror(failed), "isolation");
  const auto in_clone = [&](std::vector<std::string> args) {
    return GitCall{.args = std::move(args), .git_dir = git_dir};
  };
  for (const char* name : {"user.name", "user.email"})
    if (const Result<std::string> value = git_line(in_repository(record, {"config", "--local", "--get", name}));
        value && !value->empty())
      (void)run_git(in_clone({"config", name, *value}));
  for (const char* name : {"core.autocrlf", "core.eol"})
    if (const Result<std::string> value = git_line(store.call({"config", "--get", name})); value && !value->empty())
      (void)run_git(in_clone({"config", name, *value}));
  if (git_line(in_repository(record, {"cat-file", "-t", commit})) != "commit") {
    const std::string known = head_of(record.repository).value_or(Head{}).commit;
    if (Status given = give_objects(store, git_dir + "/objects", commit, known); !given) return given;
  }
  if (Result<std::string> done = git_output(in_clone({"update-ref", "refs/heads/" + record.branch, commit})); !done)
    return std::unexpected(done.error());
  // What it may want to compare with. Without these it works, too.
  const Result<std::string> refs = git_output(
      in_repository(record, {"for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"}));
  GitCall copy = in_clone({"update-ref", "--stdin"});
  for (const std::string_view line : split(refs.value_or(""), '\n')) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string_view object = line.substr(0, space), ref = line.substr(space + 1);
    constexpr std::string_view heads = "refs/heads/";
    copy.input += ref.starts_with(heads)
                      ? fmt::format("create refs/remotes/origin/{} {}\n", ref.substr(heads.size()), object)
                      : fmt::format("create {} {}\n", ref, object);
  }
  if (!copy.input.empty()) (void)run_git(copy);
  return {};
}

Status add_worktree(const Record& record, const std::string& commit) {
  GitCall add = in_repository(record, {"worktree", "add", "-q", "--no-track", "--no-checkout", "--lock", "--reason",
                                       "errand: " + record.task, "-b", record.branch, record.path, commit});
  add.patience_ms = checkout_patience_ms;
  if (Result<std::string> added = git_output(add); !added) return std::unexpected(added.error());
  return {};
}

Status fill(const Store& store, const Record& record, const std::string& index, const std::string& commit,
            const std::string& tree) {
  std::error_code ignored;
  fs::remove(index, ignored);
  GitCall files = store.call({"-c", "checkout.workers=2", "read-tree", "-m", "-u", tree});
  files.work_tree = record.path;
  files.index = index;
  files.patience_ms = checkout_patience_ms;
  if (Result<std::string> done = git_output(files); !done) return std::unexpected(done.error());
  // Its own index has what the branch has; where the files have more, that is uncommitted there, too.
  const std::string own = record.git_dir + "/index";
  if (store.tree_of(commit) == tree) {
    if (!fs::copy_file(index, own, fs::copy_options::overwrite_existing, ignored))
      return fail(Code::unavailable, "its index cannot be written.", "isolation");
    return {};
  }
  GitCall read = store.call({"read-tree", commit});
  read.index = own;
  if (Result<std::string> done = git_output(read); !done) return std::unexpected(done.error());
  GitCall refresh = store.call({"update-index", "-q", "--refresh"});
  refresh.index = own;
  refresh.work_tree = record.path;
  (void)run_git(refresh);
  return {};
}

}  // namespace

void drop_unborn(const std::string& data_dir, Record& record) {
  std::error_code error;
  if (!record.branch.empty()) {
    if (record.tip.empty()) record.tip = record.base;
    // git knows nothing yet of one that was ended early; then nobody has worked in that folder.
    if (!remove_worktree(data_dir, record) && record.state == "preparing" &&
        record.path.starts_with(data_dir + "/changes/wt/"))
      fs::remove_all(record.path, error);
    record.branch.clear();
    record.tip.clear();
  }
  if (!record.is_clone()) (void)run_git(in_repository(record, {"worktree", "prune"}));
}

std::string slug(std::string_view text) {
  constexpr size_t max = 40;
  std::string words;
  for (const char c : text) {
    const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((low >= 'a' && low <= 'z') || (low >= '0' && low <= '9'))
      words += low;
    else if (!words.empty() && words.back() != '-')
      words += '-';
    if (words.size() >= max) break;
  }
  while (words.ends_with('-')) words.pop_back();
  return words.empty() ? "task" : words;
}

Status make_worktree(const std::string& data_dir, Record& record, const std::string& commit, const std::string& tree,
                     std::string_view words) {
  const Store store = Store::at(record.store);
  std::string name = fs::path(record.repository.top).filename().string();
  if (name.empty()) name = "repository";
  record.path = fmt::format("{}/changes/wt/{}/{}", data_dir, record.task, name);
  drop_unborn(data_dir, record);
  std::error_code error;
  if (fs::exists(record.path, error))
    return fail(
        Code::conflict,
        fmt::format("The folder {} is in the way of the task's own work tree; move it away.", to_utf8(record.path)),
        "isolation");
  fs::create_directories(fs::path(record.path).parent_path(), error);
  record.branch = branch_name(record, words);
  record.base = commit;
  // Known before it is made: whoever is killed in between finds what to remove.
  if (Status kept = write_record(data_dir, record); !kept) return cannot(kept.error());
  Status made = record.is_clone() ? add_clone(store, record, commit) : add_worktree(record, commit);
  if (made) {
    Result<Repository> own = find_repository(record.path);
    if (own && own->top == fs::weakly_canonical(record.path, error).string() && own->is_git())
      record.git_dir = own->git_dir;
    else
      made = fail(Code::internal, "git made none.", "isolation");
  }
  if (made) made = fill(store, record, task_folder(data_dir, record.task) + "/index", commit, tree);
  if (made) return {};
  drop_unborn(data_dir, record);
  return cannot(made.error());
}

Result<size_t> copy_included(const Store& store, const Record& record) {
  const std::string patterns = record.repository.top + "/.worktreeinclude";
  if (!read_small(patterns)) return 0;
  GitCall list = store.call({"ls-files", "-z", "-o", "-i", "--exclude-from=" + patterns});
  list.work_tree = record.repository.top;
  list.index =
      task_folder(fs::path(record.store).parent_path().parent_path().parent_path().string(), record.task) + "/index";
  Result<std::string> named = git_output(list);
  list.args = {"ls-files", "-z", "-o", "-i", "--exclude-standard"};
  Result<std::string> ignored = git_output(list);
  if (!named || !ignored) return std::unexpected(named ? ignored.error() : named.error());
  std::set<std::string_view> may;
  for (const std::string_view path : split(*ignored, '\0')) may.insert(path);
  size_t copied = 0;
  uintmax_t bytes = 0;
  for (const std::string_view path : split(*named, '\0')) {
    if (path.empty() || path.ends_with('/') || !may.contains(path) || copied >= included_files_max) continue;
    const fs::path from = fs::path(record.repository.top) / path, to = fs::path(record.path) / path;
    std::error_code error;
    const fs::file_status what = fs::symlink_status(from, error);
    if (!fs::is_regular_file(what) || fs::exists(fs::symlink_status(to, error))) continue;
    bytes += fs::file_size(from, error);
    if (bytes > included_bytes_max) break;
    fs::create_directories(to.parent_path(), error);
    if (fs::copy_file(from, to, fs::copy_options::none, error)) ++copied;
  }
  return copied;
}

Status remove_worktree(const std::string& data_dir, const Record& record) {
  if (!record.path.starts_with(data_dir + "/changes/wt/"))
    return fail(Code::internal, "This work tree is not errand's own.", "isolation");
  std::error_code error;
  if (record.is_clone()) {
    // All that is git's is in the store, so it is a folder of ours like any other.
    fs::remove_all(record.path, error);
    if (error) return fail(Code::unavailable, "The clone cannot be removed: " + error.message() + ".", "isolation");
    fs::remove(fs::path(record.path).parent_path(), error);
    return {};
  }
  (void)run_git(in_repository(record, {"worktree", "unlock", record.path}));
  if (fs::exists(fs::symlink_status(record.path, error))) {
    GitCall remove = in_repository(record, {"worktree", "remove", "--force", record.path});
    remove.patience_ms = checkout_patience_ms;
    if (Result<std::string> done = git_output(remove); !done) return std::unexpected(done.error());
  } else {
    (void)run_git(in_repository(record, {"worktree", "prune"}));
  }
  fs::remove(fs::path(record.path).parent_path(), error);
  if (!record.branch.empty() && !record.tip.empty())
    (void)run_git(in_repository(record, {"update-ref", "-d", "refs/heads/" + record.branch, record.tip}));
  return {};
}

bool is_lost(const Record& record) {
  std::error_code error;
  return !record.kind.empty() && !fs::exists(record.path + "/.git", error);
}

Status give_objects(const Store& store, const std::string& objects, const std::string& commit,
                    const std::string& without) {
  const std::string file = store.path() + "/transfer.pack";
  GitCall pack = store.call({"pack-objects", "-q", "--revs", "--stdout"});
  pack.input = commit + "\n" + (without.empty() ? "" : "^" + without + "\n");
  pack.output_file = file;
  pack.patience_ms = 120'000;
  Result<std::string> done = git_output(pack);
  if (done) {
    // With our configuration, and the user's objects as the only ones: what is there already is not written again.
    GitCall unpack = store.call({"unpack-objects", "-q"});
    unpack.object_dir = objects;
    unpack.input_file = file;
    unpack.patience_ms = 120'000;
    done = git_output(unpack);
  }
  std::error_code error;
  fs::remove(file, error);
  if (!done) return std::unexpected(done.error());
  return {};
}

Status take_commits(const Store& store, const Record& record) {
  const Result<Head> head = head_of(record.place());
  if (!head) return std::unexpected(head.error());
  if (head->commit.empty() || store.tree_of(head->commit)) return {};
  const std::string file = store.path() + "/transfer.pack";
  GitCall pack{.args = {"pack-objects", "-q", "--revs", "--stdout"}, .git_dir = record.git_dir};
  pack.input = head->commit + "\n^" + record.base + "\n";
  pack.output_file = file;
  pack.patience_ms = 120'000;
  Result<std::string> done = git_output(pack);
  if (done) {
    // The task wrote them: each is read, and its name made anew.
    GitCall unpack = store.call({"unpack-objects", "-q", "--strict"});
    unpack.input_file = file;
    unpack.patience_ms = 120'000;
    done = git_output(unpack);
  }
  std::error_code error;
  fs::remove(file, error);
  if (!done) return std::unexpected(done.error());
  return {};
}

int64_t disk_bytes(const std::string& folder, size_t entries_max) {
  int64_t bytes = 0;
  size_t entries = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end && entries < entries_max; at.increment(error)) {
    struct stat what{};
    if (::lstat(at->path().c_str(), &what) == 0) bytes += int64_t{what.st_blocks} * 512;
    ++entries;
  }
  return bytes;
}

std::string why_it_stays(const Store& store, const Record& record, const std::string& now_commit) {
  const Result<Head> head = head_of(record.place());
  if (!head) return head.error().message;
  if (head->ref != "refs/heads/" + record.branch) return "Another branch is checked out there.";
  // A snapshot stands on the commit that was checked out then.
  const Result<std::string> merged = git_line(store.call({"rev-parse", "-q", "--verify", record.end + "^"}));
  if (!merged || *merged != head->commit) return "It has commits that were not merged.";
  const Result<std::string> then = store.tree_of(record.end), now = store.tree_of(now_commit);
  if (!then || !now || *then != *now) return "It has changes that were not merged.";
  if (record.is_clone()) return {};
  const Result<std::string> list = git_output(in_repository(record, {"worktree", "list", "--porcelain", "-z"}));
  if (!list) return list.error().message;
  bool here = false;
  for (const std::string_view line : split(*list, '\0')) {
    if (line.starts_with("worktree ")) here = line.substr(9) == record.path;
    if (here && line.starts_with("locked") && line != "locked errand: " + record.task)
      return fmt::format("Somebody locked it{}.", line.size() > 7 ? ": " + to_utf8(line.substr(7)) : "");
  }
  return {};
}

}  // namespace errand::changes

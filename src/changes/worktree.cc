#include "changes/worktree.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

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
  (void)run_git(in_repository(record, {"worktree", "prune"}));
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
  GitCall add = in_repository(record, {"worktree", "add", "-q", "--no-track", "--no-checkout", "--lock", "--reason",
                                       "errand: " + record.task, "-b", record.branch, record.path, commit});
  add.patience_ms = checkout_patience_ms;
  Status made;
  if (Result<std::string> added = git_output(add); !added) made = std::unexpected(added.error());
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
  (void)run_git(in_repository(record, {"worktree", "unlock", record.path}));
  std::error_code error;
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

Status give_objects(const Store& store, const Record& record, const std::string& commit, const std::string& without) {
  const std::string file = store.path() + "/transfer.pack";
  GitCall pack = store.call({"pack-objects", "-q", "--revs", "--stdout"});
  pack.input = commit + "\n" + (without.empty() ? "" : "^" + without + "\n");
  pack.output_file = file;
  pack.patience_ms = 120'000;
  Result<std::string> done = git_output(pack);
  if (done) {
    // With our configuration, and the user's objects as the only ones: what is there already is not written again.
    GitCall unpack = store.call({"unpack-objects", "-q"});
    unpack.object_dir = record.repository.common_dir + "/objects";
    unpack.input_file = file;
    unpack.patience_ms = 120'000;
    done = git_output(unpack);
  }
  std::error_code error;
  fs::remove(file, error);
  if (!done) return std::unexpected(done.error());
  return {};
}

}  // namespace errand::changes

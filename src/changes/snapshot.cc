#include "changes/snapshot.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

// With its times: an entry that is as young as its index is read again, so a younger index would hide an edit.
bool copy_index(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::remove(to, error);
  fs::remove(to + ".lock", error);
  struct stat what{};
  if (::stat(from.c_str(), &what) != 0) return false;
  if (!fs::copy_file(from, to, fs::copy_options::overwrite_existing, error) || error) return false;
  const timespec times[2] = {what.st_atim, what.st_mtim};
  return ::utimensat(AT_FDCWD, to.c_str(), times, 0) == 0;
}

struct Untracked {
  std::vector<std::string> exclude;     // Paths that `add` must not look at.
  std::vector<std::string> submodules;  // `add` would start git inside of them, with their configuration.
  std::vector<LeftOut> left_out;
  size_t files = 0;
  int64_t bytes = 0;
};

Result<Untracked> look_at_files(const GitCall& with, const Repository& repository, const SnapshotLimits& limits) {
  // In one call, for every start and end of a turn waits for it: "? NAME" of what is not in the index, "H MODE OBJECT
  // STAGE\tNAME" (or another letter) of what is.
  GitCall list = with;
  list.args = {"ls-files", "-z", "-t", "-s", "-o", "--exclude-standard"};
  Result<std::string> names = git_output(list);
  if (!names) return std::unexpected(names.error());
  Untracked found;
  std::vector<std::string_view> all;
  for (const std::string_view entry : split(*names, '\0')) {
    if (entry.starts_with("? ")) {
      all.push_back(entry.substr(2));
    } else if (entry.size() > 2 && entry.substr(2).starts_with("160000 ")) {
      if (const size_t tab = entry.find('\t'); tab != std::string_view::npos)
        found.submodules.emplace_back(entry.substr(tab + 1));
    }
  }
  std::map<std::string_view, size_t> per_folder;
  const auto leave = [&](std::string_view path, const char* why) {
    found.exclude.emplace_back(path);
    found.left_out.push_back({std::string(path), why});
  };
  const auto folder_of = [](std::string_view path) {
    const size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  };
  for (const std::string_view path : all)
    if (!path.empty() && !path.ends_with('/')) ++per_folder[folder_of(path)];
  for (const auto& [folder, count] : per_folder)
    if (count > limits.new_files_a_folder && !folder.empty() && repository.is_git()) leave(folder, "many");
  for (std::string_view path : all) {
    if (path.empty()) continue;
    if (path.ends_with('/')) {
      path.remove_suffix(1);
      leave(path, "repository");
      continue;
    }
    struct stat what{};
    if (::lstat((repository.top + "/" + std::string(path)).c_str(), &what) != 0) continue;
    if (S_ISREG(what.st_mode) && what.st_size > limits.new_file_bytes) {
      leave(path, "large");
      continue;
    }
    found.files += 1;
    found.bytes += S_ISREG(what.st_mode) ? what.st_size : 0;
  }
  return found;
}

Result<Snapshot> snapshot_with(const Store& store, const Repository& repository, const std::string& index,
                               const std::string& head, const SnapshotLimits& limits) {
  GitCall with = store.call({});
  with.work_tree = repository.top;
  with.index = index;
  Result<Untracked> untracked = look_at_files(with, repository, limits);
  if (!untracked) return std::unexpected(untracked.error());
  if (!repository.is_git() && (untracked->files > limits.plain_files || untracked->bytes > limits.plain_bytes))
    return fail(Code::too_large,
                fmt::format("The folder is no repository and has more than {} files or {} MB, so its changes are not "
                            "watched. `git init` in it makes them cheap to watch.",
                            limits.plain_files, limits.plain_bytes >> 20),
                "large_folder");
  Snapshot snapshot;
  for (LeftOut& one : untracked->left_out)
    if (snapshot.left_out.size() < limits.named)
      snapshot.left_out.push_back(std::move(one));
    else
      ++snapshot.left_out_more;
  for (const std::string& path : untracked->submodules) {
    untracked->exclude.push_back(path);
    if (snapshot.left_out.size() < limits.named) snapshot.left_out.push_back({path, "submodule"});
  }
  GitCall add = with;
  add.args = {"-c",
              "advice.addEmbeddedRepo=false",
              "-c",
              "core.safecrlf=false",
              "add",
              "-A",
              "--pathspec-from-file=-",
              "--pathspec-file-nul"};
  // `--literal-pathspecs` stands before it and would take the excludes for names; the last option wins.
  add.args.insert(add.args.begin(), "--no-literal-pathspecs");
  add.input = std::string(":(top)") + '\0';
  for (const std::string& path : untracked->exclude) add.input += ":(top,exclude,literal)" + path + '\0';
  add.patience_ms = 120'000;
  if (Result<std::string> added = git_output(add); !added) return std::unexpected(added.error());
  GitCall write = with;
  write.args = {"write-tree"};
  Result<std::string> tree = git_line(write);
  if (!tree) return std::unexpected(tree.error());
  snapshot.tree = *tree;
  Result<std::string> commit =
      store.commit_tree(*tree, head.empty() ? std::vector<std::string>() : std::vector{head}, "errand: a snapshot");
  if (!commit) return std::unexpected(commit.error());
  snapshot.commit = *commit;
  return snapshot;
}

}  // namespace

Result<Snapshot> take_snapshot(const Store& store, const Repository& repository, const std::string& index, bool fresh,
                               const SnapshotLimits& limits) {
  std::string head;
  if (repository.is_git()) {
    Result<std::string> now = head_commit(repository);
    if (!now) return std::unexpected(now.error());
    head = std::move(*now);
  }
  std::error_code ignored;
  bool copied = false;
  if (fresh || !fs::exists(index, ignored)) {
    fs::remove(index, ignored);
    copied = repository.is_git() && copy_index(repository.git_dir + "/index", index);
  } else {
    copied = true;
  }
  fs::remove(index + ".lock", ignored);  // Ours: the store is locked, so nobody else has it.
  if (copied) {
    Result<Snapshot> snapshot = snapshot_with(store, repository, index, head, limits);
    if (snapshot || snapshot.error().reason != "git") return snapshot;
    // A split index, or one that is newer than this git: the files are read without it.
    fs::remove(index, ignored);
  }
  if (!head.empty()) {
    GitCall read = store.call({"read-tree", head});
    read.index = index;
    if (Result<std::string> done = git_output(read); !done) return std::unexpected(done.error());
  }
  return snapshot_with(store, repository, index, head, limits);
}

Status keep_objects(const Store& store, const std::string& commit, const std::string& without) {
  GitCall pack = store.call({"pack-objects", "-q", "--revs", store.path() + "/objects/pack/pack"});
  pack.input = commit + "\n";
  if (!without.empty()) pack.input += "^" + without + "\n";
  pack.patience_ms = 120'000;
  if (Result<std::string> done = git_output(pack); !done) return std::unexpected(done.error());
  return {};
}

}  // namespace errand::changes

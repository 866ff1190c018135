#include "changes/repository.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/replace_file.h"
#include "base/text.h"

namespace errand::changes {
namespace {

namespace fs = std::filesystem;

constexpr int folders_up_max = 64;
constexpr int lock_patience_s = 60;
constexpr std::time_t tidy_every_s = 24 * 3600;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string resolved(const fs::path& base, std::string_view path) {
  const fs::path whole = fs::path(path).is_absolute() ? fs::path(path) : base / path;
  std::error_code error;
  fs::path real = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal().string() : real.string();
}

// `.git` is a folder, or a file that names one.
std::optional<std::string> git_dir_at(const std::string& top) {
  std::string dot = (top == "/" ? "" : top) + "/.git";
  struct stat what{};
  if (::lstat(dot.c_str(), &what) != 0) return std::nullopt;
  if (is_folder(dot)) return dot;
  const std::optional<std::string> text = read_small(dot, 4096);
  if (!text || !text->starts_with("gitdir: ")) return std::string();
  return resolved(top, trim(std::string_view(*text).substr(8)));
}

// Settings of the repository or the user: read, never executed.
std::string read_config(const Repository& repository, std::initializer_list<std::string> args) {
  GitCall call{.args = {"config"}, .git_dir = repository.git_dir, .users_config = true};
  if (call.git_dir.empty()) call.git_dir = "/dev/null";
  call.args.insert(call.args.end(), args);
  return git_output(call).value_or("");
}

constexpr const char* taken_over[] = {"autocrlf", "eol",        "filemode",
                                      "symlinks", "ignorecase", "precomposeunicode"};  // Of core.

// What a store takes over. All in one call: every start of a turn waits for it.
struct Settings {
  std::map<std::string, std::string, std::less<>> values;  // By name, as git has them: in lower case.
  std::string excludes;                                    // Of the user alone.
};
Settings settings_of(const Repository& repository) {
  std::string wanted = "^(core\\.(excludesfile";
  for (const char* name : taken_over) wanted += fmt::format("|{}", name);
  wanted += ")|extensions\\.objectformat)$";
  const std::string scope = repository.is_git() ? "--includes" : "--global";
  const std::string text = read_config(repository, {scope, "-z", "--show-scope", "--get-regexp", wanted});
  Settings found;
  // "local\0core.eol\nlf\0": the last value of a name counts, and one without a value is none.
  const std::vector<std::string_view> all = split(text, '\0');
  for (size_t i = 0; i + 1 < all.size(); i += 2) {
    const size_t end = all[i + 1].find('\n');
    const std::string_view value = end == std::string_view::npos ? "" : trim(all[i + 1].substr(end + 1));
    const std::string_view name = all[i + 1].substr(0, end);
    if (name != "core.excludesfile")
      found.values.insert_or_assign(std::string(name), value);
    else if (all[i] == "global")
      found.excludes = value;
  }
  // git knows which home is meant.
  if (found.excludes.find_first_of("~%") == 0)
    found.excludes =
        trim(read_config(repository, {"--global", "--includes", "--type=path", "--get", "core.excludesFile"}));
  return found;
}

bool is_plain(std::string_view word) {
  return !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> read_small(const std::string& path, size_t max) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat what{};
  if (!file || ::fstat(file.get(), &what) != 0 || !S_ISREG(what.st_mode) || static_cast<size_t>(what.st_size) > max)
    return std::nullopt;
  std::string text(max + 1, '\0');
  size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < text.size(); size += n > 0 ? static_cast<size_t>(n) : 0)
    n = ::read(file.get(), text.data() + size, text.size() - size);
  if (size > max) return std::nullopt;
  text.resize(size);
  return text;
}

Result<Repository> find_repository(const std::string& folder) {
  if (!is_folder(folder)) return fail(Code::not_found, "The folder " + to_utf8(folder) + " is not there.", "no_folder");
  const std::string real = resolved("/", folder);
  if (real.find('\n') != std::string::npos)
    return fail(Code::unsupported, "A folder whose name has a line end in it cannot be watched.", "bad_folder");
  fs::path top = real;
  for (int i = 0; i < folders_up_max; ++i, top = top.parent_path()) {
    const std::optional<std::string> git_dir = git_dir_at(top.string());
    if (git_dir) {
      if (!is_folder(*git_dir) || ::access((*git_dir + "/HEAD").c_str(), R_OK) != 0) {
        // An empty `.git` folder is nothing; git walks past it, too.
        if (!git_dir->empty() && is_folder(*git_dir)) {
          if (top == top.root_path()) break;
          continue;
        }
        return fail(Code::unsupported, "The .git of " + to_utf8(top.string()) + " names no repository.",
                    "bad_repository");
      }
      Repository found{.top = top.string(), .git_dir = resolved("/", *git_dir), .common_dir = {}};
      const std::optional<std::string> common = read_small(*git_dir + "/commondir", 4096);
      found.common_dir = common ? resolved(*git_dir, trim(*common)) : found.git_dir;
      if (!is_folder(found.common_dir + "/objects"))
        return fail(Code::unsupported, "The repository of " + to_utf8(found.top) + " has no objects.",
                    "bad_repository");
      return found;
    }
    if (top == top.root_path()) break;
  }
  return Repository{.top = real, .git_dir = {}, .common_dir = {}};
}

Status may_be_watched(const Repository& repository, const std::string& data_dir, const std::string& home) {
  const std::string top = repository.top == "/" ? "/" : repository.top + "/";
  if ((resolved("/", data_dir) + "/").starts_with(top))
    return fail(Code::unsupported, "The folder holds errand's own data, so its changes are not watched.", "own_data");
  if (repository.is_git()) return {};
  if (repository.top == "/" || (!home.empty() && (resolved("/", home) + "/").starts_with(top)))
    return fail(Code::unsupported,
                "Changes are watched in a repository or a project's folder, not in the home folder or above it.",
                "home");
  return {};
}

Result<Head> head_of(const Repository& repository) {
  Head head;
  Result<GitDone> ref = run_git({.args = {"symbolic-ref", "-q", "HEAD"}, .git_dir = repository.git_dir});
  if (!ref) return std::unexpected(ref.error());
  if (ref->exit_code == 0) head.ref = trim(ref->out);
  Result<std::string> commit = head_commit(repository);
  if (!commit) return std::unexpected(commit.error());
  head.commit = std::move(*commit);
  return head;
}

Result<std::string> head_commit(const Repository& repository) {
  Result<GitDone> commit =
      run_git({.args = {"rev-parse", "-q", "--verify", "HEAD^{commit}"}, .git_dir = repository.git_dir});
  if (!commit) return std::unexpected(commit.error());
  return commit->exit_code == 0 ? std::string(trim(commit->out)) : std::string();
}

Result<Store> Store::open(const std::string& data_dir, const Repository& repository) {
  const std::string& of = repository.is_git() ? repository.common_dir : repository.top;
  const std::string path = fmt::format("{}/changes/git/{:016x}.git", data_dir, fnv_hash(of));
  std::error_code error;
  for (const char* folder : {"/objects/info", "/objects/pack", "/refs/heads", "/info"})
    fs::create_directories(path + folder, error);
  // Its settings. Values come from a repository that may be hostile: words alone are taken.
  std::string config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = false\n";
  std::string extensions;
  Settings settings = settings_of(repository);
  if (!repository.is_git()) settings.values.clear();
  for (const char* name : taken_over)
    if (const std::string value = settings.values[std::string("core.") + name]; is_plain(value))
      config += fmt::format("\t{} = {}\n", name, value);
  if (settings.values["extensions.objectformat"] == "sha256") extensions = "[extensions]\n\tobjectformat = sha256\n";
  if (!extensions.empty()) config.replace(config.find("version = 0"), 11, "version = 1");
  const std::string& excludes = settings.excludes;
  if (!excludes.empty() && excludes.find_first_of("\"\\\n") == std::string::npos)
    config += fmt::format("\texcludesfile = \"{}\"\n", excludes);
  config += extensions;
  std::vector<std::pair<std::string, std::string>> files = {{path + "/config", config},
                                                            {path + "/HEAD", "ref: refs/heads/none\n"}};
  constexpr size_t most = size_t{1} << 20;
  if (repository.is_git()) {
    files.emplace_back(path + "/objects/info/alternates", repository.common_dir + "/objects\n");
    files.emplace_back(path + "/info/exclude", read_small(repository.common_dir + "/info/exclude", most).value_or(""));
  }
  std::erase_if(files, [](const auto& file) { return read_small(file.first, most) == file.second; });
  Store store(path);
  if (files.empty()) return store;
  // Several tasks may begin here at once, and one writer at a time may replace a file.
  const Result<Fd> lock = store.lock();
  if (!lock) return std::unexpected(lock.error());
  for (const auto& [file, text] : files)
    if (const int failed = replace_file(file, text, 0600, Durability::process); failed != 0)
      return fail(failed == ENOSPC ? Code::storage_full : Code::unavailable,
                  fmt::format("errand's store of snapshots cannot be written: {}.", std::strerror(failed)), "store");
  return store;
}

Result<Fd> Store::lock() const {
  Fd file(::open((path_ + "/errand.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return fail(Code::unavailable, "The store of snapshots cannot be opened.", "store");
  for (int tenths = 0; tenths < lock_patience_s * 20; ++tenths) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    ::usleep(50'000);
  }
  return fail(Code::unavailable, "Another task's snapshot of this folder takes too long; try again.", "slow");
}

Status Store::set_ref(const std::string& ref, const std::string& commit) const {
  const Result<std::string> done = git_output(call({"update-ref", ref, commit}));
  if (!done) return std::unexpected(done.error());
  return {};
}

std::optional<std::string> Store::ref(const std::string& ref) const {
  Result<std::string> commit = git_line(call({"rev-parse", "-q", "--verify", ref + "^{commit}"}));
  if (!commit || commit->empty()) return std::nullopt;
  return *commit;
}

void Store::drop_refs(const std::string& prefix) const {
  const Result<std::string> names = git_output(call({"for-each-ref", "--format=delete %(refname)", prefix}));
  if (!names || names->empty()) return;
  GitCall remove = call({"update-ref", "--stdin"});
  remove.input = *names;
  (void)run_git(remove);
}

void Store::tidy() const {
  const std::string mark = path_ + "/errand.tidied";
  struct stat last{};
  if (::stat(mark.c_str(), &last) == 0 && std::time(nullptr) - last.st_mtime < tidy_every_s) return;
  if (replace_file(mark, "", 0600, Durability::process) != 0) return;
  GitCall collect = call({"gc", "--quiet", "--prune=1.hour.ago"});
  collect.patience_ms = 300'000;
  (void)run_git(collect);
}

Result<std::string> Store::commit_tree(const std::string& tree, const std::vector<std::string>& parents,
                                       const std::string& message) const {
  GitCall commit = call({"commit-tree", tree});
  for (const std::string& parent : parents) commit.args.insert(commit.args.end(), {"-p", parent});
  commit.input = message + "\n";
  return git_line(commit);
}

Result<std::string> Store::tree_of(const std::string& commit) const {
  return git_line(call({"rev-parse", "--verify", commit + "^{tree}"}));
}

}  // namespace errand::changes

#include "driver/builtin/tools/places.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>

#include "base/text.h"
#include "driver/run/options.h"
#include "driver/run/sandbox.h"
#include "driver/run_name.h"
#include "process/journal.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) return {};
  std::string text = real.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

bool inside(const std::string& path, const std::string& folder) {
  if (folder.empty()) return false;
  return path == folder || folder == "/" || (path.starts_with(folder) && path[folder.size()] == '/');
}

std::string below(const std::string& path, const std::string& folder) {
  if (path == folder) return {};
  return path.substr(folder == "/" ? 1 : folder.size() + 1);
}

// What git runs, or takes orders from, later and outside of any sandbox.
bool is_git_control(const std::string& real) {
  const std::vector<std::string_view> parts = split(real, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != ".git") continue;
    if (i + 1 == parts.size()) return true;
    const std::string_view next = parts[i + 1];
    if (next == "hooks" || next == "config" || next == "config.worktree") return true;
  }
  return false;
}

}  // namespace

void ReadableFolders::set(const TaskId& task, std::vector<std::string> folders) {
  const Lock lock(mutex_);
  folders_.insert_or_assign(task.value, std::move(folders));
}

std::vector<std::string> ReadableFolders::of(const TaskId& task) const {
  const Lock lock(mutex_);
  const auto found = folders_.find(task.value);
  return found == folders_.end() ? std::vector<std::string>() : found->second;
}

void ReadableFolders::forget(const TaskId& task) {
  const Lock lock(mutex_);
  folders_.erase(task.value);
}

Places::Places(PlaceSettings settings, const ToolContext& context)
    : settings_(std::move(settings)),
      task_(context.task->id),
      sandboxed_(context.task->launch.sandbox != Sandbox::off),
      artifacts_(resolved(run::artifact_folder(settings_.data_dir, context.task->id))),
      data_dir_(resolved(settings_.data_dir)),
      home_(settings_.home.empty() ? std::string() : resolved(settings_.home)) {
  for (const std::string& root : context.roots)
    if (std::string real = resolved(root); !real.empty()) roots_.push_back(std::move(real));
  work_dir_ = roots_.empty() ? "/" : roots_.front();
  if (settings_.readable) readable_ = settings_.readable->of(task_);
}

bool Places::own_log(const std::string& real) const {
  const std::string runs = data_dir_ + "/run";
  if (!inside(real, runs) || real == runs) return false;
  const std::string rest = below(real, runs);
  const std::optional<RunName> run = parse_run_name(std::string_view(rest).substr(0, rest.find('/')));
  return run && run->task == task_ && run->tool == "bash";
}

bool Places::hidden(const std::string& real) const {
  if (inside(real, artifacts_) || own_log(real)) return false;
  // A task's own work tree (decision 31) is in there, too; to this task it is its folder.
  const std::string trees = data_dir_ + "/changes/wt";
  for (const std::string& root : roots_)
    if (inside(root, trees) && root != trees && inside(real, root)) return false;
  return inside(real, data_dir_) || run::is_secret_place(home_, real);
}

Result<Place> Places::find(std::string_view path, Access access) const {
  const auto bad = [](const char* why) { return fail(Code::invalid_argument, why, "bad_path"); };
  if (path.empty()) return bad("The path is empty; name a file.");
  if (path.size() > files::path_max) return bad("The path is longer than 4096 bytes.");
  if (path.contains('\0')) return bad("The path has a NUL byte in it.");
  std::string whole;
  if (path.starts_with("~/") && !settings_.home.empty())
    whole = settings_.home + std::string(path.substr(1));
  else if (path.starts_with('/'))
    whole = path;
  else
    whole = work_dir_ + "/" + std::string(path);
  Place place;
  place.real = resolved(whole);
  if (place.real.empty() || !place.real.starts_with('/'))
    return bad("The path cannot be resolved; look with `list` which files there are.");
  place.root = "/";
  if (!hidden(place.real)) {
    for (const std::string& root : roots_) {
      if (!inside(place.real, root)) continue;
      place.root = root;
      place.inside = true;
      break;
    }
    if (!place.inside && inside(place.real, artifacts_)) {
      place.root = artifacts_;
      place.inside = true;
    } else if (!place.inside && access == Access::read && own_log(place.real)) {
      place.root = data_dir_ + "/run";
      place.inside = true;
    } else if (!place.inside && access == Access::read) {
      for (const std::string& folder : readable_) {
        if (!inside(place.real, folder)) continue;
        place.root = folder;
        place.inside = true;
        break;
      }
    }
  }
  place.below = below(place.real, place.root);
  place.shown = place.inside && place.root == work_dir_ ? (place.below.empty() ? "." : place.below) : place.real;
  return place;
}

Status Places::check_sandboxed(const Place& place) const {
  if (!sandboxed_) return {};
  if (!place.inside)
    return fail(Code::forbidden,
                "This task runs in a sandbox: it writes only in its work dir, add_dirs and artifact folder, and " +
                    place.real + " is in none of them.",
                "sandbox");
  if (is_git_control(place.real))
    return fail(Code::forbidden, "This task runs in a sandbox: git's hooks and configuration stay as they are.",
                "sandbox");
  return {};
}

Result<Place> Places::find_permitted(std::string_view path, Access access, std::string_view permitted) const {
  Result<Place> place = find(path, access);
  if (!place) return place;
  if (access == Access::write)
    if (Status good = check_sandboxed(*place); !good) return std::unexpected(good.error());
  if (place->shown == permitted || (access == Access::read && place->inside)) return place;
  return fail(Code::forbidden, "The permission was for another path: " + place->real + " is not what was asked for.",
              "not_permitted");
}

Result<files::File> open_place(const Place& place) {
  if (place.below.empty()) return fail(Code::forbidden, "This is a folder; look into it with `list`.", "not_a_file");
  const Result<files::Root> root = files::Root::open(place.root);
  if (!root) return std::unexpected(root.error());
  return root->open_file(place.below);
}

Result<Fd> open_place_folder(const Place& place) {
  Result<files::Root> root = files::Root::open(place.root);
  if (!root) return std::unexpected(root.error());
  if (!place.below.empty()) return root->open_folder(place.below);
  Fd fd(::openat(root->fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail(Code::unavailable, "The folder cannot be opened.");
  return fd;
}

std::optional<std::string> text_of_place(const Place& place, int64_t bytes_max) {
  const Result<files::File> file = open_place(place);
  if (!file || file->size > bytes_max) return std::nullopt;
  std::string text(static_cast<size_t>(file->size), '\0');
  if (files::read_at(*file, 0, text.data(), text.size()) != file->size || !is_utf8(text)) return std::nullopt;
  return text;
}

Tool::Need need_of(const Place& place, Access access, std::string_view act) {
  Tool::Need need;
  need.ask = access == Access::write || !place.inside;
  need.subject = place.shown;
  need.text = std::string(act) + " " + place.real + (place.inside ? "?" : " (outside of the task's folders)?");
  return need;
}

}  // namespace errand::builtin

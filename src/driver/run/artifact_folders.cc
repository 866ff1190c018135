#include "driver/run/artifact_folders.h"

#include <cstdio>
#include <filesystem>
#include <tuple>

#include <sys/stat.h>

#include "driver/run/spawn.h"
#include "files/walk.h"

namespace errand::run {
namespace {

// As make_artifact_folder made it: a command may have changed its rights, or put something else in its place.
bool as_new(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || (info.st_mode & 07777) != 0700) return false;
  const Result<files::Root> root = files::Root::open(path);
  return root && files::is_empty(*root);
}

}  // namespace

// A task's id begins otherwise: it is nobody's artifact folder.
std::string ArtifactFolders::spare(size_t number) const {
  return options_->data_dir + "/artifacts/.spare." + std::to_string(number);
}

std::optional<size_t> ArtifactFolders::take(bool full) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < spare_max; ++i) {
    if (full_.test(i) != full) continue;
    full_.flip(i);
    return i;
  }
  return {};
}

Result<std::string> ArtifactFolders::make(const TaskId& task) {
  std::string folder = artifact_folder(options_->data_dir, task);
  struct stat info{};
  if (::lstat(folder.c_str(), &info) == 0) return make_artifact_folder(*options_, task);
  while (const std::optional<size_t> number = take(true)) {
    const std::string from = spare(*number);
    if (as_new(from) && ::rename(from.c_str(), folder.c_str()) == 0) return folder;
  }
  return make_artifact_folder(*options_, task);
}

void ArtifactFolders::give_back(const TaskId& task) {
  const std::string folder = artifact_folder(options_->data_dir, task);
  if (!as_new(folder)) return;
  // Of two that meet at one number, here or in make(), the kernel lets one win. What is there already is an empty
  // folder, or stays.
  if (const std::optional<size_t> number = take(false)) std::ignore = ::rename(folder.c_str(), spare(*number).c_str());
}

}  // namespace errand::run

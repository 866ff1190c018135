#include "driver/command/artifact_folders.h"

#include <cstdio>
#include <filesystem>

#include <sys/stat.h>

#include "driver/command/spawn.h"
#include "files/walk.h"

namespace errand::command {
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
  return options_.data_dir + "/artifacts/.spare." + std::to_string(number);
}

Result<std::string> ArtifactFolders::make(const TaskId& task) {
  std::string folder = artifact_folder(options_.data_dir, task);
  struct stat info{};
  if (::lstat(folder.c_str(), &info) == 0) return make_artifact_folder(options_, task);
  for (size_t i = 0; i < spare_max; ++i) {
    if (!full_.test(i)) continue;
    full_.reset(i);
    const std::string from = spare(i);
    if (as_new(from) && ::rename(from.c_str(), folder.c_str()) == 0) return folder;
  }
  return make_artifact_folder(options_, task);
}

void ArtifactFolders::give_back(const TaskId& task) {
  size_t free = 0;
  while (free < spare_max && full_.test(free)) ++free;
  const std::string folder = artifact_folder(options_.data_dir, task);
  if (free == spare_max || !as_new(folder)) return;
  // What is there already is an empty folder, or stays: the kernel sees to that.
  if (::rename(folder.c_str(), spare(free).c_str()) == 0) full_.set(free);
}

}  // namespace errand::command

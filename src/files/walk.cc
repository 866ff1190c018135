#include "files/walk.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <memory>

#include <sys/stat.h>

namespace errand::files {
namespace {

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, Close>;

Folder open_dir(Fd fd) {
  Folder folder(::fdopendir(fd.get()));
  if (folder) fd.release();
  return folder;
}

bool is_dots(std::string_view name) { return name == "." || name == ".."; }

// One folder that is still to be looked at.
struct Todo {
  std::string path;  // Empty: the root itself.
  int depth = 0;
  std::vector<Glob::States> states;  // By pattern.
};

class Walk {
 public:
  Walk(const Root& root, const std::vector<Glob>& globs, const WalkLimits& limits, Clock& clock)
      : root_(root), globs_(globs), limits_(limits), clock_(clock) {}

  Walked run() {
    Todo first;
    for (const Glob& glob : globs_) first.states.push_back(glob.start());
    todo_.push_back(std::move(first));
    while (!todo_.empty() && !result_.stopped) {
      const Todo next = std::move(todo_.back());
      todo_.pop_back();
      look_into(next);
    }
    std::ranges::sort(result_.files, {}, &Found::path);
    return std::move(result_);
  }

 private:
  void look_into(const Todo& at) {
    Result<Fd> fd = at.path.empty() ? Result<Fd>(Fd(::openat(root_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
                                    : root_.open_folder(at.path);
    if (!fd || !*fd) return;  // Gone, or swapped for something else.
    const Folder folder = open_dir(std::move(*fd));
    if (!folder) return;
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (is_dots(name)) continue;
      if (++entries_ > limits_.entries || (limits_.deadline && clock_.steady() >= limits_.deadline)) {
        result_.stopped = true;
        return;
      }
      take(at, ::dirfd(folder.get()), name);
    }
  }

  void take(const Todo& at, int folder, std::string_view name) {
    Todo inner{.path = at.path.empty() ? std::string(name) : at.path + "/" + std::string(name),
               .depth = at.depth + 1,
               .states = {}};
    bool accepted = globs_.empty(), hopeful = globs_.empty();
    for (size_t i = 0; i < globs_.size(); ++i) {
      inner.states.push_back(globs_[i].step(at.states[i], name));
      accepted = accepted || globs_[i].accepts(inner.states.back());
      hopeful = hopeful || globs_[i].hopeful(inner.states.back());
    }
    if (!accepted && !hopeful) return;
    struct stat info{};
    if (::fstatat(folder, std::string(name).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(info.st_mode)) {
      if (!hopeful) return;
      if (inner.depth >= limits_.depth || inner.path.size() > path_max) {
        result_.stopped = true;
        return;
      }
      todo_.push_back(std::move(inner));
    } else if (accepted && !S_ISREG(info.st_mode)) {
      ++result_.links;
    } else if (accepted && result_.files.size() >= limits_.files) {
      ++result_.over;
    } else if (accepted && inner.path.size() <= path_max) {
      result_.files.push_back({.path = std::move(inner.path),
                               .size = info.st_size,
                               .modified = {info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000}});
    }
  }

  const Root& root_;
  const std::vector<Glob>& globs_;
  const WalkLimits& limits_;
  Clock& clock_;
  std::vector<Todo> todo_;
  int64_t entries_ = 0;
  Walked result_;
};

}  // namespace

Walked walk(const Root& root, const std::vector<Glob>& globs, const WalkLimits& limits, Clock& clock) {
  return Walk(root, globs, limits, clock).run();
}

bool is_empty(const Root& root) {
  const Folder folder = open_dir(Fd(::openat(root.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (!folder) return true;
  while (const dirent* entry = ::readdir(folder.get()))
    if (!is_dots(entry->d_name)) return false;
  return true;
}

}  // namespace errand::files

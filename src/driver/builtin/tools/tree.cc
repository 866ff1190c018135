#include "driver/builtin/tools/tree.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <vector>

#include "base/text.h"
#include "driver/builtin/tools/ignore.h"

namespace errand::builtin {
namespace {

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string joined(std::string_view folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (name.empty()) return std::string(folder);
  return std::string(folder) + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

IgnoreFile read_ignore(int folder) {
  files::File file;
  file.fd.reset(::openat(folder, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file.fd || ::fstat(file.fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string text(ignore_bytes_max, '\0');
  const int64_t n = files::read_at(file, 0, text.data(), text.size());
  return n > 0 ? IgnoreFile::parse(std::string_view(text).substr(0, static_cast<size_t>(n))) : IgnoreFile();
}

class Walk {
 public:
  Walk(const Place& start, const Places& places, const TreeHow& how, Clock& clock, const GivenUp& given_up,
       const Skip& skip, const Visit& visit)
      : start_(start),
        places_(places),
        how_(how),
        clock_(clock),
        given_up_(given_up),
        skip_(skip),
        visit_(visit),
        deadline_(clock.steady() + how.patience_ms) {}

  TreeEnd run(Fd folder) {
    if (!how_.ignored) read_above();
    look_into(std::move(folder), "", 0);
    return std::move(end_);
  }

 private:
  struct Level {
    std::string real;  // The folder that the file is in.
    IgnoreFile file;
  };

  // What stands in the folders between the root and the place where the walk begins.
  void read_above() {
    const Result<files::Root> root = files::Root::open(start_.root);
    if (!root || start_.below.empty()) return;
    std::string at;
    std::string real = start_.root;
    levels_.push_back({real, read_ignore(root->fd())});
    for (const std::string_view name : split(start_.below, '/')) {
      at = joined(at, name);
      real = joined(real, name);
      if (at == start_.below) break;  // Its own is read by the walk.
      if (const Result<Fd> folder = root->open_folder(at)) levels_.push_back({real, read_ignore(folder->get())});
    }
  }

  bool ignored(const std::string& real, bool is_folder) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      if (level->file.empty()) continue;
      const size_t skip = level->real == "/" ? 1 : level->real.size() + 1;
      const IgnoreFile::Verdict verdict = level->file.judge(std::string_view(real).substr(skip), is_folder);
      if (verdict != IgnoreFile::Verdict::nothing) return verdict == IgnoreFile::Verdict::ignore;
    }
    return false;
  }

  void stop(std::string why) {
    end_.stopped = true;
    end_.why = std::move(why);
  }

  void look_into(Fd folder, const std::string& path, int depth) {
    const std::string real = joined(start_.real, path);
    const int listed = ::dup(folder.get());
    const std::unique_ptr<DIR, Close> entries(listed < 0 ? nullptr : ::fdopendir(listed));
    if (!entries) {
      if (listed >= 0) ::close(listed);
      return;
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name == ".git") continue;
      if (++seen_ > how_.entries) return stop("stopped behind " + std::to_string(how_.entries) + " names");
      names.emplace_back(name);
    }
    std::ranges::sort(names);
    if (!how_.ignored) levels_.push_back({real, read_ignore(folder.get())});
    for (const std::string& name : names) {
      if (given_up_) return stop("was given up");
      if (clock_.steady() >= deadline_) return stop("took longer than " + format_duration(how_.patience_ms));
      take(folder.get(), path, real, name, depth);
      if (end_.stopped) return;
    }
    if (!how_.ignored) levels_.pop_back();
  }

  void take(int folder, const std::string& path, const std::string& real, const std::string& name, int depth) {
    struct stat info{};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !S_ISREG(info.st_mode)) return;
    const std::string here = joined(real, name);
    if ((!how_.ignored && ignored(here, is_folder)) || places_.hidden(here)) return;
    const std::string below = joined(path, name);
    if (!is_folder) {
      if (!visit_({.path = below, .folder = folder, .name = name, .info = info})) end_.stopped = true;
      return;
    }
    if (skip_ && skip_(below)) return;
    if (depth + 1 >= how_.depth) return;
    Fd inner(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) look_into(std::move(inner), below, depth + 1);
  }

  const Place& start_;
  const Places& places_;
  const TreeHow& how_;
  Clock& clock_;
  const GivenUp& given_up_;
  const Skip& skip_;
  const Visit& visit_;
  const Time deadline_;
  int64_t seen_ = 0;
  std::vector<Level> levels_;
  TreeEnd end_;
};

}  // namespace

Result<TreeEnd> walk_tree(const Place& start, const Places& places, const TreeHow& how, Clock& clock,
                          const GivenUp& given_up, const Skip& skip, const Visit& visit) {
  Result<Fd> folder = open_place_folder(start);
  if (!folder) return std::unexpected(folder.error());
  return Walk(start, places, how, clock, given_up, skip, visit).run(std::move(*folder));
}

}  // namespace errand::builtin

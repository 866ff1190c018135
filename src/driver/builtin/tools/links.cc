#include "driver/builtin/tools/links.h"

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <span>

#include "base/text.h"

namespace errand::builtin {
namespace {

namespace fs = std::filesystem;

constexpr int looks_max = 20'000;  // Names of folders that are looked at, for one command.

class Look {
 public:
  explicit Look(fs::path root) : root_(std::move(root)) {}

  bool leaves(const fs::path& path) const {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path, error);
    if (error == std::errc::filename_too_long) return false;  // What is searched for, and no name.
    return error || std::ranges::mismatch(root_, real).in1 != root_.end();
  }
  // What the shell makes of the names behind `folder`.
  bool leaves(const fs::path& folder, std::span<const std::string_view> names) {
    if (names.empty()) return leaves(folder);
    const std::string name(names.front());
    if (name.find_first_of("*?[") == std::string::npos) return leaves(folder / name, names.subspan(1));
    if (leaves(folder)) return true;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (--left_ < 0) return true;
      if (::fnmatch(name.c_str(), entry->path().filename().c_str(), FNM_PERIOD) != 0) continue;
      std::error_code gone;
      if (names.size() == 1 ? entry->is_symlink(gone) && leaves(entry->path())
                            : entry->is_directory(gone) && leaves(entry->path(), names.subspan(1)))
        return true;
    }
    return false;
  }

 private:
  const fs::path root_;
  int left_ = looks_max;
};

}  // namespace

bool links_lead_out(const std::string& folder, const std::vector<shell::ReadName>& names) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return true;
  Look look(root);
  return std::ranges::any_of(names, [&](const shell::ReadName& name) {
    if (!name.pattern) return look.leaves(root / name.text);
    const std::vector<std::string_view> parts = split(name.text, '/');
    return look.leaves(root, parts);
  });
}

}  // namespace errand::builtin

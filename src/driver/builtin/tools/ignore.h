// .gitignore: which names a walk passes by. The common rules of git: comments, "!", a slash at the end, patterns that
// are bound to their folder by a slash, "**". Pure; what is wrong in a file is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/glob.h"

namespace errand::builtin {

inline constexpr size_t ignore_bytes_max = 64 * 1024;  // Of one file.
inline constexpr size_t ignore_rules_max = 2'000;      // Of one file.

class IgnoreFile {
 public:
  static IgnoreFile parse(std::string_view text);

  enum class Verdict : uint8_t { nothing, ignore, keep };
  // `path` is below the folder that the file is in. The last rule that means it decides.
  Verdict judge(std::string_view path, bool is_folder) const;
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    files::Glob glob;
    bool keep = false;
    bool folders_only = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace errand::builtin

#include "driver/builtin/tools/ignore.h"

#include <algorithm>
#include <ranges>

#include "base/text.h"

namespace errand::builtin {

IgnoreFile IgnoreFile::parse(std::string_view text) {
  IgnoreFile file;
  for (std::string_view line : split(text.substr(0, ignore_bytes_max), '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const bool keep = line.starts_with('!');
    if (keep) line.remove_prefix(1);
    const bool folders_only = line.ends_with('/');
    if (folders_only) line.remove_suffix(1);
    std::string pattern(line);
    if (pattern.starts_with('/'))
      pattern.erase(0, 1);
    else if (!pattern.contains('/'))
      pattern.insert(0, "**/");
    // "a/**" means what is in the folder; so does the folder's own name for a walk.
    Result<files::Glob> glob = files::Glob::parse(pattern, files::Dots::any);
    if (!glob) continue;
    file.rules_.push_back({.glob = std::move(*glob), .keep = keep, .folders_only = folders_only});
    if (file.rules_.size() >= ignore_rules_max) break;
  }
  return file;
}

IgnoreFile::Verdict IgnoreFile::judge(std::string_view path, bool is_folder) const {
  for (const Rule& rule : rules_ | std::views::reverse)
    if ((is_folder || !rule.folders_only) && rule.glob.matches(path))
      return rule.keep ? Verdict::keep : Verdict::ignore;
  return Verdict::nothing;
}

}  // namespace errand::builtin

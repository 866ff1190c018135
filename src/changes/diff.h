// What changed between two snapshots: the files first, one patch at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "changes/repository.h"

namespace errand::changes {

inline constexpr size_t files_max = 3'000;            // That are listed; of the others the number is told.
inline constexpr size_t patch_bytes_max = 512 << 10;  // Of one file, that is shown.
inline constexpr size_t patch_lines_max = 5'000;
inline constexpr size_t whole_patch_max = 64u << 20;  // Of all files together.

struct ChangedFile {
  std::string path;                // Bytes: not always UTF-8.
  std::string old_path;            // Of a renamed one; else empty.
  char status = 'M';               // A, M, D, R, T as git has them.
  int64_t added = 0, removed = 0;  // Lines; 0 where it is binary.
  bool binary = false;
  std::string old_mode, new_mode;  // "100644", "100755", "120000"; "000000": not there.
  std::string new_blob;
  int64_t size = -1;  // Of the new content; -1: there is none, or it is not known.
  bool operator==(const ChangedFile&) const = default;
};

// Reads what `diff-tree --raw --numstat -z` prints. Pure. internal, reason `git`, where it is something else.
Result<std::vector<ChangedFile>> parse_changes(std::string_view output);

// "added", "modified", "deleted", "renamed", "type_changed".
std::string_view status_name(char status);

// Lock files, minified and built things: shown folded.
bool is_generated(std::string_view path);

Result<std::vector<ChangedFile>> list_changes(const Store& store, const std::string& from, const std::string& to);

// The patch of one file, as git writes it. too_large, reason `large_patch`: over the bounds of what is shown.
Result<std::string> file_patch(const Store& store, const std::string& from, const std::string& to,
                               const ChangedFile& file);
// That of all files, binary ones too, into a file. too_large over whole_patch_max: then there is no file.
Status write_patch(const Store& store, const std::string& from, const std::string& to, const std::string& file);
// The sections of a whole patch, in the order of its files; a file whose type changed has two. Pure.
std::vector<std::string_view> patch_sections(std::string_view patch);

}  // namespace errand::changes

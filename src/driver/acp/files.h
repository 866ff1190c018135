// Files that an agent asks its client for, within the folders of its task: read and written as files/ does, without
// ever leaving the folder by a link or by "..". Blocking: for a thread beside the engine's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/acp/wire.h"

namespace errand::acp {

// Where an agent's requests may reach: the work dir and add_dirs.
std::vector<std::string> folders_of(const Launch& launch);
// Is this absolute path one of them, or below one? As it is written: no link is followed.
bool is_within(const std::vector<std::string>& folders, std::string_view path);

inline constexpr int64_t file_max = 8 << 20;  // Bytes of a file that is read.

// The text as JSON ({"content":"..."}), or why not, for the agent: outside of `folders`, not there, too large.
Result<std::string> read_text(const std::vector<std::string>& folders, const FileRequest& request);
// The file is on disk when it returns.
Status write_text(const std::vector<std::string>& folders, const FileRequest& request);

}  // namespace errand::acp

// Small files of our own, replaced whole or not at all: whoever reads one meanwhile sees the old bytes or the new ones.
//
// For folders that only this user can write to. files/write.h is for the rest, and resolves what others named.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace errand {

enum class Durability : uint8_t {
  process,  // The new bytes are there after a crash of this process. A power cut may bring the old ones back, or none.
  power,    // File and folder are synced: once it returns 0 the new bytes are there after a power cut too.
};

// Writes beside it (`name`.new, which one writer at a time may do) and renames. 0, or the errno of what failed: then
// the old file is as it was. Blocks on the disk. `folder` is a descriptor of the folder.
int replace_file(int folder, const std::string& name, std::string_view bytes, mode_t mode, Durability durability);
// The same by its path.
int replace_file(const std::string& path, std::string_view bytes, mode_t mode, Durability durability);

}  // namespace errand

// FNV-1a: tells texts apart where chance is the only enemy. Anybody can make two texts with one hash: never for what
// strangers could gain by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace errand {

inline constexpr uint64_t fnv_start = 0xcbf29ce484222325;

// The same on every machine and in every version: it is in stored files and in names. Another `start` makes another
// hash.
constexpr uint64_t fnv_hash(std::string_view bytes, uint64_t start = fnv_start) {
  uint64_t hash = start;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

static_assert(fnv_hash("a") == 0xaf63dc4c8601ec8c);

}  // namespace errand

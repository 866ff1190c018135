// What was gathered of a task's artifacts, as the file beside them says it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "task/artifact.h"

namespace errand::run {

struct ManifestFile {
  struct Entry {
    Artifact info;
    std::string raw;   // The path as bytes.
    std::string kept;  // The copy's name, or empty.
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  int64_t left_out = 0;
  std::string why;
  Time gathered_at;
  int64_t generation = 0;
  bool operator==(const ManifestFile&) const = default;
};

inline constexpr int64_t manifest_bytes_max = 64 << 20;

std::string encode_manifest(const ManifestFile& manifest);
// Whoever runs as the same user can write it: what is wrong in it is refused, a copy's name that is a path above all.
Result<ManifestFile> decode_manifest(std::string_view text);

}  // namespace errand::run

// What the server says of a task's files, for the verbs that show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

struct ArtifactInfo {
  std::string id, name, source, media_type, sha256;
  int64_t run = 0, size = 0;
};

// From the answer of GET .../artifacts; empty where it is none.
std::vector<ArtifactInfo> parse_artifacts(std::string_view body);

// "33 B", "1.2 kB", "7.0 MB".
std::string size_text(int64_t bytes);

}  // namespace errand::cli

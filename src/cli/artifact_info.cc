#include "cli/artifact_info.h"

#include <fmt/format.h>

#include "cli/wire.h"

namespace errand::cli {

namespace {}  // namespace

std::vector<ArtifactInfo> parse_artifacts(std::string_view body) {
  std::vector<ArtifactInfo> files;
  for (const std::string& element : elements(body, "artifacts")) {
    ArtifactInfo& file = files.emplace_back();
    file.id = member(element, "id");
    file.name = member(element, "name");
    file.source = member(element, "source");
    file.media_type = member(element, "media_type");
    file.sha256 = member(element, "sha256");
    file.run = number(member(element, "run"));
    file.size = number(member(element, "size"));
  }
  return files;
}

std::string size_text(int64_t bytes) {
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace errand::cli

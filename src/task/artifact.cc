#include "task/artifact.h"

#include "base/text.h"

namespace errand {

std::string_view name(ArtifactSource source) {
  switch (source) {
    case ArtifactSource::log:
      return "log";
    case ArtifactSource::folder:
      return "folder";
    case ArtifactSource::glob:
      return "glob";
  }
  return {};
}

std::optional<ArtifactSource> parse_artifact_source(std::string_view text) {
  for (const ArtifactSource source : {ArtifactSource::log, ArtifactSource::folder, ArtifactSource::glob})
    if (name(source) == text) return source;
  return std::nullopt;
}

ArtifactSummary summarize(const ArtifactList& list) {
  ArtifactSummary summary{.left_out = list.left_out, .first = {}};
  for (const Artifact& file : list.files) {
    if (file.source == ArtifactSource::log) continue;
    ++summary.count;
    summary.bytes += file.size;
    if (summary.first.size() == artifacts_told_max) continue;
    Artifact& told = summary.first.emplace_back(file);
    told.name.resize(utf8_prefix(told.name, artifact_name_told_max));
  }
  return summary;
}

}  // namespace errand

// A file that a task left: the log of a run, what it put into its artifact folder, what a pattern of its launch named
// (R9.4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace errand {

enum class ArtifactSource : uint8_t { log, folder, glob };
std::string_view name(ArtifactSource source);
std::optional<ArtifactSource> parse_artifact_source(std::string_view text);

struct Artifact {
  std::string
      id;  // Letters and digits; names it in a path whatever its own name has in it. The same name, the same id.
  std::string name;  // Its path below the artifact folder, or below the work dir; as UTF-8, for people.
  ArtifactSource source = ArtifactSource::folder;
  int run = 0;  // Of a log.
  int64_t size = 0;
  std::string media_type;  // By its content; "application/octet-stream" where nobody knows.
  std::string sha256;      // In hexadecimal; empty where it was not made (a task at work, a file past the bound).
  Time modified;
  bool operator==(const Artifact&) const = default;
};

struct ArtifactList {
  std::vector<Artifact> files;
  int64_t left_out = 0;      // Files that are there and not in the list, or not kept.
  std::string left_out_why;  // One sentence, where there are any.
  Time gathered_at;          // "never" if the list shows the files that exist now.
  bool operator==(const ArtifactList&) const = default;
};

// What a task's record and its notice tell of them. The whole list is the driver's (Driver::artifacts).
struct ArtifactSummary {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t left_out = 0;
  std::vector<Artifact> first;  // At most artifacts_told_max, their names cut.
  bool operator==(const ArtifactSummary&) const = default;
};
inline constexpr size_t artifacts_told_max = 20;
inline constexpr size_t artifact_name_told_max = 200;  // Bytes.

// Logs are not counted: every run has one.
ArtifactSummary summarize(const ArtifactList& list);

}  // namespace errand

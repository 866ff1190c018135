// The files that a command left (R9.4): those in its artifact folder, and those in its work dir that the launch's
// patterns name (docs/decisions, "Artifacts").
//
// The folder is the command's own: what is in it stays there. What a pattern names is copied when it is gathered, into
// a folder beside it that the command was never told of, together with a manifest that says what there is. Copies have
// numbers for names: nothing that the command chose is ever a path of ours.
//
// Threads: any; all calls block on the disk. Gatherings of one task wait for each other.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "driver/driver.h"
#include "driver/run/artifact_manifest.h"
#include "driver/run/reach.h"
#include "task/artifact.h"

namespace errand::run {

struct ArtifactLimits {
  int64_t bytes = 256LL << 20;  // Of copies, and of what is read for hashes.
  int64_t files = 1'000;
  Millis time_ms = 10'000;  // For one gathering; what was not reached is left out.
};

class Artifacts {
 public:
  // `threads`: for folders that may not answer (reach.h).
  Artifacts(std::string data_dir, ArtifactLimits limits, Executor* threads = nullptr)
      : data_dir_(std::move(data_dir)), limits_(limits), reach_(threads) {}

  // There are no patterns, the folder is empty, and nothing was gathered before. Fast.
  bool nothing_to_gather(const Task& task) const;
  // On disk, whole, when it returns. As list(), where the work_dir does not answer.
  Result<ArtifactList> gather(const Task& task);
  // What was gathered; of a task at work (or one that nothing was gathered of) what is there now, without hashes. Where
  // patterns name files of a work_dir that does not answer: unavailable, reason `work_dir_unreachable`.
  Result<ArtifactList> list(const Task& task) const;
  Result<Driver::OpenArtifact> open(const Task& task, std::string_view id_or_name) const;
  void remove(const TaskId& task);

 private:
  using Manifest = ManifestFile;
  using Entry = ManifestFile::Entry;
  struct Left;  // What is left out, and why.

  std::string folder(const TaskId& task) const;
  std::string kept_folder(const TaskId& task) const;
  Manifest look(const Task& task, Time deadline) const;
  Result<Manifest> read_manifest(const TaskId& task) const;
  Status write_manifest(const Fd& kept, const Manifest& manifest) const;
  Status keep(const Task& task, const Fd& kept, Manifest& manifest, Time deadline) const;
  Result<Manifest> current(const Task& task) const;
  Status work_dir_answers(const Task& task) const;
  Result<Driver::OpenArtifact> open_entry(const Task& task, const Entry& entry) const;
  static ArtifactList to_list(const Manifest& manifest);
  // Has the task to itself until it is destroyed.
  class Turn;

  const std::string data_dir_;
  const ArtifactLimits limits_;
  const Reach reach_;
  mutable SystemClock clock_;

  std::mutex mutex_;
  std::condition_variable free_;
  std::set<std::string> busy_;  // Tasks that are being gathered or removed. Guarded by mutex_.
};

}  // namespace errand::run

// A snapshot: all files of a folder as a commit in the store, made with an index of our own.
//
// The index is a copy of the user's with its times, so that only files that changed are read. What is ignored is not in
// it; what is too large, a repository of its own, or one of too many new files is left out, and named.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "changes/repository.h"

namespace errand::changes {

struct SnapshotLimits {
  int64_t new_file_bytes = 10 << 20;         // A new file that is larger is left out.
  size_t new_files_a_folder = 2'000;         // A folder with more new files directly in it is left out.
  size_t plain_files = 5'000;                // A folder that is no repository: how many files, and
  int64_t plain_bytes = int64_t{100} << 20;  // how many bytes it may have.
  size_t named = 100;                        // Of what was left out.
};

struct LeftOut {
  std::string path;
  std::string why;  // large, many, repository, submodule
  bool operator==(const LeftOut&) const = default;
};

struct Snapshot {
  std::string commit;
  std::string tree;
  std::vector<LeftOut> left_out;
  size_t left_out_more = 0;  // That are not named.
};

// `index`: the file of our own index. `fresh`: it is copied anew from the user's; otherwise it is used as it is, where
// there is one. Whatever fails, there is no snapshot. too_large: a plain folder over its bounds. The store's lock is
// held by the caller.
Result<Snapshot> take_snapshot(const Store& store, const Repository& repository, const std::string& index, bool fresh,
                               const SnapshotLimits& limits = {});

// Packs what only this snapshot has, so that a clean-up of the user's repository cannot take it away.
Status keep_objects(const Store& store, const std::string& commit, const std::string& without);

}  // namespace errand::changes

// A list of changes as it is on the wire (R16.3). Pure, but for looking at who else worked in the folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "changes/diff.h"
#include "changes/record.h"
#include "changes/snapshot.h"

namespace errand::changes {

struct Listing {
  bool final = false;  // As the task left it; else as it is now.
  std::string why;     // Nothing is known of the changes, and this says why.
  std::vector<ChangedFile> files;
  std::vector<LeftOut> left_out;
  size_t left_out_more = 0;
  std::vector<std::string> shared_with;  // Tasks that worked in the same folder at the same time.
  // The files that changed while others worked there, and who those were. All others were changed by this task alone.
  std::map<std::string, std::set<std::string>> shared = {};
};

std::string to_json(const Listing& listing);
// Who else was watched in the same work tree while this one worked, and which files changed meanwhile: sets both of the
// listing. Each task that began or ended in that time left a snapshot, so the files that changed between two of them
// are known. `now`: the last snapshot of this one.
void find_shared(const std::string& data_dir, const Record& record, const std::string& now, Listing& listing);
// Bytes of a path in a URL: what JSON cannot hold.
std::string percent_encoded(std::string_view path);
std::string percent_decoded(std::string_view text);

}  // namespace errand::changes

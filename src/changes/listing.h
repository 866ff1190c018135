// A list of changes as it is on the wire (R16.3). Pure, but for looking at who else worked in the folder.
#pragma once

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
};

std::string to_json(const Listing& listing);
// Tasks that were watched in the same work tree while this one worked.
std::vector<std::string> others_in_folder(const std::string& data_dir, const Record& record);
// Bytes of a path in a URL: what JSON cannot hold.
std::string percent_encoded(std::string_view path);
std::string percent_decoded(std::string_view text);

}  // namespace errand::changes

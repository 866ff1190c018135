// A manifest that somebody else wrote: refused, or read as it will be written again, and never a path that leads out.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "driver/run/artifact_manifest.h"
#include "files/beneath.h"

using namespace errand;
using namespace errand::run;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Result<ManifestFile> manifest = decode_manifest({reinterpret_cast<const char*>(data), size});
  if (!manifest) return 0;
  for (const ManifestFile::Entry& entry : manifest->entries)
    if (entry.kept.find_first_of("/.") != std::string::npos || !files::clean_path(entry.raw)) std::abort();
  const Result<ManifestFile> again = decode_manifest(encode_manifest(*manifest));
  if (!again || again->entries.size() != manifest->entries.size()) std::abort();
  return 0;
}

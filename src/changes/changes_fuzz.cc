// What git prints, and what the server is told: any bytes.
#include <cstddef>
#include <cstdint>

#include "changes/diff.h"
#include "changes/listing.h"
#include "changes/orders.h"
#include "changes/worktree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand::changes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto files = parse_changes(text)) (void)to_json({.final = false, .why = {}, .files = *files});
  (void)decode_order(text);
  size_t all = 0;
  for (const std::string_view section : patch_sections(text)) all += section.size();
  if (all != 0 && all != size) __builtin_trap();
  if (percent_decoded(percent_encoded(text)) != text) __builtin_trap();
  if (slug(text).size() > 40) __builtin_trap();
  return 0;
}

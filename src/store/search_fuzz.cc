// What people search for and the cursors they send back: any bytes at all.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "store/cursor.h"
#include "store/search_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  static_cast<void>(read_cursor(text, {}, Sort::newest));

  // Every part of a query that is found in a text by its letters is found by its grams.
  const Result<std::vector<std::string>> terms = query_terms(text);
  if (!terms) return 0;
  std::set<std::string, std::less<>> grams;
  each_gram(text, [&](std::string_view gram) { return grams.emplace(gram).second; });
  for (const std::string& term : *terms)
    for (const std::string& gram : grams_of_term(term))
      if (!grams.contains(gram)) std::abort();
  return 0;
}

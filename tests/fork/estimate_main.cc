// Prints what estimate_tokens says of each of the texts on standard input, which are parted by NUL bytes: for
// tests/e2e/tokens.test.mjs, which holds it against real tokenizers.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fork/tokens.h"

int main() {
  std::string input;
  char buffer[65536];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof buffer, stdin)) > 0;) input.append(buffer, got);
  for (const std::string_view text : errand::split(input, '\0'))
    printf("%lld\n", static_cast<long long>(errand::estimate_tokens(text)));
}

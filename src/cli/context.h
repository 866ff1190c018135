// What every verb gets: where to write, and a server to talk to.
#pragma once

#include <cstdlib>

#include "cli/args.h"
#include "cli/client.h"
#include "cli/screen.h"

namespace errand::cli {

inline Where where_of(const Globals& globals) {
  const char* token = std::getenv("ERRAND_TOKEN");
  return {globals.data_dir, globals.url, token ? token : "", globals.token_file};
}

struct Context {
  explicit Context(const Globals& given) : globals(given), screen(given.screen), client(where_of(given)) {}

  Globals globals;
  Screen screen;
  Client client;
};

}  // namespace errand::cli

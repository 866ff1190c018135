// What every verb gets: where to write, and a server to talk to.
#pragma once

#include <cstdlib>

#include "cli/args.h"
#include "cli/client.h"
#include "cli/find_server.h"
#include "cli/screen.h"
#include "cli/serve.h"

namespace errand::cli {

inline Where where_of(const Globals& globals) {
  const char* given = std::getenv("ERRAND_TOKEN");
  std::string token = given ? given : "";
  // A task's own token is its server's, which the environment names as well; who names another one means that.
  const bool elsewhere = globals.url.empty() && globals.data_dir != default_data_dir();
  if (elsewhere && token.starts_with("errand_task.")) token.clear();
  return {globals.data_dir, globals.url, std::move(token), globals.token_file};
}

struct Context {
  Context(const Globals& given, const Programs& others)
      : globals(given), screen(given.screen), client(where_of(given)), programs(others) {}

  Globals globals;
  Screen screen;
  Client client;
  Programs programs;
};

}  // namespace errand::cli

// The environment of a command: a few harmless names of the server's own, what the launch names and sets, and errand's
// marks. Nothing else: a server that holds keys does not hand them on (R12.2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/task.h"

namespace errand::run {

// Passed on without being named.
bool passed_by_default(std::string_view name);
// KEY, TOKEN, SECRET, PASS and the like in the name: passed on only where somebody names it.
bool looks_secret(std::string_view name);
// `allowed` has names and, with a "*" at the end, beginnings of names. What looks secret must be named in full.
bool allowed_by(const std::vector<std::string>& allowed, std::string_view name);

struct Environment {
  std::vector<std::string> variables;  // "NAME=value", sorted by name.
  std::vector<std::string> missing;    // Named in pass_env, and not set where the server runs.
};

// Later ones win: `server` ("NAME=value", its own environment; of it what is passed by default and what is `allowed`),
// what the launch names, what it sets, `marks`.
Environment make_environment(const std::vector<std::string>& server, const std::vector<std::string>& allowed,
                             const Launch& launch, const StringMap& marks);

// Names that are empty or have '=' or NUL in them, values with NUL.
Status check_environment(const Launch& launch);

}  // namespace errand::run

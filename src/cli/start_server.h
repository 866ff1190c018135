// Starting a server in the background, for the verbs that need one.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/find_server.h"

namespace errand::cli {

// How the process of a server was started; nothing where that cannot be seen, or it is none.
ServeWords serve_words(int64_t pid);

// Starts `errand serve` for the data folder, with these words where there are some, detached from this terminal and its
// session, and returns what `find` answers once the server is ready. The data folder's own lock decides which server
// lives; `start.lock` beside it lets the CLIs take turns, so that of several that start at once only one starts a
// server and the others find it. Waits at most 10 s; the error has the last lines of DIR/server.log.
Result<Target> start_server(const std::string& data_dir, const ServeWords& words,
                            const std::function<Result<Target>()>& find);

}  // namespace errand::cli

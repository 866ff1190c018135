// One message to the server's /mcp, and the messages that come back: one as JSON, or several as a stream that goes on
// as long as it has to.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/client.h"

namespace errand::cli {

struct McpPost {
  std::string_view body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string
      work_dir;  // Where the client is; said to a server of this machine alone: elsewhere there are other folders.
  // Each message of a stream, as one line.
  std::function<void(std::string)> message;
};

// The reply; of a stream the body is empty and everything went to `message`. Errors: the server could not be reached
// (reason "not_sent": it has not seen the message), or the connection broke before the answer was there.
Result<Reply> post_mcp(const Where& where, Start start, const McpPost& post);

}  // namespace errand::cli

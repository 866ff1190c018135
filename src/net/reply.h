// A Response as bytes: the status line, the headers that every reply has, and the framing of the body.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "net/http.h"

namespace errand::net {

enum class Framing : uint8_t {
  length,   // Content-Length and the body.
  chunked,  // A stream.
  close,    // A stream for HTTP/1.0: it ends with the connection.
};

struct ReplyShape {
  Framing framing = Framing::length;
  bool keep_alive = true;
  bool http10 = false;
  Time wall;  // For the Date header.
};

// Everything up to and with the empty line; `more` are headers besides the response's own. Characters that would end a
// header line are replaced: a file's name in a header cannot add another header.
std::string reply_head(const Response& response, const std::vector<std::pair<std::string, std::string>>& more,
                       const ReplyShape& shape);

// 1xx, 204 and 304 have no body by definition.
bool has_body(int status);

}  // namespace errand::net

// Reads one HTTP/1.1 reply from bytes that come in pieces. Pure: no sockets. It is strict where leniency would make two
// readers disagree, since what it reads may come from a server that is not ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace errand::cli {

class HttpReader {
 public:
  // Takes a piece. Body bytes are appended to `body()`; take them from there as they come (a stream) or at the end.
  // Fails where it is no HTTP/1.1 reply; the reader is of no use afterwards.
  Status feed(std::string_view piece);
  // The peer has closed. Fails where the reply is not whole (a body without a length ends so, and is).
  Status eof();

  bool head_done() const { return state_ >= State::body_length; }
  bool done() const { return state_ == State::done; }
  // True where the connection can be used for another request.
  bool keep_alive() const { return keep_alive_ && done(); }
  int status() const { return status_; }
  // The first of that name (lower case); empty where there is none.
  std::string_view header(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& headers() const { return headers_; }
  std::string& body() { return body_; }

 private:
  enum class State : uint8_t {
    status_line,
    headers,
    body_length,
    body_until_close,
    chunk_size,
    chunk_data,
    chunk_end,
    trailers,
    done
  };
  Status line(std::string_view text);
  Status end_of_head();

  State state_ = State::status_line;
  std::string line_;
  size_t head_bytes_ = 0;
  int status_ = 0;
  bool keep_alive_ = true;
  std::vector<std::pair<std::string, std::string>> headers_;
  uint64_t left_ = 0;  // Of the body or the chunk.
  std::string body_;
};

}  // namespace errand::cli

// Bytes in, a Request out. Beast's parser splits the message and undoes chunking. This class refuses what Beast
// accepts: folded lines, two lengths, a length beside a transfer coding, any coding but chunked, repeated single
// headers. All of these are ways to make two programs see different requests in the same bytes, so all end in 400 and a
// closed connection.
//
// No I/O: the connection feeds it, and so do the tests and the fuzzer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"

namespace errand::net {

class RequestParser {
 public:
  struct Limits {
    uint32_t header_bytes = 32u << 10;
    uint32_t headers = 100;
    uint64_t body_bytes = 8u << 20;  // For chunked bodies; a Content-Length is the caller's to judge, before the body.
  };
  enum class State : uint8_t {
    head,       // The head is not whole.
    head_done,  // It is, and a body follows: put() again to read on. Seen exactly once.
    body,
    done,
    failed,  // `status` and `problem` say why. The connection cannot be used any more: nobody knows where the next
             // request begins.
  };

  explicit RequestParser(Limits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Takes from `bytes` what it can and returns how many that were; the rest must be offered again with more behind it.
  // Stops at the end of the head and at the end of the message. `bytes` must not be empty; not to be called when done.
  size_t put(std::string_view bytes);
  State state() const { return state_; }

  Request request;  // Its head from head_done on, its body when done.

  // From head_done on.
  bool keep_alive = false;
  bool http10 = false;
  bool expects_continue = false;
  uint64_t content_length = 0;  // 0: no body; unknown_length: chunked.

  // When failed.
  int status = 400;
  std::string problem;

 private:
  class Beast;
  State state_ = State::head;
  std::unique_ptr<Beast> beast_;
};

}  // namespace errand::net

// Any bytes as requests on one connection, through the server's own parser: whole and in pieces they are the same
// requests. (What is refused when it comes whole may in pieces still wait for its end; no request comes of it either
// way.) The first byte chooses the size of the pieces.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "net/request_parser.h"

namespace {

using errand::net::Request;
using errand::net::RequestParser;

std::vector<Request> read(std::string_view bytes, size_t step) {
  std::vector<Request> requests;
  std::string waiting;
  auto parser =
      std::make_unique<RequestParser>(RequestParser::Limits{.header_bytes = 2048, .headers = 20, .body_bytes = 1024});
  for (;;) {
    bool moved = false;
    if (!waiting.empty()) {
      const auto before = parser->state();
      const size_t used = parser->put(waiting);
      waiting.erase(0, used);
      moved = used > 0 || parser->state() != before;
    }
    if (parser->state() == RequestParser::State::failed) {
      if (parser->status < 400 || parser->status > 499 || parser->problem.empty()) std::abort();
      return requests;
    }
    if (parser->state() == RequestParser::State::done) {
      if (parser->request.body.size() > 4096) std::abort();
      requests.push_back(std::move(parser->request));
      parser = std::make_unique<RequestParser>(
          RequestParser::Limits{.header_bytes = 2048, .headers = 20, .body_bytes = 1024});
      continue;
    }
    // A declared length is the connection's to refuse, as it does here.
    if (parser->state() == RequestParser::State::head_done && parser->content_length != errand::net::unknown_length &&
        parser->content_length > 1024)
      return requests;
    if (moved) continue;
    if (bytes.empty()) return requests;
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<Request> whole = read(bytes, bytes.size()), pieces = read(bytes, 1 + data[0] % 32);
  if (whole.size() != pieces.size()) std::abort();
  for (size_t i = 0; i < whole.size(); ++i) {
    const Request &a = whole[i], &b = pieces[i];
    if (a.method != b.method || a.path != b.path || a.query != b.query || a.headers != b.headers || a.body != b.body)
      std::abort();
  }
  return 0;
}

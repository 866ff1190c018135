#include "net/request_parser.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

// Feeds `bytes` in pieces of `step`, as a connection would; returns what was not used.
std::string feed(RequestParser& parser, std::string_view bytes, size_t step) {
  std::string waiting;
  while (parser.state() != RequestParser::State::done && parser.state() != RequestParser::State::failed) {
    if (!waiting.empty()) {
      const auto before = parser.state();
      const size_t used = parser.put(waiting);
      waiting.erase(0, used);
      if (used > 0 || parser.state() != before) continue;
    }
    if (bytes.empty()) break;
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  return waiting + std::string(bytes);
}

TEST(RequestParser, GivesTheSameRequestHoweverTheBytesArrive) {
  const std::string_view bytes =
      "POST /a%20b?x=1 HTTP/1.1\r\nHost: localhost:1\r\nX-Two:  padded \t\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\nwiki\r\n6;x=y\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nTrailer: ignored\r\n\r\nNEXT";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    RequestParser parser({});
    EXPECT_EQ(feed(parser, bytes, step).substr(0, 4), "NEXT") << step;
    ASSERT_EQ(parser.state(), RequestParser::State::done) << step << parser.problem;
    EXPECT_EQ(parser.request.method, Method::post);
    EXPECT_EQ(parser.request.path, "/a b");
    EXPECT_EQ(parser.request.param("x"), "1");
    EXPECT_EQ(parser.request.header("x-two"), "padded");
    EXPECT_EQ(parser.request.body, "wikipedia in \r\n\r\nchunks.");
    EXPECT_EQ(parser.request.count_header("trailer"), 0u);
    EXPECT_EQ(parser.content_length, unknown_length);
    EXPECT_TRUE(parser.keep_alive);
  }
}

TEST(RequestParser, StopsAtTheHeadOnce) {
  RequestParser parser({});
  const std::string_view bytes = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  const size_t used = parser.put(bytes);
  EXPECT_EQ(bytes.substr(used), "abc");
  EXPECT_EQ(parser.state(), RequestParser::State::head_done);
  EXPECT_EQ(parser.content_length, 3u);
  EXPECT_EQ(parser.put("ab"), 2u);
  EXPECT_EQ(parser.state(), RequestParser::State::body);
  EXPECT_EQ(parser.put("cd"), 1u);
  EXPECT_EQ(parser.state(), RequestParser::State::done);
  EXPECT_EQ(parser.request.body, "abc");
}

TEST(RequestParser, AChunkedBodyMayBeginWithItsLastChunkInPieces) {  // Ended the process by an assertion of Beast's.
  const std::string_view bytes = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    RequestParser parser({});
    EXPECT_EQ(feed(parser, bytes, step), "");
    EXPECT_EQ(parser.state(), RequestParser::State::done) << step;
    EXPECT_EQ(parser.request.body, "");
  }
}

TEST(RequestParser, HeadsAreCountedAsAWhole) {
  const std::string line = "X-A: " + std::string(93, 'a') + "\r\n";  // 100 bytes.
  std::string head = "GET / HTTP/1.1\r\nHost: x\r\n";
  while (head.size() + line.size() <= 998) head += line;
  head += "\r\n";
  for (const size_t step : {size_t{1}, size_t{50}, head.size()}) {
    RequestParser fits({.header_bytes = static_cast<uint32_t>(head.size())});
    feed(fits, head, step);
    EXPECT_EQ(fits.state(), RequestParser::State::done) << step << fits.problem;
    RequestParser over({.header_bytes = static_cast<uint32_t>(head.size() - 1)});
    feed(over, head, step);
    EXPECT_EQ(over.state(), RequestParser::State::failed) << step;
    EXPECT_EQ(over.status, 431) << step;
  }
}

}  // namespace
}  // namespace errand::net

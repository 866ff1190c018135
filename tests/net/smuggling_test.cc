// Bytes that two programs could read as different requests, and bytes that are no request: each is answered 400 (or
// refused by its own status) and the connection is closed, so that what follows is never taken for a request (T10).
#include <gtest/gtest.h>

#include "tests/net/running_server.h"

namespace errand::net {
namespace {

struct Case {
  const char* name;
  std::string bytes;
  int status = 400;
};

// Stands behind every case: if it is answered, the server lost its place.
constexpr std::string_view smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(std::string headers, std::string body = {}) {
  return "POST /a HTTP/1.1\r\nHost: x\r\n" + std::move(headers) + "\r\n" + std::move(body);
}
std::string chunked(std::string body) { return post("Transfer-Encoding: chunked\r\n", std::move(body)); }
std::string target(std::string text) { return "GET " + std::move(text) + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"length beside chunked", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"chunked beside length", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n")},
      {"two lengths", post("Content-Length: 4\r\nContent-Length: 5\r\n", "abcde")},
      {"two equal lengths", post("Content-Length: 4\r\nContent-Length: 4\r\n", "abcd")},
      {"list of lengths", post("Content-Length: 4, 4\r\n", "abcd")},
      {"list of different lengths", post("Content-Length: 4, 5\r\n", "abcd")},
      {"length with a sign", post("Content-Length: +4\r\n", "abcd")},
      {"negative length", post("Content-Length: -4\r\n", "abcd")},
      {"hexadecimal length", post("Content-Length: 0x4\r\n", "abcd")},
      {"length with a fraction", post("Content-Length: 4.0\r\n", "abcd")},
      {"length with a blank inside", post("Content-Length: 1 0\r\n", "abcd")},
      {"empty length", post("Content-Length:\r\n")},
      {"length over 64 bits", post("Content-Length: 18446744073709551616\r\n")},
      {"blank before the colon of the length", post("Content-Length : 4\r\n", "abcd")},
      {"tab before the colon", post("Content-Length\t: 4\r\n", "abcd")},
      {"blank before a header", post(" Content-Length: 4\r\n", "abcd")},
      {"folded header", post("X-A: 1\r\n folded\r\n")},
      {"folded with a tab", post("X-A: 1\r\n\tfolded\r\n")},
      {"folded length", post("Content-Length:\r\n 4\r\n", "abcd")},
      {"folded into nothing", post("X-A: 1\r\n \r\n")},
      {"folded transfer coding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")},
      {"NUL in a value", post(std::string("X-A: a\0b\r\n", 10))},
      {"NUL in a name", post(std::string("X-\0A: b\r\n", 9))},
      {"control character in a value", post("X-A: a\x01z\r\n")},
      {"DEL in a value", post("X-A: a\x7fz\r\n")},
      {"bare carriage return in a value", post("X-A: a\rb\r\n")},
      {"bare line feed in a value", post("X-A: a\nContent-Length: 4\r\n")},
      {"lines that end with a line feed only", "GET /a HTTP/1.1\nHost: x\n\n"},
      {"header without a colon", post("X-A\r\n")},
      {"empty header name", post(": value\r\n")},
      {"bracket in a name", post("X-(A): v\r\n")},
      {"byte over 127 in a name", post("X-\xc3\xa4: v\r\n")},
      {"unknown coding", post("Transfer-Encoding: gzip\r\n")},
      {"coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
      {"coding after chunked", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")},
      {"identity", post("Transfer-Encoding: identity\r\nContent-Length: 4\r\n", "abcd")},
      {"identity alone", post("Transfer-Encoding: identity\r\n")},
      {"chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
      {"two transfer codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"second coding hidden", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n")},
      {"misspelt chunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
      {"quoted chunked", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n")},
      {"chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")},
      {"vertical tab before chunked", post("Transfer-Encoding: \x0b"
                                           "chunked\r\n",
                                           "0\r\n\r\n")},
      {"empty transfer coding", post("Transfer-Encoding:\r\n")},
      {"chunked for HTTP/1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"chunk size with 0x", chunked("0x4\r\nabcd\r\n0\r\n\r\n")},
      {"negative chunk size", chunked("-4\r\nabcd\r\n0\r\n\r\n")},
      {"chunk size with a sign", chunked("+4\r\nabcd\r\n0\r\n\r\n")},
      {"blank before the chunk size", chunked(" 4\r\nabcd\r\n0\r\n\r\n")},
      {"blank after the chunk size", chunked("4 \r\nabcd\r\n0\r\n\r\n")},
      {"chunk size over 64 bits", chunked("10000000000000004\r\nabcd\r\n0\r\n\r\n")},
      {"no chunk size", chunked("\r\nabcd\r\n0\r\n\r\n")},
      {"chunk size that is no number", chunked("xyz\r\nabcd\r\n0\r\n\r\n")},
      {"chunk longer than said", chunked("3\r\nabcd\r\n0\r\n\r\n")},
      {"chunk without its end", chunked("4\r\nabcd0\r\n\r\n")},
      {"chunk line that ends with a line feed", chunked("4\nabcd\r\n0\r\n\r\n")},
      {"chunk end that is a line feed", chunked("4\r\nabcd\n0\r\n\r\n")},
      {"bare carriage return in a chunk line", chunked("4;a=\rb\r\nabcd\r\n0\r\n\r\n")},
      {"chunk extension that is none", chunked("4 abc\r\nabcd\r\n0\r\n\r\n")},
      {"last chunk with junk", chunked("0x\r\n\r\n")},
      {"length in a trailer", chunked("0\r\nContent-Length: 4\r\n\r\n")},
      {"coding in a trailer", chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n")},
      {"no host", "GET /a HTTP/1.1\r\n\r\n"},
      {"two hosts", "GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"},
      {"two equal hosts", "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"},
      {"another host in the target", "GET http://evil/a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"user in the target", "GET http://user@x/a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"target of another scheme", "GET ftp://x/a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"two authorizations", post("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n")},
      {"two content types", post("Content-Type: text/plain\r\nContent-Type: application/json\r\n")},
      {"two origins", post("Origin: http://x\r\nOrigin: http://evil\r\n")},
      {"two empty lines first", "\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"no version", "GET /a\r\nHost: x\r\n\r\n"},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {"version 1.2", "GET /a HTTP/1.2\r\nHost: x\r\n\r\n"},
      {"version 0.9", "GET /a HTTP/0.9\r\nHost: x\r\n\r\n"},
      {"small letters in the version", "GET /a http/1.1\r\nHost: x\r\n\r\n"},
      {"two blanks in the request line", "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"blank at the end of the request line", "GET /a HTTP/1.1 \r\nHost: x\r\n\r\n"},
      {"tab in the request line", "GET\t/a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"method with a bracket", "GE(T /a HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"TLS in the clear", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + std::string(20, '\x11')},
      {"authority form", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"asterisk form", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"target without a slash", target("a")},
      {"dot segment", target("/a/../b")},
      {"encoded dot segment", target("/a/%2e%2e/b")},
      {"half encoded dot segment", target("/a/.%2E/b")},
      {"single dot", target("/a/./b")},
      {"dots at the end", target("/a/..")},
      {"double slash", target("/a//b")},
      {"double slash at the beginning", target("//evil.example/a")},
      {"encoded slash", target("/a%2fb")},
      {"backslash", target("/a\\..\\b")},
      {"encoded backslash", target("/a%5cb")},
      {"NUL in the path", target("/a%00b")},
      {"line feed in the path", target("/a%0ab")},
      {"invalid UTF-8 in the path", target("/a%ff")},
      {"overlong slash", target("/a%c0%afb")},
      {"surrogate", target("/a%ed%a0%80")},
      {"raw byte over 127", target("/a\xc3\xa4")},
      {"broken escape", target("/a%2")},
      {"escape that is none", target("/a%zz")},
      {"fragment", target("/a#b")},
      {"NUL in the query", target("/a?b=%00")},
      {"invalid UTF-8 in the query", target("/a?b=%ff")},
      {"broken escape in the query", target("/a?b=%")},
      {"expectation that is unknown", post("Expect: x\r\nContent-Length: 3\r\n", "abc"), 417},
  };
  return all;
}

TEST(Smuggling, NothingAmbiguousIsServedAndWhatFollowsIsNotARequest) {
  std::vector<std::string> served;
  RunningServer running({}, {}, [&](ExchangePtr exchange) {
    served.push_back(exchange->request.path);
    echo(std::move(exchange));
  });
  for (const Case& each : cases()) {
    for (const bool in_pieces : {false, true}) {
      RawClient client = running.connect();
      const std::string bytes = each.bytes + std::string(smuggled);
      if (in_pieces) {
        for (const char c : bytes)
          if (!client.send({&c, 1})) break;
      } else {
        client.send(bytes);
      }
      client.half_close();
      const auto reply = client.reply();
      if (!reply) {
        ADD_FAILURE() << each.name << ": no reply";
        continue;
      }
      EXPECT_EQ(reply->status, each.status) << each.name << ": " << reply->body;
      EXPECT_EQ(reply->header("connection"), "close") << each.name;
      EXPECT_EQ(reply->header("content-type"), "application/problem+json") << each.name;
      EXPECT_EQ(client.rest(), "") << each.name << ": something was answered after it";
    }
  }
  running.on_loop([&] { EXPECT_EQ(served, std::vector<std::string>{}) << "one of the cases reached the handler"; });
}

TEST(Smuggling, WhatIsPlainIsServed) {
  RunningServer running({}, {}, echo);
  const Case plain[] = {
      {"plain", target("/a"), 200},
      {"encoded letters", target("/%61%C3%A4"), 200},
      {"three dots", target("/a.../b"), 200},
      {"slash at the end", target("/a/"), 200},
      {"absolute form with the same host", "GET http://X/a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", 200},
      {"absolute form without a path", "GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", 200},
      {"blanks around a value", post("Content-Length: \t 4 \r\n", "abcd"), 200},
      {"chunked in capitals", post("transfer-encoding: CHUNKED\r\n", "4\r\nabcd\r\n0\r\n\r\n"), 200},
      {"chunk size with zeros and capitals", chunked("000A\r\n0123456789\r\n0\r\n\r\n"), 200},
      {"empty line first", "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", 200},
      {"empty value", post("X-A:\r\nX-B: \r\nContent-Length: 0\r\n"), 200},
      {"bytes over 127 in a value", post("X-A: \xc3\xa4\r\nContent-Length: 0\r\n"), 200},
  };
  for (const Case& each : plain) {
    RawClient client = running.connect();
    client.send(each.bytes);
    const auto reply = client.reply();
    ASSERT_TRUE(reply) << each.name;
    EXPECT_EQ(reply->status, each.status) << each.name << ": " << reply->body;
    client.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto next = client.reply();
    ASSERT_TRUE(next) << each.name;
    EXPECT_EQ(next->body, "GET /next ") << each.name;
  }
}

}  // namespace
}  // namespace errand::net

#include "cli/http_reader.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

TEST(HttpReader, ReadsABodyWithALength) {
  HttpReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
  EXPECT_TRUE(reader.done());
  EXPECT_TRUE(reader.keep_alive());
  EXPECT_EQ(reader.status(), 201);
  EXPECT_EQ(reader.header("content-type"), "application/json");
  EXPECT_EQ(reader.body(), "{}");
}

TEST(HttpReader, ReadsChunksInAnyPieces) {
  std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n "
      "\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    HttpReader reader;
    ASSERT_TRUE(reader.feed(text.substr(0, cut))) << cut;
    ASSERT_TRUE(reader.feed(text.substr(cut))) << cut;
    EXPECT_TRUE(reader.done());
    EXPECT_EQ(reader.body(), "hello 0123456789");
  }
}

TEST(HttpReader, SkipsInterimRepliesAndHasNoBodyFor204) {
  HttpReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"));
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.status(), 204);
}

TEST(HttpReader, ABodyWithoutLengthEndsWithTheConnection) {
  HttpReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 200 OK\r\n\r\nabc"));
  EXPECT_FALSE(reader.done());
  ASSERT_TRUE(reader.eof());
  EXPECT_TRUE(reader.done());
  EXPECT_FALSE(reader.keep_alive());
}

TEST(HttpReader, ACutReplyIsNoReply) {
  for (const char* text : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"}) {
    HttpReader reader;
    ASSERT_TRUE(reader.feed(text));
    EXPECT_FALSE(reader.eof()) << text;
  }
}

TEST(HttpReader, RefusesWhatIsNoReply) {
  for (const char* text :
       {"SSH-2.0-OpenSSH\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n"}) {
    HttpReader reader;
    EXPECT_FALSE(reader.feed(text)) << text;
  }
}

TEST(HttpReader, RefusesAnEndlessHead) {
  HttpReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 200 OK\r\n"));
  Status fed;
  for (int i = 0; i < 100 && fed; ++i) fed = reader.feed("X: " + std::string(1'000, 'x') + "\r\n");
  EXPECT_FALSE(fed);
}

}  // namespace
}  // namespace errand::cli

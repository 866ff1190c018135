// The HTTP/1.1 server against raw sockets: requests, replies, keep-alive, limits.
#include "net/server.h"

#include <atomic>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/test_folder.h"
#include "net/problem.h"
#include "tests/net/running_server.h"

namespace errand::net {
namespace {

constexpr std::string_view get_a = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(Server, AnswersAGet) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  ASSERT_TRUE(client.send(get_a));
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "GET /a ");
  EXPECT_EQ(reply->header("x-content-type-options"), "nosniff");
  EXPECT_EQ(reply->header("referrer-policy"), "no-referrer");
  EXPECT_EQ(reply->header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
  EXPECT_EQ(reply->header("cache-control"), "no-store");
  EXPECT_FALSE(reply->has("access-control-allow-origin"));
}

TEST(Server, AReplyMaySetItsOwnPolicyAndCaching) {
  RunningServer running({}, {}, [](ExchangePtr exchange) {
    exchange->reply({.status = 200,
                     .content_type = "text/html",
                     .body = "x",
                     .headers = {{"content-security-policy", "script-src 'self'"}, {"Cache-Control", "max-age=60"}}});
  });
  RawClient client = running.connect();
  client.send(get_a);
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->header("content-security-policy"), "script-src 'self'");
  EXPECT_EQ(reply->header("cache-control"), "max-age=60");
}

TEST(Server, KeepsTheConnectionForFurtherRequests) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.send("POST /n HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"));
    const auto reply = client.reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "POST /n hi");
  }
  EXPECT_EQ(running.stats().connections, 1);
  EXPECT_EQ(running.stats().requests, 20);
}

TEST(Server, AnswersPipelinedRequestsInOrderAlsoWhenTheFirstTakesLonger) {
  std::vector<ExchangePtr> held;
  RunningServer running({}, {}, [&](ExchangePtr exchange) {
    if (exchange->request.path == "/slow")
      held.push_back(std::move(exchange));
    else
      echo(std::move(exchange));
  });
  RawClient client = running.connect();
  client.send(
      "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\nPOST /3 HTTP/1.1\r\nHost: "
      "x\r\nContent-Length: 1\r\n\r\nzGET /4 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.reply()->body, "GET /1 ");
  ASSERT_TRUE(running.eventually([&] { return held.size() == 1; }));
  running.on_loop([&] {
    echo(held.front());
    held.clear();
  });
  EXPECT_EQ(client.reply()->body, "GET /slow ");
  EXPECT_EQ(client.reply()->body, "POST /3 z");
  EXPECT_EQ(client.reply()->body, "GET /4 ");
}

TEST(Server, ManyPipelinedRequestsSplitAnywhereAreAllAnswered) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  std::string all;
  for (int i = 0; i < 200; ++i) all += "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t at = 0; at < all.size(); at += 7) ASSERT_TRUE(client.send(std::string_view(all).substr(at, 7)));
  for (int i = 0; i < 200; ++i) {
    const auto reply = client.reply();
    ASSERT_TRUE(reply) << i;
    EXPECT_EQ(reply->body, "POST /p abc");
  }
}

TEST(Server, RequestsBeforeAHalfCloseAreAnswered) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  client.half_close();
  EXPECT_EQ(client.reply()->body, "GET /1 ");
  EXPECT_EQ(client.reply()->body, "GET /2 ");
  EXPECT_TRUE(client.closed());
}

TEST(Server, HeadHasTheLengthAndNoBody) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto head = client.reply(true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->header("content-length"), "8");
  EXPECT_EQ(client.reply()->body, "GET /b ");
}

TEST(Server, OldClientsGetTheirReplyAndTheEnd) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("GET /a HTTP/1.0\r\n\r\n");
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "GET /a ");
  EXPECT_EQ(reply->header("connection"), "close");
  EXPECT_TRUE(client.closed());
}

TEST(Server, OldClientsMayAskToStay) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(client.reply()->header("connection"), "keep-alive");
  client.send(get_a);
  EXPECT_EQ(client.reply()->status, 200);
}

TEST(Server, ConnectionCloseIsHonoured) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.reply()->header("connection"), "close");
  EXPECT_TRUE(client.closed());
}

TEST(Server, ExpectationOf100IsMetBeforeTheBody) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(client.until("HTTP/1.1 100 Continue\r\n\r\n"));
  client.send("hello");
  EXPECT_EQ(client.reply()->body, "POST /a hello");
}

TEST(Server, AnUnknownExpectationIs417) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: magic\r\n\r\n");
  EXPECT_EQ(client.reply()->status, 417);
  EXPECT_TRUE(client.closed());
}

TEST(Server, ChunkedBodiesArePutTogether) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  client.send(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;ext=\"v\"\r\n "
      "\r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(client.reply()->body, "POST /c hello world");
  client.send(get_a);
  EXPECT_EQ(client.reply()->status, 200);
}

TEST(Server, AChunkedBodyByteByByte) {
  RunningServer running({}, {}, echo);
  RawClient client = running.connect();
  for (const char c :
       std::string("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
    ASSERT_TRUE(client.send(std::string(1, c)));
  EXPECT_EQ(client.reply()->body, "POST /c abc");
}

TEST(Server, OptionsIs405AndNamesTheMethods) {
  RunningServer running({}, {}, echo);
  for (const char* method : {"OPTIONS", "TRACE", "PROPFIND", "get"}) {
    RawClient client = running.connect();
    client.send(std::string(method) + " /a HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto reply = client.reply();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 405) << method;
    EXPECT_EQ(reply->header("allow"), "GET, HEAD, POST, PUT, PATCH, DELETE");
    EXPECT_FALSE(reply->has("access-control-allow-methods"));
  }
}

TEST(Server, ARefusedHeadIsAnsweredBeforeItsBodyIsRead) {
  RunningServer running({}, [](Request&, uint64_t) { return std::optional(problem(401, "unauthorized", "no")); }, echo);
  RawClient client = running.connect();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 401);
  EXPECT_EQ(reply->header("content-type"), "application/problem+json");
  EXPECT_TRUE(client.closed());
}

TEST(Server, ARefusedHeadWithoutABodyKeepsTheConnection) {
  RunningServer running(
      {},
      [](Request& head, uint64_t) {
        return head.path == "/no" ? std::optional(problem(401, "unauthorized", "no")) : std::nullopt;
      },
      echo);
  RawClient client = running.connect();
  client.send("GET /no HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.reply()->status, 401);
  EXPECT_EQ(client.reply()->status, 200);
}

TEST(Server, TheCheckSeesTheLengthAndMayAddHeadersToTheReply) {
  std::atomic<uint64_t> seen = 0;
  RunningServer running(
      {},
      [&](Request& head, uint64_t length) -> std::optional<Response> {
        seen = length;
        head.reply_headers.emplace_back("Set-Cookie", "a=b");
        return std::nullopt;
      },
      echo);
  RawClient client = running.connect();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd");
  EXPECT_EQ(client.reply()->header("set-cookie"), "a=b");
  EXPECT_EQ(seen, 4u);
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(client.reply()->status, 200);
  EXPECT_EQ(seen, unknown_length);
}

TEST(Server, HeadersOfAReplyCannotBeSplit) {
  RunningServer running({}, {}, [](ExchangePtr exchange) {
    exchange->reply(
        {.status = 200, .content_type = "a\r\nX-Evil: 1", .body = "", .headers = {{"X-Name", "a\nX-Evil: 2"}}});
  });
  RawClient client = running.connect();
  client.send(get_a);
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->has("x-evil"));
}

TEST(Server, AnExchangeThatIsDroppedIsAnswered500) {
  RunningServer running({}, {}, [](ExchangePtr) {});
  RawClient client = running.connect();
  client.send(get_a);
  EXPECT_EQ(client.reply()->status, 500);
}

TEST(Server, TellsTheHandlerWhenThePeerLeaves) {
  for (const bool by_reset : {false, true}) {
    std::vector<ExchangePtr> held;
    std::atomic<int> gone = 0;  // Written on the loop, read here too.
    RunningServer running({}, {}, [&](ExchangePtr exchange) {
      exchange->on_gone([&] { ++gone; });
      held.push_back(std::move(exchange));
    });
    {
      RawClient client = running.connect();
      client.send(get_a);
      ASSERT_TRUE(running.eventually([&] { return held.size() == 1; }));
      EXPECT_EQ(gone, 0);
      if (by_reset) client.reset();
    }
    EXPECT_TRUE(running.eventually([&] { return gone == 1; }));
    running.on_loop([&] {
      held.front()->reply({.status = 200, .body = "late"});
      held.clear();
    });
    EXPECT_TRUE(running.eventually([&] { return running.server().stats().connections == 0; }));
  }
}

TEST(Server, ALargeReplyToASlowReaderComesWhole) {
  std::string large(5 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i % 26);
  RunningServer running({}, {}, [&](ExchangePtr exchange) { exchange->reply({.status = 200, .body = large}); });
  RawClient client = running.connect();
  client.send(get_a);
  client.send(get_a);
  EXPECT_EQ(client.reply()->body, large);
  EXPECT_EQ(client.reply()->body, large);
}

TEST(Server, ServesTheOwnerOverAUnixSocketOfMode600) {
  const TestFolder folder;
  const std::string path = folder / "errand.sock";
  std::atomic<bool> over_unix = false;
  RunningServer running(
      {},
      [&](Request& head, uint64_t) -> std::optional<Response> {
        over_unix = head.over_unix;
        return std::nullopt;
      },
      echo);
  for (int i = 0; i < 2; ++i) {  // The second time the file is there already.
    running.on_loop([&] { ASSERT_TRUE(running.server().listen_unix(path)); });
    struct stat file{};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    RawClient client = RawClient::unix_socket(path);
    client.send("GET /a HTTP/1.1\r\nHost: errand\r\n\r\n");
    ASSERT_EQ(client.reply()->status, 200);
    EXPECT_TRUE(over_unix);
  }
}

TEST(Server, RefusesToListenInTheClearBeyondLoopback) {
  const auto loop = Loop::make();
  const auto server = make_server(*loop, {}, {}, echo);
  for (const char* address : {"0.0.0.0", "::", "192.168.1.5"}) {
    const Result<int> port = server->listen(address, 0);
    ASSERT_FALSE(port) << address;
    EXPECT_EQ(port.error().code, Code::forbidden);
  }
  EXPECT_FALSE(server->listen("nonsense", 0));
  EXPECT_FALSE(server->listen("127.0.0.1", 70000));
  EXPECT_TRUE(server->listen("localhost", 0));
  EXPECT_TRUE(server->listen("0.0.0.0", 0, Exposure::behind_proxy));
}

TEST(Server, StopAnswersWhatIsUnderWayAndThenIsDone) {
  std::vector<ExchangePtr> held;
  RunningServer running({}, {}, [&](ExchangePtr exchange) { held.push_back(std::move(exchange)); });
  RawClient busy = running.connect(), idle = running.connect();
  busy.send(get_a);
  ASSERT_TRUE(running.eventually([&] { return held.size() == 1 && running.server().stats().connections == 2; }));
  bool done = false;
  running.on_loop([&] { running.server().stop("", [&] { done = true; }); });
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(running.connect().connected());
  running.on_loop([&] {
    EXPECT_FALSE(done);
    held.front()->reply({.status = 200, .body = "ok"});
    held.clear();
  });
  EXPECT_EQ(busy.reply()->body, "ok");
  EXPECT_TRUE(busy.closed());
  busy = RawClient(-1);
  EXPECT_TRUE(running.eventually([&] { return done; }));
}

}  // namespace
}  // namespace errand::net

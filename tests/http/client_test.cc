// The outbound client against a real server on a real socket.
#include "tests/http/client_test.h"

#include <algorithm>
#include <atomic>
#include <dirent.h>
#include <future>
#include <unistd.h>

#include <fmt/format.h>

namespace errand::http {
namespace {

int entries(const char* folder) {
  int count = 0;
  DIR* dir = ::opendir(folder);
  while (::readdir(dir)) ++count;
  ::closedir(dir);
  return count;
}

TEST_F(HttpClient, SendsWhatItWasGivenAndHearsTheAnswer) {
  TestServer server(echo);
  Caught caught;
  get({.method = "POST",
       .url = server.url("/v1/x?y=1"),
       .headers = {{"X-Api-Key", "k"}, {"X-Empty", ""}},
       .body = "hello"},
      caught);
  ASSERT_TRUE(*caught.end) << caught.message();
  EXPECT_EQ(caught.got.status, 200);
  EXPECT_EQ(caught.got.header("x-ONE"), "1");
  EXPECT_TRUE(caught.text.starts_with("POST /v1/x?y=1 HTTP/1.1\r\n")) << caught.text;
  EXPECT_TRUE(caught.text.contains("\r\nX-Api-Key: k\r\n"));
  EXPECT_TRUE(caught.text.contains("\r\nX-Empty:")) << caught.text;
  EXPECT_FALSE(caught.text.contains("Expect:"));
  EXPECT_FALSE(caught.text.contains("urlencoded"));
  EXPECT_TRUE(caught.text.ends_with("\r\n\r\nhello"));
}

TEST_F(HttpClient, KeepsAConnectionForTheNextCall) {
  TestServer server(echo);
  for (int i = 0; i < 5; ++i) {
    Caught caught;
    get(to(server.url()), caught);
    ASSERT_TRUE(*caught.end);
  }
  EXPECT_EQ(server.accepted(), 1);
}

TEST_F(HttpClient, AnErrorStatusIsAnAnswer) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 529 Overloaded\r\nContent-Length: 4\r\nRetry-After: 7\r\n\r\nbusy");
  });
  Caught caught;
  get(to(server.url()), caught);
  ASSERT_TRUE(*caught.end);
  EXPECT_EQ(caught.got.status, 529);
  EXPECT_EQ(caught.got.header("retry-after"), "7");
  EXPECT_EQ(caught.text, "busy");
}

TEST_F(HttpClient, AHeadOf100IsNotTheAnswer) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    peer.answer("real");
  });
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.got.status, 200);
  EXPECT_EQ(caught.got.header("link"), "");
  EXPECT_EQ(caught.text, "real");
}

TEST_F(HttpClient, ABodyComesWhileItIsSent) {
  std::promise<void> heard;
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    heard.get_future().wait();
    peer.write("6\r\nsecond\r\n0\r\n\r\n");
  });
  Caught caught;
  bool told = false;
  caught.on_body = [&](std::string_view) {
    if (caught.text == "first" && !std::exchange(told, true)) heard.set_value();
  };
  get(to(server.url()), caught);
  EXPECT_EQ(caught.text, "firstsecond");
}

TEST_F(HttpClient, NobodyThereIsAConnectError) {
  int port = 0;
  {
    port = TestServer([](Peer&) {}).port();
  }
  Caught caught;
  get(to(fmt::format("http://127.0.0.1:{}/", port)), caught);
  EXPECT_EQ(caught.reason(), "connect") << caught.message();
  EXPECT_TRUE(caught.message().contains("127.0.0.1")) << caught.message();
}

TEST_F(HttpClient, NoConnectionInTimeIsATimeout) {
  // TLS is part of connecting: this one never shakes hands.
  TestServer server([](Peer& peer) { peer.wait_until_gone(); });
  Caught caught;
  Request request = to(fmt::format("https://127.0.0.1:{}/", server.port()));
  request.connect_ms = 50;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "timeout");
  EXPECT_TRUE(caught.message().contains("No connection")) << caught.message();
}

TEST_F(HttpClient, NoHeadInTimeIsATimeout) {
  TestServer server([](Peer& peer) { peer.wait_until_gone(); });
  Caught caught;
  Request request = to(server.url());
  request.first_byte_ms = 50;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "timeout");
  EXPECT_EQ(caught.heads, 0);
  EXPECT_TRUE(caught.message().contains("did not answer for 50 ms")) << caught.message();
}

TEST_F(HttpClient, SilenceInsideABodyIsATimeout) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    peer.wait_until_gone();
  });
  Caught caught;
  Request request = to(server.url());
  request.silence_ms = 80;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "timeout");
  EXPECT_EQ(caught.text, "half");
  EXPECT_TRUE(caught.message().contains("sent nothing more")) << caught.message();
}

TEST_F(HttpClient, AnAnswerThatEndsEarlyIsCut) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  });
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.reason(), "cut") << caught.message();
  EXPECT_EQ(caught.text, "half");
}

TEST_F(HttpClient, NoAnswerAtAllIsCutToo) {
  TestServer server([](Peer& peer) { peer.request(); });
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.reason(), "cut") << caught.message();
}

TEST_F(HttpClient, NoHttpIsCutToo) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("SSH-2.0-OpenSSH\r\nnonsense\r\n\r\n");
  });
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_FALSE(*caught.end);
}

TEST_F(HttpClient, ADestroyedCallEndsTheRequestAndCallsNothing) {
  std::promise<void> gone;
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    peer.wait_until_gone();
    gone.set_value();
  });
  Caught caught;
  auto call = client->start(to(server.url()), caught);
  ASSERT_TRUE(loop.run_until([&] { return caught.text == "half"; }));
  call.reset();
  gone.get_future().wait();
  loop.run_posted();
  EXPECT_FALSE(caught.end);
}

TEST_F(HttpClient, AHandlerMayDestroyItsCall) {
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.answer("x");
  });
  Caught caught;
  std::unique_ptr<Call> call;
  bool called = false;
  caught.on_body = [&](std::string_view) {
    call.reset();
    called = true;
  };
  call = client->start(to(server.url()), caught);
  ASSERT_TRUE(loop.run_until([&] { return called; }));
  loop.run_posted();
  EXPECT_FALSE(caught.end);
}

TEST_F(HttpClient, AClientThatGoesEndsItsCalls) {
  std::promise<void> gone;
  TestServer server([&](Peer& peer) {
    peer.wait_until_gone();
    gone.set_value();
  });
  Caught caught;
  auto call = client->start(to(server.url()), caught);
  ASSERT_TRUE(loop.run_until([&] { return server.accepted() == 1; }));
  client.reset();
  gone.get_future().wait();
  call.reset();
  loop.run_posted();
  EXPECT_FALSE(caught.end);
}

TEST_F(HttpClient, ABigBodyComesWhole) {
  const std::string big(8 << 20, 'x');
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.answer(big);
  });
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_TRUE(*caught.end);
  EXPECT_EQ(caught.text.size(), big.size());
  EXPECT_EQ(caught.text, big);
}

TEST_F(HttpClient, ABigRequestGoesWhole) {
  TestServer server([&](Peer& peer) {
    const std::string got = peer.request();
    peer.answer(std::to_string(got.size() - got.find("\r\n\r\n") - 4));
  });
  Caught caught;
  get({.method = "POST", .url = server.url(), .body = std::string(5 << 20, 'y')}, caught);
  EXPECT_EQ(caught.text, std::to_string(5 << 20));
}

TEST_F(HttpClient, ABodyOverTheBoundIsRefused) {
  std::promise<void> gone;
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.write(std::string(4096, 'x'))) {
    }
    gone.set_value();
  });
  Caught caught;
  Request request = to(server.url());
  request.body_max = 100'000;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "too_large");
  EXPECT_LE(caught.text.size(), 100'000u);
  gone.get_future().wait();
}

// A loop that does not run must stop the server, not fill the memory; and the wait is not the server's silence.
TEST_F(HttpClient, ASlowHandlerPausesTheTransfer) {
  client = make_client(loop, {.in_flight_max = 64 << 10});
  std::atomic<int64_t> sent = 0;
  std::promise<void> stands;
  constexpr int64_t whole = 64 << 20;
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", whole));
    const std::string piece(1 << 12, 'x');  // Fits where there is room at all.
    bool told = false;
    while (sent < whole) {
      // Nothing moves for longer than the silence that ends a call.
      if (!told && !peer.room(1'100)) {
        told = true;
        stands.set_value();
      }
      if (!peer.write(piece)) break;
      sent += static_cast<int64_t>(piece.size());
    }
    if (!told) stands.set_value();
  });
  Caught caught;
  size_t largest = 0;
  caught.on_body = [&](std::string_view bytes) {
    largest = std::max(largest, bytes.size());
    caught.text.clear();
  };
  Request request = to(server.url());
  request.body_max = 1 << 30;
  request.silence_ms = 1'000;
  const auto call = client->start(std::move(request), caught);
  // The loop is not run meanwhile.
  ASSERT_EQ(stands.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_LT(sent, whole / 2) << "what the kernel's buffers take, and no more";
  EXPECT_LE(loop.waiting(), 1u);
  ASSERT_TRUE(loop.run_until([&] { return caught.end.has_value(); }));
  EXPECT_TRUE(*caught.end) << caught.message();
  EXPECT_EQ(sent, whole);
  EXPECT_LE(largest, size_t{64} << 10);
}

TEST_F(HttpClient, AHeldCallWaitsAtTheServerAndComesWholeWhenItGoesOn) {
  client = make_client(loop, {.in_flight_max = 64 << 10});
  constexpr int64_t whole = 64 << 20;
  std::atomic<bool> stands = false;
  TestServer server([&](Peer& peer) {
    peer.request();
    peer.write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", whole));
    const std::string piece(1 << 12, 'x');
    for (int64_t sent = 0; sent < whole; sent += static_cast<int64_t>(piece.size())) {
      if (!stands && !peer.room(300)) stands = true;
      if (!peer.write(piece)) return;
    }
  });
  Caught caught;
  std::unique_ptr<Call> call;
  bool held = false;
  caught.on_body = [&](std::string_view) {
    EXPECT_FALSE(held) << "it is called though it holds";
    if (!std::exchange(held, true)) call->hold();
  };
  call = client->start(to(server.url()), caught);
  ASSERT_TRUE(loop.run_until([&] { return stands.load(); })) << "the server never had to wait";
  EXPECT_TRUE(held);
  EXPECT_LE(caught.text.size(), 128u << 10);
  caught.on_body = {};
  call->go_on();
  ASSERT_TRUE(loop.run_until([&] { return caught.end.has_value(); }));
  EXPECT_TRUE(*caught.end) << caught.message();
  EXPECT_EQ(static_cast<int64_t>(caught.text.size()), whole);
}

TEST_F(HttpClient, AThousandCallsLeaveNothingBehind) {
  std::promise<void> gone;
  TestServer server([](Peer& peer) {
    for (std::string request; !(request = peer.request()).empty();)
      if (!peer.answer("ok")) return;
  });
  int threads = 0, descriptors = 0;
  for (int i = 0; i < 1000; ++i) {
    Caught caught;
    if (i % 3 == 2) {
      // Ended while it is under way.
      const auto call = client->start(to(server.url()), caught);
      if (i % 2) loop.run_posted();
    } else {
      get(to(server.url()), caught);
      ASSERT_TRUE(*caught.end) << i << caught.message();
    }
    if (i == 99) {
      threads = entries("/proc/self/task");
      descriptors = entries("/proc/self/fd");
    }
  }
  Caught last;
  get(to(server.url()), last);
  // The test server has a thread a connection of its own, and calls that were cut made new ones: count the difference.
  EXPECT_LE(entries("/proc/self/task"), threads + server.accepted());
  EXPECT_LE(entries("/proc/self/fd"), descriptors + server.accepted());
}

TEST_F(HttpClient, ManyCallsAtOnce) {
  std::atomic<int> waiting = 0;
  TestServer server([&](Peer& peer) {
    peer.request();
    ++waiting;
    while (waiting < 100) std::this_thread::yield();
    peer.answer("ok", "Connection: close\r\n");
  });
  std::vector<std::unique_ptr<Caught>> all;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_unique<Caught>());
    calls.push_back(client->start(to(server.url()), *all.back()));
  }
  ASSERT_TRUE(
      loop.run_until([&] { return std::ranges::all_of(all, [](const auto& one) { return one->end.has_value(); }); }));
  for (const auto& one : all) EXPECT_EQ(one->text, "ok") << one->message();
}

TEST(HttpLibrary, SaysItsVersion) {
  ASSERT_TRUE(library_version());
  EXPECT_TRUE(library_version()->starts_with("libcurl/")) << *library_version();
}

}  // namespace
}  // namespace errand::http

// Streams: written at once, whole and in order; slow readers cost a bounded amount and nobody else anything (T7,
// R10.3).
#include <chrono>
#include <malloc.h>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "net/sse.h"
#include "tests/net/running_server.h"
#include "tests/net/test_feed.h"

namespace errand::net {
namespace {

constexpr std::string_view get_stream = "GET /s HTTP/1.1\r\nHost: x\r\n\r\n";

// What the process has allocated. Resident memory would also count what earlier tests gave back to the allocator, or
// not count what is taken from there. Sanitizers' allocators say 0, and nothing is learnt.
int64_t allocated_bytes() {
  const auto info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

Handler stream_of(TestFeed& feed) {
  return [&feed](ExchangePtr exchange) {
    if (exchange->request.path == "/s")
      exchange->stream(sse_response(), feed.reader());
    else
      echo(std::move(exchange));
  };
}

TEST(Stream, SendsWhatIsPublishedAtOnceAndInOrder) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send(get_stream);
  ASSERT_TRUE(client.until("\r\n\r\n"));
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  running.on_loop([&] {
    feed.publish("one\n");
    feed.wake();
  });
  EXPECT_EQ(client.until("one\n\r\n"), "4\r\none\n\r\n");
  running.on_loop([&] {
    feed.publish("two\n");
    feed.publish("three\n");
    feed.wake();
  });
  EXPECT_EQ(client.until("three\n\r\n"), "a\r\ntwo\nthree\n\r\n") << "several frames are one chunk";
}

TEST(Stream, EndsWithTheLastChunkAndKeepsTheConnection) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send(get_stream);
  client.send("GET /after HTTP/1.1\r\nHost: x\r\n\r\n");  // Sent ahead, answered after the stream.
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  EXPECT_EQ(running.stats().streams, 1);
  running.on_loop([&] {
    feed.publish("last");
    feed.end();
    EXPECT_EQ(feed.readers(), 1u) << "not destroyed inside its own wake";
  });
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->chunked);
  EXPECT_EQ(reply->header("content-type"), "text/event-stream");
  EXPECT_EQ(reply->body, "last");
  EXPECT_EQ(client.reply()->body, "GET /after ");
  EXPECT_EQ(running.stats().streams, 0);
  running.on_loop([&] { EXPECT_EQ(feed.readers(), 0u); });
}

TEST(Stream, OldClientsGetItWithoutChunksUpToTheEnd) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send("GET /s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  running.on_loop([&] {
    feed.publish("one two");
    feed.end();
  });
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->chunked);
  EXPECT_EQ(reply->body, "one two");
}

TEST(Stream, AHeadRequestGetsNoStream) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send("HEAD /s HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto head = client.reply(true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->header("content-type"), "text/event-stream");
  EXPECT_TRUE(head->chunked);
  EXPECT_EQ(client.reply()->body, "GET /b ");
  running.on_loop([&] { EXPECT_EQ(feed.readers(), 0u); });
}

TEST(Stream, IsLetGoWhenThePeerLeaves) {
  for (const bool by_reset : {false, true}) {
    TestFeed feed;
    RunningServer running({}, {}, stream_of(feed));
    {
      RawClient client = running.connect();
      client.send(get_stream);
      ASSERT_TRUE(client.until("\r\n\r\n"));
      if (by_reset) client.reset();
    }
    EXPECT_TRUE(running.eventually([&] { return feed.readers() == 0; }));
    EXPECT_EQ(running.stats().connections, 0);
    EXPECT_EQ(running.stats().streams, 0);
  }
}

TEST(Stream, AReaderThatLeavesWhileAllAreWokenHarmsNobody) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  std::vector<RawClient> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(running.connect());
    clients.back().send(get_stream);
    ASSERT_TRUE(clients.back().until("\r\n\r\n"));
  }
  running.on_loop([&] {
    // Reset here, so that the loop has not heard of it when it writes: the first write tells the peer is gone.
    for (size_t i = 0; i < clients.size(); i += 2) clients[i].reset();
    for (int n = 0; n < 5; ++n) {
      feed.publish("x" + std::to_string(n) + "\n");
      feed.wake();
    }
  });
  for (size_t i = 1; i < clients.size(); i += 2) EXPECT_TRUE(clients[i].until("x4\n")) << i;
  EXPECT_TRUE(running.eventually([&] { return feed.readers() == 25; }));
}

TEST(Stream, ASlowReaderGetsEverythingThatIsStillThere) {
  TestFeed feed(100'000);
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send(get_stream);
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  constexpr int frames = 60'000;
  running.on_loop([&] {
    for (int i = 0; i < frames; ++i) {
      feed.publish(std::to_string(i) + std::string(190, '.') + "\n");
      if (i % 50 == 0) feed.wake();
    }
    feed.end();
  });
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  size_t at = 0;
  for (int i = 0; i < frames; ++i) {
    const size_t end = reply->body.find('\n', at);
    ASSERT_NE(end, std::string::npos) << i;
    ASSERT_EQ(std::stoi(reply->body.substr(at, end - at)), i);
    at = end + 1;
  }
  EXPECT_EQ(at, reply->body.size());
}

TEST(Stream, FarewellIsTheLastThingThatAStreamSays) {
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send(get_stream);
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  running.on_loop([&] {
    feed.publish("data\n");
    feed.wake();
    running.server().stop("event: server.stopping\ndata: {}\n\n");
  });
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "data\nevent: server.stopping\ndata: {}\n\n");
  EXPECT_TRUE(client.closed());
}

TEST(Stream, FarewellWaitsBehindWhatASlowReaderHasNotTaken) {
  TestFeed feed(100'000);
  RunningServer running({}, {}, stream_of(feed));
  RawClient client = running.connect();
  client.send(get_stream);
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  running.on_loop([&] {
    for (int i = 0; i < 60'000; ++i) feed.publish(std::string(200, 'x'));
    feed.wake();
    running.server().stop("bye");
  });
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->body.ends_with("xbye"));
}

TEST(Stream, SurvivesAServerThatIsDestroyed) {
  TestFeed feed;
  {
    RunningServer running({}, {}, stream_of(feed));
    RawClient client = running.connect();
    client.send(get_stream);
    ASSERT_TRUE(running.eventually([&] { return feed.readers() == 1; }));
  }
  EXPECT_EQ(feed.readers(), 0u);
}

TEST(Stream, IdleStreamsCostAtMostSixKiB) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  TestFeed feed;
  RunningServer running({}, {}, stream_of(feed));
  const auto open = [&](size_t count, std::vector<RawClient>& clients) {
    for (size_t i = 0; i < count; ++i) {
      clients.push_back(running.connect());
      // A head of the size that browsers send.
      clients.back().send("GET /s HTTP/1.1\r\nHost: x\r\nX-Filler: " + std::string(1200, 'h') + "\r\n\r\n");
      ASSERT_TRUE(clients.back().until("\r\n\r\n"));
    }
  };
  std::vector<RawClient> clients;
  clients.reserve(3000);
  open(200, clients);  // What is made once is made.
  const int64_t before = allocated_bytes();
  constexpr size_t more = 2000;
  open(more, clients);
  running.on_loop([&] {
    feed.publish(std::string(200, 'e'));
    feed.wake();
  });
  for (RawClient& client : clients) ASSERT_TRUE(client.until("eee\r\n"));
  const int64_t each = (allocated_bytes() - before) / static_cast<int64_t>(more);
  RecordProperty("bytes_per_idle_stream", static_cast<int>(each));
  EXPECT_LE(each, 6 * 1024);
}

TEST(Stream, StalledReadersCostABoundedAmountAreDroppedAndHarmNobody) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  TestFeed feed(1000);
  ServerLimits limits;
  limits.write_stall_ms = 2'000;
  RunningServer running(limits, {}, stream_of(feed));
  constexpr size_t stalled_count = 1000;
  std::vector<RawClient> stalled;
  stalled.reserve(stalled_count);
  for (size_t i = 0; i < stalled_count; ++i) {
    stalled.push_back(running.connect());
    const int small = 4096;
    ::setsockopt(stalled.back().fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    stalled.back().send(get_stream);
  }
  ASSERT_TRUE(running.eventually([&] { return feed.readers() == stalled_count; }));
  RawClient healthy = running.connect();
  healthy.send(get_stream);
  ASSERT_TRUE(healthy.until("\r\n\r\n"));

  const int64_t before = allocated_bytes();
  int64_t most = before;
  int round = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  bool dropped = false;
  while (!dropped && std::chrono::steady_clock::now() < deadline) {
    const std::string mark = "mark" + std::to_string(round++) + "\n";
    running.on_loop([&] {
      for (int i = 0; i < 200; ++i) feed.publish(std::string(199, 'x') + "\n");
      feed.publish(mark);
      feed.wake();
    });
    ASSERT_TRUE(healthy.until(mark)) << "the one that reads is served";
    most = std::max(most, allocated_bytes());
    running.on_loop([&] { dropped = feed.readers() == 1; });
  }
  EXPECT_TRUE(dropped) << "those that take nothing are dropped after write_stall_ms";
  EXPECT_LE(most - before, 64 << 20);
  RecordProperty("growth_bytes", std::to_string(most - before));
  healthy.send("");
  running.on_loop([&] {
    feed.publish("still here\n");
    feed.wake();
  });
  EXPECT_TRUE(healthy.until("still here\n"));
}

TEST(Stream, SilentStreamsGetAHeartbeatFromOneTimer) {
  // A stream that says nothing but heartbeats, as the routes' sources do.
  class Silent final : public StreamSource {
   public:
    explicit Silent(Heartbeats& beats)
        : member_(beats.join([this] {
            due_ = true;
            wake_();
          })) {}
    Pulled pull(std::vector<Slice>& out, size_t) override {
      if (!opened_) out.push_back(sse_opening());
      if (due_) out.push_back(sse_heartbeat());
      opened_ = true;
      due_ = false;
      return Pulled::none;
    }
    void on_ready(std::function<void()> wake) override { wake_ = std::move(wake); }

   private:
    std::function<void()> wake_ = [] {};
    bool opened_ = false, due_ = false;
    std::unique_ptr<Heartbeats::Member> member_;
  };
  std::unique_ptr<Heartbeats> beats;
  {
    RunningServer running({}, {}, [&](ExchangePtr exchange) {
      if (!beats) beats = std::make_unique<Heartbeats>(running.loop(), 100);
      exchange->stream(sse_response(), std::make_unique<Silent>(*beats));
    });
    std::vector<RawClient> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(running.connect());
      clients.back().send(get_stream);
    }
    for (RawClient& client : clients) {
      EXPECT_TRUE(client.until("retry: 2000\n\n"));
      EXPECT_TRUE(client.until(":\n\n"));
      EXPECT_TRUE(client.until(":\n\n"));
    }
    clients.clear();
    EXPECT_TRUE(running.eventually([&] { return beats->members() == 0; }));
    running.on_loop([&] { beats.reset(); });
  }
}

}  // namespace
}  // namespace errand::net

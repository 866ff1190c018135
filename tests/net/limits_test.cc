// Limits: slow, huge and many (T8, T9, T11).
#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/net/running_server.h"

namespace errand::net {
namespace {

constexpr std::string_view get_a = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

int status_of(const RunningServer& running, std::string_view bytes) {
  RawClient client = running.connect();
  client.send(bytes);
  const auto reply = client.reply();
  return reply ? reply->status : 0;
}

TEST(Limits, AHugeContentLengthIs413WithoutReadingTheBody) {
  RunningServer running({}, {}, echo);
  for (const char* length : {"8388609", "10000000000", "18446744073709551615"}) {
    RawClient client = running.connect();
    client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::string(length) + "\r\n\r\n");
    const auto reply = client.reply();
    ASSERT_TRUE(reply) << length;
    EXPECT_EQ(reply->status, 413) << length;
    EXPECT_EQ(reply->header("connection"), "close");
    EXPECT_TRUE(client.closed());
  }
  EXPECT_EQ(running.stats().requests, 0);
}

TEST(Limits, ABodyOfExactlyTheLimitPasses) {
  ServerLimits limits;
  limits.body_bytes = 1000;
  RunningServer running(limits, {}, echo);
  const std::string body(1000, 'b');
  EXPECT_EQ(status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + body), 200);
  EXPECT_EQ(status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + body + "b"), 413);
  EXPECT_EQ(status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + body +
                                   "\r\n0\r\n\r\n"),
            200);
  EXPECT_EQ(status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + body +
                                   "\r\n1\r\nb\r\n0\r\n\r\n"),
            413);
  EXPECT_EQ(status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n"), 413);
}

TEST(Limits, LargeHeadsAre431) {
  RunningServer running({}, {}, echo);
  EXPECT_EQ(status_of(running, "GET /" + std::string(40'000, 'p') + " HTTP/1.1\r\nHost: x\r\n\r\n"), 431)
      << "long target";
  EXPECT_EQ(status_of(running, "GET /a HTTP/1.1\r\nHost: x\r\nX: " + std::string(40'000, 'h') + "\r\n\r\n"), 431);
  std::string many = "GET /a HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 101; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(status_of(running, many + "\r\n"), 431) << "many headers";
  std::string long_in_sum = "GET /a HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 40; ++i) long_in_sum += "X-" + std::to_string(i) + ": " + std::string(1000, 'v') + "\r\n";
  EXPECT_EQ(status_of(running, long_in_sum + "\r\n"), 431) << "no one header is too long, all together are";
  EXPECT_EQ(status_of(running, "GET /" + std::string(20'000, 'p') +
                                   " HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'h') + "\r\n\r\n"),
            431)
      << "target and headers together";
  EXPECT_EQ(status_of(running, "GET /a HTTP/1.1\r\nHost: x\r\nX: " + std::string(30'000, 'h') + "\r\n\r\n"), 200);
}

TEST(Limits, EndlessHeadsAndChunkLinesAreCutOff) {
  RunningServer running({}, {}, echo);
  RawClient head = running.connect();
  while (head.send(std::string(1000, 'h'))) {
  }
  RawClient extension = running.connect();
  extension.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;");
  while (extension.send(std::string(1000, 'e'))) {
  }
  RawClient trailers = running.connect();
  trailers.send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  while (trailers.send("X-Trailer: " + std::string(1000, 't') + "\r\n")) {
  }
  EXPECT_EQ(running.stats().requests, 0);
  EXPECT_EQ(status_of(running, get_a), 200);
}

TEST(Limits, AHundredEndlessChunkedBodiesAtOnceCostABoundedAmount) {
  RunningServer running({}, {}, echo);
  const auto info = ::mallinfo2();
  const size_t before = info.uordblks + info.hblkhd;
  std::vector<RawClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(running.connect());
    clients.back().send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  const std::string chunk = "4000\r\n" + std::string(0x4000, 'c') + "\r\n";
  size_t most = 0;
  std::vector<bool> over(clients.size());
  for (int round = 0; round < 600; ++round) {  // 9.4 MiB each, where nothing stops them.
    for (size_t i = 0; i < clients.size(); ++i)
      if (!over[i] && !clients[i].send(chunk)) over[i] = true;
    const auto now = ::mallinfo2();
    most = std::max<size_t>(most, now.uordblks + now.hblkhd - std::min(before, now.uordblks + now.hblkhd));
  }
  EXPECT_LE(most, 32u << 20);
  EXPECT_EQ(running.stats().requests, 0) << "all were refused";
  int told = 0;
  for (size_t i = 0; i < clients.size(); ++i) {
    if (over[i]) continue;  // It was cut off while it still sent.
    const auto reply = clients[i].reply();
    told += reply && (reply->status == 413 || reply->status == 503);
  }
  EXPECT_EQ(told, std::ranges::count(over, false));
  EXPECT_EQ(status_of(running, get_a), 200);
  clients.clear();
  EXPECT_EQ(
      status_of(running, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n" + std::string(8 << 20, 'b')),
      200)
      << "what they had claimed was given back";
}

TEST(Limits, SlowHeadsAreEndedWhileOthersAreServed) {
  ServerLimits limits;
  limits.header_ms = 300;
  RunningServer running(limits, {}, echo);
  std::vector<RawClient> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(running.connect());
    slow.back().send("GET /a HT");
  }
  RawClient silent = running.connect();
  RawClient normal = running.connect();
  int served = 0;
  const auto start = std::chrono::steady_clock::now();
  auto slowest = std::chrono::steady_clock::duration::zero();
  for (size_t i = 0; i < slow.size(); ++i) {  // A byte each now and then keeps nobody alive.
    slow[i].send("T");
    const auto sent = std::chrono::steady_clock::now();
    normal.send(get_a);
    const auto reply = normal.reply();
    ASSERT_TRUE(reply);
    served += reply->status == 200;
    slowest = std::max(slowest, std::chrono::steady_clock::now() - sent);
  }
  EXPECT_EQ(served, 300);
  EXPECT_LT(slowest, std::chrono::milliseconds(1000));
  EXPECT_EQ(slow.front().reply()->status, 408);
  for (RawClient& client : slow) EXPECT_TRUE(client.closed());
  EXPECT_TRUE(silent.closed());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(250));
}

TEST(Limits, SlowBodiesAreEnded) {
  ServerLimits limits;
  limits.header_ms = 200;
  RunningServer running(limits, {}, echo);
  RawClient client = running.connect();
  client.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc");
  const auto reply = client.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 408);
  EXPECT_TRUE(client.closed());
}

TEST(Limits, IdleConnectionsAreClosedButNotBefore) {
  ServerLimits limits;
  limits.header_ms = 100;
  limits.idle_ms = 600;
  RunningServer running(limits, {}, echo);
  RawClient client = running.connect();
  const auto start = std::chrono::steady_clock::now();
  client.send(get_a);
  ASSERT_TRUE(client.reply());
  EXPECT_TRUE(client.closed());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
}

TEST(Limits, AReaderOfALargeReplyThatStallsIsDropped) {
  ServerLimits limits;
  limits.write_stall_ms = 300;
  RunningServer running(
      limits, {}, [](ExchangePtr exchange) { exchange->reply({.status = 200, .body = std::string(30 << 20, 'x')}); });
  RawClient client = running.connect();
  client.send(get_a);
  EXPECT_TRUE(running.eventually([&] { return running.server().stats().requests == 1; }));
  EXPECT_TRUE(running.eventually([&] { return running.server().stats().connections == 0; }));
}

TEST(Limits, ConnectionsOverTheLimitAreToldSo) {
  ServerLimits limits;
  limits.connections = 5;
  RunningServer running(limits, {}, echo);
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(running.connect());
    clients.back().send(get_a);
    ASSERT_EQ(clients.back().reply()->status, 200);
  }
  RawClient refused = running.connect();
  refused.send(get_a);
  const auto reply = refused.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 503);
  EXPECT_TRUE(reply->has("retry-after"));
  EXPECT_TRUE(refused.closed());
  refused = RawClient(-1);
  clients.pop_back();
  EXPECT_TRUE(running.eventually([&] { return running.server().stats().connections == 4; }));
  EXPECT_EQ(status_of(running, get_a), 200);
}

// In a child of its own: it uses up the process's descriptors.
int without_descriptors() {
  const rlimit few{.rlim_cur = 200, .rlim_max = 200};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
  RunningServer running({}, {}, echo);
  // Made while there are descriptors; the server's ends are not accepted yet, or have to be refused.
  std::vector<RawClient> clients;
  for (int i = 0; i < 10; ++i) clients.push_back(RawClient(::socket(AF_INET, SOCK_STREAM, 0)));
  std::vector<int> hoard;
  for (int fd; (fd = ::open("/dev/null", O_RDONLY)) >= 0;) hoard.push_back(fd);
  if (errno != EMFILE) return 2;
  int refused = 0;
  const auto connect = [&](RawClient& client) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(running.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(client.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  };
  for (RawClient& client : clients)
    if (!connect(client)) return 3;
  if (const auto reply = clients[0].reply(); reply && reply->status == 503) ++refused;
  if (refused == 0) return 4;
  bool alive = false;
  running.on_loop([&] { alive = true; });
  if (!alive) return 5;
  for (const int fd : hoard) ::close(fd);
  // Room again: who still waits is served.
  RawClient& last = clients.back();
  if (!last.send(get_a)) return 6;
  const auto reply = last.reply();
  return reply && (reply->status == 200 || reply->status == 503) && status_of(running, get_a) == 200 ? 0 : 7;
}

TEST(Limits, WithoutDescriptorsAcceptingRestsAndRecovers) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(without_descriptors());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
}

}  // namespace
}  // namespace errand::net

// The CLI's client against a server that misbehaves: R10.3 (streams go on without gap or repeat), R10.4 (problems), and
// who is shown the token.
#include "cli/client.h"

#include <memory>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "tests/cli/fake_server.h"

namespace errand::cli {
namespace {

std::string own_pid() { return std::to_string(::getpid()); }

Where at(const FakeServer& server, std::string token = "secret") {
  return {"/nowhere", server.url(), std::move(token), ""};
}

std::string problem(int status, const std::string& code, const std::string& detail) {
  return reply(status,
               "{\"status\":" + std::to_string(status) + ",\"code\":\"" + code + "\",\"detail\":\"" + detail + "\"}",
               "Content-Type: application/problem+json\r\n");
}

// Reads a stream to its end and keeps what came.
struct Heard {
  std::vector<std::string> data;
  Result<StreamEnd> end = StreamEnd::ended;
};

Heard listen(Client& client, const std::string& path, std::string after = {}, Millis at_most_ms = 20'000) {
  Heard heard;
  StreamCalls calls;
  calls.deadline = steady_now() + at_most_ms;
  calls.event = [&](const SseEvent& event) {
    heard.data.push_back(event.type + " " + event.data);
    return true;
  };
  heard.end = client.stream(path, std::move(after), calls);
  return heard;
}

TEST(Client, SendsTheTokenAndTheBody) {
  FakeServer server([](const Asked&, size_t) { return Answer{reply(201, "{\"id\":\"x\"}")}; });
  Client client(at(server));
  Result<std::string> body = client.call("POST", "/api/tasks", "{\"a\":1}", "key-1");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(*body, "{\"id\":\"x\"}");
  Asked asked = server.asked().at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.path, "/api/tasks");
  EXPECT_EQ(asked.body, "{\"a\":1}");
  EXPECT_EQ(asked.header("authorization"), "Bearer secret");
  EXPECT_EQ(asked.header("idempotency-key"), "key-1");
  EXPECT_EQ(asked.header("content-type"), "application/json");
}

TEST(Client, AProblemIsItsDetailAndItsCode) {
  FakeServer server([](const Asked&, size_t before) {
    return Answer{before == 0   ? problem(404, "not_found", "No such task.")
                  : before == 1 ? problem(503, "exhausted", "Too much.")
                                : reply(500, "oops")};
  });
  Client client(at(server));
  Result<std::string> missing = client.get("/api/tasks/x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_EQ(missing.error().message, "No such task.");
  EXPECT_EQ(client.get("/").error().code, Code::exhausted) << "503 is told apart by its code";
  Error bare = client.get("/").error();
  EXPECT_EQ(bare.code, Code::internal);
  EXPECT_FALSE(bare.message.empty());
}

TEST(Client, KeepsItsConnection) {
  FakeServer server([](const Asked&, size_t) { return Answer{reply(200, "{}")}; });
  Client client(at(server));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.get("/api/health"));
  EXPECT_EQ(server.asked().size(), 5u);
}

TEST(Client, RepeatsWhatIsSafeToRepeatAndNothingElse) {
  FakeServer server([](const Asked& asked, size_t before) {
    bool broken = before == 0 || asked.path == "/cancel";
    return broken ? Answer{"", true} : Answer{reply(200, "{}")};
  });
  Client client(at(server));
  EXPECT_TRUE(client.get("/list")) << "a GET";
  EXPECT_EQ(server.asked().size(), 2u);
  Result<std::string> cancelled = client.post("/cancel");
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::unavailable);
  EXPECT_EQ(server.asked().size(), 3u) << "a POST without a key may have had its effect: sent once";
}

TEST(Client, RepeatsALaunchUnderTheSameKey) {
  FakeServer server([](const Asked&, size_t before) {
    return before < 2 ? Answer{"HTTP/1.1 201 Crea", true} : Answer{reply(201, "{}")};
  });
  Client client(at(server));
  EXPECT_TRUE(client.call("POST", "/api/tasks", "{}", "k"));
  std::vector<Asked> asked = server.asked();
  ASSERT_EQ(asked.size(), 3u);
  for (const Asked& one : asked) EXPECT_EQ(one.header("idempotency-key"), "k");
}

TEST(ClientStream, GoesOnFromTheLastEventWithoutGapOrRepeat) {
  FakeServer server([](const Asked& asked, size_t before) {
    std::string last = asked.header("last-event-id");
    if (before == 0 && last.empty())
      return Answer{
          stream_head() + event(1, "output", "a") + event(2, "output", "b") + "id: 3\nevent: output\ndata: hal", true};
    if (before == 1 && last == "2") return Answer{stream_head() + ": beat\n\n" + event(3, "output", "c"), true};
    if (before == 2 && last == "3") return Answer{stream_head() + event(4, "end", "{}"), true};
    return Answer{reply(500, "wrong place")};
  });
  Client client(at(server));
  Heard heard = listen(client, "/api/tasks/t/stream");
  ASSERT_TRUE(heard.end) << heard.end.error().message;
  EXPECT_EQ(*heard.end, StreamEnd::ended);
  EXPECT_EQ(heard.data, (std::vector<std::string>{"output a", "output b", "output c", "end {}"}));
}

TEST(ClientStream, ChunksAreNoMatter) {
  std::string body = event(1, "output", "a") + event(2, "end", "{}");
  FakeServer server([&](const Asked&, size_t) {
    std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (char c : body) bytes += std::string("1\r\n") + c + "\r\n";
    return Answer{bytes + "0\r\n\r\n", false};
  });
  Client client(at(server));
  Heard heard = listen(client, "/s");
  EXPECT_EQ(*heard.end, StreamEnd::ended);
  EXPECT_EQ(heard.data.size(), 2u);
}

TEST(ClientStream, NothingMoreIsAnEnd) {
  FakeServer server([](const Asked&, size_t) { return Answer{"HTTP/1.1 204 No Content\r\n\r\n"}; });
  Client client(at(server));
  Heard heard = listen(client, "/s", "9");
  ASSERT_TRUE(heard.end);
  EXPECT_EQ(*heard.end, StreamEnd::nothing);
  EXPECT_EQ(server.asked().at(0).header("last-event-id"), "9");
}

// A task that was resumed has an `end` in the middle of its history.
TEST(ClientStream, AnEndThatIsNotTheLastEventIsNotTheEnd) {
  FakeServer server([](const Asked&, size_t) {
    return Answer{stream_head() + event(1, "end", "1") + event(2, "output", "a") + event(3, "end", "2"), true};
  });
  Client client(at(server));
  Heard heard = listen(client, "/s");
  EXPECT_EQ(heard.data, (std::vector<std::string>{"end 1", "output a", "end 2"}));
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST(ClientStream, AProblemEndsItAndABusyServerDoesNot) {
  FakeServer server([](const Asked&, size_t before) {
    return Answer{before == 0 ? problem(503, "unavailable", "Starting.") : problem(404, "not_found", "It was cleared."),
                  true};
  });
  Client client(at(server));
  Heard heard = listen(client, "/s");
  ASSERT_FALSE(heard.end);
  EXPECT_EQ(heard.end.error().code, Code::not_found);
  EXPECT_EQ(server.asked().size(), 2u);
}

TEST(ClientStream, TheDeadlineEndsIt) {
  FakeServer server([](const Asked&, size_t) { return Answer{stream_head() + event(1, "output", "a")}; });
  Client client(at(server));
  Heard heard = listen(client, "/s", "", 100);
  ASSERT_TRUE(heard.end);
  EXPECT_EQ(*heard.end, StreamEnd::deadline);
  EXPECT_EQ(heard.data.size(), 1u);
}

TEST(ClientStream, TheReaderEndsIt) {
  FakeServer server(
      [](const Asked&, size_t) { return Answer{stream_head() + event(1, "output", "a") + event(2, "output", "b")}; });
  Client client(at(server));
  StreamCalls calls;
  int seen = 0;
  calls.event = [&](const SseEvent&) { return ++seen < 1; };
  EXPECT_EQ(client.stream("/s", "", calls), StreamEnd::stopped);
  EXPECT_EQ(seen, 1);
}

// R2.2 seen from outside: the server is killed, and comes back on another port.
TEST(ClientStream, FollowsTheServerToWhereItComesBack) {
  TestFolder folder;
  folder.write("token", "secret\n");
  auto health_or = [](const Asked& asked, Answer other) {
    return asked.path == "/api/health" ? Answer{reply(200, "{}"), true} : other;
  };
  FakeServer second([&](const Asked& asked, size_t) {
    bool right = asked.header("last-event-id") == "1" && asked.header("authorization") == "Bearer secret";
    return health_or(asked, right ? Answer{stream_head() + event(2, "end", "{}"), true} : Answer{reply(500, "")});
  });
  std::unique_ptr<FakeServer> first = std::make_unique<FakeServer>([&](const Asked& asked, size_t) {
    if (asked.path != "/api/health")
      folder.write("server.json", "{\"pid\":" + own_pid() + ",\"url\":\"" + second.url() + "\",\"version\":\"1\"}");
    return health_or(asked, {stream_head() + event(1, "output", "a"), true});
  });
  folder.write("server.json", "{\"pid\":" + own_pid() + ",\"url\":\"" + first->url() + "\",\"version\":\"1\"}");
  Client client({folder.path(), "", "", ""});
  client.set_start(Start::never);
  int lost = 0, back = 0;
  StreamCalls calls;
  std::vector<std::string> ids;
  calls.deadline = steady_now() + 20'000;
  calls.event = [&](const SseEvent& event) {
    ids.push_back(event.id);
    return true;
  };
  calls.lost = [&](bool gone) { ++(gone ? lost : back); };
  Result<StreamEnd> end = client.stream("/s", "", calls);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, StreamEnd::ended);
  EXPECT_EQ(ids, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(lost, 1);
  EXPECT_EQ(back, 1);
}

// What server.json names was killed: its port may be a stranger's by now.
TEST(FindServer, AStrangerOnADeadServersPortIsNotAsked) {
  TestFolder folder;
  FakeServer stranger([](const Asked&, size_t) { return Answer{reply(200, "{}")}; });
  folder.write("token", "secret");
  folder.write("server.json", "{\"pid\":99999999,\"url\":\"" + stranger.url() + "\",\"version\":\"1\"}");
  Client client({folder.path(), "", "", ""});
  client.set_start(Start::never);
  EXPECT_FALSE(client.get("/api/tasks"));
  FakeServer own([](const Asked&, size_t) { return Answer{reply(200, "{}")}; }, folder.path() + "/errand.sock");
  EXPECT_TRUE(client.get("/api/tasks")) << "the folder's own socket is safe";
  EXPECT_TRUE(stranger.asked().empty());
}

TEST(FindServer, ProbesAPortWithoutTheToken) {
  TestFolder folder;
  FakeServer stranger([](const Asked&, size_t) { return Answer{"220 mail.example ESMTP\r\n", true}; });
  folder.write("token", "secret");
  folder.write("server.json", "{\"pid\":" + own_pid() + ",\"url\":\"" + stranger.url() + "\",\"version\":\"1\"}");
  Client client({folder.path(), "", "", ""});
  client.set_start(Start::never);
  Result<std::string> body = client.get("/api/tasks");
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, Code::unavailable);
  ASSERT_FALSE(stranger.asked().empty());
  for (const Asked& asked : stranger.asked()) EXPECT_EQ(asked.header("authorization"), "");
}

TEST(FindServer, ARefusedTokenIsTold) {
  TestFolder folder;
  FakeServer server([](const Asked& asked, size_t) {
    return Answer{asked.path == "/api/health" ? reply(200, "{}") : problem(401, "unauthorized", "Not this server's.")};
  });
  folder.write("token", "wrong");
  folder.write("server.json", "{\"pid\":" + own_pid() + ",\"url\":\"" + server.url() + "\",\"version\":\"1\"}");
  Client client({folder.path(), "", "", ""});
  EXPECT_EQ(client.get("/api/tasks").error().code, Code::unauthorized);
}

TEST(FindServer, NeedsATokenForAnotherMachineAndNeverTakesTheLocalOne) {
  TestFolder folder;
  folder.write("token", "secret");
  Result<Target> none = find_server({folder.path(), "https://errand.example", "", ""}, Start::never);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::unauthorized);
  folder.write("other", "theirs\n");
  EXPECT_EQ(find_server({folder.path(), "https://errand.example", "", folder.path() + "/other"}, Start::never)->token,
            "theirs");
  EXPECT_EQ(find_server({folder.path(), "http://127.0.0.1:1", "", ""}, Start::never)->token, "secret");
}

TEST(ParseUrl, TakesHostsAndPorts) {
  Result<Target> target = parse_url("https://errand.example:8443/");
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->endpoint.tls);
  EXPECT_EQ(target->endpoint.host, "errand.example");
  EXPECT_EQ(target->endpoint.port, 8443);
  EXPECT_EQ(target->authority, "errand.example:8443");
  EXPECT_FALSE(target->local);
  target = parse_url("http://[::1]:4747");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->endpoint.host, "::1");
  EXPECT_EQ(target->endpoint.port, 4747);
  EXPECT_TRUE(target->local);
}

TEST(ParseUrl, RefusesWhatIsNoneAndPlainHttpAcrossANetwork) {
  for (const char* url :
       {"", "127.0.0.1:4747", "ftp://x", "http://", "http://a:b@127.0.0.1", "http://127.0.0.1/api",
        "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://127.0.0.1:80\r\nX: y", "http://errand.example:4747"})
    EXPECT_FALSE(parse_url(url)) << url;
}

TEST(Query, EncodesAndLeavesOutWhatIsEmpty) {
  EXPECT_EQ(Query().add("a", "").add("q", "x y&z=日").add("b", "1").text(), "?q=x%20y%26z%3D%E6%97%A5&b=1");
  EXPECT_EQ(Query().text(), "");
}

}  // namespace
}  // namespace errand::cli

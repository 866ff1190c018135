// The outbound client and what it caught of an answer, for the tests of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "http/client.h"
#include "tests/http/test_server.h"

namespace errand::http {

struct Caught : Handler {
  Head got;
  std::string text;
  int heads = 0;
  std::optional<Status> end;
  std::function<void(std::string_view)> on_body;

  void head(const Head& h) override {
    got = h;
    ++heads;
  }
  void body(std::string_view bytes) override {
    EXPECT_EQ(heads, 1) << "the head comes first";
    text += bytes;
    if (on_body) on_body(bytes);
  }
  void done(Status status) override {
    EXPECT_FALSE(end) << "done is told once";
    end = std::move(status);
  }
  std::string reason() const { return end && !*end ? end->error().reason : ""; }
  std::string message() const { return end && !*end ? end->error().message : ""; }
};

struct HttpClient : testing::Test {
  TestLoop loop;
  std::unique_ptr<Client> client = make_client(loop, {});

  Request to(std::string url) {
    Request request;
    request.url = std::move(url);
    return request;
  }
  // The whole call.
  void get(Request request, Caught& caught) {
    const auto call = client->start(std::move(request), caught);
    EXPECT_FALSE(caught.end) << "nothing is called inside start";
    ASSERT_TRUE(loop.run_until([&] { return caught.end.has_value(); }));
  }
};

// Answers each request with itself.
inline void echo(Peer& peer) {
  for (std::string request; !(request = peer.request()).empty();)
    if (!peer.answer(request, "X-One: 1\r\n")) return;
}

}  // namespace errand::http

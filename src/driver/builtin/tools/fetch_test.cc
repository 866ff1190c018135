#include "driver/builtin/tools/fetch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/thread_pool.h"
#include "driver/builtin/tools/html_text.h"
#include "tests/http/test_server.h"

namespace errand::builtin {
namespace {

TEST(HtmlText, IsWhatAPersonWouldRead) {
  EXPECT_EQ(html_text("<html><head><title>x</title></head><body><h1>Hello</h1><p>a &amp; b&nbsp;c &#8364; &#x41;</p>"
                      "<script>evil('</p>')</script><ul><li>one<li>two</ul></body></html>"),
            "Hello\n\na & b c € A\n\n- one\n- two");
  EXPECT_EQ(html_text("see <a class=\"x\" href=\"https://a.example/b\">this</a>, <a href='#x'>that</a>"),
            "see this (https://a.example/b), that");
  EXPECT_EQ(html_text("a<!-- <p> -->b <img alt=\"x > y\"> c"), "ab c");
  EXPECT_EQ(html_text("<pre>a\n  b</pre>  c  d"), "a\n  b\nc d");
  EXPECT_EQ(html_text("1 < 2 && 3 > 2 &bogus; &#0; &#xD800;"), "1 < 2 && 3 > 2 &bogus; &#0; &#xD800;");
  EXPECT_EQ(html_text("<p"), "");
  EXPECT_TRUE(is_utf8(html_text("\xff<p>\xc3")));
}

// Linear, for pages made to be slow.
TEST(HtmlText, ReadsHostilePagesInTime) {
  std::string page;
  for (int i = 0; i < 200'000; ++i) page += "<a href=\"";
  html_text(page);
  page.clear();
  for (int i = 0; i < 300'000; ++i) page += "<!--";
  html_text(page);
  page.clear();
  for (int i = 0; i < 300'000; ++i) page += "<style>";
  html_text(page);
}

TEST(FetchAddress, OriginsAndRedirects) {
  EXPECT_EQ(origin_of("https://a.example:8/x?y"), "https://a.example:8");
  for (const char* url :
       {"", "ftp://a/", "https://", "https:///x", "https://user:pw@a/", "file:///etc/passwd", "a.example"})
    EXPECT_EQ(origin_of(url), "") << url;
  EXPECT_EQ(redirect_target("https://a/x", "/y#z"), "https://a/y");
  EXPECT_EQ(redirect_target("https://a/x", "//b/y"), "https://b/y");
  EXPECT_EQ(redirect_target("https://a/x", "http://b/y"), "http://b/y");
  EXPECT_EQ(redirect_target("https://a/x", "javascript:x"), "");
  EXPECT_EQ(redirect_target("https://a/x", "y"), "");
  EXPECT_EQ(redirect_target("https://a/x", "/a b"), "");
}

struct FetchTool : testing::Test {
  http::TestServer server{[](http::Peer& peer) {
    for (;;) {
      const std::string request = peer.request();
      if (request.empty()) return;
      if (request.starts_with("GET /page")) {
        peer.answer("<html><body><p>Hello <b>you</b></p></body></html>", "Content-Type: text/html; charset=utf-8\r\n");
      } else if (request.starts_with("GET /latin")) {
        peer.answer("gr\xfc\xdf", "Content-Type: text/plain; charset=ISO-8859-1\r\n");
      } else if (request.starts_with("GET /image")) {
        peer.answer("xxxx", "Content-Type: image/png\r\n");
      } else if (request.starts_with("GET /big")) {
        peer.answer(std::string(5 << 20, 'x'), "Content-Type: text/plain\r\n");
      } else if (request.starts_with("GET /here")) {
        peer.write("HTTP/1.1 302 Found\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n");
      } else if (request.starts_with("GET /away")) {
        peer.write("HTTP/1.1 302 Found\r\nLocation: http://other.example/x\r\nContent-Length: 0\r\n\r\n");
      } else if (request.starts_with("GET /loop")) {
        peer.write("HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n");
      } else {
        peer.write("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nnone");
      }
    }
  }};
  http::TestLoop loop;
  SystemClock clock;
  TimerQueue timers{clock};
  ThreadPool background{1};
  std::unique_ptr<http::Client> client = http::make_client(loop, {});
  std::unique_ptr<Tool> tool = make_fetch({*client, timers, background, loop, true});
  ToolContext context;

  ToolOutcome fetch(Tool& with, const std::string& url) {
    const std::string input = fmt::format(R"({{"url":"{}"}})", url);
    Result<Tool::Prepared> call = with.prepare(context, input);
    if (!call) return {.output = call.error().message, .is_error = true};
    EXPECT_TRUE(call->need.ask);
    context.permitted = call->need.subject;
    std::optional<ToolOutcome> outcome;
    const auto run = call->run(context, [&](ToolOutcome told) { outcome = std::move(told); });
    EXPECT_TRUE(loop.run_until([&] { return outcome.has_value(); }));
    return outcome.value_or(ToolOutcome{});
  }
  ToolOutcome fetch(std::string_view path) { return fetch(*tool, server.url(path)); }
};

TEST_F(FetchTool, GivesAPageAsText) {
  const ToolOutcome page = fetch("/page#part");
  EXPECT_FALSE(page.is_error);
  EXPECT_EQ(page.output, server.url("/page") + " (HTTP 200)\n\nHello you");
  EXPECT_TRUE(fetch("/latin").output.ends_with("grüß"));
  EXPECT_TRUE(fetch("/none").is_error);
  EXPECT_TRUE(fetch("/none").output.contains("HTTP 404"));
  EXPECT_TRUE(fetch("/image").output.contains("only text is fetched"));
}

TEST_F(FetchTool, IsBounded) {
  const ToolOutcome big = fetch("/big");
  EXPECT_TRUE(big.output.contains("only its beginning"));
  EXPECT_LE(big.output.size(), tool_output_max);
  EXPECT_TRUE(fetch("/loop").output.contains("redirects to nowhere"));
}

TEST_F(FetchTool, FollowsItsOwnHostAndTellsOfAnother) {
  EXPECT_TRUE(fetch("/here").output.ends_with("Hello you"));
  EXPECT_TRUE(fetch("/away").output.contains("redirects to http://other.example/x; fetch that"));
}

TEST_F(FetchTool, DoesNotReachPrivateAddressesUnlessItMay) {
  const auto careful = make_fetch({*client, timers, background, loop, false});
  for (const std::string& url : {server.url("/page"), std::string("http://localhost:1/"), std::string("http://[::1]/"),
                                 std::string("http://169.254.169.254/latest"), std::string("http://0.0.0.0/")})
    EXPECT_TRUE(fetch(*careful, url).output.contains("private network")) << url;
  EXPECT_TRUE(fetch(*careful, "file:///etc/passwd").is_error);
  EXPECT_EQ(server.accepted(), 0);
}

// A name that is resolved to this machine, or a number written in a way that we do not know: the client looks.
TEST_F(FetchTool, TheAddressIsLookedAtWhereItIsUsed) {
  const auto careful = make_fetch({*client, timers, background, loop, false});
  for (const char* host : {"0x7f000001", "2130706433.", "017700000001", "127.1"}) {
    const ToolOutcome outcome = fetch(*careful, fmt::format("http://{}:{}/page", host, server.port()));
    EXPECT_TRUE(outcome.is_error) << host << ": " << outcome.output;
  }
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(FetchTool, WhatNobodyAllowedIsNotFetched) {
  context.permitted = "http://other.example/";
  std::optional<ToolOutcome> outcome;
  Result<Tool::Prepared> call = tool->prepare(context, fmt::format(R"({{"url":"{}"}})", server.url("/page")));
  const auto run = call->run(context, [&](ToolOutcome told) { outcome = std::move(told); });
  ASSERT_TRUE(loop.run_until([&] { return outcome.has_value(); }));
  EXPECT_TRUE(outcome->is_error);
  EXPECT_EQ(server.accepted(), 0);
}

}  // namespace
}  // namespace errand::builtin

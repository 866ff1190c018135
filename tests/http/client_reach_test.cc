// Where the outbound client goes, and where it does not: redirects, addresses, TLS, proxies.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "tests/http/client_test.h"

namespace errand::http {
namespace {

TEST_F(HttpClient, ARedirectIsAnAnswerUnlessAskedFor) {
  TestServer server([](Peer& peer) {
    peer.request();
    peer.write("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
  });
  Caught caught;
  get(to(server.url()), caught);
  ASSERT_TRUE(*caught.end);
  EXPECT_EQ(caught.got.status, 302);
  EXPECT_EQ(caught.got.header("location"), "/elsewhere");
}

TEST_F(HttpClient, AFollowedRedirectKeepsCredentialsAtTheirHost) {
  TestServer other(echo);
  TestServer server([&](Peer& peer) {
    for (std::string request; !(request = peer.request()).empty();) {
      if (request.starts_with("GET /first"))
        peer.write("HTTP/1.1 302 Found\r\nLocation: /second\r\nContent-Length: 3\r\n\r\nold");
      else if (!request.contains("X-Api-Key: k"))
        peer.answer("the key is lost on the way");
      else
        peer.write(fmt::format("HTTP/1.1 307 Away\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", other.url("/third")));
    }
  });
  Caught caught;
  Request request = to(server.url("/first"));
  request.headers = {{"X-Api-Key", "k"}, {"Authorization", "Bearer k"}, {"Accept", "text/html"}};
  request.follow_redirects = true;
  get(std::move(request), caught);
  ASSERT_TRUE(*caught.end) << caught.message();
  EXPECT_EQ(caught.got.url, other.url("/third"));
  EXPECT_TRUE(caught.text.starts_with("GET /third")) << caught.text;
  EXPECT_TRUE(caught.text.contains("Accept: text/html"));
  EXPECT_FALSE(caught.text.contains("k\r\n")) << caught.text;
}

TEST_F(HttpClient, RedirectsEnd) {
  TestServer server([](Peer& peer) {
    while (!peer.request().empty()) peer.write("HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
  });
  Caught caught;
  Request request = to(server.url());
  request.follow_redirects = true;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "redirect");
}

TEST_F(HttpClient, ARedirectElsewhereThanHttpIsRefused) {
  for (const char* where : {"file:///etc/passwd", "gopher://127.0.0.1/", "dict://127.0.0.1/"}) {
    TestServer server([&](Peer& peer) {
      peer.request();
      peer.write(fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", where));
    });
    Caught caught;
    Request request = to(server.url());
    request.follow_redirects = true;
    get(std::move(request), caught);
    EXPECT_EQ(caught.reason(), "redirect") << where;
  }
}

TEST_F(HttpClient, WrongRequestsAreRefused) {
  TestServer server(echo);
  const Request wrong[] = {
      {.url = "file:///etc/passwd"},
      {.url = "ftp://127.0.0.1/"},
      {.url = "nonsense://"},
      {.url = ""},
      {.url = server.url("/a\r\nX: y")},
      {.method = "GET /x HTTP/1.1\r\nX: y", .url = server.url()},
      {.url = server.url(), .headers = {{"X", "a\r\nY: b"}}},
      {.url = server.url(), .headers = {{"X: a\r\nY", "b"}}},
      {.url = server.url(), .headers = {{"", "b"}}},
  };
  for (const Request& request : wrong) {
    Caught caught;
    get(request, caught);
    EXPECT_EQ(caught.reason(), "invalid") << request.url << request.method;
  }
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(HttpClient, ErrorsDoNotTellTheAddressBeyondItsHost) {
  int port = 0;
  {
    port = TestServer([](Peer&) {}).port();
  }
  Caught caught;
  get({.url = fmt::format("http://user:hunter2@127.0.0.1:{}/?key=sesame", port),
       .headers = {{"x-api-key", "opensesame"}}},
      caught);
  EXPECT_FALSE(caught.message().contains("hunter2")) << caught.message();
  EXPECT_FALSE(caught.message().contains("sesame")) << caught.message();
}

struct HttpClientTls : HttpClient {
  const TestCertificate certificate{"IP:127.0.0.1"};
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("errand_http_test_{}.pem", ::getpid())).string();
  HttpClientTls() { std::ofstream(file) << certificate.pem; }
  ~HttpClientTls() override { std::filesystem::remove(file); }
};

TEST_F(HttpClientTls, AnUnknownAuthorityIsRefused) {
  TestServer server(echo, &certificate);
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.reason(), "tls");
  EXPECT_TRUE(caught.message().contains("SSL_CERT_FILE")) << caught.message();
}

TEST_F(HttpClientTls, TheAuthorityOfTheEnvironmentIsTrusted) {
  TestServer server(echo, &certificate);
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"}) {
    client = make_client(loop, options_from_environment({{name, file}}));
    Caught caught;
    get(to(server.url()), caught);
    ASSERT_TRUE(*caught.end) << name << caught.message();
    EXPECT_EQ(caught.got.status, 200);
  }
}

TEST_F(HttpClientTls, AnotherNameIsRefused) {
  const TestCertificate other("DNS:example.org");
  std::ofstream(file) << other.pem;
  TestServer server(echo, &other);
  client = make_client(loop, options_from_environment({{"SSL_CERT_FILE", file}}));
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.reason(), "tls") << caught.message();
}

TEST_F(HttpClientTls, AFileThatIsNotThereTrustsNobody) {
  TestServer server(echo, &certificate);
  client = make_client(loop, options_from_environment({{"SSL_CERT_FILE", file + ".none"}}));
  Caught caught;
  get(to(server.url()), caught);
  EXPECT_EQ(caught.reason(), "tls") << caught.message();
}

TEST_F(HttpClientTls, FromHttpsToHttpIsNotFollowed) {
  TestServer plain(echo);
  TestServer server(
      [&](Peer& peer) {
        peer.request();
        peer.write(fmt::format("HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", plain.url()));
      },
      &certificate);
  client = make_client(loop, {.ca_file = file});
  Caught caught;
  Request request = to(server.url());
  request.follow_redirects = true;
  get(std::move(request), caught);
  EXPECT_EQ(caught.reason(), "redirect");
  EXPECT_EQ(plain.accepted(), 0);
}

TEST_F(HttpClient, TheProxyOfTheEnvironmentIsUsed) {
  TestServer proxy([](Peer& peer) {
    const std::string request = peer.request();
    peer.answer(request.substr(0, request.find("\r\n")));
  });
  // Read by libcurl when a call starts.
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  ::setenv("no_proxy", "direct.test", 1);
  Caught caught;
  get(to("http://model.test/v1"), caught);
  ::unsetenv("http_proxy");
  ::unsetenv("no_proxy");
  ASSERT_TRUE(*caught.end) << caught.message();
  EXPECT_EQ(caught.text, "GET http://model.test/v1 HTTP/1.1");
}

}  // namespace
}  // namespace errand::http

// T28: what a hostile page in the owner's browser, a rebound name or a local stranger can send. Every case is refused
// with the status it names, by the real server with the real check, and no case reaches a handler.
#include <set>

#include <gtest/gtest.h>

#include "net/auth.h"
#include "tests/net/running_server.h"

namespace errand::net {
namespace {

constexpr const char* token = "the-right-token-of-this-server-0123456789abc";

struct Attack {
  std::string name;
  int status;
  std::string
      bytes;  // "~" stands for the port, "$" for the token, "#" for a session's cookie, "!" for its page secret.
};

// A browser has the session, a page of another origin makes the request.
std::string from_page(std::string line, std::string headers, std::string body = {}) {
  return line + " HTTP/1.1\r\nHost: localhost:~\r\nCookie: #\r\n" + headers +
         (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body;
}
// Somebody who has the token sends it with something that a tricked browser would send along.
std::string with_token(std::string line, std::string host, std::string headers = {}) {
  return line + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer $\r\n" + headers + "\r\n";
}

std::vector<Attack> attacks() {
  std::vector<Attack> all;
  const std::string launch = R"({"kind":"command","command":"id"})";

  // Rebound and misspelt names, each with the right token: 421.
  for (const char* host : {"evil.example",
                           "evil.example:~",
                           "localhost.evil.example:~",
                           "evil.example.localhost:~",
                           "localhost:1",
                           "localhost",
                           "127.0.0.1",
                           "127.0.0.1:1",
                           "[::1]",
                           "[::1]:1",
                           "::1",
                           "0.0.0.0:~",
                           "[::]:~",
                           "2130706433:~",
                           "0x7f000001:~",
                           "0177.0.0.1:~",
                           "127.1:~",
                           "127.0.0.2:~",
                           "localhost.:~",
                           "127.0.0.1.:~",
                           "[::ffff:127.0.0.1]:~",
                           "[0:0:0:0:0:0:0:1]:~",
                           "127.0.0.1.nip.io:~",
                           "user@localhost:~",
                           "localhost:~@evil.example",
                           "localhost:~/",
                           "localhost:~,evil.example",
                           "localhost :~",
                           "localhost:0~",
                           "localhost:+~",
                           "\"localhost:~\"",
                           "xn--localhost:~",
                           "http://localhost:~",
                           "rebind.it:~"})
    all.push_back({std::string("host ") + host, 421, with_token("GET /api/tasks", host)});
  all.push_back({"empty host", 421, with_token("GET /api/tasks", "")});
  all.push_back({"no host, HTTP/1.0", 421, "GET /api/tasks HTTP/1.0\r\nAuthorization: Bearer $\r\n\r\n"});
  all.push_back({"no host", 400, "GET /api/tasks HTTP/1.1\r\nAuthorization: Bearer $\r\n\r\n"});
  all.push_back({"two hosts", 400, with_token("GET /api/tasks", "localhost:~", "Host: evil.example\r\n")});
  all.push_back(
      {"another host in an absolute target", 400, with_token("GET http://evil.example/api/tasks", "localhost:~")});
  all.push_back({"foreign absolute target", 421, with_token("GET http://evil.example/api/tasks", "evil.example")});
  all.push_back({"user in an absolute target", 400, with_token("GET http://a@localhost:~/api/tasks", "localhost:~")});
  all.push_back({"foreign host asks for health", 421, "GET /api/health HTTP/1.1\r\nHost: evil.example:~\r\n\r\n"});
  all.push_back({"foreign host asks for the page", 421, "GET / HTTP/1.1\r\nHost: evil.example:~\r\n\r\n"});

  // Other origins, with the right token or a session: 403.
  for (const char* origin : {"null",
                             "http://evil.example",
                             "https://evil.example",
                             "http://localhost",
                             "http://localhost:1",
                             "https://localhost:~",
                             "http://127.0.0.1:~",
                             "http://localhost:~/",
                             "http://localhost:~.evil.example",
                             "http://localhost:~@evil.example",
                             "http://evil.example:~",
                             "file://",
                             "chrome-extension://abc",
                             "http://sub.localhost:~",
                             "localhost:~",
                             "",
                             "*",
                             "http://localhost:~, http://evil.example",
                             "HTTP://localhost:~",
                             "http://[::1]:~",
                             "http://localhost:0~",
                             "ws://localhost:~"})
    all.push_back({std::string("origin ") + origin, 403,
                   with_token("GET /api/tasks", "localhost:~", std::string("Origin: ") + origin + "\r\n")});
  all.push_back(
      {"two origins", 400,
       with_token("GET /api/tasks", "localhost:~", "Origin: http://localhost:~\r\nOrigin: http://evil.example\r\n")});
  all.push_back({"foreign page asks for health", 403,
                 "GET /api/health HTTP/1.1\r\nHost: localhost:~\r\nOrigin: http://evil.example\r\n\r\n"});
  for (const char* site : {"cross-site", "same-site", "CROSS-SITE", "same-origin, cross-site", "", "anything"})
    all.push_back({std::string("site ") + site, 403,
                   with_token("GET /api/tasks", "localhost:~", std::string("Sec-Fetch-Site: ") + site + "\r\n")});
  all.push_back({"image of another site", 403,
                 from_page("GET /api/tasks",
                           "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n")});
  all.push_back({"script of another site", 403, from_page("GET /assets/app.js", "Sec-Fetch-Site: cross-site\r\n")});
  all.push_back(
      {"frame of another site", 403,
       from_page("GET /", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: iframe\r\nSec-Fetch-Mode: navigate\r\n")});
  all.push_back({"preflight", 403,
                 from_page("OPTIONS /api/tasks",
                           "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n"
                           "Access-Control-Request-Headers: content-type,x-errand-session\r\n")});
  all.push_back({"private network preflight", 403,
                 from_page("OPTIONS /api/tasks",
                           "Origin: https://evil.example\r\nAccess-Control-Request-Private-Network: true\r\n")});
  all.push_back({"form of another site", 403,
                 from_page("POST /api/tasks", "Origin: http://evil.example\r\nContent-Type: text/plain\r\n", launch)});
  all.push_back(
      {"JSON of another site with a stolen page secret", 403,
       from_page("POST /api/tasks",
                 "Origin: http://evil.example\r\nX-Errand-Session: !\r\nContent-Type: application/json\r\n", launch)});
  all.push_back(
      {"WebSocket of another site", 403,
       from_page("GET /api/stream",
                 "Origin: http://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
                 "13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")});
  all.push_back({"login of another site", 403,
                 "POST /api/login HTTP/1.1\r\nHost: localhost:~\r\nOrigin: http://evil.example\r\nContent-Type: "
                 "application/json\r\nContent-Length: 12\r\n\r\n{\"code\":\"a\"}"});

  // The cookie alone, as sent by an old browser without Origin and Sec-Fetch, or by another local port: 401.
  for (const char* line : {"GET /api/tasks", "GET /api/stream", "GET /metrics", "GET /mcp", "GET /api/openapi.json",
                           "DELETE /api/tasks/x", "POST /api/tasks/x/cancel", "POST /api/login/codes",
                           "POST /api/logout", "PUT /api/agents/x", "PATCH /api/settings", "HEAD /api/tasks"})
    all.push_back({std::string("cookie alone ") + line, 401, from_page(line, "")});
  all.push_back(
      {"cookie alone with JSON", 401, from_page("POST /api/tasks", "Content-Type: application/json\r\n", launch)});
  all.push_back({"cookie alone with a form", 401,
                 from_page("POST /api/tasks", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b")});
  all.push_back({"cookie and a wrong page secret", 401, from_page("GET /api/tasks", "X-Errand-Session: wrong\r\n")});
  all.push_back(
      {"page secret alone", 401, "GET /api/tasks HTTP/1.1\r\nHost: localhost:~\r\nX-Errand-Session: !\r\n\r\n"});
  all.push_back(
      {"page secret as a cookie", 401,
       "GET /api/tasks HTTP/1.1\r\nHost: localhost:~\r\nX-Errand-Session: !\r\nCookie: errand_session_~=!\r\n\r\n"});

  // A session, from our own page or not known to be from elsewhere, with a body that a form can send: 415.
  for (const char* type :
       {"text/plain", "text/plain; application/json", "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x", "application/jsonx", "text/json", "application/csp-report", "json"})
    all.push_back(
        {std::string("type ") + type, 415,
         from_page("POST /api/tasks", std::string("X-Errand-Session: !\r\nContent-Type: ") + type + "\r\n", launch)});
  all.push_back({"no type", 415, from_page("POST /api/tasks", "X-Errand-Session: !\r\n", launch)});
  all.push_back({"chunked without a type", 415,
                 "POST /api/tasks HTTP/1.1\r\nHost: localhost:~\r\nAuthorization: Bearer $\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"});
  all.push_back({"login with a form", 415,
                 "POST /api/login HTTP/1.1\r\nHost: localhost:~\r\nContent-Type: text/plain\r\nContent-Length: "
                 "12\r\n\r\n{\"code\":\"a\"}"});

  // No or wrong credentials: 401. Paths that are meant to look public: 401 or 400.
  for (const char* line :
       {"GET /api/tasks", "GET /api", "GET /api/", "GET /api/healthx", "POST /api/health", "GET /api/login",
        "POST /mcp", "GET /metrics", "POST /", "PUT /index.html", "GET /api/%74asks", "GET /%61pi/tasks",
        "GET /api/tasks?x=/api/health", "GET /mcp/", "GET /api/tasks;/api/health"})
    all.push_back({std::string("stranger ") + line, 401, std::string(line) + " HTTP/1.1\r\nHost: localhost:~\r\n\r\n"});
  for (const char* path :
       {"/assets/../api/tasks", "/assets/%2e%2e/api/tasks", "/assets/..%2fapi/tasks", "//api/tasks", "/./api/tasks",
        "/api//tasks", "/api/health/../tasks", "/api/health/%2e%2e/tasks", "/api\\tasks", "/api%5ctasks",
        "/api/tasks%00", "/api/tasks%00/api/health", "/%2e%2e/%2e%2e/etc/passwd", "/api%2ftasks",
        "/assets/%c0%ae%c0%ae/x", "/api/tasks%0d%0aX:1"})
    all.push_back(
        {std::string("path ") + path, 400, std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost:~\r\n\r\n"});
  for (const char* query : {"token=$", "access_token=$", "TOKEN=$", "x=1&token=$", "%74oken=$", "api_key=$"})
    all.push_back({std::string("credential in the URL ") + query, 400,
                   std::string("GET /api/tasks?") + query + " HTTP/1.1\r\nHost: localhost:~\r\n\r\n"});
  for (const char* value : {"Bearer", "Bearer  ", "Bearer wrong", "Basic $", "$", "Bearer $x", "Bearer x$",
                            "Bearer $,Bearer x", "Token $", "Bearer \"$\""})
    all.push_back(
        {std::string("authorization ") + value, 401,
         std::string("GET /api/tasks HTTP/1.1\r\nHost: localhost:~\r\nAuthorization: ") + value + "\r\n\r\n"});
  all.push_back(
      {"two authorizations", 400, with_token("GET /api/tasks", "localhost:~", "Authorization: Bearer x\r\n")});
  for (const char* header : {"X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "X-Forwarded-Host: localhost",
                             "X-Original-URL: /api/health", "X-Rewrite-URL: /api/health", "X-HTTP-Method-Override: GET",
                             "Forwarded: for=127.0.0.1", "X-Errand-Owner: 1"})
    all.push_back({std::string("header ") + header, 401,
                   std::string("GET /api/tasks HTTP/1.1\r\nHost: localhost:~\r\n") + header + "\r\n\r\n"});
  return all;
}

struct Fixture {
  SystemClock clock;
  SystemRandom random;
  Auth auth{{.token = token}, clock, random};
  std::vector<std::string> reached;
  RunningServer running{{}, auth.head_check(), [this](ExchangePtr exchange) {
                          if (auth.handle(exchange)) return;
                          reached.push_back(std::string(name(exchange->request.method)) + " " + exchange->request.path);
                          echo(std::move(exchange));
                        }};
  std::string cookie, page_secret;

  Fixture() {
    std::string code;
    running.on_loop([&] {
      auth.add_port(running.port());
      code = auth.make_code().code;
    });
    const auto reply =
        ask("POST /api/login HTTP/1.1\r\nHost: localhost:~\r\nContent-Type: application/json\r\nContent-Length: " +
            std::to_string(code.size() + 11) + "\r\n\r\n{\"code\":\"" + code + "\"}");
    EXPECT_EQ(reply->status, 200);
    const std::string line = reply->header("set-cookie");
    cookie = line.substr(0, line.find(';'));
    const size_t from = reply->body.find("\"session\":\"") + 11;
    page_secret = reply->body.substr(from, reply->body.find('"', from) - from);
  }

  std::string fill(const std::string& text) const {
    std::string out;
    for (const char c : text) {
      if (c == '~')
        out += std::to_string(running.port());
      else if (c == '$')
        out += token;
      else if (c == '#')
        out += cookie;
      else if (c == '!')
        out += page_secret;
      else
        out += c;
    }
    return out;
  }
  std::optional<RawReply> ask(const std::string& bytes) {
    RawClient client = running.connect();
    client.send(fill(bytes));
    return client.reply(bytes.starts_with("HEAD"));
  }
};

TEST(BrowserAttacks, AreAllRefusedAndReachNoHandler) {
  Fixture fixture;
  const std::vector<Attack> all = attacks();
  EXPECT_GE(all.size(), 80u);
  std::set<std::string> names;
  for (const Attack& attack : all) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name << " is there twice";
    const auto reply = fixture.ask(attack.bytes);
    if (!reply) {
      ADD_FAILURE() << attack.name << ": no reply";
      continue;
    }
    // The limiter answers 429 in place of 401 where many wrong credentials came before.
    if (attack.status != 401 || reply->status != 429)
      EXPECT_EQ(reply->status, attack.status) << attack.name << ": " << reply->body;
    for (const auto& [name, value] : reply->headers) EXPECT_FALSE(name.starts_with("access-control")) << attack.name;
    EXPECT_EQ(reply->body.find(token), std::string::npos) << attack.name;
    EXPECT_EQ(reply->header("x-content-type-options"), "nosniff") << attack.name;
    EXPECT_FALSE(reply->has("set-cookie")) << attack.name;
  }
  fixture.running.on_loop([&] { EXPECT_EQ(fixture.reached, std::vector<std::string>{}); });
}

TEST(BrowserAttacks, OurOwnPageAndTheTokenStillWork) {
  Fixture fixture;
  const std::string page = "Origin: http://localhost:~\r\nSec-Fetch-Site: same-origin\r\nX-Errand-Session: !\r\n";
  const Attack fine[] = {
      {"token", 200, with_token("GET /api/tasks", "localhost:~")},
      {"token by address", 200, with_token("GET /api/tasks", "127.0.0.1:~")},
      {"token by IPv6 address", 200, with_token("GET /api/tasks", "[::1]:~")},
      {"absolute target", 200, with_token("GET http://localhost:~/api/tasks", "localhost:~")},
      {"page reads", 200, from_page("GET /api/tasks", page)},
      {"page launches", 200, from_page("POST /api/tasks", page + "Content-Type: application/json\r\n", "{}")},
      {"page cancels without a body", 200, from_page("POST /api/tasks/x/cancel", page)},
      {"typed address", 200,
       "GET / HTTP/1.1\r\nHost: localhost:~\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n\r\n"},
      {"page's own file", 200,
       "GET /assets/app.js HTTP/1.1\r\nHost: localhost:~\r\nSec-Fetch-Site: same-origin\r\n\r\n"},
      {"health", 200, "GET /api/health HTTP/1.1\r\nHost: localhost:~\r\n\r\n"},
      {"options with the token", 405, with_token("OPTIONS /api/tasks", "localhost:~")},
  };
  for (const Attack& each : fine) {
    const auto reply = fixture.ask(each.bytes);
    ASSERT_TRUE(reply) << each.name;
    EXPECT_EQ(reply->status, each.status) << each.name << ": " << reply->body;
  }
}

}  // namespace
}  // namespace errand::net

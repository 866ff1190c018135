#include "net/auth.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace errand::net {
namespace {

constexpr const char* token = "the-right-token-of-this-server-0123456789abc";

// Keeps the one answer.
class Answered final : public Exchange {
 public:
  explicit Answered(Request given) { request = std::move(given); }
  void reply(Response given) override { response = std::move(given); }
  void stream(Response, std::unique_ptr<StreamSource>) override {}
  void on_gone(std::function<void()>) override {}
  std::optional<Response> response;
};

struct AuthTest : testing::Test {
  ManualClock clock;
  SeededRandom random{11};
  Auth auth{{.token = token, .hosts = {"box.example", "other:9000"}}, clock, random};

  void SetUp() override { auth.add_port(4747); }

  static Request request(Method method, std::string path,
                         std::vector<std::pair<std::string, std::string>> headers = {}) {
    Request made;
    made.method = method;
    made.path = std::move(path);
    made.peer = "10.0.0.9";
    made.headers = {{"host", "localhost:4747"}};
    for (auto& header : headers) made.headers.push_back(std::move(header));
    return made;
  }
  int status(Request made, uint64_t length = 0) {
    const std::optional<Response> refused = auth.check(made, length);
    return refused ? refused->status : 200;
  }
  int with_token(std::string_view given, std::string peer = "10.0.0.9") {
    Request made = request(Method::get, "/api/tasks", {{"authorization", "Bearer " + std::string(given)}});
    made.peer = std::move(peer);
    return status(std::move(made));
  }
  Response call(Request made) {
    Answered exchange(std::move(made));
    EXPECT_TRUE(auth.handle(ExchangePtr(&exchange, [](Exchange*) {})));
    return exchange.response.value_or(Response{.status = 0});
  }
  Response login(const std::string& code) {
    Request made = request(Method::post, "/api/login", {{"content-type", "application/json"}});
    made.body = R"({"code":")" + code + "\"}";
    return call(std::move(made));
  }
  static std::string cookie_of(const Response& response) {
    for (const auto& [name, value] : response.headers)
      if (name == "Set-Cookie") return value.substr(0, value.find(';'));
    return {};
  }
  static std::string secret_of(const Response& response) {
    return boost::json::parse(response.body).at("session").as_string().c_str();
  }
  Request with_session(const std::string& cookie, const std::string& secret, std::string path = "/api/tasks") {
    return request(Method::get, std::move(path), {{"cookie", "theme=dark; " + cookie}, {"x-errand-session", secret}});
  }
};

TEST_F(AuthTest, OnlyTheRightTokenPasses) {
  EXPECT_EQ(with_token(token), 200);
  EXPECT_EQ(status(request(Method::get, "/api/tasks", {{"authorization", std::string("bearer ") + token}})), 200);
  EXPECT_EQ(with_token(""), 401);
  EXPECT_EQ(with_token("wrong"), 401);
  EXPECT_EQ(with_token(std::string(token) + "x"), 401);
  EXPECT_EQ(with_token(std::string(token).substr(1)), 401);
  EXPECT_EQ(status(request(Method::get, "/api/tasks", {{"authorization", std::string("Basic ") + token}})), 401);
  EXPECT_EQ(status(request(Method::get, "/api/tasks", {{"authorization", token}})), 401);
  EXPECT_EQ(status(request(Method::get, "/api/tasks")), 401);
}

TEST_F(AuthTest, OnlyHealthThePagesFilesAndTheLoginAnswerWithoutIt) {  // R12.1
  EXPECT_EQ(status(request(Method::get, "/api/health")), 200);
  EXPECT_EQ(status(request(Method::head, "/api/health")), 200);
  EXPECT_EQ(status(request(Method::get, "/")), 200);
  EXPECT_EQ(status(request(Method::get, "/chat")), 200);
  EXPECT_EQ(status(request(Method::get, "/assets/app.js")), 200);
  EXPECT_EQ(status(request(Method::post, "/api/login")), 200);
  for (const char* path : {"/api", "/api/tasks", "/api/health/x", "/api/login", "/api/login/codes", "/api/openapi.json",
                           "/mcp", "/mcp/x", "/metrics", "/api/stream"})
    EXPECT_EQ(status(request(Method::get, path)), 401) << path;
  for (const char* path : {"/", "/api/health", "/api/logout", "/api/login/codes", "/api/tasks", "/mcp"})
    EXPECT_EQ(status(request(Method::post, path)), 401) << path;
  EXPECT_EQ(status(request(Method::del, "/api/login")), 401);
}

TEST_F(AuthTest, ThePeerOfTheUnixSocketIsTheOwner) {
  Request made = request(Method::get, "/api/tasks");
  made.headers = {};
  made.over_unix = true;
  EXPECT_EQ(status(made), 200);
  ASSERT_FALSE(auth.check(made, 0));
  EXPECT_TRUE(made.who.is_owner());
}

// Whoever shows a token is whom it names, on every way in: a task's dead token must not turn into the owner.
TEST_F(AuthTest, ATokenCountsOnTheUnixSocketToo) {
  Request made = request(Method::get, "/api/tasks", {{"authorization", "Bearer wrong"}});
  made.over_unix = true;
  EXPECT_EQ(status(made), 401);
  const TaskId task("task_01k9z3s5x7e8abcdefghjkmnpq");
  made.headers.back().second = "Bearer " + auth.task_token(task, 3);
  ASSERT_FALSE(auth.check(made, 0));
  EXPECT_EQ(made.who.task, task);
  EXPECT_EQ(made.who.run, 3);
}

TEST_F(AuthTest, ATasksTokenIsForThatTaskAndThatRun) {
  const TaskId task("task_01k9z3s5x7e8abcdefghjkmnpq");
  const std::string good = auth.task_token(task, 3);
  Request made = request(Method::get, "/api/tasks", {{"authorization", "Bearer " + good}});
  ASSERT_FALSE(auth.check(made, 0));
  EXPECT_TRUE(made.who.may(Scope::tasks));
  EXPECT_FALSE(made.who.may(Scope::approve));
  EXPECT_FALSE(made.who.may(Scope::admin));
  const std::string seal = good.substr(good.rfind('.'));
  for (const std::string& forged :
       {"errand_task." + task.value + ".4" + seal, "errand_task." + task.value + ".03" + seal,
        "errand_task." + task.value + ".3x" + seal, "errand_task.task_01k9z3s5x7e8abcdefghjkmnpr.3" + seal,
        "errand_task." + task.value + seal, good + "x", good.substr(0, good.size() - 1), std::string("errand_task."),
        std::string("errand_task....")})
    EXPECT_EQ(with_token(forged, "10.0.1." + std::to_string(forged.size())), 401) << forged;
}

TEST_F(AuthTest, WhoShowsNothingIsNobody) {
  Request made = request(Method::get, "/api/health");
  ASSERT_FALSE(auth.check(made, 0));
  EXPECT_FALSE(made.who.is_owner());
  for (int i = 0; i < scope_count; ++i) EXPECT_FALSE(made.who.may(static_cast<Scope>(i)));
}

TEST_F(AuthTest, CredentialsInTheUrlAreRefusedWithAHint) {
  for (const char* name : {"token", "access_token", "Token", "api_key"}) {
    Request made = request(Method::get, "/api/tasks", {{"authorization", std::string("Bearer ") + token}});
    made.query = {{name, token}};
    const std::optional<Response> refused = auth.check(made, 0);
    ASSERT_TRUE(refused) << name;
    EXPECT_EQ(refused->status, 400);
    EXPECT_NE(refused->body.find("Authorization: Bearer"), std::string::npos);
    EXPECT_EQ(refused->body.find(token), std::string::npos) << "not repeated";
  }
}

TEST_F(AuthTest, BodiesAreJson) {
  const auto post = [&](std::string type) {
    return status(request(Method::post, "/api/tasks",
                          {{"authorization", std::string("Bearer ") + token}, {"content-type", std::move(type)}}),
                  5);
  };
  EXPECT_EQ(post("application/json"), 200);
  EXPECT_EQ(post("Application/JSON; charset=utf-8"), 200);
  for (const char* type : {"text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                           "application/jsonp", "text/plain; application/json", "application/json, text/plain"})
    EXPECT_EQ(post(type), 415) << type;
  EXPECT_EQ(status(request(Method::post, "/api/tasks/x/cancel", {{"authorization", std::string("Bearer ") + token}})),
            200)
      << "without a body no type is needed";
  EXPECT_EQ(
      status(request(Method::post, "/api/tasks", {{"authorization", std::string("Bearer ") + token}}), unknown_length),
      415);
}

TEST_F(AuthTest, NamesOfThisServerAreLocalhostAndTheConfiguredOnes) {
  const auto from = [&](std::string host) {
    Request made = request(Method::get, "/api/health");
    made.headers = {{"host", std::move(host)}};
    return status(std::move(made));
  };
  for (const char* host : {"localhost:4747", "LOCALHOST:4747", "127.0.0.1:4747", "[::1]:4747", "box.example",
                           "box.example:4747", "other:9000"})
    EXPECT_EQ(from(host), 200) << host;
  for (const char* host :
       {"localhost", "localhost:80", "evil.example:4747", "other:4747", "other", "box.example:80", "", "127.0.0.1"})
    EXPECT_EQ(from(host), 421) << host;
}

TEST_F(AuthTest, GuessingIsLimitedButTheRightTokenNeverIs) {  // T29
  for (int i = 0; i < 10; ++i) EXPECT_EQ(with_token("guess" + std::to_string(i), "127.0.0.1"), 401);
  Request made = request(Method::get, "/api/tasks", {{"authorization", "Bearer guess"}});
  made.peer = "127.0.0.1";
  const std::optional<Response> refused = auth.check(made, 0);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->headers, (std::vector<std::pair<std::string, std::string>>{{"Retry-After", "60"}}));
  EXPECT_EQ(with_token("guess", "::1"), 429) << "loopback is one client, and not exempt";
  EXPECT_EQ(with_token(token, "127.0.0.1"), 200);
  EXPECT_EQ(with_token("guess", "10.0.0.3"), 401) << "others have their own count";
  clock.advance(60'000);
  EXPECT_EQ(with_token("guess", "127.0.0.1"), 401);
}

TEST_F(AuthTest, ACodeIsExchangedOnceForASession) {
  const Response made = call(request(Method::post, "/api/login/codes"));
  EXPECT_EQ(made.status, 201);
  const std::string code = boost::json::parse(made.body).at("code").as_string().c_str();
  EXPECT_EQ(boost::json::parse(made.body).at("expires_in_s").as_int64(), 60);
  const Response in = login(code);
  ASSERT_EQ(in.status, 200);
  const std::string cookie = cookie_of(in), secret = secret_of(in);
  EXPECT_TRUE(cookie.starts_with("errand_session_4747="));
  EXPECT_EQ(in.body.find(cookie.substr(cookie.find('=') + 1)), std::string::npos) << "a script cannot read the cookie";
  EXPECT_EQ(status(with_session(cookie, secret)), 200);
  EXPECT_EQ(login(code).status, 401) << "single use";
}

TEST_F(AuthTest, TheCookieIsForOurOwnPagesOnly) {
  const Response in = login(auth.make_code().code);
  std::string line;
  for (const auto& [name, value] : in.headers)
    if (name == "Set-Cookie") line = value;
  for (const char* part : {"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"})
    EXPECT_NE(line.find(part), std::string::npos) << part;
  EXPECT_EQ(line.find("Secure"), std::string::npos);
  Request made = request(Method::post, "/api/login");
  made.secure = true;
  made.body = R"({"code":")" + auth.make_code().code + "\"}";
  const Response secure = call(std::move(made));
  EXPECT_NE(secure.headers.at(0).second.find("; Secure"), std::string::npos);
}

TEST_F(AuthTest, TheCookieAloneOrThePageSecretAloneIsNotEnough) {
  const Response in = login(auth.make_code().code);
  const std::string cookie = cookie_of(in), secret = secret_of(in);
  EXPECT_EQ(status(request(Method::get, "/api/tasks", {{"cookie", cookie}})), 401);
  EXPECT_EQ(status(request(Method::get, "/api/tasks", {{"x-errand-session", secret}})), 401);
  EXPECT_EQ(status(with_session(cookie, "wrong")), 401);
  EXPECT_EQ(status(with_session(cookie + "x", secret)), 401);
  EXPECT_EQ(status(with_session("x" + cookie, secret)), 401) << "another cookie's name that ends like ours";
}

TEST_F(AuthTest, ACodeLivesForAMinute) {
  const std::string code = auth.make_code().code;
  clock.advance(59'999);
  EXPECT_EQ(login(code).status, 200);
  const std::string late = auth.make_code().code;
  clock.advance(60'000);
  EXPECT_EQ(login(late).status, 401);
}

TEST_F(AuthTest, AClockThatIsSetDoesNotLengthenACode) {
  const std::string code = auth.make_code().code;
  clock.jump_wall(-3'600'000);
  clock.advance(60'000);
  EXPECT_EQ(login(code).status, 401);
}

TEST_F(AuthTest, CodesThatWaitAreBounded) {
  const std::string first = auth.make_code().code;
  for (int i = 0; i < 32; ++i) auth.make_code();
  EXPECT_EQ(login(first).status, 401) << "the oldest gave way";
}

TEST_F(AuthTest, GuessedCodesAreLimited) {
  for (int i = 0; i < 10; ++i) EXPECT_EQ(login("guess").status, 401);
  EXPECT_EQ(login("guess").status, 429);
  EXPECT_EQ(login(auth.make_code().code).status, 200) << "the owner still gets in";
}

TEST_F(AuthTest, ALoginThatIsNoLoginIs400) {
  for (const char* body :
       {"", "{}", "[]", "\"code\"", R"({"code":1})", R"({"code":"a","x":1})", "{", R"({"code":null})"}) {
    Request made = request(Method::post, "/api/login");
    made.body = body;
    EXPECT_EQ(call(std::move(made)).status, 400) << body;
  }
  EXPECT_EQ(call(request(Method::get, "/api/login")).status, 405);
  Answered other(request(Method::get, "/api/tasks"));
  EXPECT_FALSE(auth.handle(ExchangePtr(&other, [](Exchange*) {})));
}

TEST_F(AuthTest, ASessionSlidesAndItsRenewedCookieComesWithTheReply) {
  const Response in = login(auth.make_code().code);
  std::string cookie = cookie_of(in);
  const std::string secret = secret_of(in);
  for (int i = 0; i < 4; ++i) {
    clock.advance(11 * 3'600'000);
    Request made = with_session(cookie, secret);
    ASSERT_FALSE(auth.check(made, 0));
    ASSERT_EQ(made.reply_headers.size(), 1u);
    EXPECT_EQ(made.reply_headers[0].first, "Set-Cookie");
    cookie = made.reply_headers[0].second.substr(0, made.reply_headers[0].second.find(';'));
  }
  clock.advance(12 * 3'600'000);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(status(with_session(cookie, secret)), 401) << "ended, and no guess";
}

TEST_F(AuthTest, TellsTheOwnerAlsoWhereNobodyHasToBe) {
  EXPECT_FALSE(auth.is_known(request(Method::get, "/api/health")));
  EXPECT_FALSE(auth.is_known(request(Method::get, "/api/health", {{"authorization", "Bearer wrong"}})));
  EXPECT_TRUE(auth.is_known(request(Method::get, "/api/health", {{"authorization", std::string("Bearer ") + token}})));
  const Response in = login(auth.make_code().code);
  EXPECT_TRUE(auth.is_known(with_session(cookie_of(in), secret_of(in), "/api/health")));
  EXPECT_FALSE(auth.is_known(with_session(cookie_of(in), "", "/api/health")));
}

TEST_F(AuthTest, NobodyComesThroughTailscaleFunnel) {
  EXPECT_EQ(status(request(Method::get, "/", {{"tailscale-funnel-request", "?1"}})), 403);
}

TEST_F(AuthTest, LogoutEndsTheSession) {
  const Response in = login(auth.make_code().code);
  const std::string cookie = cookie_of(in), secret = secret_of(in);
  Request made = with_session(cookie, secret, "/api/logout");
  made.method = Method::post;
  const Response out = call(std::move(made));
  EXPECT_EQ(out.status, 204);
  EXPECT_NE(out.headers.at(0).second.find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(status(with_session(cookie, secret)), 401);
}

TEST_F(AuthTest, BehindAProxyItsWordCountsForSchemeAndClient) {
  Auth proxied({.token = token,
                .hosts = {"errand.example.org"},
                .behind_proxy = true,
                .proxies = Peers::parse({"10.0.0.0/28"}).value()},
               clock, random);
  proxied.add_port(4747);
  Request made = request(Method::get, "/api/health",
                         {{"x-forwarded-proto", "https"},
                          {"x-forwarded-for", "6.6.6.6, 203.0.113.7"},
                          {"origin", "https://errand.example.org"}});
  made.headers[0].second = "errand.example.org";
  EXPECT_FALSE(proxied.check(made, 0));
  EXPECT_TRUE(made.secure);
  EXPECT_EQ(made.peer, "203.0.113.7") << "the entry that the proxy added, not one that the client sent";
  // From anybody else these are a client's own words: it stays who it is, and its page is not ours.
  for (const char* stranger : {"10.0.0.16", "203.0.113.9"}) {
    made = request(Method::get, "/api/health", {{"x-forwarded-proto", "https"}, {"x-forwarded-for", "127.0.0.1"}});
    made.headers[0].second = "errand.example.org";
    made.peer = stranger;
    EXPECT_FALSE(proxied.check(made, 0));
    EXPECT_FALSE(made.secure) << stranger;
    EXPECT_EQ(made.peer, stranger);
    made.headers.emplace_back("origin", "https://errand.example.org");
    EXPECT_TRUE(proxied.check(made, 0)) << "an origin of https is not the one of this request";
  }
  made = request(Method::get, "/api/health", {{"x-forwarded-proto", "https"}});
  made.headers[0].second = "errand.example.org";
  made.peer = "127.0.0.1";
  EXPECT_FALSE(proxied.check(made, 0));
  EXPECT_TRUE(made.secure) << "a proxy on this machine needs no list";
  Request direct =
      request(Method::get, "/api/health", {{"x-forwarded-proto", "https"}, {"x-forwarded-for", "6.6.6.6"}});
  EXPECT_FALSE(auth.check(direct, 0));
  EXPECT_FALSE(direct.secure) << "without a proxy these are anybody's words";
  EXPECT_EQ(direct.peer, "10.0.0.9");
}

}  // namespace
}  // namespace errand::net

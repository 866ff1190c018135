// The routes, without sockets: what each answers, and that everything else is refused properly (R10.1, R10.2, R10.4).
#include <gtest/gtest.h>

#include "tests/api/site.h"

namespace errand::net {
namespace {

namespace json = boost::json;

std::string header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

std::string create(Site& site, std::string_view message, std::string_view more = "") {
  const json::value task =
      site.json({.method = Method::post,
                 .path = "/api/tasks",
                 .body = R"({"agent_id":"demo","message":")" + std::string(message) + "\"" + std::string(more) + "}"},
                201);
  return std::string(task.at("id").as_string());
}

TEST(Routes, CreateAnswers201WithTheTaskAndItsPlace) {
  Site site;
  const Response response = site.call(
      {.method = Method::post, .path = "/api/tasks", .body = R"({"agent_id":"demo","message":"noop","title":"T"})"});
  ASSERT_EQ(response.status, 201) << response.body;
  const json::value task = json::parse(response.body);
  EXPECT_EQ(task.at("title"), "T");
  EXPECT_EQ(task.at("status"), "running");
  EXPECT_EQ(header(response, "Location"), "/api/tasks/" + std::string(task.at("id").as_string()));
  EXPECT_EQ(site.json({.path = header(response, "Location")}).at("id"), task.at("id"));
}

TEST(Routes, CreatingIsSafeToRepeatWithAKey) {  // P2
  Site site;
  const auto repeat = [&](std::string_view message, std::string_view key) {
    return site.call({.method = Method::post,
                      .path = "/api/tasks",
                      .body = R"({"agent_id":"demo","message":")" + std::string(message) + "\"}",
                      .headers = {{"idempotency-key", std::string(key)}}});
  };
  const Response first = repeat("noop", "\"k1\"");
  const Response second = repeat("noop", "k1");
  ASSERT_EQ(first.status, 201) << first.body;
  ASSERT_EQ(second.status, 201) << second.body;
  EXPECT_EQ(json::parse(first.body).at("id"), json::parse(second.body).at("id"));
  const Response other = repeat("text", "k1");
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_EQ(other.content_type, "application/problem+json");
  EXPECT_EQ(repeat("noop", "").status, 400);
  EXPECT_EQ(site.json({.path = "/api/tasks", .query = {{"total", "true"}}}).at("total"), 1);
}

TEST(Routes, AWrongRequestIsAProblemThatNamesIt) {
  Site site;
  const Response response =
      site.call({.method = Method::post, .path = "/api/tasks", .body = R"({"agent_id":"demo","message":"x","y":1})"});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/problem+json");
  const json::value problem = json::parse(response.body);
  EXPECT_EQ(problem.at("code"), "invalid_argument");
  EXPECT_EQ(problem.at("reason"), "unknown_field");
  EXPECT_NE(problem.at("detail").as_string().find("`y`"), std::string::npos);
}

TEST(Routes, AListHasPagesTotalAndCounts) {  // R10.2
  Site site;
  for (int i = 0; i < 5; ++i) create(site, "noop", i < 2 ? R"(,"labels":{"team":"a"})" : "");
  site.world.advance(2'000);
  json::value page =
      site.json({.path = "/api/tasks", .query = {{"limit", "2"}, {"total", "true"}, {"counts", "true"}}});
  EXPECT_EQ(page.at("tasks").as_array().size(), 2u);
  EXPECT_EQ(page.at("total"), 5);
  EXPECT_EQ(page.at("counts").at("completed"), 5);
  std::vector<json::string> ids;
  for (;;) {
    for (const json::value& task : page.at("tasks").as_array()) ids.push_back(task.at("id").as_string());
    if (page.at("next_cursor").is_null()) break;
    page = site.json(
        {.path = "/api/tasks", .query = {{"limit", "2"}, {"cursor", std::string(page.at("next_cursor").as_string())}}});
  }
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::greater<>())) << "newest first";
  const json::value labelled = site.json(
      {.path = "/api/tasks", .query = {{"label", "team:a"}, {"total", "true"}, {"counts", "true"}, {"limit", "1"}}});
  EXPECT_EQ(labelled.at("total"), 2);
  EXPECT_EQ(labelled.at("counts").at("completed"), 2);
  EXPECT_EQ(site.json({.path = "/api/tasks", .query = {{"offset", "4"}}}).at("tasks").as_array().size(), 1u);
  EXPECT_EQ(site.json({.path = "/api/tasks", .query = {{"status", "failed"}, {"total", "1"}}}).at("total"), 0);
}

TEST(Routes, ALongPageIsTheSameAsShortOnes) {
  Site site;
  for (int i = 0; i < 60; ++i) create(site, "noop");
  site.world.advance(5'000);
  const json::value whole = site.json({.path = "/api/tasks", .query = {{"limit", "100"}}});
  ASSERT_EQ(whole.at("tasks").as_array().size(), 60u);
  const json::value first = site.json({.path = "/api/tasks", .query = {{"limit", "1"}}});
  EXPECT_EQ(whole.at("tasks").at(0), first.at("tasks").at(0));
}

TEST(Routes, RunningCountCountsRunningAndResumed) {
  Site site;
  create(site, "long 60");
  create(site, "noop");
  site.world.advance(1'000);
  EXPECT_EQ(site.json({.path = "/api/tasks/running/count"}).at("count"), 1);
}

TEST(Routes, ATaskIsFoundByAPrefixThatNoOtherHas) {
  Site site;
  const std::string id = create(site, "noop");
  EXPECT_EQ(text_in(site.json({.path = "/api/tasks/" + id.substr(0, 20)}).at("id")), id);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/tasks/task_"}).status, 404) << "no prefix, a mistake";
  EXPECT_EQ(site.call({.path = "/api/tasks/nobody"}).status, 404);
  create(site, "noop");  // In the same millisecond.
  EXPECT_EQ(site.call({.path = "/api/tasks/" + id.substr(0, 13)}).status, 409);
}

TEST(Routes, ResultsWaitOnlyWhenAsked) {  // R3.1, R3.2
  Site site;
  const std::string path = "/api/tasks/" + create(site, "long 2") + "/result";
  const json::value running = site.json({.path = path});
  EXPECT_TRUE(running.at("result").is_null());
  EXPECT_TRUE(running.at("retrieved_at").is_null());
  EXPECT_TRUE(running.at("progress").is_object());
  const auto waiting = site.begin({.path = path, .query = {{"block", "true"}, {"timeout_s", "60"}}});
  site.world.settle();
  EXPECT_FALSE(waiting->answer);
  site.world.advance(5'000);
  ASSERT_TRUE(waiting->answer);
  const json::value done = json::parse(waiting->answer->body);
  EXPECT_EQ(done.at("status"), "completed");
  EXPECT_TRUE(done.at("result").is_string());
  EXPECT_TRUE(done.at("retrieved_at").is_string());
}

TEST(Routes, MessagesAndEventsSayWhereAStreamGoesOn) {  // R5.6
  Site site;
  const std::string path = "/api/tasks/" + create(site, "text tools");
  site.world.advance(60'000, 50);
  const json::value messages = site.json({.path = path + "/messages"});
  const json::value task = site.json({.path = path});
  EXPECT_EQ(messages.at("seq"), task.at("seq"));
  EXPECT_EQ(messages.at("messages").at(0).at("role"), "user");
  EXPECT_EQ(messages.at("more"), false);
  const json::value events = site.json({.path = path + "/events", .query = {{"after", "1"}, {"limit", "2"}}});
  ASSERT_EQ(events.at("events").as_array().size(), 2u);
  EXPECT_EQ(events.at("events").at(0).at("seq"), 2);
  EXPECT_EQ(events.at("next_after"), 3);
  const json::value none = site.json({.path = path + "/events", .query = {{"after", json::serialize(task.at("seq"))}}});
  EXPECT_TRUE(none.at("events").as_array().empty());
  EXPECT_EQ(none.at("next_after"), task.at("seq"));
}

TEST(Routes, ATaskIsCancelledRetriedMessagedResumedAndDeleted) {
  Site site;
  const std::string path = "/api/tasks/" + create(site, "long 60");
  site.world.advance(500);
  EXPECT_EQ(site.json({.method = Method::post, .path = path + "/cancel"}).at("status"), "cancelled");
  site.world.advance(500);
  EXPECT_EQ(site.call({.method = Method::post, .path = path + "/cancel", .body = "{}"}).status, 409);
  EXPECT_EQ(site.json({.method = Method::post, .path = path + "/retry"}).at("attempt"), 2);
  EXPECT_EQ(site.call({.method = Method::post, .path = path + "/resume", .body = R"({"message":"x"})"}).status, 409);
  const json::value taken =
      site.json({.method = Method::post, .path = path + "/message", .body = R"({"message":"and this"})"}, 202);
  EXPECT_TRUE(taken.at("task").is_object());
  EXPECT_EQ(taken.at("turn"), taken.at("task").at("turn"));
  EXPECT_EQ(site.call({.method = Method::del, .path = path}).status, 204);
  const Response gone = site.call({.path = path});
  EXPECT_EQ(gone.status, 404);
  EXPECT_EQ(json::parse(gone.body).at("reason"), "deleted");  // R3.6
}

TEST(Routes, AQuestionIsAnswered) {  // R4.6
  Site site;
  const std::string path = "/api/tasks/" + create(site, "ask");
  site.world.advance(5'000);
  const json::value waiting = site.json({.path = path}).at("waiting_for");
  ASSERT_TRUE(waiting.is_object());
  EXPECT_EQ(waiting.at("kind"), "answer");
  const std::string request(waiting.at("request_id").as_string());
  const json::value after = site.json({.method = Method::post,
                                       .path = path + "/answer",
                                       .body = R"({"request_id":")" + request + R"(","answer":"blue"})"});
  EXPECT_TRUE(after.at("waiting_for").is_null());
}

TEST(Routes, ClearSaysHowManyWentAndStayed) {  // R3.4
  Site site;
  create(site, "noop", R"(,"batch_id":"b1")");
  create(site, "long 60", R"(,"batch_id":"b1")");
  site.world.advance(1'000);
  const json::value cleared =
      site.json({.method = Method::post, .path = "/api/tasks/clear", .body = R"({"batch_id":"b1"})"});
  EXPECT_EQ(json::serialize(cleared), R"({"removed":1,"left":1})");
}

TEST(Routes, ABatchIsOne) {  // R7.2
  Site site;
  create(site, "noop", R"(,"batch_id":"b1")");
  create(site, "fail", R"(,"batch_id":"b1")");
  const auto waiting =
      site.begin({.path = "/api/batches/b1/results", .query = {{"block", "all"}, {"timeout_s", "600"}}});
  site.world.settle();
  EXPECT_FALSE(waiting->answer);
  site.world.advance(30'000, 50);
  ASSERT_TRUE(waiting->answer);
  const json::value results = json::parse(waiting->answer->body);
  EXPECT_EQ(results.at("total"), 2);
  EXPECT_EQ(results.at("counts").at("failed"), 1);
  ASSERT_EQ(results.at("results").as_array().size(), 2u);
  EXPECT_EQ(results.at("results").at(0).at("status"), "completed");
  EXPECT_TRUE(results.at("results").at(0).at("retrieved_at").is_string())
      << "reading a batch's results is reading them";
  EXPECT_EQ(site.json({.path = "/api/batches/b1"}).at("at_work"), 0);
  EXPECT_EQ(site.json({.method = Method::post, .path = "/api/batches/b1/retry"}).at("retried"), 1);
  EXPECT_EQ(site.json({.method = Method::post, .path = "/api/batches/b1/cancel"}).at("cancelled"), 1);
  site.world.advance(1'000);
  EXPECT_EQ(site.json({.method = Method::post, .path = "/api/batches/b1/clear"}).at("removed"), 2);
  EXPECT_EQ(site.call({.path = "/api/batches/b1"}).status, 404);
  create(site, "noop", R"(,"batch_id":"b2")");
  EXPECT_EQ(site.json({.method = Method::del, .path = "/api/batches/b2"}).at("removed"), 1);
}

TEST(Routes, ASessionOpensIsToldAndEnds) {  // R3.5, R5.5
  Site site;
  const json::value session =
      site.json({.method = Method::post, .path = "/api/sessions", .body = R"({"title":"mine"})"}, 201);
  const std::string path = "/api/sessions/" + std::string(session.at("id").as_string());
  EXPECT_EQ(site.json({.path = path}).at("title"), "mine");
  const auto waiting = site.begin({.path = path + "/notices", .query = {{"block", "true"}}});
  site.world.settle();
  EXPECT_FALSE(waiting->answer);
  const std::string task =
      create(site, "noop", R"(,"parent_session_id":")" + std::string(session.at("id").as_string()) + "\"");
  site.world.advance(1'000);
  ASSERT_TRUE(waiting->answer);
  const json::value notices = json::parse(waiting->answer->body);
  ASSERT_EQ(notices.at("notices").as_array().size(), 1u);
  const json::value& notice = notices.at("notices").at(0);
  EXPECT_EQ(text_in(notice.at("task_id")), task);
  EXPECT_TRUE(notice.at("text").as_string().starts_with("### Background Task Completed"));
  const std::string taken = path + "/notices/" + std::string(notice.at("id").as_string()) + "/taken";
  EXPECT_TRUE(site.json({.method = Method::post, .path = taken}).at("taken_at").is_string());
  EXPECT_EQ(site.json({.method = Method::del, .path = path}).at("removed"), 1);
  EXPECT_EQ(site.call({.path = "/api/tasks/" + task}).status, 404);
  EXPECT_EQ(site.call({.path = path}).status, 404);
}

TEST(Routes, ATasksOwnSessionShowsItsConversation) {
  Site site;
  const std::string path = "/api/tasks/" + create(site, "noop");
  site.world.advance(1'000);
  const std::string session(site.json({.path = path}).at("session_id").as_string());
  EXPECT_EQ(site.json({.path = "/api/sessions/" + session + "/messages"}).at("messages"),
            site.json({.path = path + "/messages"}).at("messages"));
}

TEST(Routes, AgentsAreShownMadeChangedAndRemoved) {
  Site site;
  EXPECT_EQ(site.json({.path = "/api/agents"}).at("agents").at(0).at("id"), "demo");
  EXPECT_EQ(site.json({.path = "/api/agents/demo"}).at("driver"), "demo");
  EXPECT_EQ(site.call({.path = "/api/agents/nobody"}).status, 404);
  const char* body = R"({"name":"reviewer","driver":"demo","permission":[{"tool":"bash","pattern":"git *",
    "decision":"allow"}],"budget":{"tokens":1000,"wall_s":60},"enable_skills":true,"options":{"effort":"high"}})";
  const Response made = site.call({.method = Method::post, .path = "/api/agents", .body = body});
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(json::parse(made.body).at("permission_rules").at(0).at("pattern"), "git *");
  EXPECT_EQ(json::parse(made.body).at("budget").at("wall_s"), 60);
  EXPECT_EQ(site.call({.method = Method::post, .path = "/api/agents", .body = body}).status, 409);
  EXPECT_EQ(site.call({.method = Method::put, .path = "/api/agents/demo", .body = body}).status, 409);
  EXPECT_EQ(site.call({.method = Method::put, .path = "/api/agents/reviewer", .body = body}).status, 200);
  for (const char* wrong :
       {R"({})", R"({"name":"a"})", R"({"name":"a b","driver":"demo"})", R"({"name":"a","driver":"nothing"})",
        R"({"name":"agent_x","driver":"demo"})", R"({"name":"a","driver":"demo","options":{"api_key":"sk-1"}})",
        R"({"name":"a","driver":"demo","permission":"maybe"})", R"({"name":"a","driver":"demo","id":"x"})"})
    EXPECT_EQ(site.call({.method = Method::post, .path = "/api/agents", .body = wrong}).status, 400) << wrong;
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/agents/reviewer"}).status, 204);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/agents/reviewer"}).status, 404);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/agents/demo"}).status, 409);
}

TEST(Routes, SettingsAreShownAndChanged) {
  Site site;
  EXPECT_EQ(site.json({.path = "/api/settings"}).at("max_concurrent"), 3);
  const auto patch = [&](const char* body) {
    return site.call({.method = Method::patch, .path = "/api/settings", .body = body});
  };
  const Response changed = patch(R"({"max_concurrent":5,"ask_timeout_s":1.5,"wake":true})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(json::parse(changed.body).at("max_concurrent"), 5);
  EXPECT_EQ(site.json({.path = "/api/settings"}).at("ask_timeout_s"), 1.5);
  EXPECT_EQ(json::parse(patch(R"({"ask_timeout_s":0})").body).at("ask_timeout_s"), nullptr);
  for (const char* wrong : {"{}", R"({"max_concurrent":0})", R"({"max_concurrent":"5"})", R"({"colour":"red"})",
                            R"({"limit_nice":3})", R"({"tools_family":"x"})"})
    EXPECT_EQ(patch(wrong).status, 400) << wrong;
  EXPECT_EQ(site.json({.path = "/api/settings"}).at("max_concurrent"), 5);
}

TEST(Routes, UsageLimitsAreListedAndEnded) {
  Site site;
  EXPECT_TRUE(site.json({.path = "/api/quotas"}).at("quotas").as_array().empty());
  const auto clear = [&](std::vector<std::pair<std::string, std::string>> query) {
    return site.call({.method = Method::del, .path = "/api/quotas", .query = std::move(query)});
  };
  EXPECT_EQ(clear({}).body, R"({"cleared":0})");
  const Response unknown = clear({{"account", "builtin/m"}});
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(json::parse(unknown.body).at("reason"), "no_quota");
  EXPECT_EQ(clear({{"acount", "builtin/m"}}).status, 400);
}

TEST(Routes, HealthTellsStrangersNothingMore) {  // R12.1
  Site site;
  const json::value known = site.json({.path = "/api/health"});
  EXPECT_EQ(known.at("status"), "ok");
  EXPECT_TRUE(known.as_object().contains("store"));
  site.owner = false;
  EXPECT_EQ(json::serialize(site.json({.path = "/api/health"})), R"({"status":"ok","version":"0.0.0"})");
}

TEST(Routes, MetricsAreInPrometheusForm) {
  Site site;
  create(site, "noop");
  site.world.advance(1'000);
  const Response response = site.call({.path = "/metrics"});
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(response.body.find("# TYPE errand_tasks gauge\n"), std::string::npos) << response.body;
  EXPECT_NE(response.body.find("\nerrand_tasks{status=\"completed\"} 1\n"), std::string::npos) << response.body;
  EXPECT_TRUE(response.body.ends_with("\n"));
}

TEST(Routes, UnknownPathsAre404AndOtherMethods405) {
  Site site;
  for (const char* path : {"/api", "/api/nothing", "/api/tasks/x/y/z", "/api/tasks/x/unknown", "/metrics/x", "/mcp",
                           "/api/sessions", "/nothing", "/", "/api/batches/x/y"}) {
    const Response response = site.call({.path = path});
    EXPECT_EQ(response.status, path == std::string_view("/api/sessions") ? 405 : 404) << path;
    EXPECT_EQ(response.content_type, "application/problem+json");
  }
  const Response put = site.call({.method = Method::put, .path = "/api/tasks"});
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(header(put, "Allow"), "GET, HEAD, POST");
  EXPECT_EQ(header(site.call({.method = Method::get, .path = "/api/tasks/clear"}), "Allow"), "POST");
  EXPECT_EQ(header(site.call({.method = Method::post, .path = "/api/tasks/running/count"}), "Allow"), "GET, HEAD");
  EXPECT_EQ(site.call({.method = Method::other, .path = "/api/tasks"}).status, 405);
  EXPECT_EQ(site.call({.method = Method::head, .path = "/api/tasks"}).status, 200);
}

TEST(Routes, EveryRouteTellsAStrangerTaskThatItIsNotThere) {
  Site site;
  for (const RouteInfo& route : Routes::table()) {
    if (!route.pattern.starts_with("/api/tasks/{id}")) continue;
    std::string path(route.pattern);
    path.replace(path.find("{id}"), 4, "task_00000000000000000000000000");
    if (const size_t at = path.find("{name}"); at != std::string::npos) path.replace(at, 6, "x");
    std::string body;
    if (path.ends_with("/message") || path.ends_with("/resume")) body = R"({"message":"x"})";
    if (path.ends_with("/answer")) body = R"({"request_id":"r","answer":"x"})";
    if (route.method == Method::patch) body = R"({"pinned":true})";
    EXPECT_EQ(site.call({.method = route.method, .path = path, .body = body}).status, 404)
        << name(route.method) << " " << path;
  }
}

}  // namespace
}  // namespace errand::net

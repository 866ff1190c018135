// Who may do what: every route by every scope, what no token may hand on, and a task's own token.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "tests/api/site.h"

namespace errand::net {
namespace {

namespace json = boost::json;

Principal holder(std::initializer_list<Scope> scopes) {
  Principal who;
  who.id = "tok_test";
  for (const Scope scope : scopes) who.scopes.add(scope);
  return who;
}

Principal inside(const Site& site, const std::string& task) {
  Principal who;
  who.id = task;
  who.task = TaskId(task);
  who.scopes.add(Scope::tasks).add(Scope::exec);
  who.run = site.world.store->get(who.task).value().run;
  return who;
}

std::string create(Site& site, const std::string& message, const std::string& more = "") {
  return text_in(site.json({.method = Method::post,
                            .path = "/api/tasks",
                            .body = R"({"agent_id":"demo","message":")" + message + "\"" + more + "}"},
                           201)
                     .at("id"));
}

// Of a problem; empty for every other answer.
std::string reason(const Response& response) {
  if (response.content_type != "application/problem+json") return {};
  const json::value problem = json::parse(response.body);
  const json::value* found = problem.as_object().if_contains("reason");
  return found ? text_in(*found) : std::string();
}

Site::Ask launch(Principal who, std::string body) {
  return {.method = Method::post, .path = "/api/tasks", .body = std::move(body), .who = std::move(who)};
}

// A new route belongs into this table: who may use it is decided, not forgotten.
const std::map<std::string, std::string> expected = {
    {"GET /api/tasks", "read"},
    {"POST /api/tasks", "read"},  // And more, by what the body says.
    {"GET /api/tasks/running/count", "read"},
    {"POST /api/tasks/clear", "tasks"},
    {"GET /api/tasks/{id}", "read"},
    {"PATCH /api/tasks/{id}", "tasks"},
    {"DELETE /api/tasks/{id}", "tasks"},
    {"POST /api/tasks/{id}/cancel", "tasks"},
    {"POST /api/tasks/{id}/message", "tasks"},
    {"POST /api/tasks/{id}/resume", "tasks"},
    {"POST /api/tasks/{id}/retry", "tasks"},
    {"POST /api/tasks/{id}/answer", "read"},  // And more, by what is answered.
    {"GET /api/tasks/{id}/result", "read"},
    {"GET /api/tasks/{id}/messages", "read"},
    {"GET /api/tasks/{id}/events", "read"},
    {"GET /api/tasks/{id}/export", "read"},
    {"GET /api/tasks/{id}/stream", "read"},
    {"GET /api/tasks/{id}/log", "read"},
    {"GET /api/tasks/{id}/artifacts", "read"},
    {"POST /api/tasks/{id}/artifacts", "tasks"},
    {"GET /api/tasks/{id}/artifacts/{name}", "read"},
    {"GET /api/tasks/{id}/changes", "read"},
    {"GET /api/tasks/{id}/changes/{name}", "read"},
    {"POST /api/tasks/{id}/merge", "approve"},
    {"POST /api/tasks/{id}/merge/undo", "approve"},
    {"POST /api/tasks/{id}/discard", "tasks"},
    {"POST /api/tasks/{id}/discard/undo", "tasks"},
    {"POST /api/tasks/{id}/publish", "approve"},
    {"GET /api/tasks/{id}/commit-text", "read"},
    {"POST /api/tasks/{id}/commit-text", "tasks"},
    {"GET /api/stream", "read"},
    {"GET /api/usage", "read"},
    {"GET /api/batches", "read"},
    {"POST /api/batches", "read"},  // And more, by what is launched.
    {"GET /api/batches/{id}/attempts", "read"},
    {"POST /api/batches/{id}/test", "exec"},
    {"GET /api/batches/{id}", "read"},
    {"DELETE /api/batches/{id}", "tasks"},
    {"POST /api/batches/{id}/cancel", "tasks"},
    {"POST /api/batches/{id}/retry", "tasks"},
    {"POST /api/batches/{id}/clear", "tasks"},
    {"GET /api/batches/{id}/results", "read"},
    {"POST /api/sessions", "tasks"},
    {"GET /api/sessions/{id}", "read"},
    {"DELETE /api/sessions/{id}", "tasks"},
    {"GET /api/sessions/{id}/messages", "read"},
    {"GET /api/sessions/{id}/notices", "read"},
    {"GET /api/sessions/{id}/stream", "read"},
    {"POST /api/sessions/{id}/notices/{notice}/taken", "tasks"},
    {"GET /api/agents", "read"},
    {"POST /api/agents", "admin"},
    {"GET /api/agents/{id}", "read"},
    {"GET /api/agents/{id}/models", "read"},
    {"PUT /api/agents/{id}", "admin"},
    {"DELETE /api/agents/{id}", "admin"},
    {"DELETE /api/agents/{id}/granted", "admin"},
    {"GET /api/inbox", "read"},
    {"GET /api/folders", "admin"},
    {"GET /api/quotas", "read"},
    {"DELETE /api/quotas", "tasks"},
    {"GET /api/tools", "read"},
    {"POST /api/tools/{name}", "read"},  // And more, by the tool.
    {"GET /api/tokens", "admin"},
    {"POST /api/tokens", "admin"},
    {"DELETE /api/tokens/{id}", "admin"},
    {"GET /api/devices", "admin"},
    {"POST /api/devices/codes", "admin"},
    {"GET /api/devices/codes/{id}", "admin"},
    {"GET /api/devices/{id}", "read"},     // Of itself alone, for a device; admin for all others.
    {"DELETE /api/devices/{id}", "read"},  // The same, and for the next four.
    {"GET /api/devices/{id}/push", "read"},
    {"PUT /api/devices/{id}/push", "read"},
    {"DELETE /api/devices/{id}/push", "read"},
    {"POST /api/devices/{id}/push/test", "read"},
    {"GET /api/webhooks", "admin"},
    {"POST /api/webhooks", "admin"},
    {"PATCH /api/webhooks/{id}", "admin"},
    {"DELETE /api/webhooks/{id}", "admin"},
    {"POST /api/webhooks/{id}/rotate", "admin"},
    {"POST /api/webhooks/{id}/test", "admin"},
    {"GET /api/settings", "read"},
    {"PATCH /api/settings", "admin"},
    {"POST /api/login", ""},
    {"POST /api/login/codes", "admin"},
    {"POST /api/login/challenge", ""},
    {"POST /api/login/device", ""},
    {"POST /api/pair", ""},
    {"POST /api/logout", ""},
    {"GET /api/health", ""},
    {"GET /api/openapi.json", "read"},
    {"GET /metrics", "read"},
    {"POST /mcp", "read"},
    {"GET /mcp", "read"},
    {"DELETE /mcp", "read"},
};

std::string filled(std::string_view pattern) {
  std::string path(pattern);
  for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{'))
    path.replace(open, path.find('}') - open + 1, "x");
  return path;
}

TEST(Scopes, EveryRouteHasTheScopeThatIsMeant) {
  std::set<std::string> seen;
  for (const RouteInfo& route : Routes::table()) {
    const std::string name_of = std::string(name(route.method)) + " " + std::string(route.pattern);
    seen.insert(name_of);
    const auto known = expected.find(name_of);
    ASSERT_NE(known, expected.end()) << name_of << ": say here who may use this route";
    EXPECT_EQ(route.scope, known->second) << name_of;
  }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(Scopes, WhoLacksTheScopeOfARouteIsRefusedBeforeAnythingElse) {
  for (const RouteInfo& route : Routes::table()) {
    if (route.scope.empty()) continue;
    for (int i = 0; i < scope_count; ++i) {
      Site site;
      const Scope scope = static_cast<Scope>(i);
      const Principal who = holder({scope});
      const bool may = who.may(*parse_scope(route.scope));
      const auto exchange = site.begin({.method = route.method, .path = filled(route.pattern), .who = who});
      site.world.settle();
      ASSERT_TRUE(exchange->answer);
      EXPECT_EQ(reason(*exchange->answer) == "scope", !may)
          << name(route.method) << " " << route.pattern << " by " << name(scope) << ": " << exchange->answer->body;
    }
    // Who shows nothing may nothing, whatever the head check has let pass.
    Site site;
    const Response response = site.call({.method = route.method, .path = filled(route.pattern), .who = {}});
    EXPECT_EQ(response.status, 403) << route.pattern;
  }
}

TEST(Scopes, NobodyLaunchesWhatHeCouldNotDoOrApproveHimself) {
  Site site;
  const std::string agent = R"({"agent_id":"demo","message":"noop")", end = "}";
  const Principal tasks = holder({Scope::tasks}), exec = holder({Scope::exec});
  EXPECT_EQ(site.call(launch(tasks, agent + end)).status, 201);
  const std::vector<std::string> beyond_tasks = {
      R"({"kind":"command","command":"true"})",
      R"({"command":"true"})",
      agent + R"(,"env":{"LD_PRELOAD":"/tmp/x.so"}})",
      agent + R"(,"pass_env":["SECRET_KEY"]})",
      agent + R"(,"artifacts":["**"]})",
      agent + R"(,"permission":"allow"})",
      agent + R"(,"permission":[{"tool":"bash","pattern":"rm *","decision":"allow"}]})",
  };
  for (const std::string& body : beyond_tasks) {
    const Response response = site.call(launch(tasks, body));
    EXPECT_EQ(response.status, 403) << body << response.body;
    EXPECT_EQ(reason(response), "scope") << body;
  }
  EXPECT_EQ(site.call(launch(tasks, agent + R"(,"permission":"deny"})")).status, 201);
  EXPECT_EQ(site.call(launch(holder({Scope::tasks, Scope::approve}), agent + R"(,"permission":"allow"})")).status, 201);
  EXPECT_EQ(reason(site.call(launch(exec, agent + end))), "scope");
  EXPECT_EQ(reason(site.call(launch(holder({Scope::read}), agent + end))), "scope");
  EXPECT_EQ(reason(site.call(launch(holder({Scope::approve}), agent + end))), "scope");
  // Nothing of what was refused is there.
  EXPECT_EQ(site.json({.path = "/api/tasks", .query = {{"total", "true"}}}).at("total"), 3);
}

TEST(Scopes, TheToolsAskForTheSame) {
  Site site;
  const auto is_error = [&](const Principal& who, const std::string& tool, const std::string& arguments) {
    const json::value said = site.json({.method = Method::post,
                                        .path = "/api/tools/" + tool,
                                        .body = R"({"arguments":)" + arguments + "}",
                                        .who = who});
    return said.at("is_error").as_bool() && text_in(said.at("text")).find("scope") != std::string::npos;
  };
  const std::string id = create(site, "noop");
  const Principal read = holder({Scope::read}), tasks = holder({Scope::tasks}), exec = holder({Scope::exec});
  const std::string one = R"({"task_id":")" + id + "\"}";
  for (const char* tool : {"background_list", "background_output", "look_at"})
    EXPECT_FALSE(is_error(read, tool, tool == std::string("background_list") ? "{}" : one)) << tool;
  for (const char* tool : {"background_cancel", "background_clear", "background_retry"})
    EXPECT_TRUE(is_error(read, tool, one)) << tool;
  EXPECT_TRUE(is_error(read, "background_message", R"({"task_id":")" + id + R"(","message":"x"})"));
  EXPECT_TRUE(is_error(read, "background_task", R"({"agent":"demo","prompt":"noop"})"));
  EXPECT_TRUE(is_error(read, "background_execute", R"({"command":"true"})"));
  EXPECT_TRUE(is_error(read, "session_manager", R"({"action":"list"})"));
  EXPECT_FALSE(is_error(tasks, "background_task", R"({"agent":"demo","prompt":"noop"})"));
  EXPECT_TRUE(is_error(tasks, "background_task", R"({"agent":"demo","prompt":"noop","artifacts":["**"]})"));
  EXPECT_TRUE(is_error(tasks, "superagents_execute", R"({"command":"true"})"));
  EXPECT_TRUE(is_error(tasks, "background_task:execute", R"({"command":"true"})"));
  EXPECT_FALSE(is_error(exec, "background_execute", R"({"command":"true"})"));
  EXPECT_TRUE(is_error(exec, "background_cancel", one));
}

TEST(Scopes, WhoOnlyReadsMarksNothingAsReadAndTakesNoNotice) {
  Site site;
  site.json({.method = Method::post, .path = "/api/sessions", .body = R"({"id":"parent"})"}, 201);
  const std::string id = create(site, "noop", R"(,"parent_session_id":"parent","batch_id":"b1")");
  site.world.advance(60'000);
  const auto retrieved = [&] { return site.json({.path = "/api/tasks/" + id}).at("retrieved_at"); };
  const auto notices = [&] {
    return site.json({.path = "/api/sessions/parent/notices"}).at("notices").as_array().size();
  };
  const size_t owed = notices();
  ASSERT_GT(owed, 0U);
  const Principal read = holder({Scope::read});
  EXPECT_EQ(site.json({.path = "/api/tasks/" + id + "/result", .who = read}).at("status"), "completed");
  EXPECT_EQ(
      site.json({.path = "/api/tasks/" + id + "/result", .query = {{"block", "true"}}, .who = read}).at("timed_out"),
      false);
  EXPECT_EQ(site.json({.path = "/api/batches/b1/results", .who = read}).at("results").as_array().size(), 1U);
  EXPECT_EQ(site.json({.method = Method::post,
                       .path = "/api/tools/background_output",
                       .body = R"({"session_id":"parent","arguments":{"task_id":")" + id + R"(","block":true}})",
                       .who = read})
                .at("is_error"),
            false);
  EXPECT_TRUE(retrieved().is_null());
  EXPECT_EQ(notices(), owed);
  // Asking for what comes after the last one says that one has the others.
  const auto after_all = [&](const Principal& who) {
    return site.json({.path = "/api/sessions/parent/notices", .query = {{"after", "1000"}}, .who = who});
  };
  EXPECT_EQ(after_all(read).at("notices").as_array().size(), 0U);
  EXPECT_EQ(notices(), owed);
  EXPECT_EQ(site.call({.path = "/api/sessions/none/notices", .query = {{"after", "1"}}, .who = read}).status, 404);
  after_all(holder({Scope::tasks}));
  EXPECT_EQ(notices(), 0U);
  site.json({.path = "/api/tasks/" + id + "/result", .who = holder({Scope::tasks})});
  EXPECT_FALSE(retrieved().is_null());
}

TEST(Scopes, OnlyApproveDecidesWhatATaskMayDo) {
  Site site;
  const std::string id = create(site, "permission");
  site.world.advance(10'000);
  const json::value task = site.json({.path = "/api/tasks/" + id});
  ASSERT_TRUE(task.at("waiting_for").is_object()) << task;
  const std::string body =
      R"({"decision":"allow","request_id":")" + text_in(task.at("waiting_for").at("request_id")) + "\"}";
  const auto answer = [&](const Principal& who) {
    return site.call({.method = Method::post, .path = "/api/tasks/" + id + "/answer", .body = body, .who = who});
  };
  EXPECT_EQ(reason(answer(holder({Scope::tasks, Scope::exec}))), "scope");
  EXPECT_EQ(answer(holder({Scope::approve})).status, 200);
  // An answer to a question is no permission, but it is more than reading.
  const Response plain = site.call({.method = Method::post,
                                    .path = "/api/tasks/" + id + "/answer",
                                    .body = R"({"request_id":"x","answer":"y"})",
                                    .who = holder({Scope::approve})});
  EXPECT_EQ(reason(plain), "scope");
}

TEST(Scopes, KeysOfDifferentCallersAreDifferentKeys) {
  Site site;
  const auto with_key = [&](const Principal& who) {
    Site::Ask ask = launch(who, R"({"agent_id":"demo","message":"noop"})");
    ask.headers = {{"idempotency-key", "k"}};
    return text_in(site.json(std::move(ask), 201).at("id"));
  };
  const std::string owners = with_key(Principal::owner()), theirs = with_key(holder({Scope::tasks}));
  EXPECT_NE(owners, theirs);
  EXPECT_EQ(with_key(holder({Scope::tasks})), theirs);
  EXPECT_EQ(with_key(Principal::owner()), owners);
}

TEST(Scopes, ATokenMadeByOneThatEndsEndsNoLater) {
  Site site;
  Principal admin = holder({Scope::admin});
  admin.expires_at = site.world.clock.wall() + 10'000;
  const auto made = [&](const std::string& more) {
    return site.json({.method = Method::post,
                      .path = "/api/tokens",
                      .body = R"({"name":"n","scopes":["read"])" + more + "}",
                      .who = admin},
                     201);
  };
  const json::value never = made(""), later = made(R"(,"expires_in_s":3600)");
  EXPECT_EQ(never.at("expires_at"), later.at("expires_at"));
  EXPECT_TRUE(never.at("expires_at").is_string());
  ASSERT_TRUE(site.tokens.use(text_in(never.at("token"))));
  site.world.clock.advance(10'000);
  EXPECT_FALSE(site.tokens.use(text_in(never.at("token"))));
}

TEST(Scopes, TheStreamsOfARevokedTokenEnd) {
  Site site;
  const json::value made =
      site.json({.method = Method::post, .path = "/api/tokens", .body = R"({"name":"n","scopes":["read"]})"}, 201);
  const auto reader = site.open({.path = "/api/stream", .who = *site.tokens.use(text_in(made.at("token")))});
  EXPECT_FALSE(reader->ended);
  site.call({.method = Method::del, .path = "/api/tokens/" + text_in(made.at("id"))});
  const std::string before = reader->text;
  create(site, "noop");
  EXPECT_TRUE(reader->ended);
  EXPECT_EQ(reader->text, before);
}

TEST(TaskToken, ReachesWhatTheTaskLaunchedAndNothingElse) {
  Site site;
  const std::string parent = create(site, "hang"), other = create(site, "noop");
  const Principal who = inside(site, parent);
  const auto launched = [&](const Principal& by) {
    return site.json(launch(by, R"({"agent_id":"demo","message":"hang","parent_session_id":"forged"})"), 201);
  };
  const json::value child = launched(who);
  const std::string id = text_in(child.at("id"));
  EXPECT_EQ(child.at("parent_session_id"), site.json({.path = "/api/tasks/" + parent}).at("session_id"));
  const std::string grandchild = text_in(launched(inside(site, id)).at("id"));

  EXPECT_EQ(site.call({.path = "/api/tasks/" + parent, .who = who}).status, 200);
  EXPECT_EQ(site.call({.path = "/api/tasks/" + id + "/messages", .who = who}).status, 200);
  EXPECT_EQ(site.call({.path = "/api/tasks/" + grandchild + "/events", .who = who}).status, 200);
  EXPECT_EQ(site.json({.path = "/api/tasks", .who = who}).at("tasks").as_array().size(), 1U);
  EXPECT_EQ(site.json({.path = "/api/tasks", .query = {{"parent_session_id", "x"}}, .who = who})
                .at("tasks")
                .as_array()
                .size(),
            1U);
  const auto refused_at = [&](Method method, const std::string& path, const std::string& body = {}) {
    return reason(site.call({.method = method, .path = path, .body = body, .who = who})) == "subtree";
  };
  for (const char* of : {"", "/messages", "/log", "/stream", "/result"})
    EXPECT_TRUE(refused_at(Method::get, "/api/tasks/" + other + of)) << of;
  EXPECT_TRUE(refused_at(Method::post, "/api/tasks/" + other + "/cancel"));
  EXPECT_TRUE(refused_at(Method::post, "/api/tasks/" + parent + "/cancel"));
  EXPECT_TRUE(refused_at(Method::del, "/api/tasks/" + parent));
  EXPECT_TRUE(refused_at(Method::get, "/api/stream"));
  EXPECT_TRUE(refused_at(Method::get, "/api/settings"));
  EXPECT_TRUE(refused_at(Method::get, "/api/quotas"));
  EXPECT_TRUE(refused_at(Method::del, "/api/quotas"));
  EXPECT_TRUE(refused_at(Method::get, "/metrics"));
  EXPECT_TRUE(refused_at(Method::post, "/api/tasks/clear", "{}"));
  EXPECT_TRUE(refused_at(Method::get, "/api/batches/b"));
  EXPECT_TRUE(refused_at(Method::post, "/api/sessions", "{}"));
  const std::string own = text_in(site.json({.path = "/api/tasks/" + parent}).at("session_id"));
  EXPECT_EQ(site.call({.path = "/api/sessions/" + own + "/notices", .who = who}).status, 200);
  EXPECT_TRUE(refused_at(Method::del, "/api/sessions/" + own));
  EXPECT_TRUE(refused_at(Method::get, "/api/sessions/" + text_in(child.at("session_id"))));
  EXPECT_EQ(reason(site.call({.path = "/api/tokens", .who = who})), "scope");

  // By the tools: as that task, whatever session the call names.
  const json::value listed = site.json({.method = Method::post,
                                        .path = "/api/tools/background_list",
                                        .body = R"({"session_id":"forged","arguments":{}})",
                                        .who = who});
  EXPECT_NE(text_in(listed.at("text")).find(id), std::string::npos);
  const json::value foreign = site.json({.method = Method::post,
                                         .path = "/api/tools/background_clear",
                                         .body = R"({"arguments":{"task_id":")" + other + "\"}}",
                                         .who = who});
  EXPECT_EQ(foreign.at("is_error"), true);
  EXPECT_EQ(site.json({.path = "/api/tasks/" + other}).at("status"), "completed");
  EXPECT_EQ(site.call({.method = Method::post, .path = "/api/tasks/" + id + "/cancel", .who = who}).status, 200);
}

TEST(TaskToken, DiesWithTheRunThatItWasMadeFor) {
  Site site;
  const std::string id = create(site, "hang");
  const Principal who = inside(site, id);
  ASSERT_EQ(site.call({.path = "/api/tasks/" + id, .who = who}).status, 200);
  const auto reader = site.open({.path = "/api/tasks/" + id + "/stream", .who = who});
  EXPECT_FALSE(reader->ended);
  site.call({.method = Method::post, .path = "/api/tasks/" + id + "/cancel"});
  EXPECT_EQ(site.call({.path = "/api/tasks/" + id, .who = who}).status, 401);
  EXPECT_EQ(site.call(launch(who, R"({"agent_id":"demo","message":"noop"})")).status, 401);
  EXPECT_EQ(site.call({.method = Method::post, .path = "/mcp", .who = who}).status, 401);
  // A new run has a new token; the old one stays dead.
  site.world.advance(10'000);
  ASSERT_EQ(site.call({.method = Method::post, .path = "/api/tasks/" + id + "/retry"}).status, 200);
  EXPECT_EQ(site.call({.path = "/api/tasks/" + id, .who = who}).status, 401);
  EXPECT_EQ(site.call({.path = "/api/tasks/" + id, .who = inside(site, id)}).status, 200);
  // And with the task.
  site.call({.method = Method::del, .path = "/api/tasks/" + id});
  EXPECT_EQ(site.call({.path = "/api/tasks", .who = who}).status, 401);
}

TEST(TaskToken, GivesNoMoreThanTheTaskHas) {
  Site site;
  // An agent that has to ask starts no commands by its token, and hands nothing on.
  const std::string asks = create(site, "hang", R"(,"permission":"ask","work_dir":"/tmp")");
  const Principal who = inside(site, asks);
  EXPECT_EQ(reason(site.call(launch(who, R"({"command":"true"})"))), "scope");
  EXPECT_EQ(reason(site.call(launch(who, R"({"agent_id":"demo","message":"noop","permission":"allow"})"))), "scope");
  EXPECT_EQ(reason(site.call(launch(who, R"({"agent_id":"demo","message":"noop","work_dir":"/etc"})"))),
            "beyond_parent");
  const json::value child = site.json(launch(who, R"({"agent_id":"demo","message":"noop"})"), 201);
  EXPECT_EQ(reason(site.call({.method = Method::post,
                              .path = "/api/tasks/" + text_in(child.at("id")) + "/answer",
                              .body = R"({"request_id":"x","decision":"allow"})",
                              .who = who})),
            "scope");
  EXPECT_FALSE(site.world.store->get(TaskId(text_in(child.at("id")))).value().launch.bounds.empty());
  // One that may run anything unasked may start commands as well. (There is no driver for them here.)
  const std::string free = create(site, "hang", R"(,"permission":"allow")");
  EXPECT_NE(reason(site.call(launch(inside(site, free), R"({"command":"true"})"))), "scope");
  // One with a rule against some of them may not.
  const std::string ruled =
      create(site, "hang",
             R"(,"permission":[{"tool":"bash","pattern":"rm *","decision":"deny"},{"tool":"*","decision":"allow"}])");
  EXPECT_EQ(reason(site.call(launch(inside(site, ruled), R"({"command":"true"})"))), "scope");
}

}  // namespace
}  // namespace errand::net

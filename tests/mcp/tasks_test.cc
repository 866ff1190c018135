// Tasks of MCP, in both generations, over the tasks of errand.
#include "tests/mcp/client.h"

namespace errand::mcp {
namespace {

struct Legacy : Client {
  using Client::Client;
  json::object make(const std::string& prompt) {
    return ask("tools/call", R"({"name":"background_task","arguments":{"agent":"demo","prompt":")" + prompt +
                                 R"("},"task":{"ttl":60000}})")
        .at("result")
        .at("task")
        .as_object();
  }
  json::object about(const std::string& method, const json::object& task) {
    return ask(method, R"({"taskId":")" + std::string(task.at("taskId").as_string()) + R"("})");
  }
};

struct Modern : ModernClient {
  explicit Modern(net::Site& with) : ModernClient(with) {
    capabilities = R"({"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"form":{}}})";
  }
  json::object make(const std::string& prompt) {
    return tool("background_task", R"({"agent":"demo","prompt":")" + prompt + R"("})");
  }
  static std::string param(const json::object& task) {
    return R"({"taskId":")" + std::string(task.at("taskId").as_string()) + R"("})";
  }
};

TEST(LegacyTasks, AreMadeFollowedAndRead) {
  net::Site site;
  Legacy client(site);
  client.open();
  const json::object made = client.make("long 1");
  EXPECT_EQ(made.at("status").as_string(), "working");
  EXPECT_TRUE(made.at("ttl").is_null());
  for (const char* const name : {"createdAt", "lastUpdatedAt"}) EXPECT_TRUE(made.at(name).is_string());
  EXPECT_EQ(client.about("tasks/get", made).at("result").at("status").as_string(), "working");
  EXPECT_EQ(client.ask("tasks/list").at("result").at("tasks").as_array().at(0).at("taskId"), made.at("taskId"));
  const auto result = client.begin(
      net::Method::post, R"({"jsonrpc":"2.0","id":"r","method":"tasks/result","params":)" + Modern::param(made) + "}");
  EXPECT_FALSE(result->answer) << "it waits for the end";
  site.world.advance(5'000);
  ASSERT_TRUE(result->answer);
  const json::object told = json::parse(result->answer->body).at("result").as_object();
  EXPECT_EQ(told.at("_meta").at("io.modelcontextprotocol/related-task").at("taskId"), made.at("taskId"));
  EXPECT_EQ(told.at("structuredContent").at("status").as_string(), "completed");
  EXPECT_EQ(client.about("tasks/get", made).at("result").at("status").as_string(), "completed");
  EXPECT_EQ(client.about("tasks/cancel", made).at("error").at("code").as_int64(), code::invalid_params) << "it is over";
  EXPECT_EQ(client.call("background_list", "{}").at("content").as_array().size(), 1U)
      << "who read the result is not told again";
}

TEST(LegacyTasks, CancelEndsTheTaskAndOtherToolsMakeNone) {
  net::Site site;
  Legacy client(site);
  client.open();
  const json::object made = client.make("long 60");
  EXPECT_EQ(client.about("tasks/cancel", made).at("result").at("status").as_string(), "cancelled");
  EXPECT_EQ(client.ask("tools/call", R"({"name":"background_list","arguments":{},"task":{}})")
                .at("error")
                .at("code")
                .as_int64(),
            code::method_not_found);
  EXPECT_EQ(client.ask("tools/call", R"({"name":"background_task","arguments":{},"task":{}})")
                .at("error")
                .at("code")
                .as_int64(),
            code::invalid_params);
  EXPECT_EQ(client.ask("tasks/get", R"({"taskId":"task_x"})").at("error").at("code").as_int64(), code::invalid_params);
}

TEST(LegacyTasks, ATaskThatFailedIsFailed) {
  net::Site site;
  Legacy client(site);
  client.open();
  const json::object made = client.make("fail");
  site.world.advance(3'000);
  EXPECT_EQ(client.about("tasks/get", made).at("result").at("status").as_string(), "failed");
  EXPECT_TRUE(client.about("tasks/result", made).at("result").at("isError").as_bool());
}

TEST(ModernTasks, AreGivenToThoseWhoKnowThem) {
  net::Site site;
  Modern client(site);
  const json::object made = client.make("long 1");
  EXPECT_EQ(made.at("resultType").as_string(), "task");
  EXPECT_EQ(made.at("status").as_string(), "working");
  EXPECT_TRUE(made.at("ttlMs").is_null());
  EXPECT_FALSE(made.contains("task"));
  EXPECT_EQ(client.result("tasks/get", Modern::param(made)).at("status").as_string(), "working");
  site.world.advance(5'000);
  const json::object done = client.result("tasks/get", Modern::param(made));
  EXPECT_EQ(done.at("status").as_string(), "completed");
  EXPECT_EQ(done.at("result").at("resultType").as_string(), "complete");
  EXPECT_FALSE(done.at("result").at("isError").as_bool());
  EXPECT_EQ(client.result("tasks/cancel", Modern::param(made)).at("resultType").as_string(), "complete")
      << "idempotent";
  for (const char* const method : {"tasks/list", "tasks/result"}) client.modern(method, Modern::param(made), 404);
  client.capabilities = "{}";
  EXPECT_EQ(client.make("noop").at("resultType").as_string(), "complete");
  const json::object refused = client.modern("tasks/get", Modern::param(made), 400);
  EXPECT_EQ(refused.at("error").at("code").as_int64(), code::missing_capability);
  EXPECT_TRUE(
      refused.at("error").at("data").at("requiredCapabilities").at("extensions").as_object().contains(tasks_extension));
}

TEST(ModernTasks, AToolThatFailedIsCompletedWithAnError) {
  net::Site site;
  Modern client(site);
  const json::object made = client.make("fail");
  site.world.advance(3'000);
  const json::object done = client.result("tasks/get", Modern::param(made));
  EXPECT_EQ(done.at("status").as_string(), "completed");
  EXPECT_TRUE(done.at("result").at("isError").as_bool());
}

TEST(ModernTasks, AskAndAreAnswered) {
  net::Site site;
  Modern client(site);
  const json::object made = client.make("ask");
  site.world.advance(3'000);
  const json::object asks = client.result("tasks/get", Modern::param(made));
  ASSERT_EQ(asks.at("status").as_string(), "input_required");
  const std::string key(asks.at("inputRequests").as_object().begin()->key());
  const std::string id = std::string(made.at("taskId").as_string());
  client.result("tasks/update",
                R"({"taskId":")" + id + R"(","inputResponses":{"other":{"action":"accept","content":{}}}})");
  EXPECT_EQ(client.result("tasks/get", Modern::param(made)).at("status").as_string(), "input_required");
  client.result("tasks/update", R"({"taskId":")" + id + R"(","inputResponses":{")" + key +
                                    R"(":{"action":"accept","content":{"answer":"green"}}}})");
  site.world.advance(5'000);
  const json::object done = client.result("tasks/get", Modern::param(made));
  EXPECT_EQ(done.at("status").as_string(), "completed");
  EXPECT_NE(json::serialize(done.at("result")).find("green"), std::string::npos);
}

TEST(McpTasks, AreKnownAfterACrashAndEndForGoodThoughTheTaskGoesOn) {
  net::Site site;
  std::string handle;
  {
    Modern client(site);
    const json::object made = client.make("noop");
    handle = std::string(made.at("taskId").as_string());
    site.world.advance(1'000);
  }
  Modern client(site);
  const std::string param = R"({"taskId":")" + handle + R"("})";
  EXPECT_EQ(client.result("tasks/get", param).at("status").as_string(), "completed");
  const json::object resumed =
      client.result("tools/call", R"({"name":"background_task","arguments":{"prompt":"long 5","resume":")" +
                                      handle.substr(0, handle.find('.')) + R"("}})");
  EXPECT_EQ(resumed.at("resultType").as_string(), "task");
  EXPECT_NE(resumed.at("taskId").as_string(), handle) << "a turn of its own";
  EXPECT_EQ(client.result("tasks/get", Modern::param(resumed)).at("status").as_string(), "working");
  EXPECT_EQ(client.result("tasks/get", param).at("status").as_string(), "completed");
  // An id that was made up, or changed, is nobody's.
  std::string forged = handle;
  forged.back() = forged.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(client.modern("tasks/get", R"({"taskId":")" + forged + R"("})").at("error").at("code").as_int64(),
            code::invalid_params);
  EXPECT_EQ(client.modern("tasks/cancel", R"({"taskId":")" + forged + R"("})").at("error").at("code").as_int64(),
            code::invalid_params);
}

}  // namespace
}  // namespace errand::mcp

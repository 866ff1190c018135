// Resources, prompts and completions, in both eras.
#include "mcp/task_uri.h"
#include "tests/mcp/client.h"

namespace errand::mcp {
namespace {

TEST(TaskUris, NameWhatATaskLeftAndNothingElse) {
  const TaskId id("task_01k9z3s5x7e8abcdefghjkmnpq");
  const auto read = parse_task_uri("task://" + id.value + "/log?offset=-10&limit=5");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->task, id);
  EXPECT_EQ(read->path, "log");
  EXPECT_EQ(read->offset, -10);
  EXPECT_EQ(read->limit, 5);
  for (const std::string name : {"a.txt", "dist/app.js", "with space", "ünïcode?#%.txt"}) {
    const auto back = parse_task_uri(artifact_uri(id, name));
    ASSERT_TRUE(back) << name;
    EXPECT_EQ(back->path, name);
    EXPECT_TRUE(back->artifact);
  }
  for (const std::string& wrong :
       {std::string("task://"), "task://" + id.value, "task://" + id.value + "/", "task://" + id.value + "/secrets",
        "task://" + id.value + "/artifacts/", "task://" + id.value + "/artifacts/%",
        "task://" + id.value + "/artifacts/%00", "task://" + id.value + "/log?x=1",
        "task://" + id.value + "/log?limit=0", "task://" + id.value + "/log?offset=", std::string("task://../etc/log"),
        "file:///" + id.value + "/log", "task://" + id.value + "/artifacts/%ff"})
    EXPECT_FALSE(parse_task_uri(wrong)) << wrong;
}

TEST(Resources, AreTheCallersTasksOwnInBothEras) {
  net::Site site;
  Client legacy(site);
  legacy.open();
  const std::string id(legacy.call("background_task", R"({"agent":"demo","prompt":"noop"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  site.world.advance(1'000);
  const json::object list = legacy.ask("resources/list").at("result").as_object();
  std::set<std::string> uris;
  for (const json::value& one : list.at("resources").as_array()) {
    uris.emplace(one.at("uri").as_string());
    EXPECT_FALSE(one.at("description").as_string().empty());
    const json::object read =
        legacy.ask("resources/read", R"({"uri":")" + std::string(one.at("uri").as_string()) + R"("})");
    ASSERT_TRUE(read.contains("result")) << json::serialize(read);
    EXPECT_TRUE(read.at("result").at("contents").as_array().at(0).as_object().contains("text"));
  }
  EXPECT_EQ(uris, (std::set<std::string>{"task://" + id + "/result", "task://" + id + "/transcript"}));
  const std::string uri = R"({"uri":"task://)" + id + R"(/result"})";
  ModernClient stranger(site);
  const json::object refused = stranger.modern("resources/read", uri);
  EXPECT_EQ(refused.at("error").at("code").as_int64(), code::invalid_params);
  EXPECT_EQ(refused.at("error").at("data").at("uri").as_string(), "task://" + id + "/result");
  EXPECT_TRUE(stranger.result("resources/list").at("resources").as_array().empty());
  EXPECT_EQ(legacy.ask("resources/read", R"({"uri":"task://nothing"})").at("error").at("code").as_int64(),
            code::unknown_resource_2025);
  const json::object mine =
      stranger.result("resources/read", R"({"uri":"task://)" + id + R"(/result","_meta":{"errand/session":")" +
                                            legacy.session + R"("}})");
  EXPECT_EQ(mine.at("cacheScope").as_string(), "private");
}

TEST(Resources, TemplatesCanBeCompleted) {
  net::Site site;
  Client client(site);
  client.open();
  const std::string id(client.call("background_task", R"({"agent":"demo","prompt":"noop"})")
                           .at("structuredContent")
                           .at("task_id")
                           .as_string());
  EXPECT_EQ(client.ask("resources/templates/list").at("result").at("resourceTemplates").as_array().size(), 5U);
  const auto complete = [&](const std::string& begun) {
    return client
        .ask("completion/complete",
             R"({"ref":{"type":"ref/resource","uri":"task://{id}/log"},"argument":{"name":"id","value":")" + begun +
                 R"("}})")
        .at("result")
        .at("completion")
        .at("values")
        .as_array();
  };
  ASSERT_EQ(complete("task_").size(), 1U);
  EXPECT_EQ(complete("task_")[0].as_string(), id);
  EXPECT_TRUE(complete("task_x").empty());
  EXPECT_EQ(client.ask("completion/complete", "{}").at("error").at("code").as_int64(), code::invalid_params);
}

TEST(Prompts, AreThePresetsThatShip) {
  net::Site site;
  Client client(site);
  client.open();
  const json::array prompts = client.ask("prompts/list").at("result").at("prompts").as_array();
  ASSERT_EQ(prompts.size(), 1U);
  EXPECT_EQ(prompts[0].at("name").as_string(), "background-task-manager");
  const json::object got =
      client.ask("prompts/get", R"({"name":"background-task-manager","arguments":{"task":"build it"}})")
          .at("result")
          .as_object();
  const std::string text(got.at("messages").as_array().at(0).at("content").at("text").as_string());
  EXPECT_NE(text.find("Background Task Manager"), std::string::npos);
  EXPECT_TRUE(text.ends_with("build it"));
  EXPECT_EQ(client.ask("prompts/get", R"({"name":"x"})").at("error").at("code").as_int64(), code::invalid_params);
  EXPECT_EQ(client.ask("prompts/get", R"({"name":"background-task-manager","arguments":{"x":"y"}})")
                .at("error")
                .at("code")
                .as_int64(),
            code::invalid_params);
}

}  // namespace
}  // namespace errand::mcp

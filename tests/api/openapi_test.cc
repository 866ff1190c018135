// The OpenAPI document against the code: every route is in it and nothing else, and the shapes have the fields that are
// really read and written. The end-to-end suites hold every reply that they see to its schemas.
#include "api/openapi.h"

#include <algorithm>
#include <set>
#include <string>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "api/agents.h"
#include "api/launch.h"
#include "api/replies.h"
#include "api/settings.h"
#include "base/json_out.h"
#include "base/text.h"
#include "engine/frame.h"
#include "net/routes/routes.h"
#include "tools/family.h"

namespace errand {
namespace {

namespace json = boost::json;

const json::object& document() {
  static const json::value parsed = json::parse(api::openapi_document());
  return parsed.as_object();
}

const json::object& schema(std::string_view name) {
  return document().at("components").at("schemas").as_object().at(name).as_object();
}

std::set<std::string> keys(const json::value& object) {
  std::set<std::string> all;
  for (const auto& member : object.as_object()) all.emplace(member.key());
  return all;
}

const std::set<std::string> methods = {"get", "post", "put", "patch", "delete"};

template <class Visit>
void each_operation(Visit visit) {
  for (const auto& path : document().at("paths").as_object()) {
    for (const auto& member : path.value().as_object()) {
      if (methods.contains(std::string(member.key()))) {
        visit(std::string(path.key()), std::string(member.key()), path.value(), member.value().as_object());
      }
    }
  }
}

void check_references(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) check_references(element);
  }
  const json::object* object = value.if_object();
  if (!object) return;
  for (const auto& member : *object) {
    if (member.key() == "$ref") {
      const std::string target(member.value().as_string());
      ASSERT_TRUE(target.starts_with("#/")) << target;
      json::error_code error;
      const json::value whole(document());
      EXPECT_NE(whole.find_pointer(target.substr(1), error), nullptr) << target;
    } else {
      check_references(member.value());
    }
  }
}

TEST(OpenApi, DescribesEveryRouteAndNothingElse) {
  std::set<std::string> described, served;
  each_operation([&](const std::string& path, const std::string& method, const json::value&, const json::object&) {
    std::string upper = method;
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    described.insert(upper + " " + path);
  });
  for (const net::RouteInfo& route : net::Routes::table()) {
    served.insert(std::string(name(route.method)) + " " + std::string(route.pattern));
  }
  EXPECT_EQ(described, served);
}

TEST(OpenApi, EveryOperationIsWhole) {
  std::set<std::string> ids;
  each_operation(
      [&](const std::string& path, const std::string& method, const json::value& item, const json::object& operation) {
        const std::string what = method + " " + path;
        EXPECT_TRUE(ids.insert(std::string(operation.at("operationId").as_string())).second) << what;
        EXPECT_FALSE(operation.at("summary").as_string().empty()) << what;
        EXPECT_TRUE(operation.at("responses").as_object().contains("default")) << what;
        std::set<std::string> parameters;
        for (const json::object* holder : {&operation, item.if_object()}) {
          if (!holder->contains("parameters")) continue;
          for (const json::value& parameter : holder->at("parameters").as_array()) {
            if (parameter.at("in") == "path") parameters.emplace(parameter.at("name").as_string());
          }
        }
        std::set<std::string> named;
        for (const std::string_view segment : split(path, '/')) {
          if (segment.starts_with('{')) named.emplace(segment.substr(1, segment.size() - 2));
        }
        EXPECT_EQ(parameters, named) << what;
      });
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) { check_references(json::value(document())); }

TEST(OpenApi, LaunchHasTheFieldsThatAreRead) {
  const Result<Launch> refused = api::parse_launch(R"({"agent_id":"a","message":"m","no_such_field":1})");
  ASSERT_FALSE(refused);
  std::string_view known = refused.error().message;
  constexpr std::string_view mark = "Known here: ";
  known = known.substr(known.find(mark) + mark.size());
  known.remove_suffix(1);
  std::set<std::string> fields;
  for (const std::string_view field : split(known, ',')) fields.emplace(trim(field));
  EXPECT_EQ(keys(schema("Launch").at("properties")), fields);
}

TEST(OpenApi, TheShapesHaveTheFieldsThatAreWritten) {
  Task task;
  task.id = TaskId("task_1");
  const TaskView view{task, {}};
  const auto check = [&](std::string_view name, const std::string& reply) {
    std::set<std::string> required;
    for (const json::value& field : schema(name).at("required").as_array()) required.emplace(field.as_string());
    const std::set<std::string> written = keys(json::parse(reply));
    EXPECT_TRUE(std::ranges::includes(written, required)) << name << ": " << reply;
    EXPECT_TRUE(std::ranges::includes(keys(schema(name).at("properties")), written)) << name << ": " << reply;
  };
  check("Task", api::task_reply(view));
  check("TaskList", api::list_reply({}, {}));
  check("Result", api::result_reply({view, false}));
  check("MessageTaken", api::message_taken_reply({view, 1, MessageId("msg_1")}));
  check("Cleared", api::cleared_reply({}));
  check("Messages", api::messages_reply({}));
  check("Events", api::events_reply({}, 0));
  check("Batch", api::batch_reply(BatchId("b"), {}));
  check("BatchList", api::batches_reply({}));
  check("UsageReport", api::usage_reply({}, {}));
  check("BatchResults", api::batch_results_reply(BatchId("b"), {}, {}, false));
  check("Session", api::session_reply({}));
  check("Notices", api::notices_reply({}, 0));
  check("Notice", api::notice_reply({}));
  check("Agents", api::agents_reply({}, {}, ""));
  check("Agents", api::agents_reply({}, {}, "builtin"));
  check("Agent", api::agent_reply({}, {}));
  check("Agent",
        api::agent_reply({}, {.capabilities = {}, .program = api::AgentProgram{.name = "x", .logged_in = true}}));
  check("Settings", api::settings_reply({}));
  std::string text;
  JsonOut progress(text);
  write_progress(progress, {}, {});
  check("Progress", text);
  text.clear();
  JsonOut message(text);
  write_message(message, {});
  check("Message", text);
  text.clear();
  JsonOut brief(text);
  write_task_brief(brief, task, {});
  check("TaskBrief", text);
}

TEST(OpenApi, NamesEveryStateEveryEventAndEveryFamilyOfTools) {
  std::set<std::string> states, types;
  for (int i = 0; i < task_state_count; ++i) states.emplace(name(static_cast<TaskState>(i)));
  for (int i = 0; i < event_type_count; ++i) types.emplace(name(static_cast<EventType>(i)));
  const auto listed = [](const json::value& names) {
    std::set<std::string> all;
    for (const json::value& one : names.as_array()) all.emplace(one.as_string());
    return all;
  };
  EXPECT_EQ(listed(schema("Status").at("enum")), states);
  EXPECT_EQ(listed(schema("ToolsFamily").at("enum")),
            std::set<std::string>(tools::families.begin(), tools::families.end()));
  std::set<std::string> described;
  for (const json::value& one : schema("Event").at("oneOf").as_array()) {
    const std::string_view reference = one.at("$ref").as_string();
    described.emplace(
        schema(reference.substr(reference.rfind('/') + 1)).at("properties").at("type").at("const").as_string());
  }
  EXPECT_EQ(described, types);
}

TEST(OpenApi, EventsHaveTheDataThatIsWritten) {
  const auto check = [&](std::string_view name, const Event& event) {
    const json::object& whole = schema(name);
    EXPECT_EQ(whole.at("properties").at("type").at("const").as_string(), errand::name(event.type));
    const json::object& data = whole.at("properties").at("data").as_object();
    const std::string text = event.type == EventType::output ? output_data(event.data, "line\n") : event.data;
    const std::set<std::string> written = keys(json::parse(text));
    std::set<std::string> required;
    for (const json::value& field : data.at("required").as_array()) required.emplace(field.as_string());
    EXPECT_TRUE(std::ranges::includes(written, required)) << name << ": " << text;
    EXPECT_TRUE(std::ranges::includes(keys(data.at("properties")), written)) << name << ": " << text;
  };
  Task task;
  task.id = TaskId("task_1");
  Ask ask{.request_id = "req_1",
          .kind = AskKind::answer,
          .text = "?",
          .options = {},
          .at = {},
          .decision = {},
          .reply = {}};
  check("TaskCreatedEvent", task_event(EventType::task_created, task, {}));
  check("TaskStatusEvent", task_event(EventType::task_status, task, {}));
  check("TaskProgressEvent", progress_event(task, {}));
  check("TaskWarningEvent", warning_event("idle", "x", {}));
  check("TaskMatchEvent", match_event("p", "l", 0, {}));
  check("MessageCreatedEvent", message_event(EventType::message_created, {}, {}));
  check("MessageCompletedEvent", message_event(EventType::message_completed, {}, {}));
  check("MessageDeltaEvent", delta_event(MessageId("msg_1"), 0, "x", {}, PartType::text));
  check("ToolStartedEvent", tool_started_event(MessageId("msg_1"), {}, {}));
  check("ToolCompletedEvent", tool_completed_event({}, {}));
  check("OutputEvent", output_event("stdout", 1, 0, 5, {}));
  check("AskCreatedEvent", ask_created_event(ask, "/work", {}));
  for (const char* decision : {"answer", "deny"}) {
    ask.decision = decision;
    ask.reply = "word";
    check("AskAnsweredEvent", ask_answered_event(ask, "user", {}));
  }
  check("NoticeCreatedEvent", notice_event(EventType::notice_created, NoticeId("ntc_1"), {}));
  check("NoticeTakenEvent", notice_event(EventType::notice_taken, NoticeId("ntc_1"), {}));
  check("EndEvent", end_event(TaskState::completed, {}));
}

}  // namespace
}  // namespace errand

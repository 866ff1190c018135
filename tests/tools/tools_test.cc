// The rules of the tools that the seeds do not spell out: wrong calls, whose tasks, waits, bounds.
#include <set>

#include "base/text.h"
#include "task/notice.h"
#include "tests/tools/tool_world.h"

namespace errand::tools {
namespace {

class Tools : public ToolTest {};
class WrongCalls : public ToolTest {};
class SessionManager : public ToolTest {};

const SessionId nobody;

TEST_F(WrongCalls, R8_8_SayWhatWasWrongWhatIsAllowedAndWhatToTry) {
  struct Wrong {
    std::string tool, arguments;
    std::vector<std::string> says;
  };
  const std::vector<Wrong> all = {
      {"background_task", "[1]", {"must be a JSON object"}},
      {"background_task", "{", {"not valid JSON"}},
      {"background_task", R"({"a":1,"a":2})", {"given twice"}},
      {"background_task", "{}", {"`prompt` must be given", "prompt (required)", "Example: background_task {"}},
      {"background_task", R"({"prompt":"x","agent":"nobody"})", {"no agent \"nobody\"", "demo, forker"}},
      {"background_task", R"({"prompt":"x","agent":"away"})", {"is not available", "it is not there"}},
      {"background_task", R"({"prompt":"x","agent":"command"})", {"no agent \"command\""}},
      {"background_task", R"({"prompt":7,"agent":"demo"})", {"`prompt` must be a text"}},
      {"background_task", R"({"prompt":"x","agent":"demo","promt":"y"})", {"Unknown field `promt`", "prompt"}},
      {"background_task",
       R"({"prompt":"x","agent":"demo","timeout":"long"})",
       {"`timeout` must be a number of seconds"}},
      {"background_task", R"({"prompt":"x","agent":"demo","permission":"allow"})", {"Unknown field `permission`"}},
      {"background_execute", "{}", {"`command` must be given", "make"}},
      {"background_execute", R"({"command":[]})", {"`command` must begin with the name of a program"}},
      {"background_execute", R"({"command":"x","work_dir":"here"})", {"absolute path"}},
      {"background_execute", R"({"command":"x","limits":{"cpu":1}})", {"Unknown field `limits.cpu`", "cpu_s"}},
      {"background_execute", R"({"command":"x","sandbox":"on"})", {"`off`, `workspace` or `strict`"}},
      {"background_execute", R"({"command":"x","artifacts":["../x"]})", {"below the work dir"}},
      {"background_output", "{}", {"Give one of `task_id`, `task_ids` and `batch_id`"}},
      {"background_output", R"({"task_id":"x","batch_id":"y"})", {"Give one of"}},
      {"background_output", R"({"task_ids":[]})", {"at least one"}},
      {"background_output", R"({"task_id":"task_x"})", {"No task of this session", "background_list"}},
      {"background_output", R"({"task_id":"task_"})", {"must be a task's id"}},
      {"look_at", R"({"task_id":"x","tail":5,"offset":100})", {"`tail` cannot be given together with `offset`"}},
      {"background_output", R"({"task_id":"task_01k9z3s5x7e8"})", {"no task", "background_list"}},
      {"background_output", R"({"task_id":"task_01k9z3s5x7e8v3s5x7e8v3s5x7"})", {"no task", "background_list"}},
      {"background_output", R"({"task_id":"x","timeout":60000})", {"`timeout` must be more than 0 and at most 3600"}},
      {"background_output", R"({"task_id":"x","until":"last"})", {"`all` or `first`"}},
      {"background_list", R"({"status":"done"})", {"pending, running, completed, error, cancelled, resumed"}},
      {"background_list", R"({"limit":0})", {"from 1 to 200"}},
      {"background_list", R"({"cursor":"nonsense"})", {"cursor"}},
      {"background_cancel", "{}", {"Give one of `task_id`, `batch_id` and `all=true`"}},
      {"background_cancel", R"({"all":"yes"})", {"true or false"}},
      {"background_clear", R"({"task_id":"a","batch_id":"b"})", {"not both"}},
      {"background_retry", "{}", {"Give one of `task_id` and `batch_id`"}},
      {"background_message", R"({"task_id":"x"})", {"`message` must be given"}},
      {"background_message", R"({"message":"x"})", {"`task_id` must be given"}},
      {"session_manager", "{}", {"`action` must be given"}},
      {"session_manager", R"({"action":"store"})", {"`keep`, `read`, `list`, `drop` or `tasks`"}},
      {"session_manager", R"({"action":"keep","key":"k"})", {"`value` must be given"}},
      {"session_manager", R"({"action":"read"})", {"`key` must be given"}},
      {"session_manager", R"({"action":"read","key":"k"})", {"keeps nothing under \"k\"", "It keeps: nothing"}},
  };
  for (const Wrong& wrong : all) {
    const Answer answer = bad(wrong.tool, wrong.arguments);
    for (const std::string& words : wrong.says)
      EXPECT_NE(answer.text.find(words), std::string::npos)
          << wrong.tool << " " << wrong.arguments << ": " << answer.text;
    EXPECT_FALSE(answer.data.at("error").at("code").as_string().empty());
  }
  EXPECT_EQ(task_count(), 0);
}

TEST_F(WrongCalls, WithoutAnAgentTheDefaultDoesItAndNoOtherInItsPlace) {
  EXPECT_EQ(get(good("background_task", R"({"prompt":"x"})").id()).launch.agent_id, "forker")
      << "the first, and not the demonstration";
  settings.default_agent = "demo";
  restart();
  EXPECT_EQ(get(good("background_task", R"({"prompt":"x"})").id()).launch.agent_id, "demo");
  settings.default_agent = "gone";
  restart();
  const std::string text = bad("background_task", R"({"prompt":"x"})").text;
  for (const char* const words : {"The default agent \"gone\" does not exist", "`agent` may be one of demo, forker"})
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST_F(WrongCalls, AnUnknownToolNamesThoseThereAre) {
  for (const std::string name :
       {"background_tasks", "foreground_task", "", "background_", "task", "background_session_manager"}) {
    const auto pending = begin(name, "{}");
    until([&] { return pending->result.has_value(); });
    ASSERT_FALSE(*pending->result) << name;
    EXPECT_EQ(pending->result->error().reason, "unknown_tool");
    EXPECT_NE(pending->result->error().message.find("background_task, background_execute"), std::string::npos);
  }
}

TEST_F(WrongCalls, AnAmbiguousBeginningIsAConflictThatNamesThem) {
  const std::string first = ask("noop"), second = ask("noop");
  const std::string common = first.substr(0, 13);
  ASSERT_TRUE(second.starts_with(common));
  const Answer answer = bad("background_output", about(common));
  EXPECT_EQ(answer.data.at("error").at("reason").as_string(), "ambiguous");
  EXPECT_NE(answer.text.find(second), std::string::npos) << answer.text;
}

TEST_F(WrongCalls, ABeginningIsAsShortAsTheSessionsOwnTasksAllow) {
  good("background_task", R"({"agent":"demo","prompt":"noop"})", SessionId("ses_other"));
  const std::string only = ask("noop");
  for (const size_t length : {1u, 3u, 7u})
    EXPECT_EQ(
        good("background_output", about(only.substr(0, 5 + length))).data.at("tasks").at(0).at("task_id").as_string(),
        only);
  EXPECT_EQ(good("background_output", about(only.substr(5, 2))).data.at("tasks").at(0).at("task_id").as_string(), only);
  for (int i = 0; i < 9; ++i) ask("noop");
  const Answer several = bad("background_output", about(only.substr(0, 6)));
  EXPECT_EQ(several.data.at("error").at("reason").as_string(), "ambiguous");
  EXPECT_NE(several.text.find(only), std::string::npos) << several.text;
  EXPECT_NE(several.text.find("and 2 more"), std::string::npos) << several.text;
}

TEST_F(WrongCalls, AnothersTaskIsNotYours) {
  const std::string id =
      good("background_task", R"({"agent":"demo","prompt":"long 60","batch_id":"theirs"})", SessionId("ses_other"))
          .id();
  for (const auto& [tool, arguments] :
       std::vector<std::pair<std::string, std::string>>{{"background_output", about(id)},
                                                        {"background_cancel", about(id)},
                                                        {"background_clear", about(id)},
                                                        {"background_message", about(id, R"(,"message":"x")")},
                                                        {"background_task", R"({"prompt":"x","resume":")" + id + "\"}"},
                                                        {"background_output", R"({"batch_id":"theirs"})"},
                                                        {"background_cancel", R"({"batch_id":"theirs"})"},
                                                        {"background_retry", about(id)},
                                                        {"background_retry", R"({"batch_id":"theirs"})"},
                                                        {"background_clear", R"({"batch_id":"theirs"})"}}) {
    const Answer answer = bad(tool, arguments);
    EXPECT_EQ(answer.data.at("error").at("code").as_string(), "not_found") << tool;
  }
  EXPECT_NE(bad("background_output", about(id)).text.find("another session"), std::string::npos) << "R3.6";
  good("background_cancel", R"({"all":true})");
  good("background_clear", "{}");
  EXPECT_EQ(get(id).state, TaskState::running);
  EXPECT_EQ(get(id).resume_count, 0);
}

TEST_F(Tools, WithoutASessionTheCallerIsTheUser) {
  const std::string theirs = ask("noop");
  pass_until_rest(theirs);
  EXPECT_NE(good("background_list", "{}", nobody).text.find(theirs), std::string::npos);
  good("background_output", about(theirs, R"(,"block":true)"), nobody);
  EXPECT_EQ(notices().size(), 1U) << "the notice is the session's, not his";
  bad("background_clear", "{}", nobody);
  bad("background_cancel", R"({"all":true})", nobody);
  bad("session_manager", R"({"action":"list"})", nobody);
  const Answer own = good("background_task", R"({"agent":"demo","prompt":"noop"})", nobody);
  EXPECT_TRUE(get(own.id()).launch.parent_session_id.empty());
}

TEST_F(Tools, IdsMayBeCut) {
  const std::string id = ask("noop");
  EXPECT_EQ(
      good("background_output", about(id.substr(0, 20))).data.at("tasks").as_array().at(0).at("task_id").as_string(),
      id);
  EXPECT_EQ(
      good("background_output", about(id.substr(5, 12))).data.at("tasks").as_array().at(0).at("task_id").as_string(),
      id);
}

TEST_F(Tools, R5_5_ABlockedOutputThatReturnedTheResultTakesTheNotice) {
  const std::string polled = ask("noop"), waited = ask("long 3");
  pass_until_rest(polled);
  good("background_output", about(polled));
  EXPECT_EQ(notices().size(), 1U) << "without block it stays";
  const auto waiting = begin("background_output", about(waited, R"(,"block":true)"));
  pass_until([&] { return waiting->result.has_value(); });
  finish(waiting);
  ASSERT_EQ(notices().size(), 1U);
  EXPECT_EQ(notices()[0].task_id.value, polled);
}

TEST_F(Tools, R5_5_AWholeBatchThatWasWaitedForTakesItsNoticeToo) {
  const std::string batch =
      good("background_task", R"({"agent":"demo","prompt":"long 2","batch_id":"new"})").at("batch_id");
  ask("noop", R"(,"batch_id":")" + batch + "\"");
  const auto waiting = begin("background_output", R"({"batch_id":")" + batch + R"(","block":true})");
  pass_until([&] { return waiting->result.has_value(); });
  finish(waiting);
  EXPECT_TRUE(notices().empty());
}

TEST_F(Tools, R3_2_ATimeoutIsNoErrorAndAnswersWithProgress) {
  const std::string id = ask("long 60");
  const auto waiting = begin("background_output", about(id, R"(,"block":true,"timeout":2)"));
  pass_until([&] { return waiting->result.has_value(); });
  const Answer answer = finish(waiting);
  EXPECT_FALSE(answer.is_error);
  EXPECT_TRUE(answer.data.at("timed_out").as_bool());
  EXPECT_FALSE(get(id).retrieved_at);
}

TEST_F(Tools, R7_2_WaitsForTheFirstOfSeveral) {
  const std::string slow = ask("long 60"), quick = ask("long 2");
  const auto waiting =
      begin("background_output", R"({"task_ids":[")" + slow + "\",\"" + quick + R"("],"block":true,"until":"first"})");
  pass_until([&] { return waiting->result.has_value(); });
  const Answer answer = finish(waiting);
  EXPECT_EQ(get(slow).state, TaskState::running);
  EXPECT_EQ(answer.data.at("tasks").as_array().at(1).at("status").as_string(), "completed");
  EXPECT_FALSE(get(slow).retrieved_at) << "only what was given is marked as read";
}

TEST_F(Tools, ACallerWhoLeavesGivesUpTheWaitAndTakesNothing) {
  const std::string id = ask("long 3");
  const auto waiting = begin("background_output", about(id, R"(,"block":true)"));
  while (loop.run_one()) {
  }
  waiting->cancellation->cancel();
  const Answer answer = finish(waiting);
  EXPECT_TRUE(answer.is_error);
  pass_until_rest(id);
  EXPECT_EQ(get(id).state, TaskState::completed);
  EXPECT_FALSE(get(id).retrieved_at);
  EXPECT_EQ(notices().size(), 1U);
}

TEST_F(Tools, R3_7_ResultsAreBoundedAndShareTheirBound) {
  const std::string large = R"({"agent":"forker","prompt":"large"})";
  const std::string id = good("background_task", large).id();
  pass_until_rest(id);
  const std::string whole = *get(id).result;
  ASSERT_GT(count_characters(whole), result_cap);
  const Answer one = good("background_output", about(id));
  const auto& task = one.data.at("tasks").as_array().at(0);
  EXPECT_TRUE(task.at("result_truncated").as_bool());
  EXPECT_EQ(task.at("result_bytes").as_int64(), static_cast<int64_t>(whole.size()));
  EXPECT_LE(count_characters(std::string(task.at("result").as_string())), result_cap);
  EXPECT_NE(one.text.find("path=\"result\", offset="), std::string::npos);
  const std::string other = good("background_task", large).id();
  pass_until_rest(other);
  const Answer two = good("background_output", R"({"task_ids":[")" + id + "\",\"" + other + "\",\"" + id + "\"]}");
  ASSERT_EQ(two.data.at("tasks").as_array().size(), 2U) << "the same one once";
  for (const auto& each : two.data.at("tasks").as_array())
    EXPECT_LE(count_characters(std::string(each.at("result").as_string())), result_cap / 2);
}

TEST_F(Tools, R5_1_AMessageReachesATaskAtWorkAndOnlyThat) {
  const std::string id = ask("long 30");
  pass_until([&] { return get(id).progress.turns == 1; });
  good("background_message", about(id, R"(,"message":"Hurry up")"));
  const auto messages = store->messages(get(id).session_id, 0, 0, 10)->messages;
  EXPECT_EQ(std::ranges::count_if(messages, [](const Message& m) { return text_of(m) == "Hurry up"; }), 1);
  const std::string done = ask("noop"), failed = ask("fail");
  pass_until_rest(done);
  pass_until_rest(failed);
  const Answer completed = bad("background_message", about(done, R"(,"message":"x")"));
  EXPECT_NE(completed.text.find("background_task(resume="), std::string::npos) << completed.text;
  EXPECT_EQ(get(done).resume_count, 0) << "R5.3: resuming is explicit";
  EXPECT_NE(bad("background_message", about(failed, R"(,"message":"x")")).text.find("(error)"), std::string::npos);
  const std::string command = good("background_execute", R"({"command":"sleep 60"})").id();
  EXPECT_NE(bad("background_message", about(command, R"(,"message":"x")")).text.find("command takes no messages"),
            std::string::npos);
}

TEST_F(Tools, R4_6_TheParentAnswersQuestionsAndAPersonPermissions) {
  const std::string asks = ask("ask"), wants = ask("permission");
  pass_until([&] { return open_ask(get(asks)) && open_ask(get(wants)); });
  const Answer seen = good("background_output", about(asks));
  EXPECT_NE(seen.text.find("Which colour"), std::string::npos) << seen.text;
  const std::string request(seen.data.at("tasks").as_array().at(0).at("waiting_for").at("request_id").as_string());
  good("background_message", about(asks, R"(,"message":"blue","request_id":")" + request + "\""));
  pass_until_rest(asks);
  EXPECT_NE(get(asks).result->find("blue"), std::string::npos) << *get(asks).result;
  const Answer refused = bad("background_message", about(wants, R"(,"message":"allow","request_id":")" +
                                                                    open_ask(get(wants))->request_id + "\""));
  EXPECT_NE(refused.text.find("a person answers"), std::string::npos) << refused.text;
}

TEST_F(Tools, R7_2_RetriesTheFailedOnesOfABatch) {
  const std::string batch =
      good("background_task", R"({"agent":"demo","prompt":"noop","batch_id":"new"})").at("batch_id");
  const std::string failed = ask("fail", R"(,"batch_id":")" + batch + "\"");
  pass_until_rest(failed);
  const Answer retried = good("background_retry", R"({"batch_id":")" + batch + R"(","message":"try it again"})");
  ASSERT_EQ(retried.data.at("retried").as_array().size(), 1U);
  EXPECT_EQ(retried.data.at("retried").as_array()[0].as_string(), failed);
  EXPECT_NE(retried.text.find("attempt 2"), std::string::npos) << retried.text;
  pass_until_rest(failed);
  EXPECT_EQ(get(failed).attempt, 2);
}

TEST_F(Tools, RetriesOnlyWhatFailedOrWasCancelledAndSaysWhatToDoInstead) {
  const std::string id = ask("long 60");
  EXPECT_NE(bad("background_retry", about(id)).text.find("background_message"), std::string::npos);
  good("background_cancel", about(id));
  pass_until_rest(id);
  EXPECT_EQ(good("background_retry", about(id)).data.at("retried").as_array().size(), 1U);
  good("background_cancel", about(id));
  const std::string done = ask("noop");
  pass_until_rest(done);
  EXPECT_NE(bad("background_retry", about(done)).text.find("resume="), std::string::npos);
}

TEST_F(Tools, CancelsABatchOrAllOfTheSessionAndSaysWhich) {
  const std::string batch =
      good("background_task", R"({"agent":"demo","prompt":"long 60","batch_id":"new"})").at("batch_id");
  const std::string second = ask("long 60", R"(,"batch_id":")" + batch + "\"");
  const std::string apart = ask("long 60"), waits = ask("long 60");
  EXPECT_EQ(good("background_cancel", R"({"batch_id":")" + batch + "\"}").data.at("cancelled").as_array().size(), 2U);
  EXPECT_EQ(get(second).state, TaskState::cancelled);
  EXPECT_TRUE(at_work(get(apart).state));
  const Answer all = good("background_cancel", R"({"all":true})");
  EXPECT_EQ(all.data.at("cancelled").as_array().size(), 2U);
  EXPECT_EQ(get(waits).state, TaskState::cancelled);
  EXPECT_NE(good("background_cancel", R"({"all":true})").text.find("nothing was cancelled"), std::string::npos);
}

TEST_F(Tools, ListsPageByPage) {
  std::set<std::string> made, seen;
  for (int i = 0; i < 7; ++i) made.insert(ask("noop"));
  std::string cursor;
  for (int pages = 0; pages < 10; ++pages) {
    const Answer page =
        good("background_list", R"({"limit":3)" + (cursor.empty() ? "" : R"(,"cursor":)" + quoted(cursor)) + "}");
    for (const auto& task : page.data.at("tasks").as_array())
      EXPECT_TRUE(seen.emplace(task.at("task_id").as_string()).second);
    if (page.data.at("next_cursor").is_null()) break;
    cursor = page.at("next_cursor");
  }
  EXPECT_EQ(seen, made);
}

TEST_F(Tools, LargeArgumentsAreReadBesideTheLoop) {
  const std::string prompt(200'000, 'x');
  const Answer made = good("background_task", R"({"agent":"demo","prompt":")" + prompt + "\"}");
  EXPECT_EQ(get(made.id()).launch.prompt.size(), prompt.size());
}

TEST_F(SessionManager, R8_6_KeepsReadsListsAndDrops) {
  good("session_manager", R"({"action":"keep","key":"plan","value":"first\nsecond"})");
  good("session_manager", R"({"action":"keep","key":"note","value":""})");
  EXPECT_EQ(good("session_manager", R"({"action":"read","key":"plan"})").text, "first\nsecond");
  EXPECT_EQ(good("session_manager", R"({"action":"list"})").data.at("entries").as_array().size(), 2U);
  EXPECT_EQ(good("session_manager", R"({"action":"list"})", SessionId("ses_other")).text,
            "This session keeps nothing.");
  good("session_manager", R"({"action":"drop","key":"note"})");
  EXPECT_NE(bad("session_manager", R"({"action":"drop","key":"note"})").text.find("nothing under \"note\""),
            std::string::npos);
  EXPECT_NE(bad("session_manager", R"({"action":"read","key":"x"})").text.find("It keeps: plan"), std::string::npos);
  EXPECT_EQ(good("session_manager", R"({"action":"tasks"})").text, "No background tasks found");
}

TEST_F(SessionManager, SaysItsBounds) {
  const Answer large =
      bad("session_manager", R"({"action":"keep","key":"k","value":")" + std::string(20'000, 'v') + "\"}");
  EXPECT_NE(large.text.find("16384"), std::string::npos) << large.text;
  for (size_t i = 0; i < state_pieces_max; ++i)
    good("session_manager", R"({"action":"keep","key":"k)" + std::to_string(i) + R"(","value":"v"})");
  EXPECT_NE(bad("session_manager", R"({"action":"keep","key":"one more","value":"v"})").text.find("at most 100"),
            std::string::npos);
}

}  // namespace
}  // namespace errand::tools

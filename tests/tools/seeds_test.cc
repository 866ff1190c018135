// Every sentence of seeds 000, 002, 003 and 004 that a tool can prove, by its name in the seed.
#include "tests/tools/tool_world.h"

namespace errand::tools {
namespace {

class Seed000 : public ToolTest {};
class Seed002 : public ToolTest {};
class Seed003 : public ToolTest {};
class Seed004 : public ToolTest {};

// --- 000

TEST_F(Seed000, LaunchBackgroundTask) {
  const Answer made =
      good("background_task", R"({"description":"Look around","prompt":"long 5","agent":"demo","model":"m1"})");
  EXPECT_TRUE(made.id().starts_with("task_"));
  EXPECT_EQ(made.at("status"), "running");
  EXPECT_NE(made.id(), ask("long 5"));
  const Task task = get(made.id());
  EXPECT_EQ(task.launch.parent_session_id.value, "ses_parent");
  EXPECT_EQ(task.launch.parent_message_id.value, "msg_call");
  EXPECT_EQ(task.launch.description, "Look around");
  EXPECT_EQ(task.title, "Look around");
  EXPECT_EQ(task.launch.model, "m1");
}

TEST_F(Seed000, TrackTaskCompletion) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  const Answer output = good("background_output", about(id));
  const auto& task = output.data.at("tasks").as_array().at(0).as_object();
  EXPECT_EQ(task.at("status").as_string(), "completed");
  EXPECT_TRUE(task.at("completed_at").is_string());
  EXPECT_EQ(task.at("result").as_string(), "ok");
}

TEST_F(Seed000, HandleTaskErrors) {
  const std::string id = ask("fail");
  pass_until_rest(id);
  const Answer output = good("background_output", about(id));
  const auto& task = output.data.at("tasks").as_array().at(0).as_object();
  EXPECT_EQ(task.at("status").as_string(), "error") << "R1.2: the tools say error where REST says failed";
  EXPECT_EQ(task.at("error").at("code").as_string(), "demo_failure");
  EXPECT_NE(output.text.find("Status: error (demo_failure)"), std::string::npos) << output.text;
  EXPECT_EQ(output.text.find("failed ("), std::string::npos);
  const Answer list = good("background_list", R"({"status":"error"})");
  EXPECT_NE(list.text.find("[error (demo_failure)]"), std::string::npos) << list.text;
  EXPECT_EQ(good("background_list", R"({"status":"failed"})").text, list.text) << "REST's word is understood too";
}

TEST_F(Seed000, CancelRunningTasks) {
  const std::string id = ask("long 30");
  const Answer cancelled = good("background_cancel", about(id));
  EXPECT_EQ(cancelled.data.at("cancelled").as_array().at(0).as_string(), id);
  EXPECT_EQ(get(id).state, TaskState::cancelled);
  EXPECT_EQ(get(id).reason, "cancelled_by_parent");
  pass_until([&] { return demo->live() == 0; });
  const Answer again = bad("background_cancel", about(id));
  EXPECT_NE(again.text.find("has ended already (cancelled)"), std::string::npos) << again.text;
}

TEST_F(Seed000, RetrieveCompletedTaskResults) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  good("background_list", "{}");
  EXPECT_FALSE(get(id).retrieved_at) << "R3.1: a list does not read the result";
  const Answer output = good("background_output", about(id));
  EXPECT_NE(output.text.find("\n\nok"), std::string::npos) << output.text;
  const Time first = get(id).retrieved_at;
  EXPECT_TRUE(first);
  clock.advance(1'000);
  good("background_output", about(id));
  EXPECT_EQ(get(id).retrieved_at, first);
}

TEST_F(Seed000, HandleExpiredResults) {
  const std::string id = ask("noop", R"(,"retention_s":60)");
  good("background_output", about(id, R"(,"block":true,"timeout":0.001)"));
  pass_until_rest(id);
  good("background_output", about(id, R"(,"block":true)"));  // Takes the notice: retention waits for that.
  pass_until([&] { return !store->get(TaskId(id)).has_value(); }, 1'000);
  const Answer gone = bad("background_output", about(id));
  EXPECT_EQ(gone.data.at("error").at("code").as_string(), "not_found");
  EXPECT_NE(gone.text.find("expired"), std::string::npos) << gone.text;
}

TEST_F(Seed000, MonitorTaskProgress) {
  const std::string id = ask("tools long 60");
  pass_until([&] { return get(id).progress.tool_calls == 3; });
  const Answer output = good("background_output", about(id));
  const auto& progress = output.data.at("tasks").as_array().at(0).at("progress");
  EXPECT_EQ(progress.at("tool_calls").as_int64(), 3);
  EXPECT_EQ(progress.at("recent_tools").as_array().size(), 3U);
  EXPECT_TRUE(progress.at("last_update").is_string());
  EXPECT_NE(output.text.find("3 tool calls"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("last update"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("Recent tools"), std::string::npos) << output.text;
  EXPECT_FALSE(get(id).retrieved_at);
}

TEST_F(Seed000, GroupRelatedTasks) {
  const std::string batch =
      good("background_task", R"({"agent":"demo","prompt":"noop","batch_id":"new"})").at("batch_id");
  ask("long 5", R"(,"batch_id":")" + batch + "\"");
  ask("long 50");
  const std::string of_batch = R"({"batch_id":")" + batch + "\"";
  EXPECT_EQ(good("background_list", of_batch + "}").data.at("tasks").as_array().size(), 2U);
  const auto waiting = begin("background_output", of_batch + R"(,"block":true,"timeout":30})");
  pass_until([&] { return waiting->result.has_value(); });
  const Answer all = finish(waiting);
  EXPECT_EQ(all.data.at("tasks").as_array().size(), 2U);
  EXPECT_FALSE(all.data.at("timed_out").as_bool());
  EXPECT_EQ(good("background_clear", of_batch + "}").data.at("removed").as_int64(), 2);
  EXPECT_EQ(bad("background_cancel", of_batch + "}").data.at("error").at("reason").as_string(), "unknown_batch");
}

// --- 002

TEST_F(Seed002, ConfigureExecutionEnvironmentAndResourceLimits) {
  const Answer made =
      good("background_task:execute", R"({"command":"make test","description":"The tests","work_dir":"/tmp",
    "env":{"CI":"1"},"pass_env":["LANG"],"timeout":20,"idle_timeout_s":5,"on_hang":"restart","limits":{"cpu_s":7,"memory_bytes":1000000,
    "processes":50,"open_files":64,"output_bytes":5000,"nice":3},"artifacts":["out/*.log"],"notify_on":["error:"],
    "sandbox":"off","progress_every_s":2,"batch_id":"new","labels":{"a":"b"},"priority":4,"title":"T","add_dirs":["/var"],
    "retention_s":9})");
  EXPECT_EQ(made.at("kind"), "command");
  const Launch launch = get(made.id()).launch;
  EXPECT_EQ(launch.command, "make test");
  EXPECT_EQ(launch.env.at("CI"), "1");
  EXPECT_EQ(launch.pass_env, std::vector<std::string>{"LANG"});
  EXPECT_EQ(launch.timeout_ms, 20'000);
  EXPECT_EQ(launch.idle_timeout_ms, 5'000);
  EXPECT_EQ(launch.on_hang, OnHang::restart);
  EXPECT_EQ(launch.limits, (Limits{7, 1'000'000, 50, 64, 5'000, 3}));
  EXPECT_EQ(launch.artifacts, std::vector<std::string>{"out/*.log"});
  EXPECT_EQ(launch.notify_on, std::vector<std::string>{"error:"});
  EXPECT_EQ(launch.progress_every_ms, 2'000);
  EXPECT_EQ(launch.labels.at("a"), "b");
  EXPECT_EQ(launch.priority, 4);
  EXPECT_EQ(launch.retention_ms, 9'000);
  EXPECT_EQ(launch.parent_session_id.value, "ses_parent");
}

TEST_F(Seed002, AutomaticallyTerminateAfter300SecondsByDefault) {
  EXPECT_EQ(get(good("background_execute", R"({"command":"make"})").id()).launch.timeout_ms, 300'000);
}

TEST_F(Seed002, NoMoreThanThreeSimultaneously) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(good("background_execute", R"({"command":"sleep 60"})").at("status"), "running");
  const Answer fourth = good("background_execute", R"({"command":["sleep","60"]})");
  EXPECT_EQ(fourth.at("status"), "pending");
  EXPECT_EQ(fourth.data.at("queue_position").as_int64(), 1);
  EXPECT_NE(fourth.text.find("place 1 in line"), std::string::npos) << fourth.text;
  const Answer over = bad("background_execute", R"({"command":"sleep 1","authorize_over_limit":true})");
  EXPECT_NE(over.text.find("allow_over_limit"), std::string::npos) << over.text;
}

TEST_F(Seed002, VerifyThatCommandsDoNotNeedUserInput) {
  const Answer refused = bad("background_execute", R"({"command":"vim a.txt"})");
  EXPECT_NE(refused.text.find("vim asks a person"), std::string::npos) << refused.text;
  EXPECT_EQ(task_count(), 0);
  good("background_execute", R"({"command":"vim a.txt","allow_interactive":true})");
}

TEST_F(Seed002, RetrieveOutputAndStatusOnceATaskFinishes) {
  const std::string id = good("background_execute", R"({"command":"false"})").id();
  const auto waiting = begin("background_output", about(id, R"(,"block":true,"timeout":10)"));
  pass_until([&] { return waiting->result.has_value(); });
  const Answer output = finish(waiting);
  EXPECT_EQ(output.data.at("tasks").as_array().at(0).at("error").at("code").as_string(), "exit");
}

TEST_F(Seed002, PersistTaskStatesAcrossTurns) {
  const std::string id = ask("noop");
  good("session_manager", R"({"action":"keep","key":"nightly","value":")" + id + "\"}");
  restart();
  EXPECT_EQ(good("session_manager", R"({"action":"read","key":"nightly"})").text, id);
  EXPECT_NE(good("session_manager", R"({"action":"tasks"})").text.find(id), std::string::npos);
}

// --- 003

TEST_F(Seed003, TheFamilyIsRenamedAndTheOldNamesStay) {
  for (const std::string_view name : families) {
    const std::string prefix(name);
    const Answer made = good(prefix + "_task", R"({"agent":"demo","prompt":"noop"})");
    EXPECT_NE(made.text.find(prefix + "_output("), std::string::npos) << made.text;
    pass_until_rest(made.id());
    good(prefix + "_output", about(made.id()));
    good(prefix + "_task:execute", R"({"command":"true"})");
  }
}

TEST_F(Seed003, RetrieveCompletedTaskResultsImmediately) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  const Answer output = good("superagents_output", about(id));
  EXPECT_EQ(output.data.at("tasks").as_array().at(0).at("result").as_string(), "ok");
  EXPECT_TRUE(output.data.at("tasks").as_array().at(0).at("retrieved_at").is_string());
}

TEST_F(Seed003, CheckRunningTaskStatusDoesNotBlock) {
  const std::string id = ask("long 30");
  const Answer output = good("superagents_output", about(id));
  EXPECT_EQ(output.data.at("tasks").as_array().at(0).at("status").as_string(), "running");
  EXPECT_TRUE(output.data.at("tasks").as_array().at(0).at("result").is_null());
}

TEST_F(Seed003, TaskPersistsUntilClearedOrUntilItsSessionEnds) {
  const std::string kept = ask("noop"), cleared = ask("noop"), working = ask("long 60");
  pass_until_rest(kept);
  pass_until_rest(cleared);
  clock.advance(30LL * 86'400'000);
  restart();
  EXPECT_EQ(get(kept).state, TaskState::completed);
  EXPECT_EQ(good("superagents_clear", about(cleared)).data.at("removed").as_int64(), 1);
  const Answer gone = bad("superagents_output", about(cleared));
  EXPECT_NE(gone.text.find("was cleared"), std::string::npos) << gone.text;
  EXPECT_NE(gone.text.find("superagents_list"), std::string::npos) << gone.text;
  const Answer left = good("superagents_clear", about(working));
  EXPECT_EQ(left.data.at("left").as_int64(), 1) << "R3.4: never a task at work";
  std::optional<Result<int64_t>> ended;
  engine->sessions().end_session(SessionId("ses_parent"), [&](Result<int64_t> removed) { ended = removed; });
  until([&] { return ended.has_value(); });
  EXPECT_EQ(task_count(), 0);
}

TEST_F(Seed003, ResumeCompletedTaskWithFollowUpPrompt) {
  const std::string id = ask("help");
  pass_until_rest(id);
  const Answer resumed = good("superagents_task", R"({"resume":")" + id + R"(","prompt":"long 3"})");
  EXPECT_EQ(resumed.at("status"), "resumed") << "it returns at once";
  EXPECT_EQ(resumed.data.at("resume_count").as_int64(), 1);
  EXPECT_EQ(resumed.id(), id);
  const auto messages = store->messages(get(id).session_id, 0, 0, 10)->messages;
  ASSERT_GE(messages.size(), 3U);
  EXPECT_EQ(text_of(messages[0]), "help") << "with the full conversation history";
  EXPECT_EQ(text_of(messages.back().role == errand::Role::user ? messages.back() : messages[messages.size() - 2]),
            "long 3");
}

TEST_F(Seed003, ResumeCompletionNotification) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  EXPECT_EQ(notices().size(), 1U);
  good("superagents_task", R"({"resume":")" + id + R"(","prompt":"noop"})");
  pass_until_rest(id);
  EXPECT_EQ(get(id).state, TaskState::completed);
  ASSERT_EQ(notices().size(), 2U);
  EXPECT_NE(notices()[1].text.find("\n\nok"), std::string::npos) << "the full response: " << notices()[1].text;
}

TEST_F(Seed003, WaitForResumeResponse) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  good("superagents_task", R"({"resume":")" + id + R"(","prompt":"long 3"})");
  const auto waiting = begin("superagents_output", about(id, R"(,"block":true)"));
  for (int i = 0; i < 100 && loop.run_one(); ++i) {
  }
  EXPECT_FALSE(waiting->result) << "it waits";
  pass_until([&] { return waiting->result.has_value(); });
  const Answer output = finish(waiting);
  EXPECT_EQ(output.data.at("tasks").as_array().at(0).at("status").as_string(), "completed");
  EXPECT_EQ(output.data.at("tasks").as_array().at(0).at("turn").as_int64(), 2);
}

TEST_F(Seed003, RejectResumeOfNonCompletedTask) {
  const std::string running = ask("long 30"), failed = ask("fail"), cancelled = ask("long 30");
  good("background_cancel", about(cancelled));
  pass_until_rest(failed);
  for (const auto& [id, word] : {std::pair{running, "running"}, {failed, "error"}, {cancelled, "cancelled"}}) {
    const Answer refused = bad("superagents_task", R"({"resume":")" + id + R"(","prompt":"go on"})");
    EXPECT_NE(refused.text.find("Only completed tasks can be resumed; this one is " + std::string(word)),
              std::string::npos)
        << refused.text;
  }
  EXPECT_EQ(task_count(), 3);
}

TEST_F(Seed003, RejectConcurrentResume) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  good("superagents_task", R"({"resume":")" + id + R"(","prompt":"long 30"})");
  const Answer refused = bad("superagents_task", R"({"resume":")" + id + R"(","prompt":"and this"})");
  EXPECT_NE(refused.text.find("currently being resumed"), std::string::npos) << refused.text;
  EXPECT_NE(refused.text.find("superagents_message"), std::string::npos) << refused.text;
}

TEST_F(Seed003, HandleExpiredSessionOnResume) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  good("background_clear", about(id));
  const Answer refused = bad("superagents_task", R"({"resume":")" + id + R"(","prompt":"go on"})");
  EXPECT_NE(refused.text.find("start a new superagents_task"), std::string::npos) << refused.text;
}

TEST_F(Seed003, ShowResumedAndForkedIndicators) {
  talk_before();
  const std::string plain = ask("noop"), resumed = ask("noop");
  const std::string forked = good("superagents_task", R"({"agent":"forker","prompt":"noop","fork":true})").id();
  for (const std::string& id : {plain, resumed, forked}) pass_until_rest(id);
  EXPECT_TRUE(get(forked).is_forked);
  good("superagents_task", R"({"resume":")" + resumed + R"(","prompt":"noop"})");
  std::string list = good("superagents_list", "{}").text;
  EXPECT_NE(list.find(resumed + " (resumed) ["), std::string::npos) << list;
  EXPECT_NE(list.find(forked + " (forked) ["), std::string::npos) << list;
  EXPECT_NE(list.find(plain + " ["), std::string::npos) << list;
  pass_until_rest(resumed);
  good("superagents_task", R"({"resume":")" + forked + R"(","prompt":"noop"})");
  list = good("superagents_list", "{}").text;
  EXPECT_NE(list.find(forked + " (resumed) (forked) ["), std::string::npos) << list;
}

TEST_F(Seed003, FilterByParentSession) {
  const std::string mine = ask("noop");
  const std::string other = good("background_task", R"({"agent":"demo","prompt":"noop"})", SessionId("ses_other")).id();
  const std::string list = good("superagents_list", "{}").text;
  EXPECT_NE(list.find(mine), std::string::npos);
  EXPECT_EQ(list.find(other), std::string::npos);
}

TEST_F(Seed003, EmptyListForNoChildren) {
  good("background_task", R"({"agent":"demo","prompt":"noop"})", SessionId("ses_other"));
  EXPECT_EQ(good("superagents_list", "{}").text, "No background tasks found");
}

// --- 004

TEST_F(Seed004, LaunchForkedBackgroundTask) {
  talk_before();
  const Answer made = good("background_task", R"({"agent":"forker","prompt":"long 5","fork":true})");
  EXPECT_EQ(made.at("status"), "running");
  EXPECT_TRUE(made.data.at("is_forked").as_bool());
  EXPECT_NE(made.text.find(made.id() + " (forked)"), std::string::npos) << made.text;
  // A session that is not there, and none at all: nothing is stored.
  bad("background_task", R"({"agent":"forker","prompt":"x","fork":true})", SessionId("ses_never"));
  bad("background_task", R"({"agent":"forker","prompt":"x","fork":true})", SessionId());
  EXPECT_EQ(task_count(), 1);
}

TEST_F(Seed004, TheChildHasTheConversationThePreambleAndTheCallSettled) {
  talk_before();
  const std::string id = good("background_task", R"({"agent":"forker","prompt":"noop","fork":true})").id();
  pass_until_rest(id);
  const Result<MessagePage> page = store->messages(get(id).session_id, 0, 0, 100);
  ASSERT_TRUE(page);
  ASSERT_GE(page->messages.size(), 4u);
  EXPECT_EQ(text_of(page->messages[0]), "Look at both halves.");
  const std::vector<Part>& calling = page->messages[1].parts;
  ASSERT_EQ(calling.size(), 2u);
  EXPECT_EQ(calling[1].call_id, "call_1");
  EXPECT_NE(calling[1].text.find("you are that fork"), std::string::npos) << calling[1].text;
  EXPECT_EQ(page->messages[2].role, errand::Role::system);
  const std::string preamble = text_of(page->messages[2]);
  EXPECT_NE(preamble.find("may be cut"), std::string::npos) << preamble;
  EXPECT_NE(preamble.find("read the file"), std::string::npos) << preamble;
  EXPECT_EQ(text_of(page->messages[3]), "noop");
}

TEST_F(Seed004, ValidateMutuallyExclusiveModes) {
  const std::string id = ask("noop");
  pass_until_rest(id);
  const Answer refused =
      bad("background_task", R"({"agent":"forker","prompt":"x","fork":true,"resume":")" + id + "\"}");
  EXPECT_NE(refused.text.find("mutually exclusive"), std::string::npos) << refused.text;
  EXPECT_EQ(task_count(), 1) << "no task is created";
  EXPECT_EQ(get(id).resume_count, 0);
  EXPECT_NE(bad("background_task", R"({"fork":true,"resume":"task_x"})").text.find("mutually exclusive"),
            std::string::npos)
      << "whatever else is wrong";
}

}  // namespace
}  // namespace errand::tools

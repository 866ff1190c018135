#include "task/json.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/json_out.h"
#include "task/json_in.h"

namespace errand {
namespace {

namespace json = boost::json;

constexpr Time noon{1'763'208'000'000};

// Every field differs from its default, so that a field that is forgotten on either side is noticed.
Launch full_launch() {
  Launch launch;
  launch.kind = TaskKind::command;
  launch.agent_id = "command";
  launch.title = "标题 \"quoted\"";
  launch.description = "a\nb";
  launch.prompt = "prompt";
  launch.content = R"([{"type":"text","text":"x"}])";
  launch.command = "echo 'a b'";
  launch.argv = {"echo", "a b", ""};
  launch.model = "m";
  launch.work_dir = "/tmp";
  launch.add_dirs = {"/a", "/b"};
  launch.env = {{"A", "1"}, {"B", ""}};
  launch.pass_env = {"HOME"};
  launch.enable_skills = true;
  launch.enable_mcp = true;
  launch.fork = true;
  launch.parent_session_id = SessionId("ses_p");
  launch.parent_message_id = MessageId("msg_p");
  launch.ancestors = {TaskId("task_p"), TaskId("task_q")};
  launch.payers = {TaskId("task_q")};
  launch.bounds = {{{{"bash", "git *", Permission::allow}}, Permission::deny}, {}};
  launch.batch_id = BatchId("batch_b");
  launch.labels = {{"k", "v"}};
  launch.timeout_ms = -1;
  launch.idle_timeout_ms = 1500;
  launch.on_hang = OnHang::restart;
  launch.max_restarts = 2;
  launch.progress_every_ms = 60'000;
  launch.retention_ms = 86'400'000;
  launch.limits = {
      .cpu_s = 1, .memory_bytes = 1LL << 40, .processes = 3, .open_files = 4, .output_bytes = 5, .nice = -6};
  launch.budget = {.tokens = 1, .cost_usd = 0.1, .turns = 2, .tool_calls = 3, .wall_ms = 4};
  launch.permission = Permission::ask;  // The default enumerator, which an absent field would not bring back.
  launch.permission_rules = {{"bash", "git *", Permission::allow}, {"*", "", Permission::deny}};
  launch.sandbox = Sandbox::strict;
  launch.isolate = Isolate::worktree;
  launch.isolate_base = IsolateBase::dirty;
  launch.isolate_setup = "npm ci";
  launch.priority = -7;
  launch.authorize_over_limit = true;
  launch.allow_interactive = true;
  launch.notify_on = {"ERROR.*"};
  launch.artifacts = {"*.log"};
  launch.surface = Surface::cli;
  return launch;
}

Progress full_progress() {
  Progress progress;
  progress.tool_calls = 11;
  progress.recent_tools = {{"bash", "ls", noon}, {"read", "", noon + 1}};
  progress.turns = 2;
  progress.usage = {.input_tokens = 1'000'000'000'000,
                    .output_tokens = 2,
                    .cost_usd = 0.3,
                    .cache_read_tokens = 4,
                    .cache_write_tokens = 5,
                    .unpriced = true};
  progress.output_bytes = 3;
  progress.output_lines = 4;
  progress.cpu_s = 1.25;
  progress.memory_bytes = 5;
  progress.output_truncated = true;
  progress.last_update = noon;
  progress.attempt_ends = {0, 2, 3};
  progress.artifacts = {.count = 30, .bytes = 99, .left_out = 2, .first = {Artifact{}, Artifact{}}};
  progress.artifacts.first[0] = {.id = "a1",
                                 .name = "dist/a \"b\".js",
                                 .source = ArtifactSource::glob,
                                 .run = 0,
                                 .size = 1LL << 40,
                                 .media_type = "text/plain",
                                 .sha256 = "00ff",
                                 .modified = noon};
  return progress;
}

Task full_task() {
  Task task;
  task.id = TaskId("task_1");
  task.launch = full_launch();
  task.title = "标题";
  task.session_id = SessionId("ses_1");
  task.created_at = noon;
  task.state = TaskState::failed;
  task.phase = TurnPhase::ended;
  task.reason = "exit";
  task.turn = 2;
  task.attempt = 3;
  task.run = 4;
  task.resume_count = 1;
  task.is_forked = true;
  task.progress = full_progress();
  task.result = "out";
  task.error = TaskError{"exit", "It exited with 3.", R"({"exit_code":3})"};
  task.exit_code = 3;
  task.started_at = noon + 1;
  task.completed_at = noon + 2;
  task.updated_at = noon + 3;
  task.retrieved_at = noon + 4;
  task.expires_at = noon + 5;
  task.last_seq = 42;
  return task;
}

json::object shown(const Task& task, const TaskMoment& moment) {
  std::string text;
  JsonOut out(text);
  write_task(out, task, moment);
  return json::parse(text).as_object();
}

TEST(TaskJson, LaunchComesBackAsItWasStored) {
  EXPECT_EQ(decode_launch(encode_launch(full_launch())), full_launch());
  EXPECT_EQ(decode_launch(encode_launch(Launch{})), Launch{});
  EXPECT_EQ(encode_launch(Launch{}), "{}");
}

TEST(TaskJson, LaunchIsMadeOfEveryField) {
  // A new field of Launch must be added to both codecs: this fails when one is added and forgotten here.
  const json::object stored = json::parse(encode_launch(full_launch())).as_object();
  EXPECT_EQ(stored.size(), 43u) << json::serialize(stored);
}

TEST(TaskJson, ProgressComesBackAsItWasStored) {
  Task moving;
  moving.progress = full_progress();
  moving.wait = Wait{WaitKind::quota, "until noon", noon};
  moving.granted = {{"bash", "git *", Permission::allow}};
  moving.deadline_at = noon + 5'000;
  moving.repeat = {UINT64_MAX, 7, 3};
  moving.isolation = Isolation{.kind = "worktree",
                               .state = "ready",
                               .path = "/wt",
                               .work_dir = "/wt/src",
                               .branch = "errand/x",
                               .base = "abc",
                               .repo = "/repo",
                               .target = "main",
                               .bytes = 4096};
  Task read;
  EXPECT_TRUE(decode_progress(encode_progress(moving), read));
  EXPECT_EQ(read, moving);
  EXPECT_EQ(encode_progress(Task{}), "");
  EXPECT_TRUE(decode_progress("", read));
  EXPECT_EQ(read, moving);
}

TEST(TaskJson, AsksComeBackAsTheyWereStored) {
  std::vector<Ask> asks = {{"req_1", AskKind::permission, "May I?", {"allow", "deny"}, noon, "allow", "fine"},
                           {"req_2", AskKind::answer, "", {}, {}, "", ""}};
  asks[0].work_dir = "/work";
  asks[0].diff = "-a\n+b\n";
  asks[0].reads = true;
  EXPECT_EQ(decode_asks(encode_asks(asks)), asks);
  EXPECT_EQ(decode_asks(encode_asks({})), std::vector<Ask>{});
}

TEST(TaskJson, WaitingMessagesComeBackInOrder) {
  using When = WaitingMessage::When;
  const std::vector<WaitingMessage> waiting = {{MessageId("msg_1"), When::steer, true},
                                               {MessageId("msg_2"), When::queue, false},
                                               {MessageId("msg_3"), When::interrupt, false}};
  EXPECT_EQ(decode_waiting(encode_waiting(waiting)), waiting);
}

TEST(TaskJson, ErrorDetailsComeBackByteForByte) {
  const TaskError error{"exit", "It exited.", R"({ "n": 1.0, "tail": "\u00e9" })"};
  EXPECT_EQ(decode_error(encode_error(error)), error);
}

TEST(TaskJson, PartsComeBackAsTheyWereStored) {
  std::vector<Part> parts(6);
  for (int i = 0; i < 6; ++i) {
    Part& part = parts[static_cast<size_t>(i)];
    part.type = static_cast<PartType>(i);
    part.text = "text " + std::to_string(i);
    part.call_id = "call";
    part.name = "name";
    part.input = R"({"a": [1.0, "é"]})";
    part.is_error = true;
    part.truncated = true;
    part.size = 7;
    part.ms = 8;
    part.media_type = "image/png";
    part.url = "data:image/png;base64,AA==";
  }
  EXPECT_EQ(decode_parts(encode_parts(parts)), parts);
  EXPECT_EQ(decode_parts(encode_parts({Part{}})), std::vector<Part>{Part{}});
}

TEST(TaskJson, ADamagedTextIsAnErrorAndNoCrash) {
  const char* broken[] = {"",
                          "{",
                          "[]",
                          "null",
                          R"({"kind":"x"})",
                          R"({"argv":1})",
                          R"({"env":[]})",
                          "{\"title\":\"\xff\"}",
                          R"({"timeout_ms":1e99})",
                          R"({"limits":3})",
                          R"({"permission_rules":[1]})"};
  for (const char* text : broken) {
    const auto launch = decode_launch(text);
    ASSERT_FALSE(launch.has_value()) << text;
    EXPECT_EQ(launch.error().code, Code::internal);
    EXPECT_EQ(launch.error().reason, "corrupt");
  }
  EXPECT_FALSE(decode_asks("{}"));
  EXPECT_FALSE(decode_asks(R"([{"kind":"quiz"}])"));
  EXPECT_FALSE(decode_waiting(R"([{"when":"later"}])"));
  EXPECT_FALSE(decode_error("1"));
  EXPECT_FALSE(decode_parts(R"([{"type":"poem"}])"));
  Task task;
  EXPECT_FALSE(decode_progress(R"({"recent_tools":{}})", task));
  EXPECT_FALSE(decode_progress(R"({"wait":{"kind":"lunch"}})", task));
  EXPECT_FALSE(decode_progress(R"({"repeat":{"call":"-1"}})", task));
  EXPECT_FALSE(decode_output(R"({"offset":-1})"));
  EXPECT_FALSE(decode_launch(std::string(1'000'000, '[')));
}

TEST(TaskJson, TaskHasExactlyTheFieldsOfTheContract) {
  const json::object task = shown(full_task(), {.now = noon + 10'000, .queue_position = 3});
  std::string fields;
  for (const auto& member : task) fields += std::string(member.key()) + " ";
  EXPECT_EQ(
      fields,
      "id kind status reason waiting_for stopping agent_id agent model title pinned archived description prompt "
      "command limits sandbox "
      "budget work_dir isolation session_id parent_session_id parent_message_id batch_id labels is_forked resume_count "
      "attempt "
      "turn "
      "queue_position created_at started_at deadline_at completed_at updated_at retrieved_at expires_at "
      "queue_reason result error "
      "exit_code "
      "signal progress seq ");
  EXPECT_EQ(task.at("status"), "failed");
  EXPECT_EQ(task.at("reason"), task.at("error").at("code"));
  EXPECT_EQ(task.at("error").at("details").at("exit_code"), 3);
  EXPECT_EQ(task.at("created_at"), "2025-11-15T12:00:00.000Z");
  EXPECT_EQ(task.at("queue_position"), 3);
  EXPECT_EQ(task.at("seq"), 42);
  EXPECT_EQ(task.at("labels").at("k"), "v");
  EXPECT_TRUE(task.at("signal").is_null());
  const json::object& progress = task.at("progress").as_object();
  EXPECT_EQ(progress.at("recent_tools").as_array().size(), 2u);
  EXPECT_EQ(progress.at("usage").at("output_tokens"), 2);
  EXPECT_EQ(progress.at("usage").at("cost_usd"), 0.3);
  Task unknown = full_task();
  unknown.progress.usage.cost_usd = 0;
  EXPECT_TRUE(shown(unknown, {.now = noon}).at("progress").at("usage").at("cost_usd").is_null()) << "never 0 (R15.3)";
  EXPECT_EQ(progress.at("idle_s").to_number<double>(), 10.0);
}

TEST(TaskJson, ShowsAnAgentByItsNameAndWhatItMayUse) {
  Task task;
  task.launch.agent_id = "demo";
  EXPECT_EQ(shown(task, {}).at("agent"), "demo");
  task.launch.agent_id = "agent_01";
  task.launch.agent = "reviewer";
  task.launch.budget = {.tokens = 1'000, .wall_ms = 1'500};
  const json::object seen = shown(task, {});
  EXPECT_EQ(seen.at("agent_id"), "agent_01");
  EXPECT_EQ(seen.at("agent"), "reviewer");
  EXPECT_EQ(json::serialize(seen.at("budget")),
            R"({"tokens":1000,"cost_usd":null,"turns":null,"tool_calls":null,"wall_s":1.5E0})");
  EXPECT_EQ(*decode_launch(encode_launch(task.launch)), task.launch);
}

TEST(TaskJson, WhatIsNotKnownIsNullAndNeverAbsent) {
  Task task;
  task.id = TaskId("task_1");
  const json::object fresh = shown(task, {.now = noon, .queue_position = {}});
  EXPECT_EQ(fresh.size(), shown(full_task(), {.now = noon, .queue_position = 1}).size());
  for (const char* field : {"reason",
                            "waiting_for",
                            "model",
                            "description",
                            "prompt",
                            "command",
                            "limits",
                            "sandbox",
                            "budget",
                            "work_dir",
                            "isolation",
                            "batch_id",
                            "parent_session_id",
                            "parent_message_id",
                            "queue_position",
                            "started_at",
                            "completed_at",
                            "retrieved_at",
                            "expires_at",
                            "result",
                            "error",
                            "exit_code",
                            "signal"}) {
    EXPECT_TRUE(fresh.at(field).is_null()) << field;
  }
}

TEST(TaskJson, EnvironmentIsNeverShown) {  // R12.2
  Task task = full_task();
  task.launch.env = {{"API_KEY", "hunter2"}};
  std::string text;
  JsonOut out(text);
  out.array();
  write_task(out, task, {.now = noon, .queue_position = {}});
  write_task_in_list(out, task, {.now = noon, .queue_position = {}});
  write_task_brief(out, task, noon);
  out.end();
  text += task_event(EventType::task_status, task, noon).data;
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(text.find("API_KEY"), std::string::npos);
}

TEST(TaskJson, TheFirstOpenAskIsWhatATaskWaitsFor) {  // R4.6
  Task task = full_task();
  task.asks = {{"req_0", AskKind::answer, "Answered.", {}, noon, "answer", "blue"},
               {"req_1", AskKind::permission, "May I?", {"yes"}, noon, "", ""},
               {"req_2", AskKind::answer, "Which?", {}, noon, "", ""}};
  const json::object shown_task = shown(task, {.now = noon, .queue_position = {}});
  const json::object& waiting = shown_task.at("waiting_for").as_object();
  EXPECT_EQ(waiting.at("kind"), "permission");
  EXPECT_EQ(waiting.at("request_id"), "req_1");
  EXPECT_EQ(waiting.at("text"), "May I?");
}

TEST(TaskJson, AListCutsLongTextsAndSaysWhich) {
  Task task = full_task();
  std::string text;
  JsonOut short_out(text);
  write_task_in_list(short_out, task, {.now = noon, .queue_position = {}});
  EXPECT_FALSE(json::parse(text).as_object().contains("cut"));

  task.result.emplace();
  for (int i = 0; i < 4001; ++i) *task.result += "é";
  task.error->details = "{\"tail\":\"" + std::string(5000, 'x') + "\"}";
  text.clear();
  JsonOut out(text);
  write_task_in_list(out, task, {.now = noon, .queue_position = {}});
  const json::object listed = json::parse(text).as_object();
  EXPECT_EQ(listed.at("result").as_string().size(), 8000u);
  EXPECT_TRUE(listed.at("error").at("details").is_null());
  EXPECT_EQ(json::serialize(listed.at("cut")), R"(["result","error.details"])");
  EXPECT_EQ(shown(task, {.now = noon, .queue_position = {}}).at("result").as_string().size(), 8002u);
}

TEST(TaskJson, AStatusEventStaysSmall) {
  Task task = full_task();
  const std::string big(1'000'000, 'x');
  task.launch.prompt = task.launch.command = task.launch.description = big;
  task.result = big;
  task.error = TaskError{"exit", big, "{\"a\":\"" + big + "\"}"};
  const Event event = task_event(EventType::task_status, task, noon);
  EXPECT_LT(event.data.size(), 4000u);
  EXPECT_EQ(event.task_id, task.id);
  const json::value data = json::parse(event.data);
  EXPECT_EQ(data.at("task").at("status"), "failed");
  EXPECT_EQ(data.at("task").at("turn"), 2);
}

TEST(TaskJson, EachPartShowsItsOwnFields) {
  std::vector<Part> parts(6);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].type = static_cast<PartType>(i);
  parts[2].input = R"({"path":"/a"})";
  std::string text;
  JsonOut out(text);
  write_parts(out, parts);
  EXPECT_EQ(text,
            R"([{"type":"text","text":""},{"type":"reasoning","text":""},)"
            R"({"type":"tool_call","call_id":"","name":"","input":{"path":"/a"}},)"
            R"({"type":"tool_result","call_id":"","output":"","truncated":false,"size":0,"is_error":false,"ms":0},)"
            R"({"type":"file","name":"","media_type":"","url":"","size":0},{"type":"notice","text":""}])");
}

TEST(TaskJson, EventDataHasTheFieldsOfTheContract) {
  Part call{.type = PartType::tool_call, .text = {}, .call_id = "c1", .name = "bash", .input = R"({"cmd":"ls"})"};
  Part result{.type = PartType::tool_result, .text = "ok", .call_id = "c1"};
  result.size = 2;
  result.ms = 5;
  const MessageId message("msg_1");
  EXPECT_EQ(warning_event("idle", "quiet", noon).data, R"({"code":"idle","text":"quiet"})");
  EXPECT_EQ(delta_event(message, 1, "hi", noon).data, R"({"message_id":"msg_1","part":1,"type":"text","text":"hi"})");
  EXPECT_EQ(tool_started_event(message, call, noon).data,
            R"({"message_id":"msg_1","call_id":"c1","name":"bash","input":{"cmd":"ls"}})");
  EXPECT_EQ(tool_completed_event(result, noon).data,
            R"({"call_id":"c1","output":"ok","truncated":false,"size":2,"is_error":false,"ms":5})");
  EXPECT_EQ(output_event("stderr", 2, 3, 4, noon).data, R"({"stream":"stderr","run":2,"offset":3,"length":4})");
  EXPECT_EQ(ask_created_event({"req_1", AskKind::answer, "Which?", {"a", "b"}, noon, "", ""}, "/w", noon).data,
            R"({"request_id":"req_1","kind":"answer","text":"Which?","options":["a","b"]})");
  EXPECT_EQ(ask_answered_event({.request_id = "req_1", .decision = "allow"}, "user", noon).data,
            R"({"request_id":"req_1","decision":"allow","by":"user"})");
  EXPECT_EQ(ask_answered_event({.request_id = "req_1", .decision = "answer", .reply = "blue"}, "user", noon).data,
            R"({"request_id":"req_1","decision":"answer","by":"user","answer":"blue"})");
  EXPECT_EQ(notice_event(EventType::notice_taken, NoticeId("ntc_1"), noon).data, R"({"notice_id":"ntc_1"})");
  EXPECT_EQ(end_event(TaskState::cancelled, noon).data, R"({"status":"cancelled"})");
  EXPECT_EQ(end_event(TaskState::cancelled, noon).type, EventType::end);
  EXPECT_EQ(json::parse(progress_event(full_task(), noon).data).at("progress").at("tool_calls"), 11);
}

TEST(TaskJson, AnOutputEventNamesItsRange) {
  const auto range = decode_output(output_event("stderr", 2, 3, 4, noon).data);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->stream, "stderr");
  EXPECT_EQ(range->run, 2);
  EXPECT_EQ(range->offset, 3);
  EXPECT_EQ(range->length, 4);
}

TEST(TaskJson, AnOpenMessageIsPutTogetherFromItsEvents) {
  const MessageId id("msg_1");
  const Part call{.type = PartType::tool_call, .text = {}, .call_id = "c1", .name = "bash", .input = R"({"cmd":"ls"})"};
  Part result{.type = PartType::tool_result, .text = "file", .call_id = "c1"};
  result.size = 4;
  Message open;
  for (const Event& event :
       {delta_event(id, 0, "thin", noon, PartType::reasoning), delta_event(id, 0, "king", noon, PartType::reasoning),
        delta_event(id, 1, "He", noon), delta_event(id, 1, "llo", noon), tool_started_event(id, call, noon),
        tool_completed_event(result, noon), delta_event(id, 4, "Do", noon), delta_event(id, 4, "ne", noon),
        end_event(TaskState::completed, noon)}) {
    apply_event(open, event);
  }
  const std::vector<Part> expected = {{.type = PartType::reasoning, .text = "thinking"},
                                      {.type = PartType::text, .text = "Hello"},
                                      call,
                                      result,
                                      {.type = PartType::text, .text = "Done"}};
  EXPECT_EQ(open.parts, expected);
}

TEST(TaskJson, ADeltaWithAnIndexThatDoesNotFitIsNotLost) {
  const MessageId id("msg_1");
  Message open;
  apply_event(open, delta_event(id, 1'000'000'000, "a", noon));
  apply_event(open, delta_event(id, 1'000'000'000, "b", noon));
  ASSERT_EQ(open.parts.size(), 1u);
  EXPECT_EQ(open.parts[0].text, "ab");
  Event broken = delta_event(id, 0, "x", noon);
  broken.data = "{";
  apply_event(open, broken);
  broken.data = R"({"part":-1,"text":"x"})";
  apply_event(open, broken);
  EXPECT_EQ(open.parts[0].text, "ab");
}

TEST(Names, EveryNameParsesBack) {
  for (int i = 0; i < task_state_count; ++i) {
    const auto state = static_cast<TaskState>(i);
    EXPECT_EQ(parse_task_state(name(state)), state);
  }
  for (int i = 0; i < event_type_count; ++i) {
    const auto type = static_cast<EventType>(i);
    EXPECT_EQ(parse_event_type(name(type)), type);
  }
  EXPECT_EQ(parse_task_state("error"), std::nullopt);  // R1.2: only the tools say that.
  EXPECT_EQ(parse_task_state(""), std::nullopt);
  EXPECT_EQ(parse_sandbox("strict"), Sandbox::strict);
  EXPECT_EQ(parse_permission("Ask"), std::nullopt);
  EXPECT_EQ(parse_when("interrupt"), WaitingMessage::When::interrupt);
  EXPECT_EQ(parse_notice_kind("progress"), NoticeKind::progress);
}

TEST(Title, IsTheFirstThatSaysSomething) {
  Launch launch;
  launch.kind = TaskKind::command;
  launch.command = "\n  make all\nmake install";
  EXPECT_EQ(title_of(launch), "make all");
  launch.description = "Build it";
  EXPECT_EQ(title_of(launch), "Build it");
  launch.title = "Mine";
  EXPECT_EQ(title_of(launch), "Mine");
  launch.title = " \n ";
  EXPECT_EQ(title_of(launch), "Build it");
}

TEST(Title, IsNothingThatCannotBeSeen) {
  for (const char* unseen : {"\u200B\u200D\uFEFF", "\u202E\u2066", "\u2800", "\u3164", "\u00A0\u3000", "\U000E0041"}) {
    Launch launch;
    launch.kind = TaskKind::command;
    launch.title = unseen;
    launch.description = unseen;
    launch.command = std::string(unseen) + "\n  make all\nmake install";
    EXPECT_EQ(title_of(launch), "make all") << unseen;
    launch.description = "Build it";
    EXPECT_EQ(title_of(launch), "Build it");
    launch.title = std::string(unseen) + "x";
    EXPECT_EQ(title_of(launch), launch.title) << "a title with something to see is as it was given";
    launch.command = launch.title = launch.description = unseen;
    EXPECT_EQ(title_of(launch), "Command");
  }
}

TEST(Title, IsCutAtEightyCharactersAndNotInsideOneAndSaysSo) {
  Launch launch;
  std::string eighty;
  for (int i = 0; i < 80; ++i) eighty += "字";
  launch.prompt = eighty;
  EXPECT_EQ(title_of(launch), eighty);
  launch.prompt += "字";
  EXPECT_EQ(title_of(launch), eighty.substr(0, 79 * 3) + "…");
  launch.prompt = std::string(78, 'a') + " bc";
  EXPECT_EQ(title_of(launch), std::string(78, 'a') + "…");
  launch.prompt.clear();
  EXPECT_FALSE(title_of(launch).empty());
}

TEST(Slot, IsHeldByWorkAndNotByWaiting) {  // R1.10
  Task task;
  EXPECT_FALSE(holds_slot(task));
  task.phase = TurnPhase::working;
  EXPECT_TRUE(holds_slot(task));
  task.asks.push_back({});
  EXPECT_FALSE(holds_slot(task));
  task.stopping = true;  // Its processes are not gone yet.
  EXPECT_TRUE(holds_slot(task));
}

TEST(MessageText, IsItsTextPartsOnly) {
  Message message;
  message.parts = {{.type = PartType::reasoning, .text = "hm"},
                   {.type = PartType::text, .text = "a"},
                   {.type = PartType::file, .text = "f"},
                   {.type = PartType::text, .text = "b"}};
  EXPECT_EQ(text_of(message), "a\n\nb");
}

}  // namespace
}  // namespace errand

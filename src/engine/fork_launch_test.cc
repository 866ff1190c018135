// Launching with `fork` (R6): the parent's conversation is the child's, cut and settled, before its first turn.
#include <algorithm>

#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

std::vector<Message> messages_of(World& world, const SessionId& session) {
  Result<MessagePage> page = world.store->messages(session, 0, 0, 500);
  EXPECT_TRUE(page);
  return page ? page->messages : std::vector<Message>();
}

Task finished(World& world, const TaskId& id) {
  for (int i = 0; i < 1'000 && at_work(world.get(id).state); ++i) world.advance(100);
  return world.get(id);
}

// All that the agent said in its last answer.
std::string said(World& world, const Task& task) {
  const std::vector<Message> messages = messages_of(world, task.session_id);
  return messages.empty() ? std::string() : text_of(messages.back());
}

Task parent_of(World& world, std::string prompt = "tools") {
  return finished(world, world.launch(std::move(prompt)).id);
}

Result<TaskView> fork_of(World& world, const SessionId& parent, std::function<void(Launch&)> more = {}) {
  Launch launch{.agent_id = "demo", .prompt = "text", .fork = true, .parent_session_id = parent};
  if (more) more(launch);
  return world.ask<TaskView>([&](auto reply) { world.engine->tasks().launch(launch, {}, {}, std::move(reply)); });
}

TEST(ForkLaunch, GivesTheChildTheParentsConversation) {
  World world;
  const Task parent = parent_of(world);
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->task.is_forked);
  const Task child = finished(world, made->task.id);
  EXPECT_EQ(child.state, TaskState::completed);
  // The demonstration counts the messages that it was sent: the parent's one is among them.
  EXPECT_NE(said(world, child).find("2 messages in this conversation"), std::string::npos) << said(world, child);

  const std::vector<Message> before = messages_of(world, parent.session_id);
  const std::vector<Message> after = messages_of(world, child.session_id);
  ASSERT_EQ(after.size(), before.size() + 3) << "the preamble, the prompt and the answer";
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].role, before[i].role);
    EXPECT_EQ(after[i].parts, before[i].parts);
    EXPECT_NE(after[i].id, before[i].id);
    EXPECT_EQ(after[i].session_id, child.session_id);
    EXPECT_EQ(after[i].seq, static_cast<int64_t>(i + 1));
    EXPECT_EQ(after[i].turn, 0);
    EXPECT_TRUE(after[i].completed_at);
  }
  const Message& preamble = after[before.size()];
  EXPECT_EQ(preamble.role, Role::system);
  EXPECT_NE(text_of(preamble).find("fork"), std::string::npos);
  EXPECT_EQ(text_of(after[before.size() + 1]), "text");
  EXPECT_EQ(messages_of(world, parent.session_id), before) << "the parent's own conversation is untouched";
}

TEST(ForkLaunch, TakesEverythingUpToAndWithTheNamedMessage) {
  World world;
  const Task parent = parent_of(world);
  const std::vector<Message> before = messages_of(world, parent.session_id);
  const Result<TaskView> made =
      fork_of(world, parent.session_id, [&](Launch& launch) { launch.parent_message_id = before.front().id; });
  ASSERT_TRUE(made);
  const std::vector<Message> after = messages_of(world, made->task.session_id);
  ASSERT_GE(after.size(), 3u);
  EXPECT_EQ(after[0].parts, before[0].parts);
  EXPECT_EQ(after[1].role, Role::system);
}

TEST(ForkLaunch, CutsToolResultsAsTheSettingSays) {
  World world(EngineSettings{.fork = {.tool_result_chars = 10}});
  const Task parent = parent_of(world);
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made);
  int cut = 0;
  for (const Message& message : messages_of(world, made->task.session_id))
    for (const Part& part : message.parts)
      if (part.type == PartType::tool_result && part.text.find("[Cut to 10 of ") != std::string::npos) ++cut;
  EXPECT_EQ(cut, 3);
}

TEST(ForkLaunch, OfAParentAtWorkSettlesWhatIsOpen) {
  World world;
  Task parent = world.launch("tools");
  const auto calls = [&] {
    int open = 0;
    for (const Message& message : messages_of(world, parent.session_id))
      for (const Part& part : message.parts) {
        if (part.type == PartType::tool_call) ++open;
        if (part.type == PartType::tool_result) --open;
      }
    return open;
  };
  for (int i = 0; i < 1'000 && calls() == 0; ++i) world.advance(10);
  ASSERT_EQ(calls(), 1) << "a call is under way";
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made);
  int settled = 0;
  for (const Message& message : messages_of(world, made->task.session_id)) {
    EXPECT_TRUE(message.completed_at || message.turn == 1);
    for (const Part& part : message.parts)
      if (part.type == PartType::tool_result && part.text.starts_with("No result:")) ++settled;
  }
  EXPECT_EQ(settled, 1);
  EXPECT_EQ(finished(world, made->task.id).state, TaskState::completed);
  EXPECT_EQ(finished(world, parent.id).state, TaskState::completed);
}

TEST(ForkLaunch, OfASessionThatDoesNotExistIsRefusedAndNothingIsCreated) {
  World world;
  const Result<TaskView> made = fork_of(world, SessionId("ses_never"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::not_found);
  EXPECT_EQ(made.error().reason, "unknown_session");
  EXPECT_EQ(*world.store->count({}), 0);
  EXPECT_FALSE(world.store->session(SessionId("ses_never"))) << "not even the session";
}

TEST(ForkLaunch, OfAMessageThatIsNotTheSessionsIsRefused) {
  World world;
  const Task parent = parent_of(world);
  const Task other = parent_of(world);
  const MessageId foreign = messages_of(world, other.session_id).front().id;
  const Result<TaskView> made =
      fork_of(world, parent.session_id, [&](Launch& launch) { launch.parent_message_id = foreign; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, "unknown_message");
}

TEST(ForkLaunch, OfAForeignSessionWithoutMessagesIsRefused) {
  World world;
  ASSERT_TRUE(world.ask<Session>([&](auto reply) {
    world.engine->sessions().open_session({.id = SessionId("ses_foreign"), .origin = "mcp"}, std::move(reply));
  }));
  const Result<TaskView> made = fork_of(world, SessionId("ses_foreign"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, "no_conversation");
}

TEST(ForkLaunch, IsSafeToRepeatWithAKey) {
  World world;
  const Task parent = parent_of(world);
  Launch launch{.agent_id = "demo", .prompt = "noop", .fork = true, .parent_session_id = parent.session_id};
  std::vector<TaskId> ids;
  for (int i = 0; i < 2; ++i)
    world.engine->tasks().launch(launch, "key", "print", [&](Result<TaskView> made) {
      ASSERT_TRUE(made);
      ids.push_back(made->task.id);
    });
  world.settle();
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids[0], ids[1]);
}

TEST(ForkLaunch, ThatWaitsForASlotHasItsConversationAfterACrash) {
  World world(EngineSettings{.max_concurrent = 1});
  const Task parent = parent_of(world);
  const Task busy = world.launch("long 20");
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->task.state, TaskState::pending);
  const size_t stored = messages_of(world, made->task.session_id).size();
  world.crash();
  EXPECT_EQ(messages_of(world, made->task.session_id).size(), stored);
  const Task child = finished(world, made->task.id);
  EXPECT_NE(said(world, child).find("2 messages in this conversation"), std::string::npos) << said(world, child);
}

TEST(ForkLaunch, OfAForkHasTheWholeConversation) {
  World world;
  const Task parent = parent_of(world, "text");
  const Task first = finished(world, fork_of(world, parent.session_id)->task.id);
  const Task second = finished(world, fork_of(world, first.session_id)->task.id);
  EXPECT_NE(said(world, second).find("3 messages in this conversation"), std::string::npos) << said(world, second);
}

TEST(ForkLaunch, HasTheMessagesInTheOrderInWhichTheAgentTookThem) {
  World world;
  const Task parent = parent_of(world, "text");
  // Sent while the answer was written, and taken behind it.
  Commit commit;
  commit.now = world.clock.wall();
  const auto at = [&](Millis ms) { return commit.now + ms; };
  const auto add = [&](const char* id, Role role, const char* text, Millis created, Millis completed) {
    Message message{.id = MessageId(id), .session_id = parent.session_id, .role = role, .turn = 2};
    message.created_at = at(created);
    message.completed_at = at(completed);
    message.parts = {{.type = PartType::text, .text = text}};
    commit.messages.push_back(std::move(message));
  };
  add("msg_x1", Role::user, "sent", 0, 500);
  add("msg_x2", Role::assistant, "was being written", 10, 400);
  add("msg_x3", Role::assistant, "answers it", 600, 700);
  bool stored = false;
  world.store->commit({commit}, [&](std::vector<Result<Committed>> results) { stored = results.at(0).has_value(); });
  world.settle();
  ASSERT_TRUE(stored);
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made);
  std::vector<std::string> texts;
  for (const Message& message : messages_of(world, made->task.session_id))
    if (message.turn == 0 && message.role != Role::system) texts.push_back(text_of(message));
  ASSERT_EQ(texts.size(), 5u);
  EXPECT_EQ(std::vector(texts.end() - 3, texts.end()),
            (std::vector<std::string>{"was being written", "sent", "answers it"}));
}

TEST(ForkLaunch, ReadsOnlyWhatFits) {
  World world(EngineSettings{.fork = {.tokens = 1'000}});
  const Task parent = parent_of(world, "flood 20000");
  const Result<TaskView> made = fork_of(world, parent.session_id);
  ASSERT_TRUE(made);
  const std::vector<Message> messages = messages_of(world, made->task.session_id);
  size_t bytes = 0;
  for (const Message& message : messages)
    for (const Part& part : message.parts) bytes += part.text.size();
  EXPECT_LT(bytes, 10'000u);
  EXPECT_TRUE(std::ranges::any_of(messages, [](const Message& message) {
    return message.role == Role::system && text_of(message).find("cut or left out") != std::string::npos;
  }));
}

}  // namespace
}  // namespace errand

// What drivers report beyond text and calls: their own data, system messages, waits; and taking a turn up again.
#include <algorithm>

#include "engine/engine.h"
#include "engine/hand_driver_test.h"
#include "engine/history.h"
#include "engine/world_test.h"

namespace errand {
namespace {

using fake::Script;

Launch& in_server(Launch& launch) {
  launch.agent_id = "in_server";
  return launch;
}

TEST(Reports, ADriversOwnDataIsStoredWithItsPartAndNeverShown) {
  World world;
  Script script;
  script.add(fake::step::Say{.text = "hmm", .reasoning = true, .opaque = "SIGNATURE"}).wait(1'000).say("Done.");
  const Task task = world.run_script("sign", script);
  world.advance(100);
  const auto signed_part = [&] {
    for (const Message& message : world.messages(task.id))
      for (const Part& part : message.parts)
        if (part.opaque == "SIGNATURE") return part.type == PartType::reasoning && part.text == "hmm";
    return false;
  };
  EXPECT_TRUE(signed_part()) << "while the message is open";
  world.crash();
  EXPECT_TRUE(signed_part()) << "after the server died";
  ASSERT_TRUE(world.run_to_rest(task.id));
  EXPECT_TRUE(signed_part()) << "when it is complete";
  EXPECT_EQ(world.messages(task.id).back().parts.back().text, "Done.");
  for (const Event& event : *world.store->events_after(task.id, 0, 1'000))
    EXPECT_EQ(event.data.find("SIGNATURE"), std::string::npos) << event.data;
}

TEST(Reports, ASystemMessageStandsInTheConversationWhole) {
  World world;
  const Task task = world.run_script("compact", Script().say("one").system("Context was cut.").say("two"));
  ASSERT_TRUE(world.run_to_rest(task.id));
  const std::vector<Message> messages = world.messages(task.id);
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[1].role, Role::assistant);
  EXPECT_FALSE(messages[1].interrupted);
  EXPECT_EQ(messages[2].role, Role::system);
  EXPECT_EQ(text_of(messages[2]), "Context was cut.");
  EXPECT_TRUE(messages[2].completed_at);
  EXPECT_EQ(text_of(messages[3]), "two");
}

// R1.10, R4.5.
TEST(Waiting, ForAQuotaHoldsNoSlotAndDoesNotHang) {
  World world({.max_concurrent = 1, .idle_timeout_ms = 1'000});
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 5'000).say("On."));
  const Task other = world.launch("noop");
  world.advance(50);
  EXPECT_EQ(world.get(waits.id).wait->kind, WaitKind::quota);
  EXPECT_TRUE(world.run_to_rest(other.id)) << "another agent gets the slot";
  EXPECT_EQ(world.get(waits.id).state, TaskState::running);
  ASSERT_TRUE(world.run_to_rest(waits.id));
  EXPECT_EQ(world.get(waits.id).state, TaskState::completed);
  EXPECT_TRUE(
      world.has_event(waits.id, EventType::task_status, R"("waiting_for":{"kind":"quota","text":"Usage limit.")"));
}

TEST(Waiting, OthersOnTheSameAccountWaitWithIt) {
  World world;
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 5'000).say("On."));
  world.advance(50);
  const Task same = world.run_script("same", Script().say("me too"));
  const Task model = world.run_script("model", Script().say("another model"), [](Launch& l) { l.model = "other"; });
  const Task driver = world.launch("noop");
  world.advance(1'000);
  EXPECT_EQ(world.get(same.id).state, TaskState::pending);
  EXPECT_EQ(world.get(model.id).state, TaskState::completed);
  EXPECT_EQ(world.get(driver.id).state, TaskState::completed);
  ASSERT_TRUE(world.run_to_rest(waits.id));
  EXPECT_TRUE(world.run_to_rest(same.id));
}

TEST(Waiting, OthersWaitNoLongerThanTheTimeThatWasNamed) {
  World world;
  Script script;
  script.add(fake::step::Blocked{WaitKind::quota, "Until then.", 600'000, world.clock.wall() + 2'000});
  const Task waits = world.run_script("quota", script);
  world.advance(50);
  const Task same = world.run_script("same", Script().say("me too"));
  world.advance(1'000);
  EXPECT_EQ(world.get(same.id).state, TaskState::pending);
  EXPECT_TRUE(world.run_to_rest(same.id));
  EXPECT_TRUE(world.get(waits.id).wait);
}

TEST(Waiting, ThatIsCancelledFreesTheLine) {
  World world;
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 600'000));
  world.advance(50);
  const Task same = world.run_script("same", Script().say("me too"));
  ASSERT_TRUE(
      world.ask<TaskView>([&](auto reply) { world.engine->tasks().cancel(waits.id, "user", std::move(reply)); }));
  EXPECT_FALSE(world.get(waits.id).wait);
  EXPECT_TRUE(world.run_to_rest(same.id));
}

TEST(Waiting, HoldsOthersForADayAtMostWhateverAProviderSays) {
  World world;
  const Millis day = 24 * 3'600'000;
  Script far, endless;
  far.add(fake::step::Blocked{WaitKind::quota, "In a year.", 400 * day, world.clock.wall() + 365 * day});
  endless.add(fake::step::Blocked{WaitKind::quota, "Who knows.", 400 * day});
  const Task named = world.run_script("far", far);
  const Task unnamed = world.run_script("endless", endless, [](Launch& l) { l.model = "other"; });
  world.advance(50);
  const Time since = world.get(named.id).wait->since;
  EXPECT_EQ(world.get(unnamed.id).wait->since, since);
  const Task first = world.run_script("first", Script().say("me too"));
  const Task second = world.run_script("second", Script().say("me too"), [](Launch& l) { l.model = "other"; });
  world.advance(1'000);
  ASSERT_EQ(world.engine->administration().quotas().size(), 2u);
  for (const Quota& quota : world.engine->administration().quotas()) {
    EXPECT_EQ(quota.since, since);
    EXPECT_EQ(quota.until, since + day);
  }
  // A restart makes it no longer.
  world.crash();
  world.advance(day - 120'000, 60'000);
  EXPECT_EQ(world.get(first.id).state, TaskState::pending);
  EXPECT_EQ(world.get(second.id).state, TaskState::pending);
  world.advance(180'000, 1'000);
  EXPECT_EQ(world.get(first.id).state, TaskState::completed);
  EXPECT_EQ(world.get(second.id).state, TaskState::completed);
  EXPECT_TRUE(world.engine->administration().quotas().empty());
  EXPECT_TRUE(world.get(named.id).wait) << "it waits on by itself";
}

TEST(Waiting, IsListedAndEndedByAPerson) {
  World world;
  const auto clear = [&](const std::string& account) {
    return world.ask<int64_t>(
        [&](auto reply) { world.engine->administration().clear_quota(account, std::move(reply)); });
  };
  EXPECT_TRUE(world.engine->administration().quotas().empty());
  EXPECT_EQ(clear("").value(), 0);
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 600'000).say("On."),
                                      [](Launch& l) { l.model = "m"; });
  world.advance(50);
  const Task same = world.run_script("same", Script().say("me too"), [](Launch& l) { l.model = "m"; });
  world.advance(50);
  ASSERT_EQ(world.engine->administration().quotas().size(), 1u);
  const Quota quota = world.engine->administration().quotas().front();
  EXPECT_EQ(quota.account, "script/m");
  EXPECT_EQ(quota.driver, "script");
  EXPECT_EQ(quota.model, "m");
  EXPECT_EQ(quota.text, "Usage limit.");
  EXPECT_EQ(quota.since, world.get(waits.id).wait->since);
  EXPECT_GT(quota.until, quota.since);
  EXPECT_EQ(quota.tasks, std::vector<TaskId>{waits.id});
  EXPECT_EQ(quota.waiting, 1);
  EXPECT_EQ(quota.queued, 1);

  const auto unknown = clear("script/other");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, "no_quota");
  EXPECT_EQ(world.engine->administration().quotas().size(), 1u);

  ASSERT_EQ(clear("script/m").value(), 1);
  // It was durable before it was told.
  world.crash();
  EXPECT_FALSE(world.get(waits.id).wait);
  EXPECT_TRUE(world.engine->administration().quotas().empty());
  ASSERT_TRUE(world.run_to_rest(same.id));
}

TEST(Waiting, ThatIsLiftedGoesOnAtOnce) {
  World world;
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 600'000).say("On."));
  world.advance(50);
  ASSERT_EQ(
      world.ask<int64_t>([&](auto reply) { world.engine->administration().clear_quota("", std::move(reply)); }).value(),
      1);
  world.advance(1'000);
  EXPECT_EQ(world.get(waits.id).state, TaskState::completed);
}

TEST(Waiting, OfAProgramThatCannotBeToldHoldsNobodyElseWhenItIsLifted) {
  World world;
  Script script;
  script.add(fake::step::Blocked{WaitKind::quota, "By itself.", 600'000, {}, true});
  const Task waits = world.run_script("quota", script);
  world.advance(50);
  const Task same = world.run_script("same", Script().say("me too"));
  world.advance(1'000);
  EXPECT_EQ(world.get(same.id).state, TaskState::pending);
  ASSERT_EQ(
      world.ask<int64_t>([&](auto reply) { world.engine->administration().clear_quota("", std::move(reply)); }).value(),
      1);
  ASSERT_TRUE(world.run_to_rest(same.id));
  EXPECT_TRUE(world.get(waits.id).wait);
  EXPECT_TRUE(world.engine->administration().quotas().empty());
}

TEST(Waiting, GoesOnAfterTheServerDied) {
  World world;
  const Task waits = world.run_script("quota", Script().blocked(WaitKind::quota, "Usage limit.", 5'000).say("On."));
  world.advance(1'000);
  world.crash();
  EXPECT_TRUE(world.get(waits.id).wait);
  ASSERT_TRUE(world.run_to_rest(waits.id));
  EXPECT_EQ(world.get(waits.id).state, TaskState::completed);
}

TEST(WhenStored, IsCalledWhenAllBeforeItIsDurableAndNeverInside) {
  // A driver of one turn that asks to be told.
  struct Asker final : Driver {
    struct AskerTurn final : Turn {
      Status send(const Message&) override { return {}; }
      void answer(const std::string&, const std::string&, const std::string&) override {}
      void stop() override {}
      void drop() override {}
    };
    Capabilities capabilities() const override { return {}; }
    Status check(const Launch&) const override { return {}; }
    Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& to) override {
      sink = &to;
      EXPECT_NE(request.agent, nullptr);
      for (const Message& message : request.messages) to.report({report::Taken{message.id}}, "0");
      to.report({report::MessageBegan{}, report::Text{0, false, "half"}}, "1");
      to.when_stored([this] { called += 1; });
      EXPECT_EQ(called, 0) << "inside the call";
      return std::make_unique<AskerTurn>();
    }
    Sink* sink = nullptr;
    int called = 0;
  } asker;
  World world;
  world.engine = make_engine({.store = *world.store,
                              .loop = world.loop,
                              .readers = world.readers,
                              .clock = world.clock,
                              .random = world.random,
                              .drivers = {{"asker", &asker}},
                              .agents = {{.id = "asker", .name = "asker", .driver = "asker"}}},
                             world.settings);
  const Task task = world.launch("x", [](Launch& launch) { launch.agent_id = "asker"; });
  world.settle();
  EXPECT_EQ(asker.called, 1);
  EXPECT_EQ(world.get(task.id).checkpoint, "1");
  // Text alone may wait to be merged; not where somebody waits for it.
  asker.sink->report({report::Text{0, false, " and half"}}, "2");
  asker.sink->when_stored([&] {
    asker.called += 1;
    EXPECT_EQ(world.get(task.id).checkpoint, "2");
  });
  world.settle();
  EXPECT_EQ(asker.called, 2);
  asker.sink->when_stored([&] { asker.called += 1; });
  EXPECT_EQ(asker.called, 2);
  world.settle();
  EXPECT_EQ(asker.called, 3) << "nothing is under way: at the next moment";
  asker.sink->when_stored([&] { asker.called += 100; });
  asker.sink->ended({.kind = Outcome::Kind::completed, .result = "over"});
  world.settle();
  EXPECT_EQ(asker.called, 3) << "not once the turn is over";
  world.engine.reset();
}

TEST(Merged, IsWhatFollowsTheFirstWordsWhichAReaderGetsAtOnce) {
  struct Reader final : FeedReader {
    void wake() override {}
  } reader;
  HandDriver hand;
  World world({}, {{"hand", &hand}});
  const Task task = world.launch("x", [](Launch& launch) { launch.agent_id = "hand"; });
  const std::shared_ptr<Feed> feed = world.engine->streams().feed(task.id);
  const auto said = [&](const char* text, const char* mark) {
    hand.sink->report({report::Text{0, false, text}}, mark);
    world.settle();
  };
  const auto stored = [&] { return world.get(task.id).checkpoint; };
  said("nobody", "1");
  EXPECT_NE(stored(), "1") << "nobody reads: it waits for a second";
  world.advance(1'000);
  EXPECT_EQ(stored(), "1");
  feed->add(&reader);
  world.advance(100);
  said("first", "2");
  EXPECT_EQ(stored(), "2") << "at once";
  said("second", "3");
  said("third", "4");
  EXPECT_EQ(stored(), "2") << "so soon behind the first that they are merged";
  world.advance(30);
  EXPECT_EQ(stored(), "4");
  world.advance(100);
  said("fourth", "5");
  EXPECT_EQ(stored(), "5") << "after a pause at once again";
  std::vector<std::string> deltas;
  for (const Event& event : *world.store->events_after(task.id, 0, 1'000))
    if (event.type == EventType::message_delta) deltas.push_back(event.data);
  EXPECT_EQ(deltas.size(), 4u);
  feed->remove(&reader);
  world.engine.reset();
}

// R2.2: a turn that lives in the server is taken up with all that was stored; what it was saying is cut, and said so.
TEST(TakenUp, FindsItsOpenMessageClosedAndItsHistoryWhole) {
  World world;
  world.scripts["work"] = Script().say("first").end_message().repeat("{n} ", 20, 100).say("last");
  const Task task = world.launch("work", [](Launch& launch) { in_server(launch); });
  world.advance(1'500);
  world.crash();
  const std::vector<Message> cut = world.messages(task.id);
  ASSERT_GE(cut.size(), 3u);
  EXPECT_FALSE(cut[1].interrupted);
  EXPECT_TRUE(cut[2].interrupted);
  EXPECT_TRUE(cut[2].completed_at);
  EXPECT_TRUE(text_of(cut[2]).starts_with("1 2 3"));
  ASSERT_TRUE(world.run_to_rest(task.id));
  EXPECT_EQ(world.get(task.id).state, TaskState::completed);
  const std::vector<Message> all = world.messages(task.id);
  ASSERT_EQ(all.size(), 4u);
  std::string said;
  for (const Message& message : all)
    if (message.role == Role::assistant) said += text_of(message) + "|";
  EXPECT_NE(said.find("19 20 "), std::string::npos);
  EXPECT_NE(said.find("last"), std::string::npos);
  EXPECT_EQ(std::ranges::count_if(all, [](const Message& m) { return m.interrupted; }), 1);
}

TEST(TakenUp, AgainAndAgain) {
  World world;
  world.scripts["work"] = Script().repeat("{n} ", 30, 100);
  const Task task = world.launch("work", [](Launch& launch) { in_server(launch); });
  for (int i = 0; i < 5; ++i) {
    world.advance(350);
    world.crash();
  }
  ASSERT_TRUE(world.run_to_rest(task.id));
  std::string said;
  for (const Message& message : world.messages(task.id))
    if (message.role == Role::assistant) said += text_of(message);
  std::string expected;
  for (int i = 1; i <= 30; ++i) expected += std::to_string(i) + " ";
  std::erase(said, '\n');
  EXPECT_EQ(said, expected) << "nothing twice, nothing lost";
}

Message said(int64_t seq, Role role, Time created, Time completed, int turn = 1) {
  Message message;
  message.id = MessageId("msg_" + std::to_string(seq));
  message.seq = seq;
  message.role = role;
  message.turn = turn;
  message.created_at = created;
  message.completed_at = completed;
  return message;
}

std::string order_of(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) out += std::to_string(message.seq) + " ";
  return out;
}

TEST(History, IsInTheOrderInWhichMessagesWereTaken) {
  const Time t{1'000'000};
  // Sent while the agent said 2, and taken only behind 4, which it said meanwhile.
  EXPECT_EQ(order_of(in_taking_order({said(1, Role::user, t, t), said(2, Role::assistant, t + 1, t + 5),
                                      said(3, Role::user, t + 2, t + 9), said(4, Role::assistant, t + 6, t + 8),
                                      said(5, Role::assistant, t + 10, t + 12)})),
            "1 2 4 3 5 ");
  // Taken in the moment in which the next message began.
  EXPECT_EQ(order_of(in_taking_order({said(1, Role::user, t, t), said(2, Role::assistant, t, t + 5),
                                      said(3, Role::user, t + 2, t + 6), said(4, Role::assistant, t + 6, t + 8)})),
            "1 2 3 4 ");
  // A clock that was set back moves nothing over the end of a turn.
  EXPECT_EQ(
      order_of(in_taking_order({said(1, Role::user, t, t + 100, 1), said(2, Role::assistant, t + 50, t + 60, 2)})),
      "1 2 ");
}

}  // namespace
}  // namespace errand

// Sessions that ended, and what is said of them (R3.6).
#include "engine/find_session.h"
#include "engine/world_test.h"

namespace errand {
namespace {

struct Sessions : testing::Test {
  World world;
  Result<Session> open(const char* id) {
    return world.ask<Session>([&](auto reply) {
      world.engine->sessions().open_session({.id = SessionId(id), .origin = "rest", .created_at = {}},
                                            std::move(reply));
    });
  }
  Result<int64_t> end(const char* id) {
    return world.ask<int64_t>(
        [&](auto reply) { world.engine->sessions().end_session(SessionId(id), std::move(reply)); });
  }
  Result<TaskView> launch(const char* parent) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = "noop";
    launch.parent_session_id = SessionId(parent);
    return world.ask<TaskView>([&](auto reply) { world.engine->tasks().launch(launch, {}, {}, std::move(reply)); });
  }
  Result<std::vector<Notice>> notices(const char* id) {
    return world.ask<std::vector<Notice>>(
        [&](auto reply) { world.engine->sessions().notices(SessionId(id), 0, 10, 0, std::move(reply)); });
  }
};

template <class T>
std::string reason(const Result<T>& result) {
  return result ? "none: it was answered" : result.error().reason;
}

TEST_F(Sessions, R3_6_OneThatEndedSaysSoAndOneThatNeverWasDoesNot) {
  ASSERT_TRUE(open("ses_a"));
  ASSERT_TRUE(launch("ses_a"));
  ASSERT_TRUE(end("ses_a"));
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(reason(notices("ses_a")), "session_ended");
    EXPECT_EQ(reason(end("ses_a")), "session_ended");
    EXPECT_EQ(reason(notices("ses_ab")), "") << "a longer name is another session's";
    EXPECT_EQ(reason(end("ses_never")), "");
    world.crash();
  }
}

TEST_F(Sessions, R3_5_ALaunchUnderOneThatEndedIsRefusedAndMakesNone) {
  ASSERT_TRUE(launch("ses_a")) << "one that is not known yet is made";
  ASSERT_TRUE(end("ses_a"));
  for (int life = 0; life < 2; ++life) {
    const Result<TaskView> refused = launch("ses_a");
    EXPECT_EQ(reason(refused), "session_ended");
    EXPECT_EQ(refused.error().code, Code::not_found);
    EXPECT_FALSE(world.store->session(SessionId("ses_a")));
    world.crash();
  }
}

TEST_F(Sessions, R3_5_ALaunchThatComesWhileItEndsDoesNotMakeItAnew) {
  ASSERT_TRUE(open("ses_a"));
  std::optional<Result<TaskView>> launched;
  Launch launch;
  launch.agent_id = "demo";
  launch.prompt = "noop";
  launch.parent_session_id = SessionId("ses_a");
  std::optional<Result<int64_t>> ended;
  world.engine->sessions().end_session(SessionId("ses_a"), [&](Result<int64_t> result) { ended = std::move(result); });
  world.engine->tasks().launch(launch, {}, {}, [&](Result<TaskView> result) { launched.emplace(std::move(result)); });
  world.settle();
  ASSERT_TRUE(launched && ended);
  // Either it was there first and went with the session, or it was refused: the session is gone in any case.
  EXPECT_FALSE(world.store->session(SessionId("ses_a")));
}

// A launch reads: its parent, its batch. The session may end at any moment of it, and the launch may come at any moment
// of the end.
TEST_F(Sessions, R3_5_OneThatEndsAtAnyMomentOfALaunchStaysEndedAndHasNoTasks) {
  int refused = 0, taken = 0;
  for (const bool end_first : {false, true})
    for (const bool known : {false, true})
      for (const bool readers_first : {false, true})
        for (int steps = 0; steps < 30; ++steps) {
          World one;
          // A batch that is at rest, and read only when somebody launches into it.
          const Task other = one.launch("noop", [](Launch& l) { l.batch_id = BatchId("new"); });
          ASSERT_TRUE(one.run_to_rest(other.id));
          one.crash();
          ASSERT_TRUE(one.ask<Session>([&](auto reply) {
            one.engine->sessions().open_session({.id = SessionId("ses_a"), .origin = "rest", .created_at = {}},
                                                std::move(reply));
          }));
          if (known) one.launch("noop", [](Launch& l) { l.parent_session_id = SessionId("ses_a"); });
          Launch launch;
          launch.agent_id = "demo";
          launch.prompt = "noop";
          launch.parent_session_id = SessionId("ses_a");
          launch.batch_id = other.launch.batch_id;
          std::optional<Result<int64_t>> ended;
          std::optional<Result<TaskView>> launched;
          const auto begin = [&](bool end) {
            if (end)
              one.engine->sessions().end_session(SessionId("ses_a"),
                                                 [&](Result<int64_t> result) { ended = std::move(result); });
            else
              one.engine->tasks().launch(launch, {}, {},
                                         [&](Result<TaskView> result) { launched.emplace(std::move(result)); });
          };
          begin(end_first);
          for (int i = 0; i < steps; ++i)
            readers_first ? one.readers.run_one() || one.loop.run_one() : one.loop.run_one() || one.readers.run_one();
          begin(!end_first);
          one.settle();
          ASSERT_TRUE(launched && ended);
          const std::string when = (end_first ? "end, " : "launch, ") + std::to_string(steps) + " steps" +
                                   (known ? ", known" : "") + (readers_first ? ", readers first" : "");
          EXPECT_TRUE(*ended) << when;
          if (!*launched) EXPECT_EQ(launched->error().reason, "session_ended") << when;
          (*launched ? taken : refused)++;
          EXPECT_FALSE(one.store->session(SessionId("ses_a"))) << when;
          EXPECT_TRUE(one.store->tasks_of_parent(SessionId("ses_a"))->empty()) << when;
          one.advance(5'000);
          EXPECT_FALSE(one.store->session(SessionId("ses_a"))) << "later, " << when;
          if (HasFailure()) return;
        }
  EXPECT_GT(refused, 10);
  EXPECT_GT(taken, 10);
}

// Two end it at once, and the store refuses one of them, all while a launch that has read the session reads something
// else: what was stored stays true for it.
TEST_F(Sessions, R3_5_AnEndThatFailsTakesNothingBackOfOneThatWasStored) {
  constexpr int steps = 12;
  int refused = 0;
  for (int second_at = 0; second_at < steps; ++second_at)
    for (int fault_at = 0; fault_at < steps; ++fault_at) {
      World one;
      const Task other = one.launch("noop", [](Launch& l) { l.batch_id = BatchId("new"); });
      ASSERT_TRUE(one.run_to_rest(other.id));
      one.crash();
      ASSERT_TRUE(one.ask<Session>([&](auto reply) {
        one.engine->sessions().open_session({.id = SessionId("ses_a"), .origin = "rest", .created_at = {}},
                                            std::move(reply));
      }));
      std::vector<Result<int64_t>> ends;
      const auto end = [&] {
        one.engine->sessions().end_session(SessionId("ses_a"),
                                           [&](Result<int64_t> result) { ends.push_back(std::move(result)); });
      };
      const auto end_twice = [&] {
        for (int i = 0; i < steps; ++i) {
          if (i == 0) end();
          if (i == second_at) end();
          if (i == fault_at) one.commit_fault = Fault::broken;
          one.readers.run_one() || one.loop.run_one();
        }
        one.settle();
      };
      int reads = 0;
      one.read_fault = [&]() -> std::optional<Error> {
        if (++reads == 2) end_twice();
        return std::nullopt;
      };
      Launch launch;
      launch.agent_id = "demo";
      launch.prompt = "noop";
      launch.parent_session_id = SessionId("ses_a");
      launch.batch_id = other.launch.batch_id;
      const Result<TaskView> launched =
          one.ask<TaskView>([&](auto reply) { one.engine->tasks().launch(launch, {}, {}, std::move(reply)); });
      ASSERT_EQ(ends.size(), 2u);
      refused += ends[0].has_value() != ends[1].has_value();
      if (ends[0] || ends[1]) {
        EXPECT_FALSE(one.store->session(SessionId("ses_a")))
            << "second end at " << second_at << ", fault at " << fault_at;
        EXPECT_EQ(reason(launched), "session_ended");
      }
      if (HasFailure()) return;
    }
  EXPECT_GT(refused, 0) << "one was stored and the other refused";
}

TEST_F(Sessions, OneThatEndedCanBeOpenedAnewByWhoMeansIt) {
  ASSERT_TRUE(open("ses_a"));
  ASSERT_TRUE(end("ses_a"));
  ASSERT_TRUE(open("ses_a"));
  EXPECT_TRUE(launch("ses_a"));
  EXPECT_TRUE(notices("ses_a"));
  world.crash();
  EXPECT_TRUE(launch("ses_a"));
}

// Marks of what went have an age. Before it they are there, over every restart; behind it nothing is left of them.
TEST_F(Sessions, MarksOfWhatWentAndTheirKeysAreForgottenAfterThirtyDays) {
  constexpr Millis day = 86'400'000;
  Launch with_key;
  with_key.agent_id = "demo";
  with_key.prompt = "noop";
  const auto launch_with_key = [&] {
    return world.ask<TaskView>(
        [&](auto reply) { world.engine->tasks().launch(with_key, "key", "print", std::move(reply)); });
  };
  const TaskId id = launch_with_key()->task.id;
  ASSERT_TRUE(world.run_to_rest(id));
  ASSERT_TRUE(world.ask<void>([&](auto reply) { world.engine->tasks().remove(id, Gone::deleted, std::move(reply)); }));
  ASSERT_TRUE(open("ses_a"));
  ASSERT_TRUE(end("ses_a"));
  for (int days = 0; days < 29; days += 7) {
    EXPECT_EQ(reason(notices("ses_a")), "session_ended") << days;
    EXPECT_EQ(reason(launch_with_key()), "deleted") << days;
    if (days == 14) world.crash();
    world.advance(7 * day, day / 24);
    if (days == 21) break;
  }
  EXPECT_EQ(reason(launch_with_key()), "deleted") << "after 28 days";
  world.advance(3 * day, day / 24);
  EXPECT_EQ(reason(notices("ses_a")), "") << "after 31 days nobody knows it";
  EXPECT_TRUE(world.store->settings("ended_session/")->empty());
  EXPECT_EQ(reason(world.store->get(id)), "");
  const Result<TaskView> again = launch_with_key();
  ASSERT_TRUE(again) << "the key may be used again";
  EXPECT_NE(again->task.id, id);
}

TEST_F(Sessions, ThereIsABoundOnMarksHoweverYoungTheyAre) {
  std::vector<Commit::Setting> marks;
  for (int i = 0; i < 50; ++i)
    marks.push_back(ended_mark(SessionId("ses_" + std::to_string(i)), Time{1'000'000LL + i}));
  const OldMarks old = old_marks(marks, Time{1}, 20, 10);
  ASSERT_EQ(old.gone.size(), 10u);
  EXPECT_EQ(old.gone.front().name, "ended_session/ses_0");
  EXPECT_EQ(old.oldest, Time{1'000'010});
  EXPECT_EQ(old_marks(marks, Time{1}, 20, 100).gone.size(), 30u);
  EXPECT_EQ(old_marks(marks, Time{1'000'005}, 100, 100).gone.size(), 5u);
}

TEST_F(Sessions, FeedsThatNobodyReadsDoNotStay) {
  const std::shared_ptr<Feed> held = world.engine->streams().feed(TaskId("task_held"));
  for (int i = 0; i < 5'000; ++i) {
    world.engine->streams().feed(TaskId("task_" + std::to_string(i)));
    world.engine->streams().session_feed(SessionId("ses_" + std::to_string(i)));
  }
  EXPECT_LT(world.engine->administration().health().feeds, 1'000);
  EXPECT_EQ(world.engine->streams().feed(TaskId("task_held")), held);
}

}  // namespace
}  // namespace errand

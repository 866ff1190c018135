// Sessions that ended, and what is said of them (R3.6).
#include "engine/world_test.h"

namespace errand {
namespace {

struct Sessions : testing::Test {
  World world;
  Result<Session> open(const char* id) {
    return world.ask<Session>([&](auto reply) {
      world.engine->open_session({.id = SessionId(id), .origin = "rest", .created_at = {}}, std::move(reply));
    });
  }
  Result<int64_t> end(const char* id) {
    return world.ask<int64_t>([&](auto reply) { world.engine->end_session(SessionId(id), std::move(reply)); });
  }
  Result<TaskView> launch(const char* parent) {
    Launch launch;
    launch.agent_id = "demo";
    launch.prompt = "noop";
    launch.parent_session_id = SessionId(parent);
    return world.ask<TaskView>([&](auto reply) { world.engine->launch(launch, {}, {}, std::move(reply)); });
  }
  Result<std::vector<Notice>> notices(const char* id) {
    return world.ask<std::vector<Notice>>(
        [&](auto reply) { world.engine->notices(SessionId(id), 0, 10, 0, std::move(reply)); });
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
  world.engine->end_session(SessionId("ses_a"), [&](Result<int64_t> result) { ended = std::move(result); });
  world.engine->launch(launch, {}, {}, [&](Result<TaskView> result) { launched = std::move(result); });
  world.settle();
  ASSERT_TRUE(launched && ended);
  // Either it was there first and went with the session, or it was refused: the session is gone in any case.
  EXPECT_FALSE(world.store->session(SessionId("ses_a")));
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

}  // namespace
}  // namespace errand

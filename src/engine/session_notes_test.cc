// What a session keeps across turns (R8.6): durable, bounded, gone with the session (R3.5).
#include "engine/engine.h"
#include "engine/world_test.h"

namespace errand {
namespace {

const SessionId parent("ses_parent");

Result<void> keep(World& world, const std::string& key, std::optional<std::string> value,
                  const SessionId& session = parent) {
  return world.ask<void>(
      [&](auto reply) { world.engine->sessions().keep_state(session, key, value, std::move(reply)); });
}

std::vector<StatePiece> state(World& world, const SessionId& session = parent) {
  auto kept = world.ask<std::vector<StatePiece>>(
      [&](auto reply) { world.engine->sessions().session_state(session, std::move(reply)); });
  EXPECT_TRUE(kept);
  return kept.value_or(std::vector<StatePiece>{});
}

TEST(SessionNotes, R8_6_IsKeptChangedAndDroppedAndOutlivesACrash) {
  World world;
  EXPECT_TRUE(state(world).empty());
  ASSERT_TRUE(keep(world, "plan", "one \"line\"\nand 你好"));
  ASSERT_TRUE(keep(world, "a", ""));
  ASSERT_TRUE(keep(world, "plan/b", "x", SessionId("ses_other")));
  world.crash();
  ASSERT_EQ(state(world).size(), 2U);
  EXPECT_EQ(state(world)[0].key, "a");
  EXPECT_EQ(state(world)[1].value, "one \"line\"\nand 你好");
  EXPECT_TRUE(state(world)[1].updated_at);
  ASSERT_TRUE(keep(world, "plan", "two"));
  ASSERT_TRUE(keep(world, "a", std::nullopt));
  ASSERT_EQ(state(world).size(), 1U);
  EXPECT_EQ(state(world)[0].value, "two");
  EXPECT_EQ(keep(world, "a", std::nullopt).error().code, Code::not_found);
  EXPECT_EQ(state(world, SessionId("ses_other")).size(), 1U);
}

TEST(SessionNotes, IsBoundedInCountAndSizeHoweverManyComeAtOnce) {
  World world;
  EXPECT_EQ(keep(world, "", "x").error().code, Code::too_large);
  EXPECT_EQ(keep(world, std::string(state_key_bytes_max + 1, 'k'), "x").error().code, Code::too_large);
  EXPECT_EQ(keep(world, "k", std::string(state_value_bytes_max + 1, 'v')).error().code, Code::too_large);
  size_t kept = 0, refused = 0;
  for (size_t i = 0; i < state_pieces_max + 20; ++i)
    world.engine->sessions().keep_state(parent, "k" + std::to_string(i), "v",
                                        [&](Result<void> done) { ++(done ? kept : refused); });
  world.settle();
  EXPECT_EQ(kept, state_pieces_max);
  EXPECT_EQ(refused, 20U);
  ASSERT_TRUE(keep(world, "k0", "another value")) << "a known key has its place";
  ASSERT_TRUE(keep(world, "k1", std::nullopt));
  ASSERT_TRUE(keep(world, "last", "v"));
  const SessionId large("ses_large");
  for (size_t i = 0; i < 15; ++i)
    ASSERT_TRUE(keep(world, "k" + std::to_string(i), std::string(state_value_bytes_max, 'v'), large));
  const auto over = keep(world, "k15", std::string(state_value_bytes_max, 'v'), large);
  ASSERT_FALSE(over) << "keys count too";
  EXPECT_EQ(over.error().reason, "state_full");
}

TEST(SessionNotes, R3_5_GoesWithItsSession) {
  World world;
  ASSERT_TRUE(keep(world, "plan", "x"));
  ASSERT_TRUE(keep(world, "plan", "y", SessionId("ses_parent2")));
  ASSERT_TRUE(world.ask<int64_t>([&](auto reply) { world.engine->sessions().end_session(parent, std::move(reply)); }));
  EXPECT_TRUE(state(world).empty());
  EXPECT_EQ(state(world, SessionId("ses_parent2")).size(), 1U);
  // A task's own session goes with the task.
  const Task task = world.launch("noop");
  ASSERT_TRUE(keep(world, "note", "z", task.session_id));
  world.advance(100);
  ASSERT_TRUE(
      world.ask<void>([&](auto reply) { world.engine->tasks().remove(task.id, Gone::deleted, std::move(reply)); }));
  EXPECT_TRUE(state(world, task.session_id).empty());
}

}  // namespace
}  // namespace errand

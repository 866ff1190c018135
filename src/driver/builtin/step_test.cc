#include "driver/builtin/step.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "driver/builtin/conversation.h"

namespace errand::builtin {
namespace {

using Kind = Next::Kind;

class Story {
 public:
  Story& user(int turn = 1) { return add(Role::user, turn, {{.type = PartType::text, .text = "go"}}); }
  Story& answer(std::string words, int turn = 1) {
    return add(Role::assistant, turn, {{.type = PartType::text, .text = std::move(words)}});
  }
  // An answer with calls is complete when its results are there.
  Story& calls(std::vector<std::string> ids, std::vector<std::string> results, int turn = 1) {
    std::vector<Part> parts;
    for (std::string& id : ids)
      parts.push_back({.type = PartType::tool_call, .call_id = std::move(id), .name = "bash"});
    const bool whole = parts.size() == results.size();
    for (std::string& id : results)
      parts.push_back({.type = PartType::tool_result, .text = "ok", .call_id = std::move(id)});
    add(Role::assistant, turn, std::move(parts));
    if (!whole) list.back().completed_at = {};
    return *this;
  }
  Story& note(std::string_view name, int turn = 1) {
    return add(Role::system, turn, {{.type = PartType::notice, .text = "note", .name = std::string(name)}});
  }
  Story& cut() {
    list.back().interrupted = true;
    return *this;
  }
  Story& add(Role role, int turn, std::vector<Part> parts) {
    Message message;
    message.id = MessageId(fmt::format("msg_{}", list.size()));
    message.role = role;
    message.turn = turn;
    message.completed_at = {1};
    message.parts = std::move(parts);
    list.push_back(std::move(message));
    return *this;
  }
  Next next(bool more = false, int turn = 1, int max_steps = 0) const {
    return next_step(list, more, {.turn = turn, .max_steps = max_steps});
  }
  std::vector<Message> list;
};

TEST(Step, ANewMessageIsForTheModel) { EXPECT_EQ(Story().user().next().kind, Kind::ask); }

TEST(Step, CallsAreRunUntilEachHasAResult) {
  const Next next = Story().user().calls({"a", "b", "c"}, {"b"}).next();
  ASSERT_EQ(next.kind, Kind::tools);
  ASSERT_EQ(next.calls.size(), 2u);
  EXPECT_EQ(next.calls[0].call_id, "a");
  EXPECT_EQ(next.calls[1].call_id, "c");
  EXPECT_EQ(next.message.value, "msg_1");
  EXPECT_EQ(Story().user().calls({"a"}, {"a"}).next().kind, Kind::ask);
}

TEST(Step, CallsOfAMessageThatWasStoppedAreNotRun) {
  Story story = Story().user().calls({"a", "b"}, {"b"});
  story.list.back().completed_at = {5};
  story.cut();
  EXPECT_EQ(story.next().kind, Kind::ask);
}

TEST(Step, AnAnswerWithoutCallsIsTheResult) {
  const Next next = Story().user().calls({"a"}, {"a"}).answer("All done.").next();
  ASSERT_EQ(next.kind, Kind::end);
  EXPECT_EQ(next.result, "All done.");
}

TEST(Step, ItDoesNotEndWhileAMessageWaits) { EXPECT_EQ(Story().user().answer("All done.").next(true).kind, Kind::ask); }

TEST(Step, ACutAnswerIsAskedForAgain) {
  EXPECT_EQ(Story().user().answer("All d").cut().next().kind, Kind::ask);
  Story open = Story().user().answer("All d");
  open.list.back().completed_at = {};
  EXPECT_EQ(open.next().kind, Kind::ask);
}

TEST(Step, AnAnswerOfTheTurnBeforeIsNoAnswer) {
  EXPECT_EQ(Story().user().answer("done").user(2).next(false, 2).kind, Kind::ask);
  EXPECT_EQ(Story().user().answer("done").next(false, 2).kind, Kind::ask);
}

TEST(Step, AnEmptyAnswerIsNudgedOnceThenFails) {
  EXPECT_EQ(Story().user().answer(" \n").next().kind, Kind::nudge);
  const Next next = Story().user().answer("").note(nudge_name).answer("").next();
  ASSERT_EQ(next.kind, Kind::fail);
  EXPECT_EQ(next.error.code, "empty_result");
  EXPECT_EQ(Story().user().answer("").note(nudge_name).next().kind, Kind::ask);
  EXPECT_EQ(Story().user().answer("").note(nudge_name).answer("here").next().result, "here");
  // A nudge of an earlier turn does not count.
  EXPECT_EQ(Story().user().answer("").note(nudge_name).answer("x").user(2).answer("", 2).next(false, 2).kind,
            Kind::nudge);
}

TEST(Step, AnAnswerThatWentOnAfterTheOutputLimitIsOneResult) {
  EXPECT_EQ(Story().user().answer("one, ").note(continue_name).next().kind, Kind::ask);
  const Next next =
      Story().user().answer("one, ").note(continue_name).answer("tw").cut().answer("two").note(compaction_name).next();
  ASSERT_EQ(next.kind, Kind::end);
  EXPECT_EQ(next.result, "one, two");
}

TEST(Step, MaxStepsEndsWithBudget) {
  Story story = Story().user().calls({"a"}, {"a"}).calls({"b"}, {"b"});
  EXPECT_EQ(story.next(false, 1, 3).kind, Kind::ask);
  const Next next = story.next(false, 1, 2);
  ASSERT_EQ(next.kind, Kind::fail);
  EXPECT_EQ(next.error.code, "budget");
  // A step that was cut is none, an answer at the bound still counts, and a new turn counts anew.
  EXPECT_EQ(Story().user().calls({"a"}, {"a"}).answer("x").cut().next(false, 1, 2).kind, Kind::ask);
  EXPECT_EQ(Story().user().calls({"a"}, {"a"}).answer("x").next(false, 1, 2).kind, Kind::end);
  EXPECT_EQ(story.user(2).next(false, 2, 2).kind, Kind::ask);
}

// A fork's copy has answers of a turn with the same number.
TEST(Step, WhatWasCopiedIsNotOfThisTurn) {
  const Story story = Story().user().calls({"a"}, {"a"}).answer("The parent's result.");
  EXPECT_EQ(story.next().kind, Kind::end);
  EXPECT_EQ(next_step(story.list, false, {.turn = 1, .first = 3}).kind, Kind::ask);
  EXPECT_EQ(steps_of(story.list, {.turn = 1, .first = 3}), 0);
  EXPECT_EQ(steps_of(story.list, {.turn = 1, .first = 2}), 1);
}

}  // namespace
}  // namespace errand::builtin

#include "notify/notifier.h"

#include <set>

#include <gtest/gtest.h>

#include "engine/world_test.h"
#include "notify/rules.h"
#include "notify/shapes.h"

namespace errand::notify {
namespace {

// A client whose answers are the test's.
class HandClient final : public http::Client {
 public:
  struct Sent {
    http::Request request;
    http::Handler* handler = nullptr;  // Null: answered, or given up by its owner.

    std::string header(std::string_view name) const {
      for (const auto& [key, value] : request.headers)
        if (key == name) return value;
      return {};
    }
    std::string id() const { return header("webhook-id"); }
    bool says(std::string_view words) const { return request.body.find(words) != std::string::npos; }
  };

  std::unique_ptr<http::Call> start(http::Request request, http::Handler& handler) override {
    sent.push_back(std::make_shared<Sent>(Sent{std::move(request), &handler}));
    struct HandCall final : http::Call {
      explicit HandCall(std::shared_ptr<Sent> of) : sent(std::move(of)) {}
      ~HandCall() override { sent->handler = nullptr; }
      std::shared_ptr<Sent> sent;
    };
    return std::make_unique<HandCall>(sent.back());
  }
  // Of the oldest that waits.
  void answer(int status, http::Headers headers = {}) {
    for (const auto& one : sent)
      if (one->handler != nullptr) return one->handler->head({.status = status, .headers = std::move(headers)});
    ADD_FAILURE() << "nothing was sent";
  }
  void break_off(std::string message) {
    for (const auto& one : sent)
      if (one->handler != nullptr) return one->handler->done(fail(Code::unavailable, std::move(message), "connect"));
    ADD_FAILURE() << "nothing was sent";
  }
  size_t open() const {
    size_t count = 0;
    for (const auto& one : sent) count += one->handler != nullptr ? 1 : 0;
    return count;
  }

  std::vector<std::shared_ptr<Sent>> sent;
};

struct Room {
  Room() { start(); }

  void start() {
    notifier.emplace(NotifierParts{.store = *world.store,
                                   .loop = world.loop,
                                   .readers = world.readers,
                                   .timers = *world.timers,
                                   .clock = world.clock,
                                   .random = world.random,
                                   .client = client,
                                   .private_hosts = {},
                                   .page_url = "https://errand.example",
                                   .utc_offset = {}});
    EXPECT_TRUE(notifier->load());
    world.engine->streams().listen(&*notifier);
    notifier->start();
    world.settle();
  }
  // As kill -9, between any two commits.
  void crash() {
    notifier.reset();
    client.sent.clear();
    world.crash();
    start();
  }

  TargetView add(Target target = {}) {
    if (target.url.empty()) target.url = "https://example.com/hook";
    std::optional<Result<TargetView>> made;
    notifier->add(std::move(target), [&](Result<TargetView> view) { made = std::move(view); });
    world.settle();
    EXPECT_TRUE(made && *made) << (made ? made->error().message : "no answer");
    return made.value().value();
  }
  TargetView change(const std::string& id, TargetChange change) {
    std::optional<Result<TargetView>> changed;
    notifier->change(id, std::move(change), [&](Result<TargetView> view) { changed = std::move(view); });
    world.settle();
    return changed.value().value();
  }
  TargetView view(const std::string& id) { return notifier->find(id).value(); }
  // Failed, at rest.
  Task fail_task(const std::string& prompt = "fail") {
    const Task task = world.launch(prompt);
    EXPECT_TRUE(world.run_to_rest(task.id));
    return task;
  }
  Target of(Occasions on) { return {.on = on}; }
  // Rows of the store that are about notifications.
  size_t owed_rows() { return world.store->settings("notify/owed/")->size(); }

  World world;
  HandClient client;
  std::optional<Notifier> notifier;
};

Occasions ends() { return needs_a_person().add(Occasion::completed).add(Occasion::cancelled); }

TEST(Notifier, TellsOfAFailureOnceItIsStoredAndForgetsItAfterTheAnswer) {
  Room room;
  const TargetView target = room.add();
  const Task task = room.fail_task();
  ASSERT_EQ(room.client.sent.size(), 1u);
  EXPECT_TRUE(room.client.sent[0]->says("task.failed"));
  EXPECT_TRUE(room.client.sent[0]->says(task.id.value));
  EXPECT_EQ(room.owed_rows(), 1u) << "durable before told";
  EXPECT_EQ(room.view(target.target.id).waiting, 1u);
  room.client.answer(204);
  room.world.settle();
  EXPECT_EQ(room.owed_rows(), 0u);
  const TargetView after = room.view(target.target.id);
  EXPECT_EQ(after.standing.delivered, 1);
  EXPECT_EQ(after.waiting, 0u);
  EXPECT_FALSE(after.next_try);
}

TEST(Notifier, TellsNothingThatATargetDoesNotWantOrThatWasBefore) {
  Room room;
  room.fail_task();
  room.add();
  const Task task = room.world.launch("hello");
  ASSERT_TRUE(room.world.run_to_rest(task.id));
  EXPECT_TRUE(room.client.sent.empty());
  room.fail_task();
  EXPECT_EQ(room.client.sent.size(), 1u);
}

TEST(Notifier, SendsTheSameAgainAfterAFailureUntilItIsDelivered) {
  Room room;
  const std::string target = room.add().target.id;
  room.fail_task();
  room.client.answer(500);
  room.world.settle();
  EXPECT_EQ(room.view(target).standing.error, "The receiver answered 500.");
  EXPECT_EQ(room.view(target).waiting, 1u);
  room.world.advance(4'900, 100);
  EXPECT_EQ(room.client.sent.size(), 1u) << "not before 5 s";
  room.world.advance(700, 100);
  ASSERT_EQ(room.client.sent.size(), 2u);
  room.client.break_off("example.com refuses the connection.");
  EXPECT_EQ(room.view(target).standing.error, "example.com refuses the connection.");
  room.world.advance(6 * 60'000, 10'000);
  ASSERT_EQ(room.client.sent.size(), 3u);
  room.client.answer(302, {{"location", "https://example.com/elsewhere"}});
  room.world.advance(40 * 60'000, 60'000);
  ASSERT_EQ(room.client.sent.size(), 4u);
  room.client.answer(200);
  room.world.settle();
  for (const auto& sent : room.client.sent) {
    EXPECT_EQ(sent->id(), room.client.sent[0]->id());
    EXPECT_EQ(sent->request.body, room.client.sent[0]->request.body);
    EXPECT_EQ(sent->request.url, "https://example.com/hook") << "no redirect is followed";
  }
  EXPECT_EQ(room.view(target).standing.delivered, 1);
  EXPECT_EQ(room.view(target).standing.error, "");
}

TEST(Notifier, GivesUpAfterItsTriesAndCountsIt) {
  Room room;
  const std::string target = room.add().target.id;
  room.fail_task();
  for (int tries = 1; tries < tries_max; ++tries) {
    ASSERT_EQ(room.client.sent.size(), static_cast<size_t>(tries));
    room.client.answer(500);
    room.world.settle();
    EXPECT_EQ(room.view(target).standing.given_up, 0);
    const Millis wait = room.view(target).next_try - room.world.clock.wall();
    EXPECT_GT(wait, 0);
    room.world.clock.advance(wait);
    room.world.timers->run_due();
    room.world.settle();
  }
  ASSERT_EQ(room.client.sent.size(), static_cast<size_t>(tries_max));
  room.client.answer(500);
  room.world.settle();
  EXPECT_EQ(room.view(target).standing.given_up, 1);
  EXPECT_EQ(room.view(target).waiting, 0u);
  EXPECT_EQ(room.owed_rows(), 0u);
  room.fail_task();
  EXPECT_EQ(room.client.sent.size(), static_cast<size_t>(tries_max) + 1) << "the next one is tried as ever";
}

TEST(Notifier, OverAKillSendsTheSameIdAgain) {
  Room room;
  const std::string target = room.add().target.id;
  room.fail_task();
  const std::string id = room.client.sent.at(0)->id();
  room.crash();  // While the first try is under way: nobody knows whether it arrived.
  ASSERT_EQ(room.client.sent.size(), 1u);
  EXPECT_EQ(room.client.sent[0]->id(), id);
  room.client.answer(500);
  room.world.settle();
  room.crash();  // Between two tries.
  EXPECT_TRUE(room.client.sent.empty()) << "it waits as long as before";
  room.world.advance(6'000, 100);
  ASSERT_EQ(room.client.sent.size(), 1u);
  EXPECT_EQ(room.client.sent[0]->id(), id);
  room.client.answer(200);
  room.world.settle();
  room.crash();
  EXPECT_TRUE(room.client.sent.empty()) << "delivered";
  EXPECT_EQ(room.view(target).standing.delivered, 1);
}

TEST(Notifier, OverAKillMissesNothingThatHappenedWithoutIt) {
  Room room;
  room.add();
  room.notifier->stop();
  room.fail_task();
  room.crash();
  ASSERT_EQ(room.client.sent.size(), 1u);
  room.client.answer(200);
  room.world.settle();
  room.crash();
  EXPECT_TRUE(room.client.sent.empty()) << "and tells it once";
}

TEST(Notifier, KeepsTheOrderOfATaskAndLetsOthersPass) {
  Room room;
  room.add(room.of(ends()));
  const Task slow = room.fail_task();
  room.client.answer(500);
  room.world.settle();
  // The same task again, while its first end waits to be told.
  ASSERT_TRUE(
      room.world.ask<TaskView>([&](auto reply) { room.world.engine->tasks().retry(slow.id, {}, std::move(reply)); }));
  ASSERT_TRUE(room.world.run_until(
      [&] { return room.world.get(slow.id).attempt == 2 && !at_work(room.world.get(slow.id).state); }, 4'000));
  const Task other = room.world.launch("hello");
  ASSERT_TRUE(room.world.run_until([&] { return room.client.sent.size() > 1; }, 4'000));
  EXPECT_TRUE(room.client.sent[1]->says(other.id.value)) << "a task of its own waits for nobody";
  room.client.answer(200);
  room.world.settle();
  EXPECT_EQ(room.client.sent.size(), 2u) << "the second end of a task waits for its first";
  ASSERT_TRUE(room.world.run_until([&] { return room.client.sent.size() > 2; }));
  EXPECT_EQ(room.client.sent[2]->id(), room.client.sent[0]->id());
  room.client.answer(200);
  room.world.settle();
  ASSERT_EQ(room.client.sent.size(), 4u);
  EXPECT_TRUE(room.client.sent[3]->says(slow.id.value));
  EXPECT_NE(room.client.sent[3]->id(), room.client.sent[0]->id());
}

TEST(Notifier, HasOneCallForEachTarget) {
  Room room;
  room.add();
  room.add();
  for (int i = 0; i < 5; ++i) room.fail_task();
  EXPECT_EQ(room.client.open(), 2u);
  EXPECT_EQ(room.client.sent.size(), 2u);
}

TEST(Notifier, ReadsNoFurtherThanItHasRoomAndMissesNothing) {
  Room room;
  const std::string target = room.add().target.id;
  const size_t all = owed_max + 40;
  for (size_t i = 0; i < all; ++i) room.fail_task();
  EXPECT_EQ(room.view(target).waiting, owed_max);
  EXPECT_EQ(room.owed_rows(), owed_max);
  room.crash();
  EXPECT_EQ(room.view(target).waiting, owed_max);
  std::set<std::string> ids, bodies;
  while (room.client.open() > 0) {
    ids.insert(room.client.sent.back()->id());
    bodies.insert(room.client.sent.back()->request.body);
    room.client.answer(200);
    room.world.settle();
  }
  EXPECT_EQ(ids.size(), all);
  EXPECT_EQ(bodies.size(), all);
  EXPECT_EQ(room.view(target).standing.delivered, static_cast<int64_t>(all));
}

TEST(Notifier, TellsOfAnOpenQuestionAndTakesItBackOnceItIsAnswered) {
  Room room;
  const std::string target = room.add().target.id;
  const Task task = room.world.launch("permission");
  ASSERT_TRUE(room.world.run_until([&] { return open_ask(room.world.get(task.id)) != nullptr; }));
  ASSERT_EQ(room.client.sent.size(), 1u);
  EXPECT_TRUE(room.client.sent[0]->says("task.asked"));
  room.client.answer(500);
  room.world.settle();
  EXPECT_EQ(room.owed_rows(), 1u);
  const std::string request = open_ask(room.world.get(task.id))->request_id;
  ASSERT_TRUE(room.world.ask<TaskView>([&](auto reply) {
    room.world.engine->tasks().answer(task.id, {.request_id = request, .decision = "allow"}, std::move(reply));
  }));
  EXPECT_EQ(room.owed_rows(), 0u);
  EXPECT_EQ(room.view(target).waiting, 0u);
  room.world.advance(10'000, 100);
  EXPECT_EQ(room.client.sent.size(), 1u) << "nobody needs to answer any more";
}

TEST(Notifier, SaysNothingOfWhatARuleAnswers) {
  Room room;
  room.add(room.of(Occasions().add(Occasion::asked)));
  const Task task = room.world.launch("permission", [](Launch& launch) { launch.permission = Permission::allow; });
  ASSERT_TRUE(room.world.run_to_rest(task.id));
  EXPECT_TRUE(room.world.has_event(task.id, EventType::ask_created));
  EXPECT_TRUE(room.client.sent.empty());
}

TEST(Notifier, IsQuietWhenItIsToldToBe) {
  Room room;
  // The hand-turned clock begins at 09:46:40 UTC.
  const std::string target = room.add({.quiet = parse_quiet("09:00-10:00")}).target.id;
  room.fail_task();
  EXPECT_TRUE(room.client.sent.empty());
  EXPECT_EQ(room.view(target).waiting, 1u);
  EXPECT_EQ(format_time(room.view(target).next_try).substr(11, 8), "10:00:00");
  room.crash();
  EXPECT_TRUE(room.client.sent.empty());
  room.world.advance(15 * 60'000, 10'000);
  EXPECT_EQ(room.client.sent.size(), 1u);
}

TEST(Notifier, IsSwitchedOffByAReceiverThatIsGone) {
  Room room;
  const std::string target = room.add().target.id;
  for (int i = 0; i < 3; ++i) room.fail_task();
  room.client.answer(410);
  room.world.settle();
  EXPECT_FALSE(room.view(target).target.enabled);
  EXPECT_NE(room.view(target).target.disabled_because.find("410"), std::string::npos);
  EXPECT_EQ(room.owed_rows(), 0u);
  room.crash();
  room.fail_task();
  EXPECT_TRUE(room.client.sent.empty());
  room.change(target, {.enabled = true});
  EXPECT_TRUE(room.client.sent.empty()) << "it hears of what happens from now on";
  EXPECT_EQ(room.view(target).target.disabled_because, "");
  room.fail_task();
  EXPECT_EQ(room.client.sent.size(), 1u);
}

TEST(Notifier, WaitsAsLongAsTheReceiverAsksFor) {
  Room room;
  const std::string target = room.add().target.id;
  room.fail_task();
  room.client.answer(429, {{"retry-after", "120"}});
  room.world.settle();
  EXPECT_EQ(room.view(target).next_try - room.world.clock.wall(), 120'000);
}

TEST(Notifier, ForgetsARemovedTargetAndWhatItWasOwed) {
  Room room;
  const std::string target = room.add().target.id;
  for (int i = 0; i < 3; ++i) room.fail_task();
  bool removed = false;
  room.notifier->remove(target, [&](const Result<void>& answer) { removed = answer.has_value(); });
  room.world.settle();
  EXPECT_TRUE(removed);
  EXPECT_EQ(room.client.open(), 0u) << "the call is ended";
  EXPECT_TRUE(room.world.store->settings("notify/")->empty());
  EXPECT_FALSE(room.notifier->find(target));
  room.crash();
  EXPECT_TRUE(room.notifier->list().empty());
}

// Does single steps of a room, one piece of work each, until `most` are done; a receiver answers as a step of its own.
// False: there were more.
bool run_steps(Room& room, int most, std::vector<std::string>& heard) {
  int done = 0;
  for (Millis spent = 0; spent < 5'000; spent += 50) {
    room.world.clock.advance(50);
    room.world.timers->run_due();
    room.world.engine->tick();
    for (;;) {
      if (done == most) return false;
      if (room.world.loop.run_one() || room.world.readers.run_one()) {
        ++done;
      } else if (room.client.open() > 0) {
        heard.push_back(room.client.sent.back()->id());
        room.client.answer(200);
        ++done;
      } else {
        break;
      }
    }
  }
  return true;
}

TEST(Notifier, KilledAtAnyMomentTellsEachEndUnderOneId) {
  bool ended = false;
  int kills = 0;
  for (int steps = 0; !ended; ++steps, ++kills) {
    ASSERT_LT(steps, 5'000);
    Room room;
    const std::string target = room.add().target.id;
    room.world.launch("fail");
    std::vector<std::string> heard;
    ended = run_steps(room, steps, heard);
    room.crash();
    ASSERT_TRUE(run_steps(room, 100'000, heard));
    // Sent and perhaps not noted as delivered: at least once, and always the same.
    EXPECT_FALSE(heard.empty()) << "killed after " << steps << " steps";
    EXPECT_EQ(std::set<std::string>(heard.begin(), heard.end()).size(), 1u) << "killed after " << steps << " steps";
    EXPECT_EQ(room.owed_rows(), 0u);
    EXPECT_EQ(room.view(target).waiting, 0u);
  }
  EXPECT_GE(kills, 8) << "there were moments to be killed at";
}

TEST(Notifier, ForgetsATargetThatIsRemovedAtAnyMoment) {
  bool ended = false;
  for (int steps = 0; !ended; ++steps) {
    ASSERT_LT(steps, 5'000);
    Room room;
    const std::string target = room.add().target.id;
    room.world.launch("fail");
    std::vector<std::string> heard;
    ended = run_steps(room, steps, heard);
    room.notifier->remove(target, [](const Result<void>&) {});
    ASSERT_TRUE(run_steps(room, 100'000, heard));
    EXPECT_TRUE(room.world.store->settings("notify/")->empty()) << "removed after " << steps << " steps";
  }
}

TEST(Notifier, StoresWhatItCouldNotStoreLater) {
  Room room;
  const std::string target = room.add().target.id;
  const Task task = room.world.launch("fail");
  ASSERT_TRUE(room.world.run_until([&] { return !at_work(room.world.get(task.id).state) || room.owed_rows() > 0; }));
  room.world.settle();
  room.client.answer(200);
  room.world.settle();
  // The reads fail for a while.
  room.world.read_fault = [] { return std::optional<Error>({Code::internal, "The disk is slow.", "io"}); };
  room.world.launch("fail");
  for (int i = 0; i < 300; ++i) {
    room.world.clock.advance(10);
    room.world.timers->run_due();
    room.world.engine->tick();
    room.world.settle();
  }
  EXPECT_EQ(room.client.sent.size(), 1u);
  room.world.read_fault = {};
  room.world.advance(10'000, 100);
  EXPECT_EQ(room.client.sent.size(), 2u);
}

TEST(Notifier, RefusesAddressesOfThisMachineAndTooManyTargets) {
  Room room;
  const auto refused = [&](Target target) {
    std::optional<Result<TargetView>> made;
    room.notifier->add(std::move(target), [&](Result<TargetView> view) { made = std::move(view); });
    room.world.settle();
    return made && !*made ? made->error().code : Code::internal;
  };
  EXPECT_EQ(refused({.url = "https://127.0.0.1/hook"}), Code::forbidden);
  EXPECT_EQ(refused({.url = "nonsense"}), Code::invalid_argument);
  for (size_t i = 0; i < targets_max; ++i) room.add();
  EXPECT_EQ(refused({.url = "https://example.com/hook"}), Code::exhausted);
  EXPECT_TRUE(room.client.sent.empty());
}

TEST(Notifier, ConnectsToPublicAddressesOnly) {
  Room room;
  room.add();
  room.fail_task();
  EXPECT_TRUE(room.client.sent.at(0)->request.public_only);
  EXPECT_FALSE(room.client.sent.at(0)->request.follow_redirects);
  EXPECT_EQ(room.client.sent.at(0)->request.first_byte_ms, answer_ms);
}

TEST(Notifier, TestsATargetAtOnceAndStoresNothing) {
  Room room;
  const std::string target = room.add({.quiet = parse_quiet("09:00-10:00")}).target.id;
  const auto begin = [&](std::optional<Result<Outcome>>& into) {
    room.notifier->test(target, [&](Result<Outcome> outcome) { into = std::move(outcome); });
    room.world.settle();
  };
  std::optional<Result<Outcome>> good, bad;
  begin(good);
  ASSERT_EQ(room.client.sent.size(), 1u);
  EXPECT_TRUE(room.client.sent[0]->says(R"("type":"test")"));
  room.client.answer(200);
  ASSERT_TRUE(good && *good);
  EXPECT_TRUE((*good)->delivered());
  begin(bad);
  room.client.answer(404);
  ASSERT_TRUE(bad && *bad);
  EXPECT_EQ((*bad)->error, "The receiver answered 404.");
  EXPECT_EQ(room.owed_rows(), 0u);
  EXPECT_EQ(room.view(target).standing, Standing{});
  std::vector<std::optional<Result<Outcome>>> many(tests_max + 1);
  for (auto& one : many) begin(one);
  EXPECT_EQ(room.client.open(), tests_max);
  ASSERT_TRUE(many.back() && !*many.back());
  EXPECT_EQ(many.back()->error().code, Code::exhausted);
}

TEST(Notifier, ReplacesASecretAndSignsWithBothForADay) {
  Room room;
  const TargetView before = room.add();
  std::optional<Result<TargetView>> rotated;
  room.notifier->rotate(before.target.id, [&](Result<TargetView> view) { rotated = std::move(view); });
  room.world.settle();
  ASSERT_TRUE(rotated && *rotated);
  EXPECT_NE((*rotated)->target.secret, before.target.secret);
  EXPECT_EQ((*rotated)->target.old_secret, before.target.secret);
  room.crash();
  room.fail_task();
  EXPECT_NE(room.client.sent.at(0)->header("webhook-signature").find(" v1,"), std::string::npos);
}

TEST(Notifier, LooksOnceMoreAtLittleAfterAQuietTime) {
  Room room;
  const std::string target = room.add().target.id;
  Event event;
  event.type = EventType::output;
  for (int64_t pos = 1; pos <= 3 * cursor_step; ++pos) {
    event.pos = room.world.store->last_pos() + pos;
    room.notifier->stored(event);
  }
  room.world.settle();
  const auto row = room.world.store->settings("notify/cursor/" + target);
  ASSERT_EQ(row->size(), 1u);
  EXPECT_GT(decode_cursor(row->front().json).value(), 2 * cursor_step);
}

}  // namespace
}  // namespace errand::notify

// Streams (R10.3, P5): cut anywhere and joined again, a reader sees every event once and in order.
#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "tests/api/site.h"

namespace errand::net {
namespace {

std::vector<int64_t> count_from(int64_t first, int64_t last) {
  std::vector<int64_t> all(static_cast<size_t>(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST(TaskStream, ReplaysGoesOnLiveAndClosesWithTheEnd) {
  Site site;
  const Task task = site.world.launch("text tools");
  site.world.advance(500);
  auto reader = site.stream(task.id);
  EXPECT_TRUE(reader->text.starts_with("retry: 2000\n\n"));
  EXPECT_FALSE(reader->ended);
  const size_t replayed = reader->events().size();
  EXPECT_GT(replayed, 0u);
  site.world.advance(30'000, 50);
  EXPECT_TRUE(reader->ended);
  EXPECT_GT(reader->events().size(), replayed) << "some came live";
  EXPECT_EQ(reader->types(), site.world.event_names(task.id));
  EXPECT_EQ(reader->ids(), count_from(1, site.world.get(task.id).last_seq));
  const Reader::Seen last = reader->events().back();
  EXPECT_EQ(last.event, "end");
  EXPECT_EQ(last.data.at("data").at("status"), "completed");
  EXPECT_EQ(text_in(last.data.at("task_id")), task.id.value);
  EXPECT_GT(last.data.at("pos").as_int64(), 0);
}

TEST(TaskStream, IsTheSameWhereverItIsCutAndJoined) {
  constexpr uint64_t seed = 20261115;
  SCOPED_TRACE(seed);
  SeededRandom random(seed);
  Site site;
  const Task task = site.world.launch("text tools text");
  std::vector<std::vector<int64_t>> seen(8);
  std::vector<std::unique_ptr<Reader>> readers(seen.size());
  for (int step = 0; step < 3000; ++step) {
    site.world.advance(20, 10);
    for (size_t i = 0; i < readers.size(); ++i) {
      if (readers[i] && readers[i]->ended) continue;
      if (readers[i] && random.one_in(10)) {
        for (const int64_t id : readers[i]->ids()) seen[i].push_back(id);
        readers[i].reset();
      }
      if (!readers[i]) readers[i] = site.stream(task.id, seen[i].empty() ? 0 : seen[i].back());
    }
    if (std::ranges::all_of(readers, [](const auto& reader) { return reader->ended; })) break;
  }
  const int64_t last = site.world.get(task.id).last_seq;
  EXPECT_GT(last, 20);
  for (size_t i = 0; i < readers.size(); ++i) {
    ASSERT_TRUE(readers[i]->ended) << i;
    for (const int64_t id : readers[i]->ids()) seen[i].push_back(id);
    EXPECT_EQ(seen[i], count_from(1, last)) << i;
  }
}

TEST(TaskStream, ASlowReaderLosesNothingAndHoldsLittle) {  // T7
  Site site;
  const Task task = site.world.launch("long 20");
  auto slow = site.stream(task.id);
  slow->paused = true;
  // Far more than the feed keeps.
  for (int i = 0; i < 12; ++i) {
    const std::string body = R"({"when":"queue","message":")" + std::string(60'000, 'x') + "\"}";
    site.json({.method = Method::post, .path = "/api/tasks/" + task.id.value + "/message", .body = body}, 202);
  }
  site.world.advance(2'000);
  slow->paused = false;
  slow->pump();
  site.world.settle();
  EXPECT_EQ(slow->ids(), count_from(1, site.world.get(task.id).last_seq));
  EXPECT_LT(slow->largest_pull, 200'000u);
  site.json({.method = Method::post, .path = "/api/tasks/" + task.id.value + "/cancel"});
  site.world.advance(1'000);
  EXPECT_TRUE(slow->ended);
  EXPECT_EQ(slow->ids(), count_from(1, site.world.get(task.id).last_seq));
}

TEST(TaskStream, AfterTheEndThereIs204) {
  Site site;
  const Task task = site.world.launch("noop");
  site.world.advance(1'000);
  const int64_t last = site.world.get(task.id).last_seq;
  const std::string path = "/api/tasks/" + task.id.value + "/stream";
  EXPECT_EQ(site.call({.path = path, .headers = {{"last-event-id", std::to_string(last)}}}).status, 204);
  const auto rest = site.stream(task.id, last - 1);
  EXPECT_TRUE(rest->ended);
  EXPECT_EQ(rest->ids(), std::vector<int64_t>{last});
  const auto whole = site.stream(task.id);
  EXPECT_TRUE(whole->ended);
  EXPECT_EQ(whole->ids(), count_from(1, last));
}

TEST(TaskStream, WhatComesAfterTheEndIsShownAndCloses) {  // A notice may be taken long after the task ended.
  Site site;
  site.json({.method = Method::post, .path = "/api/sessions", .body = R"({"id":"ses_p"})"}, 201);
  const Task task = site.world.launch("noop", [](Launch& launch) { launch.parent_session_id = SessionId("ses_p"); });
  site.world.advance(1'000);
  const int64_t end = site.world.get(task.id).last_seq;
  const auto notices = site.json({.path = "/api/sessions/ses_p/notices"});
  const std::string notice(notices.at("notices").at(0).at("id").as_string());
  site.json({.method = Method::post, .path = "/api/sessions/ses_p/notices/" + notice + "/taken"});
  const int64_t last = site.world.get(task.id).last_seq;
  ASSERT_GT(last, end);
  const auto reader = site.stream(task.id, end);
  EXPECT_TRUE(reader->ended);
  EXPECT_EQ(reader->types(), std::vector<std::string>{"notice.taken"});
}

TEST(TaskStream, GoesOnThroughAResume) {  // R5.2
  Site site;
  const Task task = site.world.launch("noop");
  site.world.advance(1'000);
  const int64_t end = site.world.get(task.id).last_seq;
  const std::string path = "/api/tasks/" + task.id.value;
  site.json({.method = Method::post, .path = path + "/message", .body = R"({"message":"long 2"})"}, 202);
  auto reader = site.stream(task.id, end - 1);
  EXPECT_FALSE(reader->ended) << "it is at work again";
  site.world.advance(5'000);
  EXPECT_TRUE(reader->ended);
  const auto types = reader->types();
  EXPECT_EQ(std::ranges::count(types, "end"), 2) << "the first was not the last";
  EXPECT_EQ(reader->ids(), count_from(end, site.world.get(task.id).last_seq));
}

TEST(TaskStream, OfATaskThatIsRemovedEnds) {
  Site site;
  const Task task = site.world.launch("long 60");
  site.world.advance(500);
  auto reader = site.stream(task.id);
  EXPECT_FALSE(reader->ended);
  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/tasks/" + task.id.value}).status, 204);
  site.world.advance(500);
  EXPECT_TRUE(reader->ended);
  EXPECT_EQ(reader->types().back(), "task.deleted");
  EXPECT_EQ(site.call({.path = "/api/tasks/" + task.id.value + "/stream"}).status, 404);
}

TEST(TaskStream, ACursorThatIsNoneIsReset) {
  Site site;
  const Task task = site.world.launch("long 60");
  site.world.advance(500);
  auto reader = site.stream(task.id, 1'000'000);
  ASSERT_FALSE(reader->types().empty());
  EXPECT_EQ(reader->types().front(), "reset");
  EXPECT_TRUE(reader->events().front().id.empty());
  const int64_t before = site.world.get(task.id).last_seq;
  site.json({.method = Method::post, .path = "/api/tasks/" + task.id.value + "/cancel"});
  site.world.advance(1'000);
  EXPECT_TRUE(reader->ended);
  EXPECT_EQ(reader->ids(), count_from(before + 1, site.world.get(task.id).last_seq));
}

TEST(TaskStream, ACutReaderLeavesNothingBehind) {
  Site site;
  const Task task = site.world.launch("long 60");
  auto reader = site.stream(task.id);
  EXPECT_EQ(site.world.engine->administration().health().streams, 1);
  EXPECT_EQ(site.heartbeats.members(), 1u);
  reader->cut();
  EXPECT_EQ(site.world.engine->administration().health().streams, 0);
  EXPECT_EQ(site.heartbeats.members(), 0u);
  site.world.advance(1'000);
}

TEST(TaskStream, IsSilentForSoLongAndThenSaysSo) {
  World world;
  const auto loop = Loop::make();
  Heartbeats heartbeats(*loop, 32);
  Routes routes({.engine = *world.engine,
                 .store = *world.store,
                 .loop = world.loop,
                 .readers = world.readers,
                 .clock = world.clock,
                 .heartbeats = heartbeats,
                 .version = {},
                 .authenticated = {},
                 .stats = {},
                 .login = {},
                 .page = {}});
  const auto exchange = std::make_shared<TestExchange>();
  exchange->request.path = "/api/stream";
  exchange->request.who = Principal::owner();
  routes.handle(exchange);
  class Watched final : public StreamSource {
   public:
    Watched(std::unique_ptr<StreamSource> source, Loop& loop) : source_(std::move(source)), loop_(loop) {}
    Pulled pull(std::vector<Slice>& out, size_t bytes) override { return source_->pull(out, bytes); }
    void on_ready(std::function<void()> wake) override {
      source_->on_ready([this, wake] {
        wake();
        loop_.stop();
      });
    }

   private:
    std::unique_ptr<StreamSource> source_;
    Loop& loop_;
  };
  Reader reader(std::make_unique<Watched>(std::move(exchange->source), *loop));
  reader.pump();
  world.settle();
  const std::string before = reader.text;
  loop->set_timer(SystemClock().steady() + 10'000, [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(reader.text, before + ":\n\n");
}

TEST(SharedStream, BeginsNowWithTheCounts) {
  Site site;
  site.world.launch("noop");
  site.world.advance(1'000);
  auto reader = site.open({.path = "/api/stream"});
  ASSERT_EQ(reader->types(), std::vector<std::string>{"counts"});
  EXPECT_EQ(reader->events()[0].data.at("data").at("counts").at("completed"), 1);
  EXPECT_EQ(reader->events()[0].data.at("data").at("running"), 0);
  EXPECT_TRUE(reader->events()[0].id.empty());
}

TEST(SharedStream, ShowsEveryTasksChangesAndTheNamedOnesTranscripts) {
  Site site;
  const Task named = site.world.launch("long 5");
  auto reader = site.open({.path = "/api/stream", .query = {{"tasks", named.id.value}}});
  const Task other = site.world.launch("text");
  site.world.advance(20'000, 50);
  std::set<std::string> of_named, of_other;
  for (const Reader::Seen& seen : reader->events()) {
    if (seen.event == "counts") continue;
    const std::string task(seen.data.at("task_id").as_string());
    (task == named.id.value ? of_named : of_other).insert(seen.event);
    EXPECT_EQ(seen.id, std::to_string(seen.data.at("pos").as_int64()));
  }
  EXPECT_TRUE(of_named.contains("message.delta") && of_named.contains("end"));
  EXPECT_TRUE(of_other.contains("task.created") && of_other.contains("task.status"));
  for (const std::string& type : of_other) EXPECT_TRUE(type.starts_with("task.")) << type;
  EXPECT_EQ(site.world.get(other.id).state, TaskState::completed);

  EXPECT_EQ(site.call({.method = Method::del, .path = "/api/tasks/" + other.id.value}).status, 204);
  site.world.advance(100);
  const auto types = reader->types();
  EXPECT_EQ(std::ranges::count(types, "task.deleted"), 1);
  EXPECT_EQ(types.back(), "counts");
  const auto ids = reader->ids();
  EXPECT_TRUE(std::ranges::is_sorted(ids, std::less_equal<>()) && !ids.empty());
}

TEST(SharedStream, IsTheSameWhereverItIsCutAndJoined) {
  constexpr uint64_t seed = 7;
  SCOPED_TRACE(seed);
  SeededRandom random(seed);
  Site site;
  const Task named = site.world.launch("text tools");
  const auto open = [&](int64_t after) {
    return site.open({.path = "/api/stream", .query = {{"tasks", named.id.value}, {"after", std::to_string(after)}}});
  };
  auto steady = open(0);
  auto reader = open(0);
  std::vector<int64_t> seen;
  for (int step = 0; step < 600; ++step) {
    if (step % 20 == 0) site.world.launch("noop");
    site.world.advance(20, 10);
    if (!random.one_in(8)) continue;
    for (const int64_t id : reader->ids()) seen.push_back(id);
    reader = open(seen.empty() ? 0 : seen.back());
  }
  for (const int64_t id : reader->ids()) seen.push_back(id);
  EXPECT_EQ(seen, steady->ids());
  EXPECT_GT(seen.size(), 100u);
}

TEST(SharedStream, ACursorFromTheFutureIsReset) {
  Site site;
  site.world.launch("noop");
  site.world.advance(1'000);
  auto reader = site.open({.path = "/api/stream", .query = {{"after", "999999"}}});
  EXPECT_EQ(reader->types(), (std::vector<std::string>{"reset", "counts"}));
  site.world.launch("noop");
  site.world.advance(1'000);
  EXPECT_GT(reader->ids().size(), 0u);
}

TEST(SessionStream, ShowsNoticesAsTheyAreMadeAndDoesNotTakeThem) {  // R5.5
  Site site;
  site.json({.method = Method::post, .path = "/api/sessions", .body = R"({"id":"ses_p"})"}, 201);
  const auto child = [](Launch& launch) { launch.parent_session_id = SessionId("ses_p"); };
  site.world.launch("noop", child);
  site.world.advance(1'000);
  auto reader = site.open({.path = "/api/sessions/ses_p/stream"});
  EXPECT_EQ(reader->ids(), std::vector<int64_t>{1});
  site.world.launch("noop", child);
  site.world.advance(1'000);
  EXPECT_EQ(reader->ids(), (std::vector<int64_t>{1, 2}));
  const Reader::Seen seen = reader->events().back();
  EXPECT_EQ(seen.event, "notice.created");
  EXPECT_EQ(seen.data.at("data").at("notice").at("seq"), 2);
  EXPECT_EQ(site.json({.path = "/api/sessions/ses_p/notices"}).at("notices").as_array().size(), 2u);
  const auto late = site.open({.path = "/api/sessions/ses_p/stream", .query = {{"after", "1"}}});
  EXPECT_EQ(late->ids(), std::vector<int64_t>{2});
  EXPECT_EQ(site.call({.path = "/api/sessions/ses_nobody/stream"}).status, 404);
}

TEST(Farewell, TellsOpenStreamsThatTheServerStops) {
  EXPECT_EQ(farewell(Time{1'763'208'000'000}),
            "event: server.stopping\ndata: "
            "{\"type\":\"server.stopping\",\"at\":\"2025-11-15T12:00:00.000Z\",\"data\":{}}\n\n");
}

}  // namespace
}  // namespace errand::net

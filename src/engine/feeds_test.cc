#include "engine/feeds.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

const TaskId task("task_a");
const SessionId session("ses_a");

struct Reader final : FeedReader {
  void wake() override { ++woken; }
  int woken = 0;
};

std::vector<Event> events(int64_t first_seq, int count) {
  std::vector<Event> out;
  for (int i = 0; i < count; ++i) {
    Event event;
    event.task_id = task;
    event.seq = first_seq + i;
    event.type = EventType::task_status;
    event.data = "{}";
    out.push_back(event);
  }
  return out;
}

Feeds feeds_at(int64_t last_seq = 0) {
  return {nullptr, [last_seq](const TaskId&) { return last_seq; }, {}};
}

TEST(Feeds, ShowWhatIsPublishedToWhoeverHoldsThem) {
  Feeds feeds = feeds_at(4);
  const std::shared_ptr<Feed> feed = feeds.feed(task);
  EXPECT_EQ(feeds.feed(task), feed) << "one for all";
  Reader reader;
  feed->add(&reader);
  EXPECT_TRUE(feeds.is_read(task));
  std::vector<Event> two = events(5, 2);
  feeds.publish(task, two, {}, 70);
  EXPECT_EQ(two[1].pos, 71);
  EXPECT_EQ(reader.woken, 1) << "once for a commit";
  std::vector<FramePtr> frames;
  EXPECT_TRUE(feed->read(4, false, 1'000, frames));
  EXPECT_EQ(frames.size(), 2u);
  EXPECT_FALSE(feed->read(3, false, 1'000, frames)) << "what was before is in the store";
  feed->remove(&reader);
}

TEST(Feeds, TellAListenerOfEveryEventAndCountItAsNoReader) {
  struct Listener final : EventListener {
    void stored(const Event& event) override { heard.push_back(event.pos); }
    std::vector<int64_t> heard;
  } listener;
  Feeds feeds = feeds_at();
  feeds.listen(&listener);
  std::vector<Event> two = events(1, 2), one = events(3, 1);
  feeds.publish(task, two, {}, 70);
  EXPECT_EQ(listener.heard, (std::vector<int64_t>{70, 71}));
  EXPECT_FALSE(feeds.is_read(task)) << "text is merged as long as where nobody reads";
  EXPECT_EQ(feeds.readers(), 0);
  feeds.listen(nullptr);
  feeds.publish(task, one, {}, 72);
  EXPECT_EQ(listener.heard.size(), 2u);
}

TEST(Feeds, OfTheWholeStoreAreMadeOnlyForReaders) {
  Feeds feeds = feeds_at();
  feeds.start_at(10);
  std::vector<Event> first = events(1, 1), second = events(2, 1);
  feeds.publish(task, first, {}, 11);
  std::vector<FramePtr> frames;
  EXPECT_FALSE(feeds.all()->read(10, true, 1'000, frames)) << "nobody read: the store has it";
  Reader reader;
  feeds.all()->add(&reader);
  EXPECT_EQ(feeds.readers(), 1);
  feeds.publish(task, second, {}, 12);
  EXPECT_EQ(reader.woken, 0) << "they are woken once for a group";
  feeds.wake_all();
  EXPECT_EQ(reader.woken, 1);
  feeds.publish_gone({.task_id = task, .why = Gone::deleted, .pos = 13});
  EXPECT_TRUE(feeds.all()->read(11, true, 1'000, frames));
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_TRUE(frames[1]->gone);
  feeds.all()->remove(&reader);
}

TEST(Feeds, OfASessionWakeItsReaders) {
  Feeds feeds = feeds_at();
  Reader reader;
  {
    const std::shared_ptr<Feed> feed = feeds.session_feed(session);
    feed->add(&reader);
    feeds.wake(session);
    feeds.wake(SessionId("ses_b"));
    EXPECT_EQ(reader.woken, 1);
    feed->remove(&reader);
  }
  feeds.wake(session);
  EXPECT_EQ(feeds.size(), 0) << "nobody holds it";
}

TEST(Feeds, ThatNobodyHoldsDoNotPileUp) {
  Feeds feeds = feeds_at();
  const std::shared_ptr<Feed> held = feeds.feed(task);
  for (int i = 0; i < 10'000; ++i) std::ignore = feeds.feed(TaskId("task_" + std::to_string(i)));
  EXPECT_LE(feeds.size(), 257);
  EXPECT_EQ(feeds.feed(task), held);
}

}  // namespace
}  // namespace errand

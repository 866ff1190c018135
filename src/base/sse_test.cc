#include "base/sse.h"

#include <vector>

#include <gtest/gtest.h>

namespace errand {
namespace {

struct Collected {
  std::vector<SseEvent> events;
  bool going = true;
};

Collected collect(SseParser& parser, std::string_view text) {
  Collected out;
  out.going = parser.feed(text, [&](const SseEvent& event) {
    out.events.push_back(event);
    return true;
  });
  return out;
}

TEST(SseParser, ReadsAnEventAsTheServerSendsIt) {
  SseParser parser;
  auto [events, going] = collect(parser, "id: 7\nevent: task.status\ndata: {\"seq\":7}\n\n");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].id, "7");
  EXPECT_EQ(events[0].type, "task.status");
  EXPECT_EQ(events[0].data, "{\"seq\":7}");
}

TEST(SseParser, JoinsDataLinesAndKeepsTheLastId) {
  SseParser parser;
  auto [events, going] = collect(parser, "id: 1\ndata: a\ndata:b\ndata:  c\n\nevent: reset\ndata: x\n\n");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].data, "a\nb\n c");
  EXPECT_EQ(events[0].type, "message");
  EXPECT_EQ(events[1].id, "1") << "an event without an id does not move the place to go on from";
}

TEST(SseParser, IgnoresCommentsUnknownFieldsAndEventsWithoutData) {
  SseParser parser;
  auto [events, going] = collect(parser, ": heartbeat\n\nretry: 5\n\nevent: nothing\n\nid: 3\ndata\n\n");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].id, "3");
  EXPECT_EQ(events[0].data, "");
}

TEST(SseParser, TakesEveryLineEndAndAByteOrderMark) {
  SseParser parser;
  auto [events, going] = collect(parser, "\xEF\xBB\xBFid: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\r");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].id, "1");
  EXPECT_EQ(events[1].data, "b");
}

TEST(SseParser, PiecesMakeNoDifference) {
  std::string text = "id: 1\r\nevent: output\r\ndata: {\"text\":\"日本\"}\r\n\r\n: beat\n\nid: 2\ndata: x\ndata: y\n\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    SseParser parser;
    std::vector<SseEvent> events = collect(parser, text.substr(0, cut)).events;
    for (SseEvent& event : collect(parser, text.substr(cut)).events) events.push_back(event);
    ASSERT_EQ(events.size(), 2u) << cut;
    EXPECT_EQ(events[0].type, "output");
    EXPECT_EQ(events[1].data, "x\ny");
  }
}

// After a broken connection half an event must not become part of the next one.
TEST(SseParser, RestartForgetsHalfAnEventAndKeepsTheId) {
  SseParser parser;
  collect(parser, "id: 4\ndata: a\n\nid: 5\nevent: output\ndata: hal");
  parser.restart();
  auto [events, going] = collect(parser, "data: whole\n\n");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, "whole");
  EXPECT_EQ(events[0].type, "message");
}

TEST(SseParser, StopsWhereTheReaderSaysSo) {
  SseParser parser;
  int seen = 0;
  EXPECT_FALSE(parser.feed("data: 1\n\ndata: 2\n\n", [&](const SseEvent&) { return ++seen < 1; }));
  EXPECT_EQ(seen, 1);
  EXPECT_FALSE(parser.too_large());
}

TEST(SseParser, RefusesAnEventWithoutEnd) {
  SseParser parser;
  std::string piece(1 << 20, 'x');
  bool going = true;
  for (int i = 0; i < 20 && going; ++i) going = collect(parser, piece).going;
  EXPECT_FALSE(going);
  EXPECT_TRUE(parser.too_large());
}

}  // namespace
}  // namespace errand

// Logs: by offset, tail and search, as text or lines of JSON; whole as a stream, and followed.
#include <gtest/gtest.h>

#include "net/routes/context.h"
#include "net/routes/log_stream.h"
#include "net/routes/log_text.h"
#include "tests/api/site.h"

namespace errand::net {
namespace {

using Format = api::LogQuery::Format;

constexpr Time noon{1'763'208'000'000};

LogRead pieces(std::initializer_list<std::pair<const char*, std::string>> list) {
  LogRead read;
  for (const auto& [stream, bytes] : list) {
    read.pieces.push_back({.stream = stream, .offset = read.next, .at = noon, .bytes = bytes});
    read.next += static_cast<int64_t>(bytes.size());
  }
  read.size = read.next;
  return read;
}

std::string shown(const LogRead& read, Format format, std::string grep = {}, Time since = {}) {
  std::string out;
  api::LogQuery query;
  query.format = format;
  query.grep = std::move(grep);
  query.since = since;
  LogText text(query);
  text.add(read, out);
  text.finish(out);
  return out;
}

TEST(LogText, IsWhatWasPrinted) {
  EXPECT_EQ(shown(pieces({{"stdout", "a\nb"}, {"stderr", "bad\n"}, {"stdout", "c"}}), Format::text), "a\nbbad\nc");
  EXPECT_EQ(shown({}, Format::text), "");
}

TEST(LogText, LinesOfJsonAreWholeLinesOfOneStream) {
  EXPECT_EQ(shown(pieces({{"stdout", "one\ntw"}, {"stderr", "bad\n"}, {"stdout", "o\nend"}}), Format::jsonl),
            "{\"stream\":\"stdout\",\"offset\":0,\"at\":\"2025-11-15T12:00:00.000Z\",\"text\":\"one\\n\"}\n"
            "{\"stream\":\"stderr\",\"offset\":6,\"at\":\"2025-11-15T12:00:00.000Z\",\"text\":\"bad\\n\"}\n"
            "{\"stream\":\"stdout\",\"offset\":4,\"at\":\"2025-11-15T12:00:00.000Z\",\"text\":\"two\\n\"}\n"
            "{\"stream\":\"stdout\",\"offset\":12,\"at\":\"2025-11-15T12:00:00.000Z\",\"text\":\"end\"}\n");
}

TEST(LogText, SearchShowsLinesThatContainIt) {
  const LogRead read = pieces({{"stdout", "line 1\nline 2"}, {"stdout", "3\nother\nline"}});
  EXPECT_EQ(shown(read, Format::text, "line"), "line 1\nline 23\nline\n");
  EXPECT_EQ(shown(read, Format::text, "23"), "line 23\n");
  EXPECT_EQ(shown(read, Format::text, "nothing"), "");
}

TEST(LogText, OfATimeOnShowsOnlyWhatCameThen) {
  LogRead read = pieces({{"stdout", "old\n"}, {"stdout", "new\n"}});
  read.pieces[1].at = noon + 1000;
  EXPECT_EQ(shown(read, Format::text, {}, noon + 1), "new\n");
}

TEST(LogText, SaysThatSomethingWasLeftOut) {  // R9.3
  LogRead read = pieces({{"stdout", "tail\n"}});
  read.pieces[0].offset = 1000;
  read.cut = 900;
  EXPECT_EQ(shown(read, Format::text), "\n[... 900 bytes were left out: the output was over its limit ...]\ntail\n");
  EXPECT_TRUE(shown(read, Format::jsonl).starts_with("{\"cut\":900,\"offset\":100}\n"));
}

TEST(LogText, ALineWithoutEndIsGivenInParts) {
  const LogRead read = pieces({{"stdout", std::string(3 * log_line_max + 5, 'x')}});
  const std::string out = shown(read, Format::jsonl);
  EXPECT_EQ(std::ranges::count(out, '\n'), 4);
}

TEST(LogText, BytesThatAreNoTextStillMakeJson) {
  boost::json::error_code error;
  boost::json::parse(shown(pieces({{"stdout", "\xff\xfe\x01\x1b[31m\n"}}), Format::jsonl), error);
  EXPECT_FALSE(error);
}

TEST(LastLines, AreTheLastOnes) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc\n");
  EXPECT_EQ(last_lines("a\nb\nc", 2), "b\nc");
  EXPECT_EQ(last_lines("a\n", 5), "a\n");
  EXPECT_EQ(last_lines("a\nb\n", 0), "");
  EXPECT_EQ(last_lines("", 3), "");
  EXPECT_EQ(last_lines("\n\n\n", 1), "\n");
}

// A driver that keeps logs and does nothing else.
class LogDriver final : public Driver {
 public:
  Capabilities capabilities() const override { return {}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest, Sink&) override {
    return fail(Code::unsupported, "It only has logs.");
  }
  Result<LogRead> read_log(const TaskId&, int, int64_t offset, int64_t limit) const override {
    LogRead read;
    read.size = static_cast<int64_t>(log.size());
    read.next = std::min(offset, read.size);
    const std::string bytes = log.substr(static_cast<size_t>(read.next), static_cast<size_t>(limit));
    if (!bytes.empty()) read.pieces.push_back({.stream = "stdout", .offset = read.next, .at = noon, .bytes = bytes});
    read.next += static_cast<int64_t>(bytes.size());
    return read;
  }

  std::string log;
};

TEST(LogStream, GivesALogOfAnySizePieceByPiece) {
  Site site;
  LogDriver driver;
  for (int i = 0; i < 40'000; ++i) driver.log += "line " + std::to_string(i) + "\n";
  Context context({.engine = *site.world.engine,
                   .store = *site.world.store,
                   .loop = site.world.loop,
                   .readers = site.world.readers,
                   .clock = site.world.clock,
                   .heartbeats = site.heartbeats});
  const Task task = site.world.launch("noop");
  Reader reader(std::make_unique<LogStream>(
      context, LogStream::Start{.task = task.id, .run = 1, .driver = &driver, .offset = 7}, LogText(api::LogQuery{})));
  reader.pump();
  site.world.settle();
  EXPECT_TRUE(reader.ended);
  EXPECT_EQ(reader.text, driver.log.substr(7));
  EXPECT_LE(reader.largest_pull, 64u * 1024);
}

TEST(LogStream, FollowsUntilTheTaskIsAtRest) {
  Site site;
  LogDriver driver;
  Context context({.engine = *site.world.engine,
                   .store = *site.world.store,
                   .loop = site.world.loop,
                   .readers = site.world.readers,
                   .clock = site.world.clock,
                   .heartbeats = site.heartbeats});
  const Task task = site.world.launch("long 3");
  driver.log = "one\n";
  Reader reader(std::make_unique<LogStream>(
      context, LogStream::Start{.task = task.id, .run = task.run, .driver = &driver, .follow = true, .first = "tail\n"},
      LogText(api::LogQuery{})));
  reader.pump();
  site.world.settle();
  EXPECT_EQ(reader.text, "tail\none\n");
  EXPECT_FALSE(reader.ended);
  driver.log += "two\n";
  site.world.advance(2'000);
  EXPECT_EQ(reader.text, "tail\none\ntwo\n");
  driver.log += "three";
  site.world.advance(5'000);
  EXPECT_EQ(reader.text, "tail\none\ntwo\nthree");
  EXPECT_TRUE(reader.ended);
}

TEST(TaskLog, OfATaskThatPrintedNothingIsEmpty) {
  Site site;
  const Task task = site.world.launch("noop");
  site.world.advance(1'000);
  const std::string path = "/api/tasks/" + task.id.value;
  const Response log = site.call({.path = path + "/log"});
  EXPECT_EQ(log.status, 200);
  EXPECT_EQ(log.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(log.body, "");
  EXPECT_EQ(site.call({.path = path + "/log", .query = {{"attempt", "2"}}}).status, 404);
  EXPECT_TRUE(site.json({.path = path + "/artifacts"}).at("artifacts").as_array().empty());
  EXPECT_EQ(site.call({.path = path + "/artifacts/run-1.log"}).status, 404);
}

}  // namespace
}  // namespace errand::net

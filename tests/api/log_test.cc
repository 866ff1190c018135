// Logs: by offset, tail and search, as text or lines of JSON; whole as a stream, and followed.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "net/routes/context.h"
#include "net/routes/log_read.h"
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

TEST(LogText, WithoutEscapesWhereAsked) {
  api::LogQuery query;
  query.strip = true;
  LogText text(query);
  std::string out;
  // A sequence is cut anywhere, and each stream has its own.
  text.add(pieces({{"stdout", "\x1b[3"}, {"stderr", "e\x1b["}, {"stdout", "1mred\x1b[0m\n"}, {"stderr", "1mx\n"}}),
           out);
  text.finish(out);
  EXPECT_EQ(out, "ered\nx\n");
  query.grep = "foo";
  LogText search(query);
  out.clear();
  search.add(pieces({{"stdout", "f\x1b[1mo\x1b[0mo\nbar\n"}}), out);
  EXPECT_EQ(out, "foo\n");
}

TEST(LogText, OneStreamWhereAsked) {
  api::LogQuery query;
  query.stream = "stderr";
  LogText text(query);
  std::string out;
  text.add(pieces({{"stdout", "a\n"}, {"stderr", "b\n"}, {"stdout", "c\n"}}), out);
  EXPECT_EQ(out, "b\n");
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

// A log of pieces as they came, of two streams.
class PieceDriver final : public Driver {
 public:
  Capabilities capabilities() const override { return {}; }
  Status check(const Launch&) const override { return {}; }
  Result<std::unique_ptr<Turn>> open(TurnRequest, Sink&) override {
    return fail(Code::unsupported, "It only has logs.");
  }
  Result<LogRead> read_log(const TaskId&, int, int64_t offset, int64_t limit) const override {
    LogRead read;
    read.size = size;
    if (offset < 0) offset = std::max<int64_t>(0, size + offset);
    read.next = offset;
    for (const LogPiece& piece : all) {
      const int64_t end = piece.offset + std::ssize(piece.bytes);
      if (end <= offset || limit == 0) continue;
      const auto skip = static_cast<size_t>(std::max<int64_t>(0, offset - piece.offset));
      LogPiece part = piece;
      part.bytes = piece.bytes.substr(skip, static_cast<size_t>(limit));
      part.offset += static_cast<int64_t>(skip);
      limit -= std::ssize(part.bytes);
      read.next = part.offset + std::ssize(part.bytes);
      read.pieces.push_back(std::move(part));
    }
    return read;
  }
  void print(const char* stream, std::string bytes, Time at = noon) {
    all.push_back({.stream = stream, .offset = size, .at = at, .bytes = std::move(bytes)});
    size += std::ssize(all.back().bytes);
  }

  std::vector<LogPiece> all;
  int64_t size = 0;
};

struct LogPages : testing::Test {
  PieceDriver driver;
  SystemClock clock;
  LogPage read(const api::LogQuery& query) {
    const LogSource source{.task = TaskId("task_1"), .driver = &driver, .run = 1, .runs = {1, 1}};
    Result<LogPage> page = read_log_page(source, query, clock);
    EXPECT_TRUE(page) << page.error().message;
    return page.value_or(LogPage{});
  }
};

// Whatever the pieces and the size of a page: every line is given once and whole.
TEST_F(LogPages, OfLinesMakeTheWhole) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 3'000; ++i) {
    std::string text = "line " + std::to_string(i) + (random() % 4 == 0 ? "" : "\n");
    driver.print(random() % 3 == 0 ? "stderr" : "stdout", std::move(text));
  }
  for (const char* grep : {"", "7"}) {
    api::LogQuery query;
    query.format = Format::jsonl;
    query.grep = grep;
    query.limit = api::LogQuery::log_limit_max;
    const std::string whole = read(query).text;
    std::string joined;
    query.limit = 700;
    for (int pages = 0; pages < 10'000; ++pages) {
      const LogPage page = read(query);
      joined += page.text;
      if (page.next >= page.size) break;
      ASSERT_GT(page.next, query.offset);
      query.offset = page.next;
    }
    EXPECT_EQ(joined, whole) << grep;
  }
}

TEST_F(LogPages, OfASearchLookAtTheWholeLog) {
  for (int i = 0; i < 5'000; ++i) driver.print("stdout", "line " + std::to_string(i) + std::string(1'000, '.') + "\n");
  driver.print("stderr", "needle\n");
  api::LogQuery query;
  query.grep = "needle";
  EXPECT_EQ(read(query).text, "needle\n");
  query.tail = 1;
  EXPECT_EQ(read(query).text, "needle\n");
  query.grep = "line 4";
  query.tail = 2;
  const std::string last = read(query).text;
  EXPECT_TRUE(last.starts_with("line 4998")) << last.substr(0, 20);
  EXPECT_EQ(std::ranges::count(last, '\n'), 2);
  query = {};
  query.stream = "stderr";
  EXPECT_EQ(read(query).text, "needle\n");
}

TEST_F(LogPages, SinceSkipsWhatIsOlder) {
  driver.print("stdout", "old\n", noon);
  driver.print("stdout", "new\n", noon + 60'000);
  api::LogQuery query;
  query.since = noon + 1;
  EXPECT_EQ(read(query).text, "new\n");
  query.tail = 10;
  EXPECT_EQ(read(query).text, "new\n");
}

TEST(FindLog, AnAttemptsLogIsItsLastRuns) {
  const LogDriver driver;
  Task task;
  task.id = TaskId("task_1");
  task.attempt = 2;
  task.run = 4;  // The first was begun again after a hang, and so was the second.
  task.progress.attempt_ends = {2};
  const auto run_of = [&](std::optional<int> attempt, std::optional<int> run = {}) {
    api::LogQuery query;
    query.attempt = attempt;
    query.run = run;
    const Result<LogSource> source = find_log(task, &driver, query);
    return source ? source->run : -1;
  };
  EXPECT_EQ(run_of({}), 4);
  EXPECT_EQ(run_of(2), 4);
  EXPECT_EQ(run_of(1), 2);
  EXPECT_EQ(run_of(3), -1);
  EXPECT_EQ(run_of({}, 3), 3);
  EXPECT_EQ(run_of({}, 5), -1);
  task.attempt = 3;  // Retried, and in line.
  task.progress.attempt_ends = {2, 4};
  EXPECT_EQ(run_of({}), 0);
  EXPECT_EQ(run_of(2), 4);
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

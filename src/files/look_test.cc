// A page, the last lines, a search: of files of any size and content, within bounds.
#include "files/look.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "base/text.h"

namespace errand::files {
namespace {

// Text in memory, of which a part may have been cut out.
class Text final : public Source {
 public:
  explicit Text(std::string all) : text(std::move(all)) {}
  Result<Chunk> read(int64_t offset, int64_t limit) override {
    Chunk chunk{.bytes = {}, .offset = offset, .next = offset};
    if (offset >= cut_from && offset < cut_to) {
      chunk.cut = cut_to - offset;
      chunk.offset = cut_to;
    }
    const int64_t end = chunk.offset < cut_from ? std::min(cut_from, size()) : size();
    const int64_t n = std::clamp<int64_t>(end - chunk.offset, 0, limit);
    if (n == 0 && chunk.cut == 0) return chunk;
    chunk.bytes = text.substr(static_cast<size_t>(chunk.offset), static_cast<size_t>(n));
    chunk.next = chunk.offset + n;
    ++reads;
    return chunk;
  }
  int64_t size() override { return std::ssize(text); }

  std::string text;
  int64_t cut_from = 0, cut_to = 0;
  int reads = 0;
};

SystemClock system_clock_of_tests;

// What this thread has computed: promises about time are about this code, not about who else uses the machine.
class CpuClock final : public Clock {
 public:
  Time wall() override { return steady(); }
  Time steady() override {
    timespec at{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return {1 + at.tv_sec * 1'000 + at.tv_nsec / 1'000'000};
  }
};

Seen look_at(std::string text, Look what) {
  Text source(std::move(text));
  Result<Seen> seen = look(source, std::move(what), system_clock_of_tests);
  EXPECT_TRUE(seen) << seen.error().message;
  return seen.value_or(Seen{});
}

std::string numbers(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) out += "line " + std::to_string(i) + "\n";
  return out;
}

TEST(Look, GivesAllOfWhatIsShort) {
  const Seen seen = look_at("one\ntwo", {});
  EXPECT_EQ(seen.text, "one\ntwo");
  EXPECT_FALSE(seen.more);
  EXPECT_EQ(seen.next, 7);
  EXPECT_EQ(describe(seen), "");
  EXPECT_EQ(look_at("", {}).text, "");
  EXPECT_EQ(look_at("abc", {.offset = 99}).text, "");
}

TEST(Look, PagesAreWholeLinesAndMakeTheWhole) {
  const std::string all = numbers(1, 3000);
  std::string joined;
  int64_t offset = 0;
  for (int pages = 0; pages < 1000; ++pages) {
    const Seen seen = look_at(all, {.offset = offset, .limit = 1000});
    EXPECT_LE(seen.text.size(), 1000u);
    EXPECT_TRUE(seen.text.ends_with('\n'));
    EXPECT_EQ(seen.offset, offset);
    joined += seen.text;
    offset = seen.next;
    EXPECT_EQ(seen.more, offset < seen.size);
    if (!seen.more) break;
    EXPECT_TRUE(describe(seen).contains("offset=" + std::to_string(offset)));
  }
  EXPECT_EQ(joined, all);
}

TEST(Look, NeverSplitsACharacter) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += "é字😀";
  for (int64_t limit = 64; limit < 80; ++limit) {
    std::string joined;
    for (int64_t offset = 0; offset < std::ssize(all);) {
      const Seen seen = look_at(all, {.offset = offset, .limit = limit});
      ASSERT_GT(seen.next, offset);
      ASSERT_TRUE(is_utf8(seen.text));
      joined += seen.text;
      offset = seen.next;
    }
    EXPECT_EQ(joined, all) << limit;
  }
  EXPECT_FALSE(look_at(all, {.limit = 100, .tail = 1}).text.contains("\uFFFD"));
}

TEST(Look, CountsFromTheEnd) {
  EXPECT_EQ(look_at(numbers(1, 100), {.offset = -9}).text, "line 100\n");
  EXPECT_EQ(look_at("short", {.offset = -1000}).text, "short");
}

TEST(Look, TailIsTheLastLines) {
  const Seen seen = look_at(numbers(1, 100'000), {.tail = 3});
  EXPECT_EQ(seen.text, numbers(99'998, 100'000));
  EXPECT_TRUE(seen.more);
  EXPECT_EQ(look_at("a\nb\nc", {.tail = 2}).text, "b\nc");
  EXPECT_EQ(look_at("a\nb\nc\n", {.tail = 99}).text, "a\nb\nc\n");
  EXPECT_FALSE(look_at("a\nb\nc\n", {.tail = 3}).more);
  EXPECT_EQ(look_at("a\nb\n", {.tail = 0}).text, "");
  // More lines than fit: the last whole ones of them.
  const Seen cut = look_at(numbers(1, 1000), {.limit = 100, .tail = 1000});
  EXPECT_LE(cut.text.size(), 100u);
  EXPECT_TRUE(cut.text.starts_with("line ")) << cut.text;
  EXPECT_TRUE(cut.text.ends_with("line 1000\n"));
}

TEST(Look, GrepGivesTheLinesAndTheirNumbers) {
  const Seen seen = look_at("alpha\nbeta\ngamma\nalphabet", {.grep = "alpha"});
  EXPECT_EQ(seen.text, "1:alpha\n4:alphabet\n");
  EXPECT_EQ(seen.matches, 2);
  EXPECT_EQ(look_at("alpha\nbeta\n", {.grep = "bet", .line_numbers = false}).text, "beta\n");
  EXPECT_EQ(look_at("a.c\nabc\n", {.grep = "a.c"}).text, "1:a.c\n");  // Not a pattern.
  EXPECT_EQ(look_at("x\n", {.grep = "nothing"}).text, "");
}

TEST(Look, GrepShowsWhatIsAround) {
  EXPECT_EQ(look_at(numbers(1, 20), {.grep = "line 7", .context = 1}).text, "6-line 6\n7:line 7\n8-line 8\n");
  EXPECT_EQ(look_at(numbers(1, 9), {.grep = "line 2", .context = 2}).text, "1-line 1\n2:line 2\n3-line 3\n4-line 4\n");
  EXPECT_EQ(look_at("m\nx\ny\nz\nm\n", {.grep = "m", .context = 1}).text, "1:m\n2-x\n--\n4-z\n5:m\n");
}

TEST(Look, GrepOfTheLastMatches) {
  const Seen seen = look_at(numbers(1, 50'000), {.tail = 2, .grep = "99"});
  EXPECT_EQ(seen.text, "49998:line 49998\n49999:line 49999\n");
  EXPECT_TRUE(seen.more);
}

TEST(Look, GrepGoesOnWhereItsTextWasFull) {
  const std::string all = numbers(1, 10'000);
  std::string joined;
  int rounds = 0;
  for (int64_t offset = 0; offset < std::ssize(all) && rounds < 1000; ++rounds) {
    const Seen seen = look_at(all, {.offset = offset, .limit = 500, .grep = "7", .line_numbers = false});
    joined += seen.text;
    offset = seen.next;
  }
  EXPECT_GT(rounds, 10);
  EXPECT_EQ(std::ranges::count(joined, '\n'), look_at(all, {.limit = 1 << 20, .grep = "7"}).matches);
}

TEST(Look, StripsWhatATerminalWouldObey) {
  const std::string text = "\x1b[31mred\x1b[0m\n\x1b]52;c;aGk=\x07ok\r\n";
  EXPECT_EQ(look_at(text, {}).text, "red\nok\n");
  EXPECT_TRUE(look_at(text, {.strip = false}).text.contains("\x1b[31m"));
  EXPECT_EQ(look_at("fo\x1b[1mo\n", {.grep = "foo"}).matches, 1);  // As it is shown.
}

TEST(Look, BytesThatAreNoTextBecomeText) {
  EXPECT_TRUE(is_utf8(look_at("\xff\xfe\xc3", {}).text));
  const Seen seen = look_at(std::string("ELF\0\1", 5), {});
  EXPECT_TRUE(seen.binary);
  EXPECT_EQ(seen.text, "");
  EXPECT_TRUE(describe(seen).contains("not text"));
}

TEST(Look, SaysWhatWasLeftOut) {
  Text source(numbers(1, 1000));
  source.cut_from = 90;
  source.cut_to = source.size() - 90;
  const Seen page = *look(source, {.limit = 1000}, system_clock_of_tests);
  EXPECT_TRUE(page.text.contains("bytes were left out")) << page.text;
  EXPECT_TRUE(page.text.starts_with("line 1\n"));
  EXPECT_TRUE(page.text.ends_with("line 1000\n"));
  EXPECT_FALSE(page.more);
  // What follows a cut has no line number that anybody knows.
  EXPECT_EQ(look(source, {.grep = "line 1000"}, system_clock_of_tests)->text, "line 1000\n");
}

TEST(Look, ALineWithoutEndIsBounded) {
  const std::string all(3 << 20, 'x');
  EXPECT_LE(look_at(all, {.limit = 1000, .tail = 1}).text.size(), 1000u);
  EXPECT_LE(look_at(all, {.limit = 1000}).text.size(), 1000u);
  EXPECT_LE(look_at(all, {.limit = 1000, .grep = "xxx"}).text.size(), look_line_max + 1000);
}

TEST(Look, AHostileSearchTakesNoLonger) {
  // Quadratic for a naive search: 8 MiB of "a" and 4,000 of them with a "b" at the end.
  const std::string all = std::string(8 << 20, 'a') + "\n";
  Text source(all);
  CpuClock clock;
  const Time start = clock.steady();
  const Seen seen = *look(source, {.grep = std::string(4000, 'a') + "b"}, clock);
  EXPECT_LT(clock.steady() - start, 3'000);
  EXPECT_EQ(seen.matches, 0);
}

TEST(Look, AMillionLinesTailAndGrepAreFast) {
  TestFolder folder;
  folder.write("log", numbers(1, 1'000'000));
  const Result<Root> root = Root::open(folder.path());
  CpuClock clock;
  const auto timed = [&](Look what) {
    const Time start = clock.steady();
    const auto source = file_source(*root->open_file("log"));
    const Result<Seen> seen = look(*source, std::move(what), clock);
    EXPECT_TRUE(seen && !seen->text.empty() && !seen->stopped);
    return clock.steady() - start;
  };
  const Millis tail = timed({.tail = 100});
  const Millis rare = timed({.grep = "line 999999"});
  const Millis last = timed({.tail = 10, .grep = "line 5"});
  RecordProperty("tail_ms", std::to_string(tail));
  RecordProperty("rare_ms", std::to_string(rare));
  RecordProperty("last_ms", std::to_string(last));
  std::printf("a million lines: tail %lld ms, rare match %lld ms, last of many matches %lld ms\n",
              static_cast<long long>(tail), static_cast<long long>(rare), static_cast<long long>(last));
  EXPECT_LT(tail, 500);
  EXPECT_LT(rare, 2'000);
}

TEST(Look, ASearchThatTakesTooLongSaysHowFarItCame) {
  class Slow final : public Clock {
   public:
    Time wall() override { return now_; }
    Time steady() override { return now_ = now_ + 1'500; }

   private:
    Time now_{1};
  } slow;
  Text source(std::string(4 << 20, 'y'));
  const Seen seen = *look(source, {.grep = "z"}, slow);
  EXPECT_TRUE(seen.stopped);
  EXPECT_TRUE(seen.more);
  EXPECT_LT(seen.next, seen.size);
  EXPECT_TRUE(describe(seen).contains("took too long"));
  EXPECT_LT(source.reads, 10);
}

TEST(Look, AHugeSparseFileCostsNothing) {
  TestFolder folder;
  folder.write("big", "head\n");
  std::filesystem::resize_file(folder / "big", 1LL << 40);
  const auto open = [&] { return file_source(*Root::open(folder.path())->open_file("big")); };
  EXPECT_TRUE(look(*open(), {}, system_clock_of_tests)->binary);  // Holes are NUL bytes.
  File file = *Root::open(folder.path())->open_file("big");
  EXPECT_EQ(file.size, 1LL << 40);
  EXPECT_LT(file.disk_bytes, 1 << 20);
}

TEST(Look, AFileThatShrinksMeanwhileSendsNobodyInCircles) {
  TestFolder folder;
  folder.write("log", numbers(1, 10'000));
  const auto source = file_source(*Root::open(folder.path())->open_file("log"));
  std::filesystem::resize_file(folder / "log", 20);
  const Seen seen = *look(*source, {.limit = 1000}, system_clock_of_tests);
  EXPECT_FALSE(seen.more);
  EXPECT_EQ(seen.size, 20);
}

// Whatever the bytes and however they are asked for: UTF-8, within the limit, and pages make progress.
TEST(Look, AnyBytesAnyWay) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes(random() % 5000, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random() % 3 == 0 ? "\n\x1b[m\r\xc3\xa9 a"[random() % 9] : 1 + random() % 255);
    const Look what{.offset = static_cast<int64_t>(random() % 6000) - 3000,
                    .limit = static_cast<int64_t>(random() % 700),
                    .tail = random() % 3 == 0 ? std::optional(static_cast<int>(random() % 20)) : std::nullopt,
                    .grep = random() % 2 == 0 ? "a" : "",
                    .context = static_cast<int>(random() % 3),
                    .strip = random() % 2 == 0};
    const Seen seen = look_at(bytes, what);
    EXPECT_TRUE(is_utf8(seen.text));
    // What is no text may become three bytes for one; the last line of a search may go over.
    EXPECT_LE(seen.text.size(), 3 * 700 + 3 * bytes.size() * (what.grep.empty() ? 0 : 1));
    if (seen.more && !what.tail && !seen.binary && what.offset >= 0) EXPECT_GT(seen.next, seen.offset);
  }
}

}  // namespace
}  // namespace errand::files

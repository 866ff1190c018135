#include "driver/command/output.h"

#include <string>

#include <gtest/gtest.h>

#include "base/id.h"
#include "base/text.h"
#include "tests/contract/driver_fake_supervisor.h"

namespace errand::command {
namespace {

using process::Stream;
using test::FakeJournal;

std::vector<report::Output> outputs(const std::vector<Report>& reports) {
  std::vector<report::Output> out;
  for (const Report& any : reports)
    if (const auto* output = std::get_if<report::Output>(&any)) out.push_back(*output);
  return out;
}

struct Shown {
  std::string text[2];
  int64_t next[2] = {0, 0};
  int64_t lines = 0;
  size_t most = 0;
};

// Reads a journal as a turn does, with the mark stored and read back after every report.
Shown show(FakeJournal& journal, SeededRandom& random, int64_t step_max) {
  Shown shown;
  OutputMark mark;
  while (true) {
    OutputReports reports(decode_mark(encode_mark(mark)).value());
    const uint64_t rounds = 1 + random.below(3);
    for (uint64_t i = 0; i < rounds; ++i)
      reports.add(journal.read(reports.mark().next, 1 + static_cast<int64_t>(random.below(step_max))).value());
    const bool last = reports.mark().next == journal.size();
    if (last) reports.finish();
    const auto made = outputs(reports.take(nullptr));
    shown.most = std::max(shown.most, made.size());
    for (const report::Output& output : made) {
      const size_t stream = output.stream == "stdout" ? 0 : 1;
      EXPECT_GE(output.offset, shown.next[stream]);
      EXPECT_GT(output.length, 0);
      EXPECT_TRUE(is_utf8(output.text));
      shown.next[stream] = output.offset + output.length;
      shown.text[stream] += output.text;
      shown.lines += output.lines;
    }
    mark = reports.mark();
    if (last) return shown;
  }
}

TEST(OutputTest, HoweverTheBytesAreCutTheTextIsTheSame) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    const std::string_view alphabet[] = {"a", "\n", "é", "€", "🙂", "\xff", "\xe2\x82", "\xf0\x9f", "\x80"};
    FakeJournal journal;
    std::string expected[2];
    int64_t lines = 0;
    const uint64_t pieces = random.below(60);
    for (uint64_t i = 0; i < pieces; ++i) {
      const auto stream = random.one_in(3) ? Stream::err : Stream::out;
      std::string bytes;
      for (uint64_t n = 1 + random.below(4); n > 0; --n) bytes += alphabet[random.below(std::size(alphabet))];
      // Characters are also cut by the process itself, and the other stream may come between.
      for (const char c : bytes) {
        journal.print(stream, std::string_view(&c, 1));
        if (random.one_in(8)) {
          journal.print(stream == Stream::out ? Stream::err : Stream::out, ".");
          expected[stream == Stream::out ? 1 : 0] += '.';
        }
        expected[static_cast<size_t>(stream)] += c;
        lines += c == '\n';
      }
    }
    const Shown shown = show(journal, random, 12);
    EXPECT_EQ(shown.text[0], to_utf8(expected[0]));
    EXPECT_EQ(shown.text[1], to_utf8(expected[1]));
    EXPECT_EQ(shown.lines, lines);
  }
}

TEST(OutputTest, ManySegmentsAreJoinedToOneAStream) {
  FakeJournal journal;
  for (int i = 0; i < 500; ++i) {
    journal.print(Stream::out, "o\n");
    journal.print(Stream::err, "e");
  }
  OutputReports reports;
  reports.add(journal.read(0, 1 << 20).value());
  const auto made = outputs(reports.take(nullptr));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].stream, "stdout");
  EXPECT_EQ(made[0].lines, 500);
  EXPECT_EQ(made[0].text.size(), 1'000u);
  EXPECT_EQ(made[1].text, std::string(500, 'e'));
  EXPECT_EQ(made[1].offset + made[1].length, journal.size());
}

TEST(OutputTest, AFewSegmentsKeepTheirOrder) {
  FakeJournal journal;
  journal.print(Stream::out, "a\n");
  journal.print(Stream::err, "b\n");
  journal.print(Stream::out, "c");
  OutputReports reports;
  reports.add(journal.read(0, 100).value());
  const auto made = outputs(reports.take(nullptr));
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[1].stream, "stderr");
  EXPECT_EQ(made[1].offset, 2);
  EXPECT_EQ(made[2].text, "c");
  EXPECT_TRUE(reports.take(nullptr).empty());
}

TEST(OutputTest, LongTextIsCappedAndItsRangeAndLinesAreWhole) {
  FakeJournal journal;
  std::string text;
  while (text.size() < 3 * output_text_max) text += "€\n";
  journal.print(Stream::out, text);
  OutputReports reports;
  while (reports.mark().next < journal.size()) reports.add(journal.read(reports.mark().next, 10'001).value());
  const auto made = outputs(reports.take(nullptr));
  ASSERT_EQ(made.size(), 1u);
  EXPECT_LE(made[0].text.size(), output_text_max);
  EXPECT_GT(made[0].text.size(), output_text_max - 8);
  EXPECT_TRUE(text.starts_with(made[0].text));
  EXPECT_EQ(made[0].length, std::ssize(text));
  EXPECT_EQ(made[0].lines, std::ssize(text) / 4);
}

TEST(OutputTest, BytesThatAreNoTextStayWithinTheCap) {
  FakeJournal journal;
  journal.print(Stream::out, std::string(2 * output_text_max, '\xff'));
  OutputReports reports;
  reports.add(journal.read(0, 1 << 20).value());
  const auto made = outputs(reports.take(nullptr));
  EXPECT_LE(made.at(0).text.size(), output_text_max);
  EXPECT_TRUE(is_utf8(made[0].text));
}

TEST(OutputTest, WhatIsSkippedIsCoveredForBothStreams) {
  FakeJournal journal;
  journal.print(Stream::out, "begin \xe2\x82");
  OutputReports reports;
  reports.add(journal.read(0, 100).value());
  reports.skip(1'000);
  const auto made = outputs(reports.take(nullptr));
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].text, "begin ");
  for (const report::Output& output : made) EXPECT_EQ(output.offset + output.length, 1'000);
  EXPECT_EQ(reports.mark(), OutputMark{.next = 1'000});
}

// R9.3: the cut is said, once.
TEST(OutputTest, ACutIsSaidOnce) {
  FakeJournal journal;
  journal.print(Stream::out, "head " + std::string(100, '-') + " tail");
  journal.cut(5, 105);
  OutputReports reports;
  std::vector<Report> made;
  for (int i = 0; i < 3; ++i) {
    reports.add(journal.read(reports.mark().next, 1'000).value());
    std::ranges::move(reports.take(nullptr), std::back_inserter(made));
  }
  int warnings = 0;
  for (const Report& any : made) warnings += std::holds_alternative<report::Warning>(any);
  EXPECT_EQ(warnings, 1);
  const auto texts = outputs(made);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1].text, " tail");
  EXPECT_EQ(texts[1].offset, 105);
  EXPECT_EQ(encode_mark(reports.mark()), "110 cut");
}

TEST(OutputTest, ADamagedMarkIsAnError) {
  for (const char* bad : {"", "x", "-1", "12 ", "1 2", "5 out@3", "5 out@3=41", "5 out@3-2=41", "5 out@3-4=4",
                          "5 err@1-2=zz", "5 out@1-9=4142434445", "99999999999999999999"})
    EXPECT_FALSE(decode_mark(bad)) << bad;
}

}  // namespace
}  // namespace errand::command

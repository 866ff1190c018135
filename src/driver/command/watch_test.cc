#include "driver/command/watch.h"

#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

namespace errand::command {
namespace {

using process::Piece;
using process::Stream;
using Texts = std::vector<std::string>;

constexpr Time start{1'763'200'000'000};

Piece piece(std::string bytes, Time at = start, Stream stream = Stream::out) {
  Piece out;
  out.stream = stream;
  out.at = at;
  out.bytes = std::move(bytes);
  return out;
}

// "pattern: line (+more)" of each.
Texts told(Watch& watch) {
  Texts out;
  for (const Report& report : watch.take()) {
    if (const auto* match = std::get_if<report::Match>(&report))
      out.push_back(match->pattern + ": " + match->line + (match->more > 0 ? " +" + std::to_string(match->more) : ""));
    if (const auto* warning = std::get_if<report::Warning>(&report)) out.push_back("! " + warning->code);
  }
  return out;
}

Texts feed(Watch& watch, std::string bytes, Time at = start, Stream stream = Stream::out) {
  watch.begin_round();
  watch.add(piece(std::move(bytes), at, stream));
  return told(watch);
}

TEST(Watch, ALineThatHasTheTextIsTold) {
  Watch watch({"ready", "[x]"});
  EXPECT_EQ(feed(watch, "not yet\nserver ready on 80\nthe end\na[x]b\n"),
            (Texts{"ready: server ready on 80", "[x]: a[x]b"}));
}

TEST(Watch, SlashesMakeAnExpression) {
  Watch watch({"/^err(or)?:/", "/WARN/i", "/a/b"});
  EXPECT_EQ(feed(watch, "x\nno err: here\nerror: one\nwarning\nuse /a/b\n"),
            (Texts{"/^err(or)?:/: error: one", "/WARN/i: warning", "/a/b: use /a/b"}));
  Watch odd({"/", "//", "/i"});
  EXPECT_EQ(feed(odd, "x\na // b\n"), (Texts{"/: a // b"}));
}

TEST(Watch, PatternsAreChecked) {
  EXPECT_TRUE(check_patterns({"a(", "/a.*b/", "(", "/x/i"}));
  const Status bad = check_patterns({"ok", "/a(/"});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, "pattern");
  EXPECT_TRUE(bad.error().message.contains("/a(/")) << bad.error().message;
  EXPECT_FALSE(check_patterns({"/(?=x)/"})) << "what cannot be matched in bounded time is no pattern";
}

TEST(Watch, LinesAreJoinedOverPiecesAndStreamsAreApart) {
  Watch watch({"hello world"});
  EXPECT_TRUE(feed(watch, "x\nhel").empty());
  EXPECT_TRUE(feed(watch, "lo world\n", start, Stream::err).empty());
  EXPECT_TRUE(feed(watch, "lo w").empty());
  EXPECT_EQ(feed(watch, "orld!\nmore"), (Texts{"hello world: hello world!"}));
}

TEST(Watch, EveryWayOfCuttingTellsTheSame) {
  const std::string text = "one\r\n\x1b[31mERROR\x1b[0m: \xc3\xa4\nx\n\nERROR 2\r50%\rERROR 3\n";
  const Texts whole{"ERROR: ERROR: \xc3\xa4", "ERROR: ERROR 2", "ERROR: ERROR 3"};
  for (size_t a = 0; a <= text.size(); ++a)
    for (size_t b = a; b <= text.size(); ++b) {
      Watch watch({"ERROR"});
      Texts all;
      for (const std::string& part : {text.substr(0, a), text.substr(a, b - a), text.substr(b)})
        for (std::string& line : feed(watch, part)) all.push_back(std::move(line));
      EXPECT_EQ(all, whole) << a << " " << b;
    }
}

TEST(Watch, TerminalEscapesDoNotHideAMatch) {
  Watch watch({"build failed", "/^done$/"});
  EXPECT_EQ(feed(watch,
                 "x\n\x1b[1mbuild \x1b[31mfailed\x1b[0m\n\x1b]0;title\x07"
                 "done\n"),
            (Texts{"build failed: build failed", "/^done$/: done"}));
}

TEST(Watch, ALineIsToldOnceForTheFirstPattern) {
  Watch watch({"a", "b", "/a/"});
  EXPECT_EQ(feed(watch, "x\nab\nb\n"), (Texts{"a: ab", "b: b"}));
}

TEST(Watch, OfALongLineTheBeginningCounts) {
  Watch watch({"needle"});
  EXPECT_TRUE(feed(watch, std::string(line_max, 'x') + "needle\n").empty());
  const Texts found = feed(watch, "needle" + std::string(10 * line_max, 'x') + "needle\nneedle\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_LE(found[0].size(), line_max + 10);
  EXPECT_EQ(found[1], "needle: needle");
}

TEST(Watch, ALineWithoutAnEndIsLookedAtWhenItIsQuietAndAtTheEnd) {
  Watch watch({"assword"});
  EXPECT_TRUE(feed(watch, "Password: ").empty());
  EXPECT_TRUE(watch.waits());
  watch.quiet();
  EXPECT_EQ(told(watch), (Texts{"assword: Password: "}));
  EXPECT_TRUE(feed(watch, "assword again\n").empty()) << "it is the same line";
  EXPECT_TRUE(feed(watch, "last passwords").empty());
  watch.finish();
  EXPECT_EQ(told(watch), (Texts{"assword: last passwords"}));
}

TEST(Watch, ManyMatchesAreLimitedAndCounted) {
  Watch watch({"hit"});
  std::string text = "x\n";
  for (int i = 1; i <= 50; ++i) text += "hit " + std::to_string(i) + "\n";
  Texts first = feed(watch, text);
  ASSERT_EQ(std::ssize(first), match_burst);
  EXPECT_EQ(first.back(), "hit: hit 10");
  EXPECT_EQ(feed(watch, "hit 51\n", start + 1'000), (Texts{"hit: hit 51 +40"}));
  EXPECT_TRUE(feed(watch, "hit 52\nhit 53\n", start + 1'100).empty());
  watch.quiet();
  EXPECT_EQ(told(watch), (Texts{"hit: hit 53 +1"})) << "the last is told when there is room";
  EXPECT_EQ(feed(watch, "hit 54\nhit 55\n", start + 60'000).size(), 2u);
}

TEST(Watch, AClockThatIsSetBackDoesNotSilenceIt) {
  Watch watch({"hit"});
  EXPECT_EQ(feed(watch, "hit\n").size(), 1u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(feed(watch, "hit\n", start - 3'600'000).size(), 1u);
}

TEST(Watch, ItsPlaceSurvivesARestartAtEveryByte) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "hit " + std::to_string(i) + (i % 3 == 0 ? "\r\n" : "\nmiss\n");
  Watch whole({"hit", "/x/"});
  Texts expected;
  for (const char c : text)
    for (std::string& line : feed(whole, std::string(1, c))) expected.push_back(std::move(line));
  whole.finish();
  for (std::string& line : told(whole)) expected.push_back(std::move(line));
  Texts all;
  std::string state;
  for (const char c : text) {
    Watch watch({"hit", "/x/"});
    watch.restore(state);
    for (std::string& line : feed(watch, std::string(1, c))) all.push_back(std::move(line));
    state = watch.state();
    EXPECT_FALSE(state.contains(' '));
  }
  Watch last({"hit", "/x/"});
  last.restore(state);
  last.finish();
  for (std::string& line : told(last)) all.push_back(std::move(line));
  EXPECT_EQ(all, expected);
}

TEST(Watch, ADamagedPlaceIsTakenAsNone) {
  for (const char* state :
       {"", ";;;;;;;;", "1;2;3;0;0;9;;-;-", "1;2;3;0;0;0;zz;-;-", "1;2;3;0;0;0;;x;-", "-1;2;3;0;0;0;;-;-"}) {
    Watch watch({"hit"});
    watch.restore(state);
    EXPECT_EQ(feed(watch, "hit\n"), (Texts{"hit: hit"})) << state;
  }
}

TEST(Watch, AGapIsSaidOnceAndJoinsNoLines) {
  Watch watch({"hit"});
  EXPECT_TRUE(feed(watch, "h").empty());
  watch.gap();
  EXPECT_EQ(feed(watch, "it\nhit\n"), (Texts{"! watch_behind", "hit: hit"}));
  watch.gap();
  EXPECT_TRUE(feed(watch, "x\n").empty());
}

TEST(Watch, OfAFloodTheNewestIsLookedAt) {
  Watch watch({"y", "/the e[a-z]d/"});
  std::string flood;
  while (flood.size() < (4u << 20)) flood += "y\n";
  Texts found = feed(watch, flood + "the end\n");
  EXPECT_EQ(std::ranges::count(found, "! watch_behind"), 1);
  watch.finish();
  for (std::string& line : told(watch)) found.push_back(std::move(line));
  EXPECT_TRUE(found.back().starts_with("/the e[a-z]d/: the end")) << found.back();
  // Also where it ends in the same round.
  Watch short_one({"y", "/the e[a-z]d/"});
  short_one.begin_round();
  short_one.add(piece(flood + "the end\n"));
  short_one.finish();
  EXPECT_TRUE(told(short_one).back().starts_with("/the e[a-z]d/: the end"));
}

TEST(Watch, NothingToWatchCostsNothing) {
  Watch watch({});
  EXPECT_TRUE(feed(watch, "hit\n").empty());
  EXPECT_TRUE(watch.state().empty());
  watch.gap();
  EXPECT_TRUE(told(watch).empty());
}

// A round is a few milliseconds of the engine's thread, whatever is printed and whatever is looked for.
TEST(Watch, ARoundIsBounded) {
  std::string yes, lines;
  while (yes.size() < (4u << 20)) yes += "y\n";
  while (lines.size() < (4u << 20)) lines += "[info] 2026-11-15 request 12345 served in 3 ms\n";
  const std::vector<Texts> launches = {{"ERROR"},
                                       {"y"},
                                       {"/y/"},
                                       {"/^(a|b|c)+$/"},
                                       {"/(a|b).{40}(c|d).{40}q/"},
                                       Texts(100, "/(x+x+)+y/"),
                                       Texts(100, "/i.{30}q/"),
                                       Texts(100, "needle")};
  for (const std::string& text : {yes, lines})
    for (const Texts& patterns : launches) {
      Watch watch(patterns);
      feed(watch, text);
      const auto began = std::chrono::steady_clock::now();
      feed(watch, text);
      const auto took = std::chrono::steady_clock::now() - began;
      // Some milliseconds on a machine that is free; tests run beside others, and under sanitizers.
      EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(took).count(), 1'000) << patterns[0];
      RecordProperty("ms " + patterns[0],
                     static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    }
}

}  // namespace
}  // namespace errand::command

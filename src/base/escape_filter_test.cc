// Terminal safety: what a task prints cannot do anything to the terminal but colour text.
#include "base/escape_filter.h"

#include <string>

#include <gtest/gtest.h>

namespace errand {
namespace {

using Colours = EscapeFilter::Colours;

std::string kept(std::string_view text) { return without_escapes(text, Colours::keep); }
std::string dropped(std::string_view text) { return without_escapes(text, Colours::drop); }

TEST(EscapeFilter, PlainTextAndUnicodePass) {
  EXPECT_EQ(kept("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(kept("naïve 日本語 🎉"), "naïve 日本語 🎉");
}

TEST(EscapeFilter, ColoursPassOrAreDropped) {
  EXPECT_EQ(kept("\x1b[1;31mred\x1b[0m"), "\x1b[1;31mred\x1b[0m");
  EXPECT_EQ(kept("\x1b[38:2::1:2:3mx\x1b[m"), "\x1b[38:2::1:2:3mx\x1b[m");
  EXPECT_EQ(dropped("\x1b[1;31mred\x1b[0m"), "red");
}

TEST(EscapeFilter, AColourThatIsLeftOnIsReset) {
  EXPECT_EQ(kept("\x1b[31mred"), "\x1b[31mred\x1b[0m");
  EXPECT_EQ(kept("\x1b[31mred\x1b[0m plain"), "\x1b[31mred\x1b[0m plain");
}

TEST(EscapeFilter, CursorScreenAndModeSequencesVanish) {
  EXPECT_EQ(kept("a\x1b[2Jb\x1b[1;1Hc\x1b[?25ld\x1b[3 qe\x1b[6nf"), "abcdef");
  EXPECT_EQ(kept("a\x1b"
                 "cb\x1b(0c\x1b#8d\x1b=e"),
            "abcde");
  EXPECT_EQ(kept("\x1b[>1m\x1b[?1mx"), "x") << "private sequences that end in m are no colours";
}

TEST(EscapeFilter, StringsVanishWithTheirPayload) {
  EXPECT_EQ(kept("a\x1b]0;title\x07"
                 "b"),
            "ab");
  EXPECT_EQ(kept("a\x1b]52;c;ZXZpbA==\x1b\\b"), "ab");
  EXPECT_EQ(kept("a\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\b"), "alinkb");
  EXPECT_EQ(kept("a\x1bPq#0;2;0\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e"), "abcde");
}

TEST(EscapeFilter, C1ControlsAreSequencesToo) {
  EXPECT_EQ(kept("a\xc2\x9b"
                 "2Jb"),
            "ab");
  EXPECT_EQ(kept("a\xc2\x9d"
                 "0;title\xc2\x9c"
                 "b"),
            "ab");
  EXPECT_EQ(kept("a\x9b"
                 "2Jb"),
            "a\xEF\xBF\xBD"
            "2Jb")
      << "a bare C1 byte is no UTF-8 and becomes U+FFFD";
}

TEST(EscapeFilter, OtherControlsVanish) {
  EXPECT_EQ(kept(std::string_view("a\0b\bc\ad\x7f"
                                  "e\x0e\x0f",
                                  11)),
            "abcde");
}

TEST(EscapeFilter, CarriageReturnsCannotWriteOverALine) {
  EXPECT_EQ(kept("10%\r20%\r\n"), "10%\n20%\n");
  EXPECT_EQ(kept("safe\rEVIL"), "safe\nEVIL");
}

TEST(EscapeFilter, AnUnendedSequenceHidesNoMoreThanItsLine) {
  EXPECT_EQ(kept("a\x1b]0;never ends\nnext"), "a\nnext");
  EXPECT_EQ(kept("a\x1b[12\nnext"), "a\nnext");
}

TEST(EscapeFilter, ASequenceInsideASequenceBeginsAnew) {
  EXPECT_EQ(kept("a\x1b[3\x1b[31mb\x1b[0m"), "a\x1b[31mb\x1b[0m");
  EXPECT_EQ(kept("a\x1b]0;x\x1b[2Jb"), "ab");
  EXPECT_EQ(kept("a\x1b[31\x18mb"), "amb") << "CAN ends a sequence";
}

TEST(EscapeFilter, EndlessParametersAreNoColour) { EXPECT_EQ(kept("\x1b[" + std::string(10'000, '1') + "mx"), "x"); }

// However the text is cut into pieces, the outcome is the same.
TEST(EscapeFilter, PiecesMakeNoDifference) {
  std::string text =
      "a\x1b[1;31mré日\r\n\x1b]52;c;eA==\x1b\\🎉\xc2\x9b"
      "2J\x1b[0m\xff end\x1b[?25l";
  std::string whole = kept(text);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EscapeFilter filter(Colours::keep);
    std::string out = filter.feed(std::string_view(text).substr(0, cut));
    out += filter.feed(std::string_view(text).substr(cut));
    out += filter.finish();
    EXPECT_EQ(out, whole) << "cut at " << cut;
  }
  EscapeFilter filter(Colours::keep);
  std::string out;
  for (char byte : text) out += filter.feed({&byte, 1});
  EXPECT_EQ(out + filter.finish(), whole);
}

TEST(EscapeFilter, ACharacterThatIsCutAtTheEndIsReplaced) { EXPECT_EQ(kept("a\xe6\x97"), "a\xEF\xBF\xBD\xEF\xBF\xBD"); }

TEST(OneLine, HasNoControlsNoOverridesAndSingleBlanks) {
  EXPECT_EQ(one_line("  a\n\n b\t\x1b[31mc\x1b[0m  "), "a b c");
  EXPECT_EQ(one_line("abc\u202Egnp.exe"), "abcgnp.exe");
}

TEST(ShownLine, ShowsWhatIsHidden) {
  EXPECT_EQ(shown_line("  abc\u202Egnp.exe \n"), "abc\\u202egnp.exe");
  EXPECT_EQ(shown_line("a\u2028b\ufeff"), "a\\u2028b\\ufeff");
  EXPECT_EQ(shown_line("\x1b[31mred\x1b[0m\u200b"), "red\\u200b");
}

TEST(EscapeFilter, HiddenCharactersAreShownWhereThatIsAskedFor) {
  const std::string text = "a\u202Eb\u200Bc\U000E0041d\x1b[31me\u2066\x1b[0m";
  EXPECT_EQ(without_escapes(text, Colours::keep, EscapeFilter::Hidden::show),
            "a\\u202eb\\u200bc\\U000e0041d\x1b[31me\\u2066\x1b[0m");
  EXPECT_EQ(dropped(text), "a\u202Eb\u200Bc\U000E0041de\u2066") << "programs are given them as they are";
}

TEST(EscapeFilter, PiecesMakeNoDifferenceToWhatIsShown) {
  const std::string text =
      "👩\u200D💻 می\u200Cخواهم \u202Eevil\u200D\x1b[1mx\u200D\x1b[0m❤\uFE0F\u200D🔥\uFE0F\uFE0F end\u200D";
  const std::string whole = without_escapes(text, Colours::keep, EscapeFilter::Hidden::show);
  EXPECT_EQ(whole,
            "👩\u200D💻 می\u200Cخواهم \\u202eevil\\u200d\x1b[1mx\\u200d\x1b[0m❤\uFE0F\u200D🔥\uFE0F\\ufe0f end\\u200d");
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EscapeFilter filter(Colours::keep, EscapeFilter::Hidden::show);
    std::string out = filter.feed(std::string_view(text).substr(0, cut));
    out += filter.feed(std::string_view(text).substr(cut));
    EXPECT_EQ(out + filter.finish(), whole) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace errand

// What cannot be seen is shown, and what writing needs is left alone.
#include "base/hidden.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

TEST(Hidden, DirectionsZeroWidthMarksSeparatorsAndTagsAreShown) {
  EXPECT_EQ(revealed("\u061C\u200E\u200F"), "\\u061c\\u200e\\u200f");
  EXPECT_EQ(revealed("\u202A\u202E\u2066\u2069"), "\\u202a\\u202e\\u2066\\u2069");
  EXPECT_EQ(revealed("a\u200Bb\u2060c\u180Ed\u00ADe"), "a\\u200bb\\u2060c\\u180ed\\u00ade");
  EXPECT_EQ(revealed("\uFEFFa\u2028b\u2029"), "\\ufeffa\\u2028b\\u2029");
  EXPECT_EQ(revealed("x\U000E0041\U000E007F"), "x\\U000e0041\\U000e007f");
  EXPECT_EQ(revealed("\u3164\u115F\uFFA0"), "\\u3164\\u115f\\uffa0");
}

TEST(Hidden, OrdinaryTextOfAllScriptsIsLeftAlone) {
  for (const char* text :
       {"naïve", "日本語", "مرحبا", "नमस्ते", "שלום", "a\tb\nc", "⠿⠀⠿", "🇩🇪 👍🏽 ❤\uFE0F 葛\U000E0100", "\\u202e"})
    EXPECT_EQ(revealed(text), text);
}

TEST(Hidden, JoinersStayWhereTheyAreWritten) {
  EXPECT_EQ(revealed("می\u200Cخواهم"), "می\u200Cخواهم");
  EXPECT_EQ(revealed("क्\u200Dष"), "क्\u200Dष");
  EXPECT_EQ(revealed("👨\u200D👩\u200D👧 🏳\uFE0F\u200D🌈 👩🏽\u200D🚀"),
            "👨\u200D👩\u200D👧 🏳\uFE0F\u200D🌈 👩🏽\u200D🚀");
}

TEST(Hidden, JoinersElsewhereAreShown) {
  EXPECT_EQ(revealed("rm\u200D -rf"), "rm\\u200d -rf");
  EXPECT_EQ(revealed("a\u200Cb"), "a\\u200cb");
  EXPECT_EQ(revealed("👩\u200Dx"), "👩\\u200dx");
  EXPECT_EQ(revealed("👩\u200D\u200D👩"), "👩\\u200d\\u200d👩") << "one joins, two hide something";
  EXPECT_EQ(revealed("\u200Dx\u200D"), "\\u200dx\\u200d");
}

// Bytes can be smuggled in a row of variation selectors behind one emoji.
TEST(Hidden, OnlyOneVariationSelectorBelongsToACharacter) {
  EXPECT_EQ(revealed("😀\uFE0F\uFE01\U000E0101"), "😀\uFE0F\\ufe01\\U000e0101");
  EXPECT_EQ(revealed("\uFE0F"), "\\ufe0f");
  EXPECT_EQ(revealed("خ\uFE0F\uFE0F\u200Cخ"), "خ\uFE0F\\ufe0f\\u200cخ") << "an escape is no letter to join with";
}

TEST(Hidden, JsonStaysWhatItMeans) {
  EXPECT_EQ(revealed_json("{\"t\":\"a\u202E👩\u200D💻\U000E0041\"}"), "{\"t\":\"a\\u202e👩\\u200d💻\\udb40\\udc41\"}");
  EXPECT_EQ(revealed_json("{\"a\\n\":1}"), "{\"a\\n\":1}");
}

TEST(Hidden, WhatShowsNothingIsInvisible) {
  for (const char* text :
       {"", " \t\n", "\u200B\u200D", "\u2800", "\u3164\u00A0\u3000", "\u202E\u2066", "\uFEFF", "\U000E0041\uFE0F"})
    EXPECT_TRUE(is_invisible(text)) << text;
  for (const char* text : {".", "\u200Bx", "日", "\u2801", "👍"}) EXPECT_FALSE(is_invisible(text)) << text;
}

}  // namespace
}  // namespace errand

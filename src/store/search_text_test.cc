#include "store/search_text.h"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/id.h"

namespace errand {
namespace {

std::set<std::string> grams_of(std::string_view text) {
  std::set<std::string> out;
  each_gram(text, [&](std::string_view gram) {
    EXPECT_TRUE(out.insert(std::string(gram)).second) << "each gram comes once: " << gram;
    return true;
  });
  return out;
}

TEST(SearchText, FoldsCaseAndWidth) {
  EXPECT_EQ(fold("ABC xyz"), "abc xyz");
  EXPECT_EQ(fold("ÄÖÜ ŽŁ ΑΩς ДОМЁ"), "äöü žł αωσ домё");
  EXPECT_EQ(fold("ＡＢ１　中"), "ab1 中");
  EXPECT_EQ(fold("a\xFFz\xE4\xB8"), "a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(SearchText, SplitsAQueryAtWhiteSpace) {
  EXPECT_EQ(*query_terms("  Foo\tbar　foo \n\"x y\" "), (std::vector<std::string>{"foo", "bar", "\"x", "y\""}));
  EXPECT_TRUE(query_terms("")->empty());
  EXPECT_EQ(query_terms(std::string(query_bytes_max + 1, 'x')).error().code, Code::too_large);
}

TEST(SearchText, GramsAreShortRunsWithinWords) {
  EXPECT_EQ(grams_of("Go x"), (std::set<std::string>{"g", "go", "o", "x"}));
  EXPECT_EQ(grams_of("abcd"), (std::set<std::string>{"a", "ab", "abc", "b", "bc", "bcd", "c", "cd", "d"}));
  EXPECT_EQ(grams_of("数据库"), (std::set<std::string>{"数", "数据", "据", "据库", "库"}));
  EXPECT_TRUE(grams_of(" \n\t ").empty());
}

TEST(SearchText, ATermIsCoveredByItsLongestGrams) {
  using Grams = std::vector<std::string>;
  EXPECT_EQ(grams_of_term("a"), Grams{"a"});
  EXPECT_EQ(grams_of_term("ab"), Grams{"ab"});
  EXPECT_EQ(grams_of_term("abc"), Grams{"abc"});
  EXPECT_EQ(grams_of_term("abcd"), (Grams{"abc", "bcd"}));
  EXPECT_EQ(grams_of_term("库"), Grams{"库"});
  EXPECT_EQ(grams_of_term("数据库"), (Grams{"数据", "据库"}));
  EXPECT_EQ(grams_of_term("abcdefghijk"), (Grams{"abc", "cde", "fgh", "ijk"})) << "spread over the term";
}

// What an index stands on: whoever contains a term has all its grams.
TEST(SearchText, ATextHasTheGramsOfEveryPartOfIt) {
  SeededRandom random(1);
  const char32_t letters[] = {U'a', U'b', U'C', U'é', U'数', U'据', U'-', U'"', U'\U00020000', U'ß', U'9'};
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::string> characters;
    for (uint64_t i = 0; i < 1 + random.below(30); ++i) {
      std::string one;
      const char32_t c = letters[random.below(std::size(letters))];
      if (c < 0x80) {
        one = static_cast<char>(c);
      } else if (c < 0x800) {
        one = {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
      } else if (c < 0x10000) {
        one = {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
               static_cast<char>(0x80 | (c & 0x3F))};
      } else {
        one = {static_cast<char>(0xF0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 0x3F)),
               static_cast<char>(0x80 | ((c >> 6) & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
      }
      characters.push_back(one);
    }
    const size_t from = random.below(characters.size());
    const size_t count = 1 + random.below(characters.size() - from);
    std::string text, part;
    for (size_t i = 0; i < characters.size(); ++i) {
      text += characters[i];
      if (i >= from && i < from + count) part += characters[i];
    }
    const std::set<std::string> grams = grams_of(text);
    const std::vector<std::string> terms = *query_terms(part);
    for (const std::string& term : terms) {
      const std::vector<std::string> needed = grams_of_term(term);
      ASSERT_FALSE(needed.empty());
      for (const std::string& gram : needed)
        ASSERT_TRUE(grams.contains(gram)) << gram << " of " << part << " in " << text;
    }
    Task task;
    task.launch.prompt = text;
    ASSERT_TRUE(found_in(task, terms));
  }
}

TEST(SearchText, OnlyTheBeginningOfALongFieldIsSearched) {
  Task task;
  task.result = std::string(searched_bytes - 6, 'x') + " early late";
  EXPECT_TRUE(found_in(task, {"early"}));
  EXPECT_FALSE(found_in(task, {"late"}));
  EXPECT_EQ(searched_text(*task.result).size(), searched_bytes);
}

}  // namespace
}  // namespace errand

// What is JSON for us and what is not (T10, T11): the verdicts of JSONTestSuite's kinds of cases, and our own bounds.
#include <string>

#include <gtest/gtest.h>

#include "api/fields.h"

namespace errand::api {
namespace {

std::string reason_of(std::string_view text) {
  const Result<Document> document = Document::parse(text);
  return document ? "" : document.error().reason;
}

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Document, TakesWhatIsJson) {
  for (const char* text : {
           "[]",
           "{}",
           " [] ",
           "[1]",
           "[-0]",
           "[-123]",
           "[1E22]",
           "[1e-2]",
           "[0e+1]",
           "[123.456789]",
           "[0.1]",
           "0",
           "-1",
           "true",
           "false",
           "null",
           "\"\"",
           "[null, 1, \"1\", {}]",
           R"(["\u0060\u012a\u12AB"])",
           R"(["\uD801\udc37"])",
           R"(["\"\\\/\b\f\n\r\t"])",
           R"(["\\u0000"])",
           R"(["\u0000"])",
           "[\"\x7f\"]",
           "[\"\xe2\x82\xac\xf0\x9d\x84\x9e\"]",
           "[\"\xef\xbb\xbf\"]",
           "[[[[]]]]",
           "{\"\":0}",
           R"({"a":"b","c":"d"})",
           R"({"a":{"a":{"a":1}}})",
           R"({"min":-1.0e+28,"max":1.0e+28})",
           "[\n1\n,\n2\n]",
           "\t{ } \r\n",
           R"(["\uFFFF\u2028\u2029"])",
           "[20e1]",
           "[1E+2]",
           "[123123e100000]",
           "[-1e-9999]",
           "[18446744073709551616]",
       }) {
    EXPECT_EQ(reason_of(text), "") << text;
  }
}

TEST(Document, RefusesWhatIsNot) {
  for (const char* text : {
           "",
           " ",
           "[",
           "]",
           "[1",
           "[1,",
           "[1,]",
           "[,1]",
           "[1,,2]",
           "[1 true]",
           "[\"\": 1]",
           "{",
           "{]",
           "{\"a\"}",
           "{\"a\":}",
           "{\"a\":1,}",
           "{\"a\" 1}",
           "{:1}",
           "{1:1}",
           "{a:1}",
           "{'a':1}",
           "['a']",
           "[a]",
           "[tru]",
           "[nul]",
           "[falsE]",
           "[True]",
           "[+1]",
           "[01]",
           "[-01]",
           "[1.]",
           "[.1]",
           "[-.1]",
           "[1.e1]",
           "[1e]",
           "[1e+]",
           "[1eE2]",
           "[0x1]",
           "[1_000]",
           "[NaN]",
           "[Infinity]",
           "[-Infinity]",
           "[-]",
           "[--1]",
           "[1+2]",
           "[\"a]",
           "[\"\\x\"]",
           "[\"\\u12\"]",
           "[\"\\uD800\"]",
           "[\"\\uDC00\"]",
           "[\"\\uD800\\n\"]",
           "[\"\n\"]",
           "[\"\t\"]",
           "[\"\x01\"]",
           "[\"\xff\"]",
           "[\"\xc0\xaf\"]",
           "[\"\xe2\x82\"]",
           "[\"\xed\xa0\x80\"]",
           "[\"\xf4\xbf\xbf\xbf\"]",
           "\xef\xbb\xbf{}",
           "[]]",
           "{}}",
           "[] x",
           "1 2",
           "{}//x",
           "/**/{}",
           "[1]\x01",
           "[\f]",
           "\xc2\xa0[]",
           "<null>",
           "{\"a\":1}#",
           "[\"\\",
           "[\"\\u",
           "\\u007B}",
           "{\"a\":\"b\"",
           "[\xe5]",
       }) {
    EXPECT_EQ(reason_of(text), "bad_json") << text;
  }
  EXPECT_EQ(reason_of(std::string_view("[]\0", 3)), "bad_json");
  EXPECT_EQ(reason_of(std::string_view("\0", 1)), "bad_json");
  EXPECT_EQ(reason_of(std::string_view("[\"a\0\"]", 6)), "bad_json");
}

TEST(Document, IsAtMostSixtyFourLevelsDeep) {  // T11
  EXPECT_EQ(reason_of(repeated("[", 64) + repeated("]", 64)), "");
  EXPECT_EQ(reason_of(repeated("[", 65) + repeated("]", 65)), "too_deep");
  EXPECT_EQ(reason_of(repeated("{\"a\":", 65) + "1" + repeated("}", 65)), "too_deep");
  EXPECT_EQ(reason_of(repeated("[", 1'000'000)), "too_deep");
}

TEST(Document, HasNoNameTwice) {
  EXPECT_EQ(reason_of(R"({"a":1,"a":1})"), "duplicate_key");
  EXPECT_EQ(reason_of(R"({"a":1,"\u0061":2})"), "duplicate_key");
  EXPECT_EQ(reason_of(R"([{"x":{"b":1,"c":2,"b":3}}])"), "duplicate_key");
  EXPECT_EQ(reason_of(R"({"a":{"a":1},"b":{"a":1}})"), "");
  EXPECT_EQ(reason_of(R"([{"a":1},{"a":1}])"), "");
  const Result<Document> twice = Document::parse(R"({"first":1,"second":2,"first":3})");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("`first`"), std::string::npos) << twice.error().message;
}

TEST(Document, HasABoundOnItsValues) {  // A body of 8 MiB must not become a gigabyte.
  EXPECT_EQ(reason_of("[" + repeated("1,", json_values_max - 2) + "1]"), "");
  EXPECT_EQ(reason_of("[" + repeated("1,", json_values_max) + "1]"), "too_many_values");
  EXPECT_EQ(reason_of("[" + repeated("[],", json_values_max) + "[]]"), "too_many_values");
}

TEST(Document, EmptyBodyIsAnEmptyRequestWhereThatIsAllowed) {
  EXPECT_TRUE(Document::parse_or_empty(""));
  EXPECT_TRUE(Document::parse_or_empty(" \r\n"));
  EXPECT_FALSE(Document::parse_or_empty("x"));
}

TEST(Document, SaysWhereItIsWrong) {
  const Result<Document> broken = Document::parse(R"({"a": nope})");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::invalid_argument);
  EXPECT_NE(broken.error().message.find("near byte"), std::string::npos) << broken.error().message;
}

}  // namespace
}  // namespace errand::api

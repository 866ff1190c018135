#include "base/json_out.h"

#include <gtest/gtest.h>

namespace errand {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonOut, PutsCommasWhereTheyBelong) {
  std::string text;
  JsonOut out(text);
  out.object().field("a", 1).key("b").array().value("x").value(true).null().object().end().end();
  out.field("c", Time{}).field("d", Time{1'000}).field("e", -2.5).text_or_null("f", "").end();
  EXPECT_EQ(text, R"({"a":1,"b":["x",true,null,{}],"c":null,"d":"1970-01-01T00:00:01.000Z","e":-2.5,"f":null})");
}

TEST(JsonOut, EscapesWhatMustBeEscaped) {
  EXPECT_EQ(quoted("a\"b\\c\n\r\t\x01"), R"("a\"b\\c\n\r\t\u0001")");
  EXPECT_EQ(quoted("任务"), "\"任务\"");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonOut, NeverWritesInvalidUtf8) {
  EXPECT_EQ(quoted("ok\xff\"x"), "\"ok\xef\xbf\xbd\\\"x\"");
  EXPECT_EQ(quoted("\xe4\xbb"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(quoted("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(JsonOut, HasNoNumberThatJsonHasNot) {
  std::string text;
  JsonOut(text).array().value(1.0 / 0.0).value(0.1).value(int64_t{-9007199254740993}).end();
  EXPECT_EQ(text, "[null,0.1,-9007199254740993]");
}

}  // namespace
}  // namespace errand

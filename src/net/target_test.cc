#include "net/target.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

Target read(std::string_view text) {
  Result<Target> target = parse_target(text);
  EXPECT_TRUE(target) << text << ": " << (target ? "" : target.error().message);
  return target.value_or(Target{});
}

TEST(ParseTarget, DecodesPathAndQueryOnce) {
  EXPECT_EQ(read("/"), (Target{"/", {}, ""}));
  EXPECT_EQ(read("/api/tasks"), (Target{"/api/tasks", {}, ""}));
  EXPECT_EQ(read("/%E4%BB%BB%E5%8A%A1/a%20b"), (Target{"/任务/a b", {}, ""}));
  EXPECT_EQ(read("/a%2541"), (Target{"/a%41", {}, ""})) << "not twice";
  EXPECT_EQ(read("/a?q=x+y%2B%26z&empty=&bare&=v&q=2"),
            (Target{"/a", Query{{"q", "x y+&z"}, {"empty", ""}, {"bare", ""}, {"", "v"}, {"q", "2"}}, ""}));
  EXPECT_EQ(read("/a?&&"), (Target{"/a", {}, ""}));
  EXPECT_EQ(read("/a+b"), (Target{"/a+b", {}, ""})) << "plus is a blank in the query only";
  EXPECT_EQ(read("/a?x=/../%2e%2e/"), (Target{"/a", Query{{"x", "/../../"}}, ""}));
}

TEST(ParseTarget, DropsOneSlashAtTheEnd) {
  EXPECT_EQ(read("/api/tasks/").path, "/api/tasks");
  EXPECT_FALSE(parse_target("/api/tasks//"));
}

TEST(ParseTarget, TakesTheAuthorityOfAnAbsoluteTarget) {
  EXPECT_EQ(read("http://LocalHost:4747/a?b=c"), (Target{"/a", Query{{"b", "c"}}, "localhost:4747"}));
  EXPECT_EQ(read("HTTPS://[::1]:4747"), (Target{"/", {}, "[::1]:4747"}));
  EXPECT_EQ(read("http://x?b=c"), (Target{"/", Query{{"b", "c"}}, "x"}));
  for (const char* bad :
       {"http://", "http:///a", "http://u:p@x/", "http://x y/", "ftp://x/", "x:80", "*", "", "a/b", "?a"})
    EXPECT_FALSE(parse_target(bad)) << bad;
}

TEST(ParseTarget, RefusesMoreParametersThanAnybodyNeeds) {
  std::string text = "/a?";
  for (int i = 0; i < 100; ++i) text += "p=1&";
  EXPECT_TRUE(parse_target(text));
  EXPECT_FALSE(parse_target(text + "p=1"));
}

}  // namespace
}  // namespace errand::net

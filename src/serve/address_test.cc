#include "serve/address.h"

#include <gtest/gtest.h>

namespace errand::serve {
namespace {

TEST(Address, IsAHostAndAPort) {
  EXPECT_EQ(parse_address("127.0.0.1:4747")->host, "127.0.0.1");
  EXPECT_EQ(parse_address("127.0.0.1:4747")->port, 4747);
  EXPECT_EQ(parse_address("[::1]:0")->host, "::1");
  EXPECT_EQ(parse_address("localhost:80")->host, "localhost");
}

TEST(Address, RefusesWhatHasNoHostOrNoPort) {
  for (const char* text : {"", ":", "4747", ":4747", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:80x",
                           "127.0.0.1:-1", "127.0.0.1:65536", "127.0.0.1:99999999999999999999"})
    EXPECT_FALSE(parse_address(text)) << text;
}

TEST(Address, IsAUrlWithItsBracketsAndScheme) {
  EXPECT_EQ(url_of({"127.0.0.1", 4747}, false), "http://127.0.0.1:4747");
  EXPECT_EQ(url_of({"::1", 1}, true), "https://[::1]:1");
}

}  // namespace
}  // namespace errand::serve

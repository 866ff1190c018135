#include "http/public_address.h"

#include <gtest/gtest.h>

namespace errand::http {
namespace {

TEST(PublicAddress, TellsTheInternetFromWhatIsSomebodysOwn) {
  for (const char* open : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "192.167.1.1",
                           "2606:4700:4700::1111", "[2a00:1450:4001:80b::200e]"})
    EXPECT_TRUE(is_public_address(open)) << open;
  for (const char* closed : {"127.0.0.1",
                             "127.8.9.1",
                             "0.0.0.0",
                             "10.1.2.3",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.1.1",
                             "169.254.169.254",
                             "100.64.0.1",
                             "198.18.0.1",
                             "224.0.0.1",
                             "255.255.255.255",
                             "192.0.2.1",
                             "::1",
                             "[::1]",
                             "::",
                             "fe80::1",
                             "fc00::1",
                             "fd12:3456::1",
                             "ff02::1",
                             "::ffff:127.0.0.1",
                             "::ffff:8.8.8.8",
                             "64:ff9b::7f00:1",
                             "2002:7f00:1::",
                             "2001:0::1",
                             "2001:db8::1",
                             "localhost",
                             "",
                             "1.2.3",
                             "0x7f.1"})
    EXPECT_FALSE(is_public_address(closed)) << closed;
}

}  // namespace
}  // namespace errand::http

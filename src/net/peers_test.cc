#include "net/peers.h"

#include <gtest/gtest.h>

namespace errand::net {
namespace {

TEST(Peers, AnAddressIsItselfAndANetworkIsAllInIt) {
  const Result<Peers> peers = Peers::parse({"192.0.2.7", " 10.1.0.0/16 ", "2001:db8::/33", "::5"});
  ASSERT_TRUE(peers) << peers.error().message;
  for (const char* in : {"192.0.2.7", "10.1.0.0", "10.1.255.255", "2001:db8::1", "2001:db8:7fff::", "::5"})
    EXPECT_TRUE(peers->has(in)) << in;
  for (const char* out : {"192.0.2.8", "10.0.255.255", "10.2.0.0", "2001:db8:8000::", "::6", "127.0.0.1", "", "unix",
                          "192.0.2.7 ", "192.0.2", "10.1.0.0/16"})
    EXPECT_FALSE(peers->has(out)) << out;
  EXPECT_FALSE(Peers().has("127.0.0.1"));
}

TEST(Peers, WhatIsNoAddressIsRefusedByItsName) {
  for (const char* wrong : {"", "proxy.lan", "10.0.0.0/0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8x",
                            "::/129", "0.0.0.0/-1", "1.2.3.4.5"}) {
    const Result<Peers> peers = Peers::parse({"192.0.2.7", wrong});
    ASSERT_FALSE(peers) << wrong;
    EXPECT_NE(peers.error().message.find("\"" + std::string(wrong) + "\""), std::string::npos);
  }
}

TEST(Peers, LoopbackIsThisMachine) {
  for (const char* own : {"127.0.0.1", "127.9.9.9", "::1"}) EXPECT_TRUE(is_loopback_peer(own)) << own;
  for (const char* other : {"128.0.0.1", "::2", "::", "unix", "10.0.0.1"})
    EXPECT_FALSE(is_loopback_peer(other)) << other;
}

}  // namespace
}  // namespace errand::net

#include "crypto/p256.h"

#include <gtest/gtest.h>

#include "base/encode.h"

namespace errand::crypto {
namespace {

std::string bytes(std::string_view text) { return from_base64(text).value(); }

// The keys of RFC 8291, appendix A.
constexpr std::string_view server_private = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
constexpr std::string_view server_public =
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
constexpr std::string_view phone_private = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
constexpr std::string_view phone_public =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
constexpr std::string_view agreed = "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs";

TEST(P256, APublicKeyFollowsFromThePrivateOne) {
  const std::optional<KeyPair> pair = KeyPair::from_private(bytes(server_private));
  ASSERT_TRUE(pair);
  EXPECT_EQ(to_base64url(pair->public_key()), server_public);
  EXPECT_EQ(to_base64url(pair->private_key()), server_private);
}

TEST(P256, BothSidesAgreeOnTheSecretOfTheStandard) {
  const std::optional<KeyPair> server = KeyPair::from_private(bytes(server_private));
  const std::optional<KeyPair> phone = KeyPair::from_private(bytes(phone_private));
  ASSERT_TRUE(server && phone);
  EXPECT_EQ(to_base64url(server->agree(bytes(phone_public)).value()), agreed);
  EXPECT_EQ(to_base64url(phone->agree(bytes(server_public)).value()), agreed);
}

TEST(P256, ASignatureIsGoodForItsTextAndItsKeyAlone) {
  SeededRandom random(3);
  const KeyPair pair = KeyPair::make(random), other = KeyPair::make(random);
  ASSERT_NE(pair.public_key(), other.public_key());
  std::string signature = pair.sign("what was signed");
  ASSERT_EQ(signature.size(), signature_bytes);
  EXPECT_TRUE(verify(pair.public_key(), "what was signed", signature));
  EXPECT_FALSE(verify(pair.public_key(), "what was not signed", signature));
  EXPECT_FALSE(verify(other.public_key(), "what was signed", signature));
  EXPECT_FALSE(verify(pair.public_key(), "what was signed", signature.substr(1)));
  EXPECT_FALSE(verify(pair.public_key(), "what was signed", ""));
  EXPECT_FALSE(verify(pair.public_key(), "what was signed", std::string(signature_bytes, '\0')));
  signature[40] = static_cast<char>(signature[40] ^ 1);
  EXPECT_FALSE(verify(pair.public_key(), "what was signed", signature));
}

TEST(P256, OnlyAPointOfTheCurveIsAKey) {
  std::string point = bytes(phone_public);
  EXPECT_TRUE(is_public_key(point));
  EXPECT_FALSE(is_public_key(""));
  EXPECT_FALSE(is_public_key(point.substr(0, 64)));
  EXPECT_FALSE(is_public_key(point + "x"));
  EXPECT_FALSE(is_public_key(std::string(point_bytes, '\0')));
  std::string elsewhere = point;
  elsewhere[64] = static_cast<char>(elsewhere[64] ^ 1);
  EXPECT_FALSE(is_public_key(elsewhere)) << "not on the curve: an exchange with it would tell the private key";
  point[0] = 2;
  EXPECT_FALSE(is_public_key(point));
  SeededRandom random(5);
  EXPECT_FALSE(KeyPair::make(random).agree(elsewhere));
}

TEST(P256, ZeroAndWhatIsPastTheOrderAreNoPrivateKeys) {
  EXPECT_FALSE(KeyPair::from_private(std::string(scalar_bytes, '\0')));
  EXPECT_FALSE(KeyPair::from_private(std::string(scalar_bytes, '\xff')));
  EXPECT_FALSE(KeyPair::from_private("short"));
}

}  // namespace
}  // namespace errand::crypto

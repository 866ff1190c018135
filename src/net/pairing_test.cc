#include "net/pairing.h"

#include <set>

#include <gtest/gtest.h>

namespace errand::net {
namespace {

struct PairingTest : testing::Test {
  ManualClock clock;
  SeededRandom random{7};
  Pairing pairing{clock, random};
  Scopes scopes = Scopes().add(Scope::read);

  Pairing::State state(const std::string& id) { return pairing.look(id).value().state; }
};

TEST_F(PairingTest, ACodeIsGoodOnce) {
  const Pairing::Opened opened = pairing.open(scopes);
  EXPECT_EQ(state(opened.id), Pairing::State::open);
  const std::optional<Pairing::Taken> taken = pairing.take(opened.code);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->id, opened.id);
  EXPECT_EQ(taken->scopes, scopes);
  EXPECT_FALSE(pairing.take(opened.code));
  EXPECT_EQ(state(opened.id), Pairing::State::used);
  pairing.paired(opened.id, "dev_x");
  EXPECT_EQ(pairing.look(opened.id)->device, "dev_x");
}

TEST_F(PairingTest, ItMayBeTypedAsPeopleType) {
  const Pairing::Opened opened = pairing.open(scopes);
  EXPECT_EQ(opened.code.size(), pairing_characters);
  EXPECT_EQ(opened.code.find_first_of("IO01"), std::string::npos);
  std::string typed = for_people(opened.code);
  EXPECT_EQ(typed.size(), pairing_characters + 1);
  for (char& c : typed)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  EXPECT_TRUE(pairing.take(" " + typed + " "));
}

TEST_F(PairingTest, AfterTwoMinutesItIsOver) {
  const Pairing::Opened opened = pairing.open(scopes);
  clock.advance(pairing_ms - 1);
  EXPECT_EQ(state(opened.id), Pairing::State::open);
  clock.advance(1);
  EXPECT_EQ(state(opened.id), Pairing::State::expired);
  EXPECT_FALSE(pairing.take(opened.code));
}

TEST_F(PairingTest, TheFifthWrongTryEndsEveryCodeThatIsOpen) {
  const Pairing::Opened first = pairing.open(scopes), second = pairing.open(scopes);
  for (int i = 0; i < pairing_tries_max; ++i) {
    EXPECT_EQ(state(second.id), Pairing::State::open) << i;
    EXPECT_FALSE(pairing.take("WRONGONE"));
  }
  for (const Pairing::Opened& opened : {first, second}) {
    EXPECT_EQ(state(opened.id), Pairing::State::guessed);
    EXPECT_FALSE(pairing.take(opened.code)) << "who has guessed may have guessed it";
  }
  EXPECT_TRUE(pairing.take(pairing.open(scopes).code)) << "a new one is new";
}

TEST_F(PairingTest, NoTwoAreAlikeAndOnlyAFewAreRemembered) {
  std::set<std::string> codes;
  const Pairing::Opened first = pairing.open(scopes);
  for (size_t i = 0; i < 100; ++i) codes.insert(pairing.open(scopes).code);
  EXPECT_EQ(codes.size(), 100u);
  EXPECT_FALSE(pairing.look(first.id));
  EXPECT_FALSE(pairing.take(first.code));
}

TEST_F(PairingTest, WhateverIsGivenForACodeIsBounded) {
  const Pairing::Opened opened = pairing.open(scopes);
  for (const std::string& text : {std::string(), std::string(1 << 20, '-'), std::string("\0", 1)})
    EXPECT_FALSE(pairing.take(text));
  EXPECT_EQ(state(opened.id), Pairing::State::open);
}

}  // namespace
}  // namespace errand::net

#include "cli/reply_words.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

WaitingInfo question(std::vector<std::string> options) {
  return {.kind = "answer", .request_id = "req_1", .text = "Which?", .options = std::move(options), .until = {}};
}
WaitingInfo permission(std::vector<std::string> options) {
  return {.kind = "permission", .request_id = "req_1", .text = "May I?", .options = std::move(options), .until = {}};
}

std::string answer(const WaitingInfo& waiting, std::string_view typed, bool literally = false) {
  const Result<ReplyWords> words = reply_words(waiting, typed, literally);
  return words ? words->answer : "refused: " + words.error().message;
}
std::string decision(const WaitingInfo& waiting, std::string_view typed) {
  const Result<ReplyWords> words = reply_words(waiting, typed);
  return words ? words->decision : "refused: " + words.error().message;
}

TEST(ReplyWords, ANumberIsTheOptionOfThatNumber) {
  EXPECT_EQ(answer(question({"red", "blue"}), "2"), "blue");
  EXPECT_EQ(answer(question({"red", "blue"}), " 1 "), "red");
  EXPECT_EQ(answer(question({"red", "blue"}), "green"), "green");
}

TEST(ReplyWords, ANumberIsATextWhereThereAreNoOptionsOrItIsMeantLiterally) {
  EXPECT_EQ(answer(question({}), "2"), "2");
  EXPECT_EQ(answer(question({"red", "blue"}), "2", true), "2");
  EXPECT_EQ(answer(question({"4", "2"}), "2"), "2") << "an option that is a number is that option";
}

TEST(ReplyWords, ANumberOfNoOptionIsRefusedAndSaysWhichThereAre) {
  const std::string refused = answer(question({"red", "blue"}), "3");
  EXPECT_NE(refused.find("no option 3"), std::string::npos) << refused;
  EXPECT_NE(refused.find("1 red, 2 blue"), std::string::npos) << refused;
  EXPECT_NE(refused.find("--literal"), std::string::npos) << refused;
  EXPECT_TRUE(answer(question({"red"}), "0").starts_with("refused"));
  EXPECT_TRUE(answer(question({"red"}), "999999999").starts_with("refused"));
  EXPECT_EQ(answer(question({"red"}), "99999999999999999999"), "99999999999999999999");
}

TEST(ReplyWords, APermissionTakesItsWordsAndItsNumbers) {
  for (const WaitingInfo& waiting : {permission({"allow", "allow_always", "deny"}), permission({})}) {
    for (const char* typed : {"allow", "y", "yes", "1"}) EXPECT_EQ(decision(waiting, typed), "allow") << typed;
    for (const char* typed : {"always", "allow_always", "2"}) EXPECT_EQ(decision(waiting, typed), "allow_always");
    for (const char* typed : {"deny", "n", "no", "3"}) EXPECT_EQ(decision(waiting, typed), "deny") << typed;
    EXPECT_TRUE(decision(waiting, "4").starts_with("refused"));
    EXPECT_TRUE(decision(waiting, "perhaps").starts_with("refused: The task asks for permission"));
    EXPECT_EQ(numbered_options(waiting), (std::vector<std::string>{"1 allow", "2 allow_always", "3 deny"}));
  }
}

// R14.3
TEST(ReplyWords, AnAllowanceSaysHowFarItGoes) {
  WaitingInfo waiting = permission({"allow", "allow_always", "deny"});
  waiting.patterns = {{"npm test *", "commands that begin with `npm test`"},
                      {"npm *", "commands that begin with `npm`"}};
  const auto scope = [&](std::string_view typed) {
    const Result<ReplyWords> words = reply_words(waiting, typed);
    return words ? words->decision + " " + words->scope + " " + words->pattern : "refused";
  };
  EXPECT_EQ(scope("task"), "allow task ");
  EXPECT_EQ(scope("agent"), "allow agent ");
  EXPECT_EQ(scope("pattern"), "allow pattern npm test *");
  EXPECT_EQ(scope("4"), "allow pattern npm test *");
  EXPECT_EQ(scope("5"), "allow pattern npm *");
  EXPECT_EQ(scope("6"), "refused");
  EXPECT_EQ(scope("1"), "allow  ");
  waiting.patterns.clear();
  EXPECT_EQ(scope("pattern"), "refused");
}

}  // namespace
}  // namespace errand::cli

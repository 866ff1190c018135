// What is kept of a turn is what is taken up.
#include "driver/acp/state.h"

#include <gtest/gtest.h>

namespace errand::acp {
namespace {

State full() {
  State state;
  state.phase = Phase::leaving;
  state.next = 4711;
  state.last_request = 5;
  state.request = 4;
  state.session = "s\"1";
  state.method = "session/load";
  state.is_new = true;
  state.agent = {.name = "Agent", .version = "2", .load = true, .http = true};
  state.wishes.push_back({{.method = "session/set_mode", .config = "c", .current = {}, .values = {}}, "plan"});
  state.frames.push_back({.number = 7, .line = "{}", .messages = {MessageId("msg_1"), MessageId("msg_2")}});
  state.frames.push_back({.number = 8, .line = "a token", .messages = {}, .opens = true});
  state.asks.push_back({"acp_1_1", "\"x\"", "call", {{"once", "Yes", "allow_once"}, {"no", "No", "reject_once"}}});
  state.serving = {"3", "\"y\""};
  state.failing = true;
  state.asked = 9;
  state.end = Outcome{.kind = Outcome::Kind::failed, .result = "r", .error = TaskError{"exit", "why", "{}"}};
  return state;
}

TEST(AcpState, IsTakenUpAsItWas) {
  const std::string text = encode(full());
  const Result<State> again = decode(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(encode(*again), text);
  EXPECT_EQ(again->frames[0].messages[1], MessageId("msg_2"));
  EXPECT_EQ(again->asks[0].options[1].kind, "reject_once");
  EXPECT_EQ(again->end->error->code, "exit");
  EXPECT_EQ(again->wishes[0].value, "plan");
}

TEST(AcpState, TheLineThatOpensASessionIsNotKept) { EXPECT_EQ(encode(full()).find("a token"), std::string::npos); }

TEST(AcpState, NothingIsAFreshOneAndWhatIsNotOursIsRefused) {
  EXPECT_EQ(encode(decode("").value()), encode(State()));
  std::string text = encode(full());
  for (const char* wrong : {"{", "7", "{}", "[]", R"({"phase":"x"})"}) EXPECT_FALSE(decode(wrong)) << wrong;
  // Cut anywhere, it is refused, never half believed.
  for (size_t i = 1; i < text.size(); ++i) EXPECT_FALSE(decode(text.substr(0, i)));
}

}  // namespace
}  // namespace errand::acp

// A conversation as Claude Code has written it down (tests/fixtures/claude/history.jsonl), as messages.
#include "driver/claude/history.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace errand::claude {
namespace {

std::string shown(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) {
    out += std::string(name(message.role)) + "\n";
    for (const Part& part : message.parts)
      out +=
          "  " + std::string(name(part.type)) + " " + (part.name.empty() ? part.text.substr(0, 30) : part.name) + "\n";
  }
  return out;
}

TEST(ClaudeHistory, WhatWasSaidOnTheWayToTheLastRecord) {
  std::ifstream in(std::string(FIXTURES) + "/history.jsonl");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(shown(read_history(text)),
            "user\n"
            "  text do @@[{\"reasoning\":\"Let me thi\n"
            "assistant\n"
            "  reasoning Let me think\n"
            "  text I will write\n"
            "  tool_call Write\n"
            "  tool_result File created successfully at: \n"
            "assistant\n"
            "  tool_call Bash\n"
            "  tool_result hi\n"
            "assistant\n"
            "  text All done.\n");
}

TEST(ClaudeHistory, WhateverStandsInTheFileIsReadWithoutHarm) {
  EXPECT_TRUE(read_history("").empty());
  EXPECT_TRUE(read_history("no JSON\n[1,2]\n{\"type\":\"user\"}\n").empty());
  // Parents in a circle, and one that comes later.
  const std::vector<Message> odd =
      read_history(R"({"type":"user","uuid":"a","parentUuid":"b","message":{"role":"user","content":"one"}})"
                   "\n"
                   R"({"type":"user","uuid":"b","parentUuid":"a","message":{"role":"user","content":"two"}})"
                   "\n");
  EXPECT_EQ(shown(odd), "user\n  text one\nuser\n  text two\n");
}

}  // namespace
}  // namespace errand::claude

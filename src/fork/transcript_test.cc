#include "fork/transcript.h"

#include <gtest/gtest.h>

namespace errand::fork {
namespace {

TEST(Transcript, SaysWhoSaidWhatWithCallsAndTheirResults) {
  const std::vector<Message> messages = {
      {.role = Role::user,
       .parts = {{.text = "look at 语"}, {.type = PartType::file, .name = "a.png", .media_type = "image/png"}}},
      {.role = Role::assistant,
       .parts = {{.type = PartType::reasoning, .text = "hidden"},
                 {.text = "I look."},
                 {.type = PartType::tool_call, .call_id = "c1", .name = "bash", .input = R"({"command":"ls"})"},
                 {.type = PartType::tool_result, .text = "a\nb", .call_id = "c1"},
                 {.type = PartType::tool_call, .call_id = "c2", .name = "list"},
                 {.type = PartType::tool_result, .text = "no", .call_id = "c2", .is_error = true}}},
      {.role = Role::assistant, .parts = {{.text = "Two."}}},
      {.role = Role::system, .parts = {{.text = "This is a fork."}}}};
  EXPECT_EQ(transcript(messages),
            "## user\n\nlook at 语\n\n[file \"a.png\" (image/png)]\n\n"
            "## assistant\n\nI look.\n\n[call c1: bash {\"command\":\"ls\"}]\n\n[result of c1]\na\nb\n\n"
            "[call c2: list {}]\n\n[error of c2]\nno\n\nTwo.\n\n---\n\nThis is a fork.");
}

TEST(Transcript, OfNothingIsNothing) {
  EXPECT_EQ(transcript({}), "");
  EXPECT_EQ(transcript({{.role = Role::assistant, .parts = {{.type = PartType::reasoning, .text = "hidden"}}}}), "");
}

}  // namespace
}  // namespace errand::fork

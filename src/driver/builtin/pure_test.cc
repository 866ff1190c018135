// The small pure parts: the prompt, the mark, questions, compaction.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "driver/builtin/compaction.h"
#include "driver/builtin/conversation.h"
#include "driver/builtin/mark.h"
#include "driver/builtin/prompt.h"
#include "driver/builtin/question.h"

namespace errand::builtin {
namespace {

TEST(Prompt, SaysWhatIsTrueOfTheTask) {
  const std::string text = system_prompt({.agent_prompt = "You are Bob.\n",
                                          .today = {1'763'200'000'000},
                                          .work_dir = "/src/app",
                                          .add_dirs = {"/data"},
                                          .instructions = "Use tabs.\n",
                                          .skills = "- pdf: reads PDFs"});
  EXPECT_EQ(text,
            "You are Bob.\n\n# This task\n- Today is 2025-11-15.\n"
            "- The work dir is /src/app: relative paths are below it, and commands run there.\n"
            "- You may also work in /data.\n"
            "\n# AGENTS.md of the work dir\nUse tabs.\n"
            "\n# Skills\n- pdf: reads PDFs\n");
}

TEST(Prompt, IsOursWhereTheAgentHasNoneAndTheSameAllDay) {
  const PromptInput morning{.today = {1'763'200'000'000}, .work_dir = "/w"};
  PromptInput later = morning;
  later.today = later.today + 60'000;
  EXPECT_TRUE(system_prompt(morning).starts_with(default_prompt()));
  EXPECT_EQ(system_prompt(morning), system_prompt(later));
}

TEST(Prompt, LongInstructionsAreCutAndItSaysSo) {
  std::string text;
  while (text.size() <= instructions_max) text += "ü";
  const std::string prompt = system_prompt({.instructions = text});
  EXPECT_LT(prompt.size(), instructions_max + default_prompt().size() + 500);
  EXPECT_NE(prompt.find(fmt::format("[cut: {} bytes in all", text.size())), std::string::npos);
}

TEST(Mark, IsReadAsItWasWritten) {
  const Mark mark{.begun = {"call_1", "with \"quotes\"", ""}};
  EXPECT_EQ(decode_mark(encode_mark(mark)), mark);
  EXPECT_EQ(encode_mark({}), "");
  for (const char* text : {"", "{", "[]", "{\"begun\":3}", "{\"begun\":[1]}", "null"})
    EXPECT_EQ(decode_mark(text), Mark{}) << text;
}

TEST(Question, HasATextAndOptions) {
  const Result<Question> question = parse_question(R"({"question":"Which?","options":["a","b"]})");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->text, "Which?");
  EXPECT_EQ(question->options, (std::vector<std::string>{"a", "b"}));
  for (const char* wrong : {"{}", "[]", R"({"question":""})", R"({"question":"x","colour":1})", R"({"question":3})"})
    EXPECT_FALSE(parse_question(wrong)) << wrong;
}

Message message(int number, Role role, std::string text) {
  Message out;
  out.id = MessageId(fmt::format("msg_{}", number));
  out.role = role;
  out.completed_at = {1};
  out.parts.push_back({.type = PartType::text, .text = std::move(text)});
  return out;
}

std::vector<Message> long_talk(int count, size_t bytes) {
  std::vector<Message> out;
  for (int i = 0; i < count; ++i)
    out.push_back(
        message(i, i % 2 == 0 ? Role::user : Role::assistant, fmt::format("<{}>", i) + std::string(bytes, 'x')));
  return out;
}

TEST(Compaction, KeepsTheNewestAndSumsUpTheRest) {
  std::vector<Message> talk = long_talk(10, 300);
  const Cut cut = choose_cut(talk, 3 * estimate(talk[0]) + 1);
  EXPECT_EQ(cut.first, 0u);
  EXPECT_EQ(cut.kept, 7u);
  const std::string asked = summary_request(talk, cut, 100'000).conversation[0].blocks[0].text;
  EXPECT_NE(asked.find("<0>"), std::string::npos);
  EXPECT_NE(asked.find("<6>"), std::string::npos);
  EXPECT_EQ(asked.find("<7>"), std::string::npos);
  Message note;
  note.role = Role::system;
  note.parts = compaction_parts("the summary", talk, cut);
  talk.push_back(note);
  const std::vector<model::Entry> entries = conversation(talk);
  EXPECT_NE(entries[0].blocks[0].text.find("the summary"), std::string::npos);
  EXPECT_EQ(entries[1].blocks[0].text.substr(0, 3), "<7>");
  EXPECT_LT(estimate(entries), 5 * estimate(talk[0]));
}

TEST(Compaction, TheNextOneIsMadeFromTheSummaryAndWhatWasKept) {
  std::vector<Message> talk = long_talk(6, 300);
  Message note;
  note.id = MessageId("msg_note");
  note.role = Role::system;
  note.completed_at = {1};
  note.parts = compaction_parts("first summary", talk, {.first = 0, .kept = 4});
  talk.push_back(note);
  talk.push_back(message(7, Role::assistant, "<new>"));
  const Cut cut = choose_cut(talk, 0);
  EXPECT_EQ(cut.first, 4u);
  EXPECT_EQ(cut.kept, talk.size());
  const std::string asked = summary_request(talk, cut, 100'000).conversation[0].blocks[0].text;
  EXPECT_NE(asked.find("first summary"), std::string::npos);
  EXPECT_NE(asked.find("<4>"), std::string::npos);
  EXPECT_NE(asked.find("<new>"), std::string::npos);
  EXPECT_EQ(asked.find("<3>"), std::string::npos);
}

TEST(Compaction, TheRequestFitsWhateverTheConversationIs) {
  std::vector<Message> talk = long_talk(200, 3'000);
  talk[5].parts.push_back({.type = PartType::tool_result, .text = std::string(200'000, 'y')});
  for (const int64_t limit : {2'000, 20'000, 100'000}) {
    const model::Request request = summary_request(talk, choose_cut(talk, 0), limit);
    EXPECT_LE(estimate(request.conversation), limit + 2'000) << limit;
    EXPECT_NE(request.conversation[0].blocks[0].text.find("older messages are left out"), std::string::npos);
    EXPECT_NE(request.conversation[0].blocks[0].text.find("<199>"), std::string::npos);
  }
}

TEST(Compaction, LeavesRoomForTheAnswer) {
  EXPECT_LT(compact_above(200'000, 64'000), 200'000 - 50'000);
  EXPECT_GE(compact_above(8'000, 8'000), 4'000);
}

}  // namespace
}  // namespace errand::builtin

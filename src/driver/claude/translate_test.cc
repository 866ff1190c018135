// What the program said, recorded (tests/fixtures/claude), as reports; and that it comes to the same wherever it is
// taken up again.
#include "driver/claude/translate.h"

#include <gtest/gtest.h>

#include "tests/contract/shown_reports.h"

namespace errand::claude {
namespace {

std::string shown(const std::vector<Report>& reports) {
  return test::shown_reports(reports, [](const Report& report) -> std::string {
    if (const auto* tool = std::get_if<report::ToolStarted>(&report))
      return std::to_string(tool->part) + " " + tool->name + " (" + tool->summary + ")";
    if (const auto* done = std::get_if<report::ToolCompleted>(&report))
      return std::string(done->is_error ? "failed: " : "done: ") + done->output.substr(0, 60);
    return {};
  });
}

std::vector<std::string> lines_of(const std::string& name) {
  return test::lines_of(std::string(FIXTURES) + "/" + name + ".jsonl");
}

std::string translated(const std::string& name, size_t again_every = 0) {
  Translator translator;
  std::vector<Report> out;
  size_t n = 0;
  for (const std::string& line : lines_of(name)) {
    translator.take(parse_line(line), out);
    if (again_every > 0 && ++n % again_every == 0) translator = Translator::from(translator.mark());
  }
  translator.close(out);
  return shown(out);
}

TEST(ClaudeCommand, IsWholeHoweverLittleIsShown) {
  const std::string command = "echo " + std::string(5'000, 'x') + "; rm -rf y";
  const std::string input = R"({"description":"d","command":")" + command + R"("})";
  EXPECT_LT(subject_of(input).size(), command.size());
  EXPECT_EQ(command_of(input), command);
  EXPECT_EQ(command_of(R"({"file_path":"a"})"), "");
}

TEST(ClaudeTranslate, ThinksSaysAndEdits) {
  EXPECT_EQ(translated("edit"),
            "began\n"
            "0 thinks: Let me think\n"
            "1 says: I will write\n"
            "2 Write (/home/user/proj/x.txt)\n"
            "done: File created successfully at: /home/user/proj/x.txt (file st\n"
            "ended\n"
            "began\n"
            "0 Bash (echo hi; sleep 1)\n"
            "done: hi\n"
            "ended\n"
            "began\n"
            "0 says: All done.\n"
            "ended\n");
}

TEST(ClaudeTranslate, WithoutPartialMessagesItIsTheSame) {
  EXPECT_EQ(translated("permission"),
            "began\n"
            "0 Bash (touch /home/user/lab/log/perm1)\n"
            "done: (Bash completed with no output)\n"
            "ended\n"
            "began\n"
            "0 Bash (touch /home/user/lab/log/perm2)\n"
            "failed: not allowed by policy\n"
            "ended\n"
            "began\n"
            "0 says: after deny\n"
            "ended\n"
            "began\n"
            "0 Bash (touch /home/user/lab/log/perm3)\n"
            "failed: The user doesn't want to proceed with this tool use. The too\n"
            "ended\n");
}

TEST(ClaudeTranslate, WhatAHelperOfItsOwnSaysIsNotItsConversation) {
  EXPECT_EQ(translated("helper"),
            "began\n"
            "0 Task (go @@[{\"tool\":\"$sh\",\"cmd\":\"echo from sub\"},{\"text\":\"sub result\"}]@@)\n"
            "done: Async agent launched successfully. (This tool result is inte\n"
            "ended\n"
            "began\n"
            "0 says: parent done\n"
            "ended\n"
            "began\n"
            "0 says: parent done\n"
            "ended\n");
}

TEST(ClaudeTranslate, AnErrorOfTheProgramIsNoWordOfTheModel) {
  EXPECT_EQ(translated("limit"), "");
  EXPECT_EQ(translated("nologin"), "");
}

TEST(ClaudeTranslate, TakenUpBetweenAnyTwoLinesItIsTheSame) {
  for (const char* name : {"basic", "edit", "permission", "steer", "interrupt", "helper", "question"}) {
    SCOPED_TRACE(name);
    const std::string whole = translated(name);
    EXPECT_TRUE(whole.contains("began"));
    for (const size_t every : {1, 2, 3, 7}) EXPECT_EQ(translated(name, every), whole);
  }
}

TEST(ClaudeTranslate, WhatWasCutOffIsClosedAndACallWithoutAnAnswerSaysSo) {
  Translator translator;
  std::vector<Report> out;
  for (const std::string& line : lines_of("interrupt")) {
    const Event event = parse_line(line);
    translator.take(event, out);
    if (event.type == Event::Type::assistant) break;
  }
  translator.close(out);
  EXPECT_EQ(shown(out),
            "began\n"
            "0 Bash (echo begin; sleep 30)\n"
            "failed: [The call was interrupted.]\n"
            "ended\n");
}

TEST(ClaudeTranslate, TextsThatWereStreamedOnlyInPartAreCompleted) {
  Translator translator;
  std::vector<Report> out;
  for (
      const char* line :
      {R"({"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}})",
       R"({"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Gr"}}})",
       R"({"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Größe"}]}})",
       R"({"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"More"}]}})", "no JSON",
       R"({"type":"something_new","x":[1,2]})",
       "{\"type\":\"assistant\",\"message\":{\"id\":\"m2\",\"content\":"
       "[{\"type\":\"text\",\"text\":\"bad \xff byte\"}]}}"})
    translator.take(parse_line(line), out);
  translator.close(out);
  EXPECT_EQ(shown(out), "began\n0 says: Größe\n1 says: More\nended\nbegan\n0 says: bad \xEF\xBF\xBD byte\nended\n");
}

TEST(ClaudeTranslate, WhoIsAskedSeesWhatAnEditChanges) {
  EXPECT_EQ(change_of(R"({"file_path":"/a","old_string":"one\ntwo","new_string":"three"})"),
            "--- /a\n+++ /a\n@@ -1,2 +1,1 @@\n-one\n-two\n+three\n");
  EXPECT_EQ(change_of(R"({"file_path":"/a","content":"whole"})"), "--- /a\n+++ /a\n@@ -1,0 +1,1 @@\n+whole\n");
  EXPECT_EQ(change_of(R"({"command":"ls"})"), "");
}

TEST(ClaudeTranslate, RulesKnowItsToolsByTheNamesOfErrandsOwn) {
  EXPECT_EQ(rule_name("Bash"), "bash");
  EXPECT_EQ(rule_name("MultiEdit"), "edit");
  EXPECT_EQ(rule_name("mcp__errand__background_task"), "mcp__errand__background_task");
}

}  // namespace
}  // namespace errand::claude

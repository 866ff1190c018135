// What agents said, recorded, as reports: golden files. And that it comes to the same where a server was killed at any
// line.
#include "driver/acp/translate.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/contract/shown_reports.h"

namespace errand::acp {

namespace {

std::string shown(const std::vector<Report>& reports) {
  return test::shown_reports(reports, [](const Report& report) -> std::string {
    if (const auto* tool = std::get_if<report::ToolStarted>(&report))
      return fmt::format("{} {} {} {} ({})", tool->part, tool->call_id, tool->name, tool->input, tool->summary);
    if (const auto* done = std::get_if<report::ToolCompleted>(&report))
      return fmt::format("{} {}: {}", done->call_id, done->is_error ? "failed" : "done", done->output);
    if (const auto* used = std::get_if<report::Used>(&report))
      return fmt::format("used {} {} {:.5f}", used->usage.input_tokens, used->usage.output_tokens,
                         used->usage.cost_usd);
    if (const auto* warning = std::get_if<report::Warning>(&report))
      return fmt::format("warning {}: {}", warning->code, warning->text);
    if (const auto* asks = std::get_if<report::Asks>(&report))
      return fmt::format("asks {} [{}]: {}", asks->tool, asks->subject, asks->text);
    return {};
  });
}

std::string read(const std::string& name) {
  std::ifstream in(std::string(FIXTURES) + "/" + name);
  std::stringstream out;
  out << in.rdbuf();
  EXPECT_FALSE(out.str().empty()) << name;
  return out.str();
}

// As a turn does: an answer to a prompt closes what is open. `again`: after each line a new server goes on from the
// mark.
std::string told(const std::string& name, bool again) {
  std::istringstream lines(read(name));
  Translator translator;
  std::vector<Report> out;
  for (std::string line; std::getline(lines, line);) {
    const Incoming in = parse_incoming(line);
    EXPECT_NE(in.kind, Incoming::Kind::none) << line;
    if (in.kind == Incoming::Kind::update) translator.take(in.update, out);
    if (in.kind == Incoming::Kind::permission) {
      translator.take_asked(in.update.call, out);
      PermissionView view = permission_view("Agent", "/home/user/proj", in.update.call);
      out.emplace_back(report::Asks{.request_id = in.id,
                                    .kind = AskKind::permission,
                                    .text = view.text,
                                    .options = {},
                                    .tool = view.tool,
                                    .subject = view.subject});
    }
    if (in.kind == Incoming::Kind::result || in.kind == Incoming::Kind::error) {
      translator.close(out);
      if (const Stopped stopped = parse_stopped(in.body); !stopped.reason.empty()) {
        out.emplace_back(report::Used{stopped.usage});
        out.emplace_back(report::Warning{"stopped", stopped.reason});
      }
      if (in.kind == Incoming::Kind::error)
        out.emplace_back(report::Warning{"error", std::to_string(in.error.code) + " " + in.error.message});
    }
    if (again) {
      const std::string mark = translator.mark();
      translator = Translator::from(mark);
      EXPECT_EQ(translator.mark(), mark);
    }
  }
  translator.close(out);
  return shown(out);
}

class Recorded : public testing::TestWithParam<std::string> {};

TEST_P(Recorded, GivesTheGoldenReports) {
  const std::string said = told(GetParam() + ".jsonl", false);
  // After a wanted change: ERRAND_UPDATE_GOLDEN=1 acp_test, and read what it changes.
  if (std::getenv("ERRAND_UPDATE_GOLDEN") != nullptr)
    std::ofstream(std::string(FIXTURES) + "/" + GetParam() + ".golden") << said;
  EXPECT_EQ(said, read(GetParam() + ".golden")) << said;
}

TEST_P(Recorded, GivesTheSameWhereTheServerIsKilledAtAnyLine) {
  EXPECT_EQ(told(GetParam() + ".jsonl", true), told(GetParam() + ".jsonl", false));
}

INSTANTIATE_TEST_SUITE_P(Agents, Recorded,
                         testing::Values("opencode", "claude", "gemini", "codex", "codex_quick", "codex_silent"),
                         [](const auto& info) { return info.param; });

Update text(std::string said, std::string message = {}) {
  return {.type = Update::Type::text, .message_id = std::move(message), .text = std::move(said)};
}
Update call(ToolCall call) { return {.type = Update::Type::call, .call = std::move(call)}; }

std::string reports(const std::vector<Update>& updates) {
  Translator translator;
  std::vector<Report> out;
  for (const Update& update : updates) translator.take(update, out);
  translator.close(out);
  return shown(out);
}

TEST(Translator, ACallThatWasNamedIsShownWithItsArguments) {
  EXPECT_EQ(
      reports({call({.id = "c", .title = "bash", .kind = "execute", .status = "pending", .input = R"({"cwd":"/"})"}),
               call({.id = "c", .status = "in_progress", .input = R"({"command":"ls"})"}),
               call({.id = "c", .status = "completed", .output = "a\nb"})}),
      "began\n0 c bash {\"command\":\"ls\"} (ls)\nc done: a\nb\nended\n");
}

TEST(Translator, WhatACallPrintsPieceByPieceIsItsResult) {
  EXPECT_EQ(reports({call({.id = "c", .kind = "execute", .status = "in_progress", .input = R"({"command":"ls"})"}),
                     call({.id = "c", .more_output = "a\n"}), call({.id = "c", .more_output = "b\n"}),
                     call({.id = "c", .status = "completed"})}),
            "began\n0 c bash {\"command\":\"ls\"} (ls)\nc done: a\nb\n\nended\n");
}

TEST(Translator, ACallWhoseArgumentsNeverCameIsShownBeforeWhatFollows) {
  EXPECT_EQ(reports({call({.id = "c", .title = "look", .status = "pending"}), text("well")}),
            "began\n0 c look {\"title\":\"look\"} ()\n1 says: well\nc failed: [The call was interrupted.]\nended\n");
}

TEST(Translator, WhatIsSaidBehindFinishedCallsIsTheNextMessage) {
  EXPECT_EQ(reports({text("a"), call({.id = "c", .kind = "read", .status = "completed", .output = "x"}), text("b")}),
            "began\n0 says: a\n1 c read {} ()\nc done: x\nended\nbegan\n0 says: b\nended\n");
}

TEST(Translator, WhatIsSaidWhileACallRunsStaysInItsMessage) {
  EXPECT_EQ(reports({call({.id = "c", .kind = "think", .status = "in_progress"}), text("b", "m1"), text("c", "m2"),
                     call({.id = "c", .status = "completed", .output = ""})}),
            "began\n0 c think {} ()\n1 says: bc\nc done: \nended\n");
}

TEST(Translator, WhatIsSaidOfAFinishedCallComesTooLate) {
  EXPECT_EQ(reports({call({.id = "c", .kind = "read", .status = "completed"}), text("b"),
                     call({.id = "c", .status = "completed", .output = "late"})}),
            "began\n0 c read {} ()\nc done: \nended\nbegan\n0 says: b\nended\n");
}

TEST(Translator, ADeniedCallIsOverWhereTheAgentSaysNoMoreOfIt) {
  Translator translator;
  std::vector<Report> out;
  translator.take_asked({.id = "c", .title = "rm x", .kind = "execute"}, out);
  translator.take_denied("c");
  translator.take(text("then not"), out);
  translator.close(out);
  EXPECT_EQ(shown(out),
            "began\n0 c bash {\"command\":\"rm x\"} (rm x)\nc failed: [Permission was denied.]\nended\n"
            "began\n0 says: then not\nended\n");
}

TEST(Translator, APlanIsShownOnceWhileItIsTheSame) {
  Update plan{.type = Update::Type::plan, .plan = {{"one", "in_progress"}, {"two", "pending"}}};
  EXPECT_EQ(reports({plan, plan}),
            "began\n0 plan_1 todo_write {\"todos\":[{\"content\":\"one\",\"status\":\"in_progress\"},"
            "{\"content\":\"two\",\"status\":\"pending\"}]} (one)\nplan_1 done: \nended\n");
}

TEST(Translator, CostIsOfTheSessionAndReportedAsWhatCameToIt) {
  Translator translator(0.5);
  std::vector<Report> out;
  for (const double usd : {0.5, 0.75, 0.75, 0.125})
    translator.take({.type = Update::Type::usage, .cost_usd = usd}, out);
  EXPECT_EQ(shown(out), "used 0 0 0.25000\nused 0 0 0.12500\n");
}

TEST(Translator, TheResultIsWhatTheLastMessageSays) {
  Translator translator;
  std::vector<Report> out;
  for (const Update& update : {text("first", "m1"), text("sec", "m2"), text("ond", "m2")}) translator.take(update, out);
  translator.close(out);
  EXPECT_EQ(translator.said(), "second");
}

TEST(Translator, AMarkOfNobodyIsAFreshOne) {
  for (const char* mark :
       {"", "7", "[]", "[1,2,3,4,5,6,7,8,9,10]", R"([false,"",0,-1,false,"",0,0,[[1,"a","","","","",""]],[]])"})
    EXPECT_EQ(Translator::from(mark).mark(), Translator().mark()) << mark;
}

}  // namespace
}  // namespace errand::acp

// How calls, edits and questions look, and which option a decision means.
#include <gtest/gtest.h>

#include "driver/acp/translate.h"

namespace errand::acp {
namespace {

TEST(AcpViews, AnEditIsAUnifiedDiff) {
  EXPECT_EQ(diff_text({"/p/a", "1\n2\n3\n4\n5\n", "1\n2\n3\nfour\n5\n"}),
            "--- /p/a\n+++ /p/a\n@@ -1,5 +1,5 @@\n 1\n 2\n 3\n-4\n+four\n 5\n");
  EXPECT_EQ(diff_text({"/n", "", "new\n"}), "--- /n\n+++ /n\n@@ -1,0 +1,1 @@\n+new\n");
  EXPECT_LT(diff_text({"/n", "", std::string(1 << 20, 'x')}).size(), 40'000U);
}

TEST(AcpViews, AnEditWithoutArgumentsIsShownByItsDiff) {
  const CallView view = view_of({.id = "c", .title = "a.txt", .kind = "edit", .diffs = {{"a.txt", "x", "y"}}});
  EXPECT_EQ(view.name, "edit");
  EXPECT_EQ(view.input, R"({"path":"a.txt","old_text":"x","new_text":"y"})");
}

TEST(AcpViews, RulesSeeEveryCommandOfAScript) {
  const PermissionView view =
      permission_view("Goose", "/p", {.kind = "execute", .input = R"({"command":"git status; rm -rf x"})"});
  EXPECT_EQ(view.tool, "bash");
  EXPECT_EQ(view.subject, "git status\nrm -rf x");
  EXPECT_EQ(view.text, "Goose asks to run in /p:\ngit status; rm -rf x");
  EXPECT_TRUE(permission_view("Goose", "/p", {.kind = "execute", .input = R"({"command":"$X; echo \"$("})"})
                  .subject.starts_with("? "));
}

TEST(AcpViews, RulesSeeTheScriptThatAShellIsGiven) {
  const auto subject = [](const std::string& command) {
    return permission_view("Codex", "/p", {.title = command, .kind = "execute"}).subject;
  };
  EXPECT_EQ(subject("/bin/bash -lc 'echo one; rm x'"), "echo one\nrm x");
  EXPECT_EQ(subject(R"(/bin/bash -lc 'echo '\''a b'\'' c')"), "echo a b c");
  // What is not in one pair of single quotes is left as it is: it may be something else to the shell.
  for (const char* other : {"/bin/bash -lc 'echo a'; rm 'x'", "/bin/bash -lc 'a' 'b'"})
    EXPECT_NE(subject(other).find("/bin/bash"), std::string::npos) << other;
}

TEST(AcpViews, RulesSeeEveryFileOfAnEdit) {
  const PermissionView view = permission_view(
      "Goose", "/p", {.title = "Edit", .kind = "edit", .diffs = {{"/p/b", "x\n", "y\n"}}, .locations = {"/p/a"}});
  EXPECT_EQ(view.tool, "edit");
  EXPECT_EQ(view.subject, "/p/a\n/p/b");
  EXPECT_NE(view.diff.find("-x\n+y"), std::string::npos);
  EXPECT_EQ(permission_view("Goose", "/p", {.title = "rm", .kind = "delete", .locations = {"/p/a"}}).tool, "edit");
}

TEST(AcpViews, ADecisionMeansTheNarrowestOption) {
  const std::vector<Option> all = {{"always", "Always", "allow_always"},
                                   {"once", "Once", "allow_once"},
                                   {"plan", "Yes, and edit freely", "allow_always"},
                                   {"no", "No", "reject_once"}};
  EXPECT_EQ(option_for(all, "allow", ""), "once");
  EXPECT_EQ(option_for(all, "allow_always", ""), "once") << "errand keeps what was granted, exactly";
  EXPECT_EQ(option_for(all, "deny", ""), "no");
  EXPECT_EQ(option_for(all, "allow", "Yes, and edit freely"), "plan");
  EXPECT_EQ(option_for(all, "deny", "Always"), "no") << "a word never turns a no into a yes";
  EXPECT_EQ(option_for({{"always", "Always", "allow_always"}}, "allow", ""), "");
  EXPECT_EQ(option_for({{"never", "Never", "reject_always"}}, "deny", ""), "never");
  EXPECT_EQ(option_for({}, "allow", ""), "");
}

TEST(AcpViews, AMissingLoginSaysWhatToType) {
  const Outcome outcome = outcome_of(RpcError{auth_required, "Authentication required", {}},
                                     {.name = "Gemini CLI", .logins = {{"oauth", "Log in with Google", ""}}}, "gemini");
  EXPECT_EQ(outcome.error->code, "login_required");
  EXPECT_NE(outcome.error->message.find("Run `gemini` in a terminal"), std::string::npos);
  EXPECT_NE(outcome.error->message.find("Log in with Google"), std::string::npos);
}

TEST(AcpViews, HowAPromptStoppedDecidesTheTurn) {
  EXPECT_EQ(outcome_of(Stopped{"end_turn", {}}, "said").result, "said");
  for (const auto& [reason, code] : {std::pair("max_tokens", "max_tokens"), std::pair("refusal", "refused"),
                                     std::pair("max_turn_requests", "budget"), std::pair("cancelled", "agent_error")})
    EXPECT_EQ(outcome_of(Stopped{reason, {}}, "said").error->code, code);
}

}  // namespace
}  // namespace errand::acp

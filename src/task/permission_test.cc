// R4.6: rules, what "always" adds to them, and that a child may do no more than its parent.
#include "task/permission.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "task/decide.h"
#include "task/decide_check.h"

namespace errand {
namespace {

constexpr Time start{1'763'200'000'000};

TEST(Pattern, StarStandsForAnyText) {
  EXPECT_TRUE(matches_pattern("git *", "git status"));
  EXPECT_TRUE(matches_pattern("git *", "git "));
  EXPECT_FALSE(matches_pattern("git *", "git"));
  EXPECT_FALSE(matches_pattern("git *", "legit status"));
  EXPECT_TRUE(matches_pattern("*.md", "a/b.md"));
  EXPECT_TRUE(matches_pattern("a*b*c", "aXXbYYbZc"));
  EXPECT_FALSE(matches_pattern("a*b*c", "aXXbYYbZ"));
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_FALSE(matches_pattern("", "x"));
  EXPECT_TRUE(matches_pattern("**", ""));
}

TEST(Pattern, AnExactOneMatchesNothingElse) {
  for (const std::string text : {"rm *", "a\\*b", "\\", "*", "plain", ""}) {
    EXPECT_TRUE(matches_pattern(exact_pattern(text), text)) << text;
    EXPECT_FALSE(matches_pattern(exact_pattern(text), text + "x")) << text;
  }
  EXPECT_FALSE(matches_pattern(exact_pattern("rm *"), "rm -rf /"));
}

TEST(Pattern, ManyStarsDoNotTakeLong) {
  std::string pattern;
  for (int i = 0; i < 1'000; ++i) pattern += "*a";
  EXPECT_FALSE(matches_pattern(pattern, std::string(20'000, 'b')));
}

Task working(std::vector<PermissionRule> rules, std::optional<Permission> otherwise = {}) {
  Launch launch{.agent_id = "demo", .prompt = "do it"};
  launch.permission_rules = std::move(rules);
  launch.permission = otherwise;
  const Task task = create(launch, TaskId("task_1"), SessionId("ses_1"), MessageId("msg_1"), start).after;
  return decide(task, input::Start{}, start)->after;
}

Ask ask(std::string tool, std::string subject, std::string id = "req_1") {
  return {.request_id = std::move(id),
          .kind = AskKind::permission,
          .text = "May I?",
          .at = start,
          .tool = std::move(tool),
          .subject = std::move(subject)};
}

std::string decision_of(const Task& task, const Ask& ask) {
  const Step step = *decide(task, input::Asked{task.run, ask}, start + 1);
  return step.after.asks.back().decision;
}

TEST(Permission, TheFirstRuleThatMatchesDecides) {
  const Task task = working({{"bash", "git push*", Permission::deny},
                             {"bash", "git *", Permission::allow},
                             {"mcp__*", "", Permission::deny},
                             {"read", "", Permission::allow}});
  EXPECT_EQ(decision_of(task, ask("bash", "git status")), "allow");
  EXPECT_EQ(decision_of(task, ask("bash", "git push -f")), "deny");
  EXPECT_EQ(decision_of(task, ask("bash", "make")), "");
  EXPECT_EQ(decision_of(task, ask("read", "/etc/passwd")), "allow");
  EXPECT_EQ(decision_of(task, ask("mcp__files__write", "x")), "deny");
}

TEST(Permission, WhatNoRuleKnowsIsTheDefaults) {
  EXPECT_EQ(decision_of(working({{"bash", "", Permission::ask}}, Permission::allow), ask("bash", "x")), "");
  EXPECT_EQ(decision_of(working({}, Permission::allow), ask("bash", "x")), "allow");
  EXPECT_EQ(decision_of(working({}, Permission::deny), ask("bash", "x")), "deny");
}

TEST(Permission, WhoDecidedIsRecorded) {
  const auto by = [](const Task& task) {
    const Step step = *decide(task, input::Asked{task.run, ask("bash", "x")}, start + 1);
    for (const Event& event : step.events)
      if (event.type == EventType::ask_answered) return event.data;
    return std::string();
  };
  EXPECT_NE(by(working({{"bash", "", Permission::deny}})).find(R"("by":"rule")"), std::string::npos);
  EXPECT_NE(by(working({}, Permission::deny)).find(R"("by":"policy")"), std::string::npos);
}

TEST(Permission, AlwaysIsRememberedForTheSameCallAlone) {
  Task task = decide(working({}), input::Asked{1, ask("bash", "rm *")}, start + 1)->after;
  task = decide(task, input::Answered{"req_1", "allow_always", "", "user"}, start + 2)->after;
  EXPECT_EQ(decision_of(task, ask("bash", "rm *", "req_2")), "allow");
  EXPECT_EQ(decision_of(task, ask("bash", "rm -rf /", "req_2")), "");
  EXPECT_EQ(decision_of(task, ask("write", "rm *", "req_2")), "");
  // Also over the end of the turn.
  task = decide(task, input::TurnEnded{.run = 1, .result = "done"}, start + 3)->after;
  task = decide(task, input::Taken{1, MessageId("msg_1")}, start + 3)->after;
  EXPECT_FALSE(task.granted.empty());
}

TEST(Permission, AnswerSaysTheDecisionAndTheWord) {
  const Task asked = decide(working({}), input::Asked{1, ask("bash", "make")}, start + 1)->after;
  const Step denied = *decide(asked, input::Answered{"req_1", "deny", "use ninja", "user"}, start + 2);
  const auto event = std::ranges::find(denied.events, EventType::ask_answered, &Event::type);
  ASSERT_NE(event, denied.events.end());
  EXPECT_EQ(event->data, R"({"request_id":"req_1","decision":"deny","by":"user","message":"use ninja"})");
}

TEST(Permission, AQuestionThatNobodyAnswersIsDeniedAndSaysSo) {
  Ask timed = ask("bash", "make");
  timed.until = start + 60'000;
  const Task asked = decide(working({}), input::Asked{1, timed}, start + 1)->after;
  EXPECT_TRUE(decide(asked, input::AskDue{"req_1"}, start + 59'999)->unchanged);
  const Step due = *decide(asked, input::AskDue{"req_1"}, start + 60'000);
  EXPECT_EQ(due.after.asks.front().decision, "deny");
  EXPECT_EQ(open_ask(due.after), nullptr);
  const auto event = std::ranges::find(due.events, EventType::ask_answered, &Event::type);
  ASSERT_NE(event, due.events.end());
  EXPECT_NE(event->data.find(R"("by":"timeout")"), std::string::npos);
  ASSERT_NE(find_effect<effect::Answer>(due), nullptr);
  // Answered before: nothing follows from the time.
  const Task answered = decide(asked, input::Answered{"req_1", "allow", "", "user"}, start + 2)->after;
  EXPECT_TRUE(decide(answered, input::AskDue{"req_1"}, start + 60'000)->unchanged);
}

TEST(Permission, AChildMayDoNoMoreThanItsParents) {
  Task child = working({}, Permission::allow);
  child.launch.bounds =
      bounds_for_children(working({{"bash", "git *", Permission::allow}, {"bash", "", Permission::deny}}));
  EXPECT_EQ(decision_of(child, ask("bash", "git status")), "allow");
  EXPECT_EQ(decision_of(child, ask("bash", "make")), "deny");
  EXPECT_EQ(decision_of(child, ask("write", "a.txt")), "") << "its parent would have to ask";
  // A person may say so for the child; what the parent is denied stays denied.
  child.granted = {{"write", "a.txt", Permission::allow}, {"bash", "make", Permission::allow}};
  EXPECT_EQ(decision_of(child, ask("write", "a.txt")), "allow");
  EXPECT_EQ(decision_of(child, ask("bash", "make")), "deny");
}

TEST(Permission, WhoeverMayDoEverythingBindsNobody) {
  EXPECT_TRUE(bounds_for_children(working({}, Permission::allow)).empty());
  EXPECT_EQ(bounds_for_children(working({}, Permission::ask)).size(), 1u);
}

Permission decided(const std::vector<PermissionRule>& rules, Permission otherwise, std::string_view subject) {
  Task task;
  task.launch.permission = otherwise;
  task.launch.permission_rules = rules;
  return permission_for(task, "bash", subject).permission;
}

// The lines of a script: `git status; rm -rf /`.
TEST(Permission, OfSeveralLinesEachMustBeAllowedAndOneIsEnoughToDeny) {
  const std::vector<PermissionRule> allow = {{"bash", "git status*", Permission::allow}};
  EXPECT_EQ(decided(allow, Permission::ask, "git status -s"), Permission::allow);
  EXPECT_EQ(decided(allow, Permission::ask, "git status\nrm -rf /"), Permission::ask);
  EXPECT_EQ(decided(allow, Permission::deny, "rm -rf /\ngit status"), Permission::deny);
  EXPECT_EQ(decided(allow, Permission::ask, "git status\n> /etc/passwd"), Permission::ask);
  EXPECT_EQ(decided(allow, Permission::ask, "git status\ngit status -s"), Permission::allow);
  const std::vector<PermissionRule> deny = {{"bash", "rm *", Permission::deny}};
  EXPECT_EQ(decided(deny, Permission::allow, "git status\nrm -rf /"), Permission::deny);
  EXPECT_EQ(decided(deny, Permission::allow, "git status\nls"), Permission::allow);
  EXPECT_EQ(decided({{"*", "", Permission::allow}}, Permission::ask, "a\nb"), Permission::allow);
}

TEST(Permission, WhatNobodyCouldReadMayBeWhatIsDenied) {
  const std::vector<PermissionRule> deny = {{"bash", "rm *", Permission::deny}};
  EXPECT_EQ(decided(deny, Permission::allow, "? $CMD x"), Permission::ask);
  EXPECT_EQ(decided(deny, Permission::deny, "? $CMD x"), Permission::deny);
  EXPECT_EQ(decided({{"write", "x", Permission::deny}}, Permission::allow, "? $CMD x"), Permission::allow);
  EXPECT_EQ(decided({{"bash", "", Permission::allow}, {"bash", "rm *", Permission::deny}}, Permission::ask, "? $CMD x"),
            Permission::allow);
}

TEST(Permission, WhatWasAllowedForGoodIsTheWholeOfIt) {
  Task task;
  task.launch.permission = Permission::ask;
  task.granted = {{exact_pattern("bash"), exact_pattern("make\nmake test"), Permission::allow}};
  EXPECT_EQ(permission_for(task, "bash", "make\nmake test").permission, Permission::allow);
  EXPECT_EQ(permission_for(task, "bash", "make").permission, Permission::ask);
  EXPECT_EQ(permission_for(task, "bash", "make\nmake test\nrm x").permission, Permission::ask);
}

// R14.3: how far an answer goes.
Task answered(AnswerScope scope, std::string pattern, std::string tool, std::string subject,
              std::vector<PermissionRule> rules = {}) {
  const Task asked =
      decide(working(std::move(rules)), input::Asked{1, ask(std::move(tool), std::move(subject))}, start + 1)->after;
  input::Answered answer{"req_1", "allow", "", "user"};
  answer.scope = scope;
  answer.pattern = std::move(pattern);
  return decide(asked, answer, start + 2)->after;
}

TEST(Scope, GoesAsFarAsItSays) {
  const auto next = [](const Task& task, std::string subject) {
    return decision_of(task, ask("bash", std::move(subject), "req_2"));
  };
  const Task once = answered(AnswerScope::once, "", "bash", "npm test");
  EXPECT_EQ(next(once, "npm test"), "");
  const Task call = answered(AnswerScope::call, "", "bash", "npm test");
  EXPECT_EQ(next(call, "npm test"), "allow");
  EXPECT_EQ(next(call, "npm test x"), "");
  const Task pattern = answered(AnswerScope::pattern, "npm test *", "bash", "npm test a");
  EXPECT_EQ(next(pattern, "npm test b"), "allow");
  EXPECT_EQ(next(pattern, "npm test"), "allow");
  EXPECT_EQ(next(pattern, "npm testing"), "");
  EXPECT_EQ(next(pattern, "npm test b\nrm -rf /"), "") << "each line of a script";
  const Task all = answered(AnswerScope::task, "", "bash", "npm test");
  EXPECT_EQ(next(all, "rm x"), "allow");
  EXPECT_EQ(decision_of(all, ask("write", "a", "req_2")), "allow");
}

TEST(Scope, NoGrantBeatsADenial) {
  const Task all = answered(AnswerScope::task, "", "bash", "npm test", {{"bash", "rm *", Permission::deny}});
  EXPECT_EQ(decision_of(all, ask("bash", "make", "req_2")), "allow");
  EXPECT_EQ(decision_of(all, ask("bash", "rm x", "req_2")), "deny");
  EXPECT_EQ(decision_of(all, ask("bash", "make\nrm x", "req_2")), "deny");
  EXPECT_EQ(decision_of(all, ask("bash", "? $X x", "req_2")), "") << "it may be what is denied";
  Task child = working({}, Permission::allow);
  child.launch.bounds = bounds_for_children(all);
  EXPECT_EQ(decision_of(child, ask("bash", "make")), "allow");
  EXPECT_EQ(decision_of(child, ask("bash", "rm x")), "deny");
}

TEST(Scope, OnlyWhatIsOfferedCanBeAllowed) {
  const Task asked = decide(working({}), input::Asked{1, ask("bash", "npm test")}, start + 1)->after;
  input::Answered answer{"req_1", "allow", "", "user"};
  answer.scope = AnswerScope::pattern;
  answer.pattern = "*";
  EXPECT_EQ(decide(asked, answer, start + 2).error().code, Code::invalid_argument);
  answer.decision = "deny";
  answer.scope = AnswerScope::task;
  answer.pattern.clear();
  EXPECT_EQ(decide(asked, answer, start + 2).error().code, Code::invalid_argument);
}

std::vector<std::string> offered(std::string_view tool, std::string_view subject) {
  std::vector<std::string> out;
  for (const ProposedPattern& one : proposed_patterns(tool, subject)) out.push_back(one.pattern);
  return out;
}
using Patterns = std::vector<std::string>;

TEST(Patterns, AreTheNarrowestUsefulOnes) {
  EXPECT_EQ(offered("bash", "npm test -- a"), (Patterns{"npm test *", "npm *"}));
  EXPECT_EQ(offered("bash", "git -C x push"), (Patterns{"git *"}));
  EXPECT_EQ(offered("bash", "pytest -x"), (Patterns{"pytest *"}));
  EXPECT_EQ(offered("bash", "CI=1 npm test"), (Patterns{"CI=1 npm test *", "CI=1 npm *"}));
  EXPECT_EQ(offered("bash", "cd web\nnpm test"), (Patterns{"cd *\nnpm test *"}));
  EXPECT_EQ(offered("bash", "npm test\npass_env KEY\nwork_dir /x"),
            (Patterns{"npm test *\npass_env KEY\nwork_dir /x"}));
  EXPECT_EQ(offered("edit", "src/a/b.cc"), (Patterns{"src/a/*"}));
  EXPECT_EQ(offered("fetch", "https://example.com/a?b"), (Patterns{"https://example.com/*"}));
  for (const char* subject : {"rm -rf build", "sudo make", "sh x", "/bin/bash x", "python3 x.py", "xargs rm", "? $X",
                              "> out", "python3.12 x.py", "curl x", "CI='1 npm test' rm x"})
    EXPECT_EQ(offered("bash", subject), Patterns()) << subject;
  EXPECT_EQ(offered("edit", "README.md"), Patterns()) << "* would be every file";
  EXPECT_EQ(offered("edit", "src/../../x/y"), Patterns());
  EXPECT_EQ(offered("mcp__files__write", "x/y"), Patterns());
}

TEST(Patterns, WhatIsBelowAFolderDoesNotClimbOutOfIt) {
  const Task task = answered(AnswerScope::pattern, "src/*", "edit", "src/a.cc");
  EXPECT_EQ(decision_of(task, ask("edit", "src/b/c.cc", "req_2")), "allow");
  EXPECT_EQ(decision_of(task, ask("edit", "src/../../etc/passwd", "req_2")), "");
  EXPECT_EQ(decision_of(task, ask("edit", "src/.git/config", "req_2")), "") << "it says what git runs";
  EXPECT_EQ(decision_of(task, ask("edit", "src/.gitignore", "req_2")), "allow");
}

TEST(Reads, AreNotAskedForWhereNoRuleIsAboutThem) {
  Ask reads = ask("bash", "ls");
  reads.reads = true;
  const Step step = *decide(working({}), input::Asked{1, reads}, start + 1);
  EXPECT_TRUE(step.unchanged && step.after.asks.empty());
  ASSERT_NE(find_effect<effect::Answer>(step), nullptr);
  EXPECT_EQ(find_effect<effect::Answer>(step)->decision, "allow");
  EXPECT_EQ(decision_of(working({{"bash", "ls*", Permission::ask}}), reads), "") << "a rule says that it is asked for";
  EXPECT_EQ(decision_of(working({{"bash", "ls*", Permission::deny}}), reads), "deny");
  EXPECT_EQ(decision_of(working({}, Permission::deny), reads), "deny");
}

TEST(Question, KeepsItsDiffUntilItIsAnswered) {
  Ask edit = ask("edit", "src/a.cc");
  edit.diff = "-a\n+b\n";
  const Step asked = *decide(working({}), input::Asked{1, edit}, start + 1);
  EXPECT_EQ(asked.after.asks.back().diff, edit.diff);
  const auto event = std::ranges::find(asked.events, EventType::ask_created, &Event::type);
  ASSERT_NE(event, asked.events.end());
  EXPECT_NE(event->data.find(R"("diff":"-a\n+b\n")"), std::string::npos);
  const Task told = decide(asked.after, input::Answered{"req_1", "allow", "", "user"}, start + 2)->after;
  EXPECT_EQ(told.asks.back().diff, "");
}

// R14.2
TEST(Deadline, IsKnownFromTheStartOfEachTurnAndGoneWithIt) {
  Launch launch{.kind = TaskKind::command, .agent_id = "command", .command = "make"};
  launch.timeout_ms = 5'000;
  const Task made = create(launch, TaskId("task_1"), SessionId("ses_1"), MessageId(), start).after;
  EXPECT_FALSE(made.deadline_at) << "it waits for a slot";
  const Task begun = decide(made, input::Start{}, start + 100)->after;
  EXPECT_EQ(begun.deadline_at, start + 5'100);
  const Task over =
      decide(begun, input::TurnEnded{.run = 1, .outcome = input::TurnEnded::Outcome::failed}, start + 200)->after;
  EXPECT_FALSE(over.deadline_at);
  const Task again = decide(decide(over, input::Retry{}, start + 300)->after, input::Start{}, start + 400)->after;
  EXPECT_EQ(again.deadline_at, start + 5'400);
  launch.timeout_ms = -1;
  const Task free = create(launch, TaskId("task_1"), SessionId("ses_1"), MessageId(), start).after;
  EXPECT_FALSE(decide(free, input::Start{}, start)->after.deadline_at);
}

}  // namespace
}  // namespace errand

#include "shell/subjects.h"

#include <gtest/gtest.h>

namespace errand::shell {
namespace {

std::string lines(std::string_view script) {
  const auto found = subjects(script);
  if (!found) return "?";
  std::string out;
  for (const std::string& line : *found) out += (out.empty() ? "" : "|") + line;
  return out;
}

TEST(Subjects, EverySimpleCommandIsALine) {
  EXPECT_EQ(lines("git status"), "git status");
  EXPECT_EQ(lines("git status; rm -rf /"), "git status|rm -rf /");
  EXPECT_EQ(lines("git status && rm -rf / || curl x"), "git status|rm -rf /|curl x");
  EXPECT_EQ(lines("git status | sh"), "git status|sh");
  EXPECT_EQ(lines("git status & rm x"), "git status|rm x");
  EXPECT_EQ(lines("git status\nrm x"), "git status|rm x");
  EXPECT_EQ(lines("(git status; rm x)"), "git status|rm x");
  EXPECT_EQ(lines("{ git status; rm x; }"), "git status|rm x");
  EXPECT_EQ(lines("if git status; then rm x; else ls; fi"), "git status|rm x|ls");
  EXPECT_EQ(lines("for f in a b; do rm $f; done"), "rm ${f}");
  EXPECT_EQ(lines("while git status; do rm x; done"), "git status|rm x");
  EXPECT_EQ(lines("case x in a) rm x;; esac"), "rm x");
}

TEST(Subjects, WhatAnExpansionRunsIsALine) {
  EXPECT_EQ(lines("git status $(rm -rf /)"), "rm -rf /|git status $(...)");
  EXPECT_EQ(lines("git status `rm x`"), "rm x|git status $(...)");
  EXPECT_EQ(lines("git status \"$(rm x)\""), "rm x|git status $(...)");
  EXPECT_EQ(lines("git status <(rm x)"), "rm x|git status $(...)");
  EXPECT_EQ(lines("git status ${x:-$(rm x)}"), "rm x|git status ${x}");
  EXPECT_EQ(lines("git status $((1 + $(rm x)))"), "rm x|git status $(...)");
  EXPECT_TRUE(lines("cat <<E\n$(rm x)\nE\n").ends_with("|rm x"));
  EXPECT_FALSE(lines("cat <<'E'\n$(rm x)\nE\n").contains("rm x"));
  EXPECT_EQ(lines("x=$(rm x) git status"), "rm x|x= git status");
  EXPECT_EQ(lines("[[ a =~ $(rm x) ]]"), "rm x");
}

TEST(Subjects, AWriteIsALineOfItsOwn) {
  EXPECT_EQ(lines("echo x > a"), "echo x|> a");
  EXPECT_EQ(lines("echo x >> ~/.bashrc"), "echo x|> ~/.bashrc");
  EXPECT_EQ(lines("echo x >| a 2> b"), "echo x|> a|> b");
  EXPECT_EQ(lines("echo x &> a"), "echo x|> a");
  EXPECT_EQ(lines("echo x >& a"), "echo x|> a");
  EXPECT_EQ(lines("echo x <> a"), "echo x < a|> a");
  EXPECT_EQ(lines("echo x >\"$HOME/a\""), "echo x|> ${HOME}/a");
  EXPECT_EQ(lines("> a"), "> a");
  EXPECT_EQ(lines("{ echo x; } > a"), "echo x|> a");
  EXPECT_EQ(lines("echo $(echo x > a)"), "echo x|echo $(...)|> a");
  EXPECT_EQ(lines("make 2>&1 >/dev/null"), "make");
  EXPECT_EQ(lines("echo x > 1"), "echo x|> 1") << "a file, whatever its name";
}

// What a program is given to run is not in its words: whoever allowed one of these has not allowed another.
TEST(Subjects, TheInputIsPartOfTheLine) {
  EXPECT_EQ(lines("bash < a"), "bash < a");
  EXPECT_EQ(lines("{ bash; } < a"), "bash < a");
  EXPECT_TRUE(lines("python3 <<'E'\nprint(1)\nE\n").starts_with("python3 << "));
  EXPECT_EQ(lines("python3 <<'E'\nprint(1)\nE\n"), lines("python3 <<'F'\nprint(1)\nF\n"));
  EXPECT_NE(lines("python3 <<'E'\nprint(1)\nE\n"), lines("python3 <<'E'\nprint(2)\nE\n"));
  EXPECT_NE(lines("bash <<< 'ls'"), lines("bash <<< 'rm x'"));
}

TEST(Subjects, WhatCannotBeReadIsAllOfIt) {
  EXPECT_EQ(subject_of("$X a"), "? $X a");
  EXPECT_TRUE(subject_of("f() {\n ls\n}; f").starts_with("? f() { … "));
  EXPECT_NE(subject_of("f() {\n ls\n}; f"), subject_of("f() {\n rm x\n}; f"));
  EXPECT_NE(subject_of("$X a #; rm x"), subject_of("$X a\r#; rm x"));
}

TEST(Subjects, NothingHidesACommand) {
  EXPECT_NE(lines("ls \r# ; rm x").find("|rm x"), std::string::npos) << "a carriage return is no blank";
  EXPECT_NE(lines("cat <<E\r\nx\nE\r\nrm x\nE\n").find("|rm x"), std::string::npos);
  EXPECT_EQ(lines("cat =(rm x)"), "?");
  EXPECT_EQ(lines("[[ 'a[$(rm x)]' -eq 1 ]]; ls"), "?");
  EXPECT_EQ(lines("for PATH in .; do ls; done"), "PATH=|ls");
  EXPECT_EQ(lines(std::string_view("ls\0; rm x", 9)), "?");
}

TEST(Subjects, QuotesHideNothing) {
  EXPECT_EQ(lines("'rm' -rf /"), "rm -rf /");
  EXPECT_EQ(lines("r\\m -rf /"), "rm -rf /");
  EXPECT_EQ(lines("git commit -m 'a; b > c'"), "git commit -m a; b > c");
  EXPECT_EQ(lines("git commit -m 'a\nrm x'"), "git commit -m a rm x");
  EXPECT_EQ(lines("git \\\nstatus"), "git status");
}

TEST(Subjects, AnEnvironmentIsPartOfTheLine) {
  EXPECT_EQ(lines("PATH=/tmp git status"), "PATH=/tmp git status");
  EXPECT_EQ(lines("CI='1 npm test' rm x"), "CI='1 npm test' rm x");
  EXPECT_EQ(lines("PATH=/tmp; git status"), "PATH=/tmp|git status");
  EXPECT_EQ(lines("env PATH=/tmp git status"), "env PATH=/tmp git status");
}

TEST(Subjects, WhatIsNotUnderstoodIsNothing) {
  for (const char* script :
       {"", " ", "# only a comment", "$CMD status", "$(echo rm) x", "\"$x\" y", "git() { rm -rf /; }; git status",
        "function git { rm x; }; git status", "alias git=rm; git x", "'git status'", "if true; then", "git status 'x",
        "echo $(", "\"git status\" -s"})
    EXPECT_EQ(lines(script), "?") << script;
}

TEST(Subjects, AreBounded) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += "echo " + std::to_string(i) + "\n";
  EXPECT_FALSE(subjects(many));
  EXPECT_FALSE(subjects("echo " + std::string(subject_bytes_max, 'x')));
}

}  // namespace
}  // namespace errand::shell

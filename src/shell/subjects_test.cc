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
  EXPECT_EQ(lines("cat <<E\n$(rm x)\nE\n"), "cat|rm x");
  EXPECT_EQ(lines("cat <<'E'\n$(rm x)\nE\n"), "cat");
  EXPECT_EQ(lines("x=$(rm x) git status"), "rm x|x= git status");
  EXPECT_EQ(lines("[[ a =~ $(rm x) ]]"), "rm x");
}

TEST(Subjects, AWriteIsALineOfItsOwn) {
  EXPECT_EQ(lines("echo x > a"), "echo x|> a");
  EXPECT_EQ(lines("echo x >> ~/.bashrc"), "echo x|> ~/.bashrc");
  EXPECT_EQ(lines("echo x >| a 2> b"), "echo x|> a|> b");
  EXPECT_EQ(lines("echo x &> a"), "echo x|> a");
  EXPECT_EQ(lines("echo x >& a"), "echo x|> a");
  EXPECT_EQ(lines("echo x <> a"), "echo x|> a");
  EXPECT_EQ(lines("echo x >\"$HOME/a\""), "echo x|> ${HOME}/a");
  EXPECT_EQ(lines("> a"), "> a");
  EXPECT_EQ(lines("{ echo x; } > a"), "echo x|> a");
  EXPECT_EQ(lines("echo $(echo x > a)"), "echo x|echo $(...)|> a");
  EXPECT_EQ(lines("make 2>&1 >/dev/null"), "make");
  EXPECT_EQ(lines("cat < a"), "cat");
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

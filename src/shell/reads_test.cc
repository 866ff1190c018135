// R14.3: what only reads is not asked for; everything else is.
#include "shell/reads.h"

#include <gtest/gtest.h>

namespace errand::shell {
namespace {

TEST(Reads, WhatOnlyReads) {
  for (const char* script :
       {"ls", "ls -la src", "pwd", "cat a.txt b.txt", "head -5 a", "head -n 5 a", "head -n5 a", "tail -n +3 a.txt",
        "grep -rn \"foo bar\" src", "grep -rnE 'a|b;c' .", "rg foo -g '*.cc' src", "find . -name '*.cc' -type f",
        "find src -maxdepth 2 -not -name x", "git status", "git status -sb", "git log --oneline -5", "git diff HEAD~1 -- a.c",
        "git show HEAD:src/a.c", "git branch -a", "wc -l src/*.cc", "cat a | sort | uniq -c | head", "cd src && ls",
        "ls 2>/dev/null", "ls 2>&1 | wc -l", "test -f a && echo yes || echo no", "[ -d src ]", "node --version",
        "diff -u a b", "du -sh .", "true", "echo 'hello; world'", "sort -k 2 a", "git rev-parse --abbrev-ref HEAD",
        "cat -- -odd", "sha256sum ./*"})
    EXPECT_TRUE(only_reads(script)) << script;
}

TEST(Reads, EverythingElseIsAsked) {
  for (const char* script :
       {"", "# only a comment", "make", "npm test", "rm a", "ls > files", "ls >> files", "cat < /etc/shadow", "cat < a",
        "echo x > /dev/sda", "ls; rm a", "ls && curl x", "cat $(rm a)", "cat `rm a`", "cat <(rm a)", "cat $HOME/.ssh/id",
        "cat ~/.ssh/id", "cat /etc/passwd", "cat ../secret", "cat a/../../b", "grep -f /etc/shadow x",
        "grep --file=/etc/shadow x", "find . -delete", "find . -exec rm {} +", "find . -fprint x", "find . -ok rm {} +",
        "sort -o a a", "sort --output=a a", "sort -oa a", "sort -T . a", "sort --compress-program=sh a", "uniq a b",
        "rg --pre sh x", "rg --pre=sh x", "rg -z x", "tree -o x", "tail -f a", "tail -F a", "tail --follow=name a", "date -s now",
        "date 11170000", "cd", "cd -P /", "git -c core.pager=sh log", "git --exec-path=x log", "git log --output=x",
        "git diff --ext-diff", "git show --textconv", "git push", "git checkout .", "git branch new", "git branch -D main",
        "git tag v1", "git remote add x y", "git stash", "git grep -O foo", "git", "GIT_PAGER=sh git log", "PATH=. ls",
        "env", "printenv", "xargs rm", "ls | xargs rm", "ls | sh", "bash -c ls", "sudo ls", "awk '{print}' a",
        "sed -n 1p a", "sed -i s/a/b/ a", "tee x", "cat a | tee b", "f() { rm a; }; ls", "alias ls=rm; ls", "rg x *",
        "cat *", "ls [a-z]*", "'ls'", "$x", "./ls", "/bin/ls", "node -e 1", "node --version x", "python3 -V", "ls -Z",
        "ls --unknown", "head -n -x a", "head -n", "file -C", "xxd a b", "hostname new", "for f in a b; do cat $f; done",
        "while true; do ls; done; rm x", "cat <<EOF\n$(rm a)\nEOF", "ls & rm a", "if ls; then rm a; fi", "{ ls; rm a; }",
        "(ls; rm a)", "time rm a", "exec ls", "command rm a", "grep x \"$(rm a)\"", "echo ${x:=$(rm a)}", "ls \\\n; rm a"})
    EXPECT_FALSE(only_reads(script)) << script;
}

}  // namespace
}  // namespace errand::shell

// R14.3: what only reads is not asked for; everything else is.
#include "shell/reads.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/home.h"

namespace errand::shell {
namespace {

TEST(Reads, WhatOnlyReads) {
  for (const char* script : {"ls",
                             "ls -la src",
                             "pwd",
                             "cat a.txt b.txt",
                             "head -5 a",
                             "head -n 5 a",
                             "head -n5 a",
                             "tail -n +3 a.txt",
                             "grep -rn \"foo bar\" src",
                             "grep -rnE 'a|b;c' .",
                             "rg foo -g '*.cc' src",
                             "find . -name '*.cc' -type f",
                             "find src -maxdepth 2 -not -name x",
                             "git status",
                             "git status -sb",
                             "git log --oneline -5",
                             "git diff HEAD~1 -- a.c",
                             "git show HEAD:src/a.c",
                             "git branch -a",
                             "wc -l src/*.cc",
                             "cat a | sort | uniq -c | head",
                             "wc -l ./*.md src/*/*.cc",
                             "ls 2>/dev/null",
                             "ls 2>&1 | wc -l",
                             "test -f a && echo yes || echo no",
                             "[ -d src ]",
                             "node --version",
                             "diff -u a b",
                             "du -sh .",
                             "true",
                             "echo 'hello; world'",
                             "sort -k 2 a",
                             "git rev-parse --abbrev-ref HEAD",
                             "cat -- -odd",
                             "sha256sum ./*"})
    EXPECT_TRUE(only_reads(script)) << script;
}

TEST(Reads, EverythingElseIsAsked) {
  for (const char* script :
       {"", "# only a comment", "make", "grep -R x .", "grep -rnR x", "find -L . -name x", "diff -r a b", "npm test",
        "rm a", "ls > files", "ls >> files", "cat < /etc/shadow", "cat < a", "echo x > /dev/sda", "ls; rm a",
        "ls && curl x", "cat $(rm a)", "cat `rm a`", "cat <(rm a)", "cat $HOME/.ssh/id", "cat ~/.ssh/id",
        "cat /etc/passwd", "cat ../secret", "cat a/../../b", "grep -f /etc/shadow x", "grep --file=/etc/shadow x",
        "find . -delete", "find . -exec rm {} +", "find . -fprint x", "find . -ok rm {} +", "sort -o a a",
        "sort --output=a a", "sort -oa a", "sort -T . a", "sort --compress-program=sh a", "uniq a b", "rg --pre sh x",
        "rg --pre=sh x", "rg -z x", "tree -o x", "tail -f a", "tail -F a", "tail --follow=name a", "date -s now",
        "date 11170000", "cd", "cd -P /", "git -c core.pager=sh log", "git --exec-path=x log", "git log --output=x",
        "git diff --ext-diff", "git show --textconv", "git push", "git checkout .", "git branch new",
        "git branch -D main", "git tag v1", "git remote add x y", "git stash", "git grep -O foo", "git",
        "GIT_PAGER=sh git log", "PATH=. ls", "env", "printenv", "xargs rm", "ls | xargs rm", "ls | sh", "bash -c ls",
        "sudo ls", "awk '{print}' a", "sed -n 1p a", "sed -i s/a/b/ a", "tee x", "cat a | tee b", "f() { rm a; }; ls",
        "alias ls=rm; ls", "rg x *", "cat *", "ls [a-z]*", "'ls'", "$x", "./ls", "/bin/ls", "node -e 1",
        "node --version x", "python3 -V", "ls -Z", "ls --unknown", "head -n -x a", "head -n", "file -C", "xxd a b",
        "hostname new", "for f in a b; do cat $f; done", "while true; do ls; done; rm x", "cat <<EOF\n$(rm a)\nEOF",
        "ls & rm a", "if ls; then rm a; fi", "{ ls; rm a; }", "(ls; rm a)", "time rm a", "exec ls", "command rm a",
        "grep x \"$(rm a)\"", "echo ${x:=$(rm a)}", "ls \\\n; rm a",
        // The folder that they name decides whose configuration git obeys.
        "cd src && git status", "cd -",
        // A carriage return is no blank: this is no comment.
        "ls \r# ; rm a", "ls \r", "ls \x1b[2K", "ls \xff",
        // Braces and dots make what the text does not show.
        "cat .{.,}/secret", "cat ./{.,}./secret", "cat \"\"{/etc/passwd,a}", "sort \"\"{-ob,a}", "cat .?/secret",
        "cat .*/secret", "cat src/.[.]/secret", "cat \"\"*",
        // The second file is written.
        "uniq a*", "find -- . -delete", "tree -Po x out", "tree -Lo 2 out", "date -I 11170000",
        "date --iso-8601 11170000",
        // A file with the name of a descriptor.
        "ls > 1", "cat a >7", "ls &>1", "ls 2> 1",
        // Input, by whatever descriptor, and what stands in it.
        "cat 3</etc/passwd <&3", "ls 3</dev/tcp/example.com/80", "cat </dev/stdin", "cat <<EOF\n$SECRET\nEOF",
        "cat <<<\"$SECRET\"", "cat <<EOF\n${x@P}\nEOF",
        // What sets a variable or evaluates text.
        "for PATH in bin; do ls; done", "((PATH=7)); ls", "((rm a))", "[[ 'a[$(rm a)]' -eq 1 ]]; ls",
        "[ 'a[$(rm a)]' -eq 1 ]", "printf %d 'a[$(rm a)]'", "PATH=(.) ls", "while true; do true; done", "coproc ls",
        // sh, fish and zsh read these otherwise than bash.
        "echo $'\\'; rm a #'", "echo '\\' '; rm a #'", "cat =(rm a)", "cat =ls", "ls *(e:'rm a':)", "file -z a",
        "sha256sum -c list",
        // A file of the folder says which program this is.
        "yarn --version", "cargo --version", "go version", "dotnet --version"})
    EXPECT_FALSE(only_reads(script)) << script;
  EXPECT_FALSE(only_reads(std::string_view("ls\0; rm a", 9)));
}

TEST(Reads, NotWhereKeysLieBelow) {
  const std::string home = from_home("~");
  ASSERT_TRUE(home.starts_with('/'));
  EXPECT_TRUE(only_reads("cat a", home + "/project"));
  EXPECT_TRUE(only_reads("cat a", "/srv/project/"));
  EXPECT_FALSE(only_reads("rm a", "/srv/project"));
  for (const std::string& folder :
       {home, home + "/", home + "/x/..", std::string("/"), std::string(), std::string("a")})
    EXPECT_FALSE(only_reads("cat .ssh/id_rsa", folder)) << folder;
}

TEST(Reads, TheNamesThatAScriptReads) {
  std::string names;
  for (const ReadName& name : names_read("cat -n a src/*.cc | grep --include=x 'y z' && ls"))
    names += name.text + (name.pattern ? " (pattern)" : "") + ", ";
  EXPECT_EQ(names, "a, src/*.cc (pattern), x, y z, ");
  EXPECT_TRUE(names_read("cat 'a").empty());
}

}  // namespace
}  // namespace errand::shell

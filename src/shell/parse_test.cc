#include "shell/parse.h"

#include <gtest/gtest.h>

namespace errand::shell {
namespace {

// The commands of a script, one a line: words joined with '|', "?" for what is not known, and what is redirected.
std::string shown(std::string_view text) {
  const Result<Script> script = parse(text);
  if (!script) return "error: " + script.error().message;
  std::string out;
  for (const Command& command : script->commands) {
    for (const std::string& assignment : command.assignments) out += "[" + assignment + "]";
    for (size_t i = 0; i < command.words.size(); ++i)
      out += (i > 0 ? "|" : "") + command.words[i].text + (command.words[i].known ? "" : "?");
    constexpr const char* from[] = {"", " <pipe", " <file", " <here", " <caller"};
    constexpr const char* to[] = {"", " >pipe", " >file"};
    out += std::string(from[static_cast<int>(command.input)]) + to[static_cast<int>(command.output)] + "\n";
  }
  return out;
}

TEST(ShellParse, Words) {
  EXPECT_EQ(shown("a b  c\td"), "a|b|c|d\n");
  EXPECT_EQ(shown("a 'b c' \"d e\" f\\ g"), "a|b c|d e|f g\n");
  EXPECT_EQ(shown("a'b'\"c\"\\d"), "abcd\n");
  EXPECT_EQ(shown("echo '' \"\""), "echo||\n");
  EXPECT_EQ(shown("echo \"a\\\"b\\$c\\n\""), "echo|a\"b$c\\n\n");
  EXPECT_EQ(shown("echo $'a\\tb\\x41\\101\\'c'"), "echo|a\tbAA'c\n");
  EXPECT_EQ(shown("echo $\"x\""), "echo|x\n");
  EXPECT_EQ(shown("echo a\\\nb c \\\n d"), "echo|ab|c|d\n");
  EXPECT_EQ(shown("echo \\"), "echo|\\\n");
  EXPECT_EQ(shown("\\"), "\\\n");
  EXPECT_EQ(shown("a\\"), "a\\\n");
  EXPECT_EQ(shown("echo a#b #c"), "echo|a#b\n");
  EXPECT_EQ(shown("echo 100% ~/x *.c {a,b} [x]"), "echo|100%|~/x|*.c|{a,b}|[x]\n");
}

TEST(ShellParse, ExpansionsAreNotKnown) {
  EXPECT_EQ(shown("echo $x ${y} \"$z\" a$b $1 $@ $? $ end"), "echo|?|?|?|a?|?|?|?|$|end\n");
  EXPECT_EQ(shown("echo ${x:-'}'} ${x:-\"}\"} ${x:-${y}} \"${x:-'a'}\""), "echo|?|?|?|?\n");
  EXPECT_EQ(shown("echo $((1+(2*3))) $(( $(a) ))"), "a >pipe\necho|?|?\n");
  const Result<Script> script = parse("a $FLAGS \"$x\" x$y ${ARGS} $(b)");
  ASSERT_TRUE(script);
  const std::vector<Word>& words = script->commands.back().words;
  EXPECT_TRUE(words[1].open);
  EXPECT_EQ(words[1].expansion, "FLAGS");
  EXPECT_FALSE(words[2].open);
  EXPECT_FALSE(words[3].open);
  EXPECT_EQ(words[4].expansion, "ARGS");
  EXPECT_TRUE(words[5].open);
}

TEST(ShellParse, CommandsInExpansionsAreCommands) {
  EXPECT_EQ(shown("echo $(a b; c | d)"), "a|b >pipe\nc >pipe\nd <pipe >pipe\necho|?\n");
  EXPECT_EQ(shown("echo \"x $(a \"$(b)\")\""), "b >pipe\na|? >pipe\necho|x ?\n");
  EXPECT_EQ(shown("echo `a \\`b\\``"), "b >pipe\na|? >pipe\necho|?\n");
  EXPECT_EQ(shown("echo $(case x in a) b;; esac)"), "b >pipe\necho|?\n");
  EXPECT_EQ(shown("diff <(a) <(b)"), "a >pipe\nb >pipe\ndiff|?|?\n");
  EXPECT_EQ(shown("x=$(a) b"), "a >pipe\n[x=]b\n");
  EXPECT_EQ(shown("echo $((a) | b)"), "a >pipe\nb <pipe >pipe\necho|?\n");
}

TEST(ShellParse, Assignments) {
  EXPECT_EQ(shown("A=1 B='x y' c"), "[A=1][B=x y]c\n");
  EXPECT_EQ(shown("A=1"), "[A=1]\n");
  EXPECT_EQ(shown("a B=1"), "a|B=1\n");
  EXPECT_EQ(shown("'A=1' b"), "A=1|b\n");
  EXPECT_EQ(shown("x=(a 'b c' $(d)) e"), "d >pipe\n[x=]e\n");
  EXPECT_EQ(shown("x+=1 y[0]=2 z"), "[x+=1][y[0]=2]z\n");
}

TEST(ShellParse, Lists) {
  EXPECT_EQ(shown("a && b || c; d & e\nf"), "a\nb\nc\nd\ne\nf\n");
  EXPECT_EQ(shown("a | b |& c"), "a >pipe\nb <pipe >pipe\nc <pipe\n");
  EXPECT_EQ(shown("a |\n b &&\n\n c"), "a >pipe\nb <pipe\nc\n");
  EXPECT_EQ(shown("! a | time -p b"), "a >pipe\ntime|-p|b <pipe\n");
  EXPECT_EQ(shown("# only a comment"), "");
  EXPECT_EQ(shown(""), "");
}

TEST(ShellParse, CompoundCommands) {
  EXPECT_EQ(shown("(a; b) | c"), "a >pipe\nb >pipe\nc <pipe\n");
  EXPECT_EQ(shown("{ a; b; } < f"), "a <file\nb <file\n");
  EXPECT_EQ(shown("if a; then b; elif c; then d; else e; fi"), "a\nb\nc\nd\ne\n");
  EXPECT_EQ(shown("while a; do b; done < f"), "a <file\nb <file\n");
  EXPECT_EQ(shown("a | while read x; do b; done"), "a >pipe\nread|x <pipe\nb <pipe\n");
  EXPECT_EQ(shown("for x in a $(b); do c; done; for y; do d; done"), "b >pipe\nc\nd\n");
  EXPECT_EQ(shown("for ((i=0; i<3; i++)); do a; done"), "a\n");
  EXPECT_EQ(shown("case $x in a|b) c ;; (d) e ;; *) f; esac"), "c\ne\nf\n");
  EXPECT_EQ(shown("[[ $a == (b|c) && -f d ]] && e"), "e\n");
  EXPECT_EQ(shown("((i++)) || a"), "a\n");
  EXPECT_EQ(shown("f() { a; }; function g { b; }; f"), "a <caller\nb <caller\nf\n");
  EXPECT_EQ(parse("f() { a; }; function g { b; }")->functions, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(shown("if a\nthen\nb\nfi\n"), "a\nb\n");
}

TEST(ShellParse, Redirections) {
  EXPECT_EQ(shown("a < f > g 2>&1"), "a <file >file\n");
  EXPECT_EQ(shown("a 2> g"), "a\n");
  EXPECT_EQ(shown("a &> g"), "a >file\n");
  EXPECT_EQ(shown("> f a 2>/dev/null b"), "a|b >file\n");
  EXPECT_EQ(shown("a 0<&3 >| f"), "a <file >file\n");
  EXPECT_EQ(shown("a < /dev/tty"), "a\n");
  EXPECT_EQ(shown("a <<< 'x y'"), "a <here\n");
  EXPECT_EQ(parse("a <<< 'x y'")->commands[0].here, "x y");
  EXPECT_EQ(shown("> f"), " >file\n");
  EXPECT_EQ(shown("a 2 > f"), "a|2 >file\n");
}

TEST(ShellParse, HereDocuments) {
  const Result<Script> script = parse("a <<X | b <<-'Y'; c\n1 $(d)\nX\n\t2 $(e)\n\tY\nf\n");
  ASSERT_TRUE(script) << script.error().message;
  std::vector<std::string> names;
  for (const Command& command : script->commands) names.push_back(command.words[0].text);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d", "f"}));
  EXPECT_EQ(script->commands[0].here, "1 $(d)\n");
  EXPECT_EQ(script->commands[1].here, "2 $(e)\n");
  EXPECT_EQ(shown("a <<X\nno end"), "a <here\n");
  EXPECT_EQ(shown("while read x; do a; done <<E\n1\nE\nb"), "read|x <here\na <here\nb\n");
}

TEST(ShellParse, WhatIsNotAScriptIsSaid) {
  for (const char* text :
       {"a 'b", "a \"b",   "a `b",         "a $(b",   "a ${b",         "a |",       "| a", "a ; ; b", "(a",
        "a )",  "{ a",     "if a; then b", "while a", "for x in a; b", "case x in", "a <", "a <<",    "[[ a",
        "f() ", "a &&& b", ";; a",         "fi",      "done"})
    EXPECT_TRUE(shown(text).starts_with("error: ") || std::string_view(text) == "fi" ||
                std::string_view(text) == "done")
        << text << " -> " << shown(text);
}

TEST(ShellParse, ItIsBounded) {
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "$(";
  EXPECT_FALSE(parse(deep));
  EXPECT_FALSE(parse(std::string(100'000, '(')));
  std::string braces;
  for (int i = 0; i < 10'000; ++i) braces += "{ ";
  EXPECT_FALSE(parse(braces));
  std::string many;
  for (size_t i = 0; i <= commands_max; ++i) many += "a;";
  EXPECT_EQ(parse(many).error().code, Code::too_large);
  EXPECT_EQ(parse(std::string(script_bytes_max + 1, 'a')).error().code, Code::too_large);
  EXPECT_TRUE(parse(std::string(script_bytes_max, 'a')));
}

}  // namespace
}  // namespace errand::shell

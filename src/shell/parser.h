// The parser's inside: words.cc reads words and expansions, commands.cc what is made of them.
//
// After the first error it stands at the end of the text, so that every loop ends by itself.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/parse.h"

namespace errand::shell {

class Parser {
 public:
  Parser(std::string_view text, int depth, Script& out) : text_(text), depth_(depth), out_(out) {}

  // The whole text, as a list of commands; or as the body of a here-document, of which only the expansions count.
  Status run();
  Status run_expansions();

 private:
  using Words = std::initializer_list<std::string_view>;

  struct Redirect {
    bool input = false;   // Of file descriptor 0,
    bool output = false;  // or of 1.
    Command::From from = Command::From::inherited;
    Word source = {};
    int here = -1;  // Index in heres_.
  };
  struct Here {
    std::string delimiter;
    bool strip_tabs = false;
    bool expands = false;
    std::string body;
    bool read = false;
  };
  // Counts nesting; past the bound the parse fails.
  class Nest {
   public:
    explicit Nest(Parser& parser);
    ~Nest() { --parser_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;

   private:
    Parser& parser_;
  };

  // --- the text
  bool at_end() const { return pos_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  bool starts(std::string_view with) const { return text_.substr(std::min(pos_, text_.size())).starts_with(with); }
  void refuse(std::string why, Code code = Code::invalid_argument);
  void skip_blanks();  // And comments, and line ends that are escaped.
  void skip_newlines();
  void newline();
  void expect(char c);
  void expect_word(std::string_view word);

  // --- words.cc
  Word read_word();
  void single_quoted(Word& word);
  void double_quoted(Word& word);
  void ansi_quoted(Word& word);
  void dollar(Word& word, bool quoted);
  void braces(Word& word, bool quoted);
  void backtick(Word& word, bool quoted);
  void substitution(Word& word);
  void unknown(Word& word, bool quoted, std::string name);
  void append(Word& word, char c, bool plain);
  // Where the text at pos_ ("((") is arithmetic: the place behind its "))". 0: it is not.
  size_t arithmetic_end() const;
  void arithmetic(size_t end);
  Status inner(std::string_view text, bool expansions, Command::To output);

  // --- commands.cc
  std::string_view reserved() const;
  bool at(Words terminators) const;
  void list(Words terminators);
  void pipeline();
  void command();
  void simple();
  bool compound(std::string_view word);
  void if_clause();
  void while_clause();
  void for_clause(bool select);
  void case_clause();
  void test_clause();
  void function_body(std::string name);
  void array();
  bool redirect(Redirect& into);
  void redirects(size_t from);
  void here_document(Redirect& into, bool strip_tabs);
  void read_heres();
  void apply(const Redirect& redirect, size_t command);
  void add(Command command);

  std::string_view text_;
  size_t pos_ = 0;
  int depth_;
  Script& out_;
  std::string error_;
  Code code_ = Code::invalid_argument;
  std::vector<Here> heres_;
  size_t heres_read_ = 0;
  // Which here-document a command reads; its text is put in at the end.
  std::vector<std::pair<size_t, int>> reads_here_;
};

// Ends an unquoted word.
bool is_meta(char c);
bool is_blank(char c);
bool is_name(std::string_view text);

}  // namespace errand::shell

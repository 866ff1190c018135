// Words: quotes, escapes and expansions.
#include <algorithm>
#include <cctype>

#include "shell/parser.h"

namespace errand::shell {
namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_octal(char c) { return c >= '0' && c <= '7'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

// A carriage return is none: for a shell `ls \r# ; rm x` has no comment, and a here-document may end at "EOF\r".
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_meta(char c) { return is_blank(c) || std::string_view("\n;&|<>()").contains(c); }
bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_byte);
}

void Parser::append(Word& word, char c, bool plain) {
  if (plain && word.plain == word.text.size() && !word.quoted && word.known) ++word.plain;
  if (plain && std::string_view("*?[{").contains(c)) word.pattern = true;
  word.text += c;
}

void Parser::unknown(Word& word, bool quoted, std::string name) {
  if (word.text.empty() && word.known) {
    word.open = !quoted;
    word.expansion = std::move(name);
  }
  word.known = false;
}

Word Parser::read_word() {
  Word word;
  while (!at_end()) {
    const char c = peek();
    if ((c == '<' || c == '>') && peek(1) == '(' && word.text.empty() && word.known) {
      ++pos_;
      substitution(word);
      unknown(word, true, {});
      continue;
    }
    if (is_meta(c)) break;
    switch (c) {
      case '\\':
        if (peek(1) == '\n') {
          pos_ += 2;
          break;
        }
        word.quoted = true;
        append(word, pos_ + 1 < text_.size() ? peek(1) : '\\', false);
        pos_ = std::min(pos_ + 2, text_.size());
        break;
      case '\'':
        single_quoted(word);
        break;
      case '"':
        double_quoted(word);
        break;
      case '`':
        backtick(word, false);
        break;
      case '$':
        dollar(word, false);
        break;
      default:
        append(word, c, true);
        ++pos_;
    }
  }
  return word;
}

void Parser::single_quoted(Word& word) {
  word.quoted = true;
  const size_t close = text_.find('\'', pos_ + 1);
  if (close == std::string_view::npos) return refuse("a single quote is not closed");
  word.text += text_.substr(pos_ + 1, close - pos_ - 1);
  pos_ = close + 1;
}

void Parser::double_quoted(Word& word) {
  word.quoted = true;
  ++pos_;
  while (!at_end() && peek() != '"') {
    const char c = peek();
    if (c == '$') {
      dollar(word, true);
    } else if (c == '`') {
      backtick(word, true);
    } else if (c == '\\' && peek(1) == '\n') {
      pos_ += 2;
    } else if (c == '\\' && std::string_view("$`\"\\").contains(peek(1)) && pos_ + 1 < text_.size()) {
      append(word, peek(1), false);
      pos_ += 2;
    } else {
      append(word, c, false);
      ++pos_;
    }
  }
  if (at_end()) return refuse("a double quote is not closed");
  ++pos_;
}

// $'...': escapes as in C.
void Parser::ansi_quoted(Word& word) {
  constexpr std::string_view letters = "abefnrtv\\'\"?";
  constexpr std::string_view meanings = "\a\b\x1b\f\n\r\t\v\\'\"?";
  word.quoted = true;
  out_.plain = false;
  pos_ += 2;
  while (!at_end() && peek() != '\'') {
    if (peek() != '\\') {
      append(word, peek(), false);
      ++pos_;
      continue;
    }
    const char kind = peek(1);
    pos_ = std::min(pos_ + 2, text_.size());
    if (const size_t letter = letters.find(kind); letter != std::string_view::npos) {
      append(word, meanings[letter], false);
    } else if (kind == 'x' || kind == 'u' || kind == 'U' || is_octal(kind)) {
      // A byte or a character by its number: which one it is does not matter here, only that it is one.
      int value = is_octal(kind) ? kind - '0' : 0;
      const size_t digits = kind == 'x' || is_octal(kind) ? 2 : kind == 'u' ? 4 : 8;
      for (size_t i = 0; i < digits && (is_octal(kind) ? is_octal(peek()) : hex_digit(peek()) >= 0); ++i, ++pos_)
        value = (value * (is_octal(kind) ? 8 : 16) + hex_digit(peek())) & 0xffffff;
      append(word, value > 0 && value < 256 ? static_cast<char>(value) : '?', false);
    } else {
      append(word, kind, false);
    }
  }
  if (at_end()) return refuse("a single quote is not closed");
  ++pos_;
}

void Parser::dollar(Word& word, bool quoted) {
  const Nest nest(*this);
  if (at_end()) return;
  const char next = peek(1);
  if (next == '(') {
    ++pos_;
    if (const size_t end = peek(1) == '(' ? arithmetic_end() : 0; end > 0) {
      arithmetic(end);
      return unknown(word, true, {});  // A number: never an option of its own making.
    }
    substitution(word);
    return unknown(word, quoted, {});
  }
  if (next == '{') return braces(word, quoted);
  if (next == '\'' && !quoted) return ansi_quoted(word);
  if (next == '"' && !quoted) {
    out_.plain = false;
    ++pos_;
    return double_quoted(word);
  }
  size_t length = 1;
  if (is_name_start(next)) {
    while (is_name_byte(peek(1 + length))) ++length;
  } else if (!std::isdigit(static_cast<unsigned char>(next)) && !std::string_view("@*#?-$!").contains(next)) {
    append(word, '$', false);
    ++pos_;
    return;
  } else if (next == '\0') {
    append(word, '$', false);
    ++pos_;
    return;
  }
  unknown(word, quoted, std::string(text_.substr(pos_ + 1, length)));
  pos_ += 1 + length;
}

// ${...}
void Parser::braces(Word& word, bool quoted) {
  pos_ += 2;
  size_t name = pos_;
  if (peek() == '!' || peek() == '#') ++name;
  size_t name_end = name;
  while (name_end < text_.size() && is_name_byte(text_[name_end])) ++name_end;
  unknown(word, quoted,
          name_end == name && (peek() == '@' || peek() == '*') ? std::string("@")
                                                               : std::string(text_.substr(name, name_end - name)));
  Word inside;
  inside.text = "x";
  while (!at_end() && peek() != '}') {
    switch (peek()) {
      case '\\':
        pos_ = std::min(pos_ + 2, text_.size());
        break;
      case '\'':
        if (quoted)
          ++pos_;
        else
          single_quoted(inside);
        break;
      case '"':
        double_quoted(inside);
        break;
      case '$':
        dollar(inside, quoted);
        break;
      case '`':
        backtick(inside, quoted);
        break;
      default:
        ++pos_;
    }
  }
  if (at_end()) return refuse("a brace of an expansion is not closed");
  ++pos_;
}

// `...`: the text between is read once more, without the escapes that the quoting needs.
void Parser::backtick(Word& word, bool quoted) {
  const Nest nest(*this);
  if (at_end()) return;
  std::string inside;
  size_t at = pos_ + 1;
  while (at < text_.size() && text_[at] != '`') {
    if (text_[at] == '\\' && at + 1 < text_.size() &&
        (std::string_view("`\\$").contains(text_[at + 1]) || (quoted && text_[at + 1] == '"')))
      ++at;
    inside += text_[at++];
  }
  if (at >= text_.size()) return refuse("a backtick is not closed");
  pos_ = at + 1;
  if (const Status read = this->inner(inside, false, Command::To::pipe); !read)
    return refuse(read.error().message, read.error().code);
  unknown(word, quoted, {});
}

// (...) of $(...), <(...) and >(...).
void Parser::substitution(Word&) {
  const Nest nest(*this);
  const size_t from = out_.commands.size();
  expect('(');
  list({")"});
  expect(')');
  for (size_t i = from; i < out_.commands.size(); ++i)
    if (out_.commands[i].output == Command::To::inherited) out_.commands[i].output = Command::To::pipe;
}

size_t Parser::arithmetic_end() const {
  int open = 0;
  for (size_t at = pos_; at < text_.size(); ++at) {
    if (text_[at] == '\\') {
      ++at;
    } else if (text_[at] == '(') {
      ++open;
    } else if (text_[at] == ')') {
      if (--open != 1) continue;
      return at + 1 < text_.size() && text_[at + 1] == ')' ? at + 2 : 0;
    }
  }
  return 0;
}

void Parser::arithmetic(size_t end) {
  Word inside;
  inside.text = "0";
  while (pos_ < end && !at_end()) {
    if (peek() == '$')
      dollar(inside, true);
    else if (peek() == '`')
      backtick(inside, true);
    else
      ++pos_;
  }
  pos_ = std::max(pos_, end);
  if (pos_ > text_.size()) pos_ = text_.size();
}

Status Parser::inner(std::string_view text, bool expansions, Command::To output) {
  const size_t from = out_.commands.size();
  Parser parser(text, depth_, out_);
  if (Status read = expansions ? parser.run_expansions() : parser.run(); !read) return read;
  if (output != Command::To::inherited)
    for (size_t i = from; i < out_.commands.size(); ++i)
      if (out_.commands[i].output == Command::To::inherited) out_.commands[i].output = output;
  return {};
}

}  // namespace errand::shell

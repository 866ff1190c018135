// Commands: lists, pipelines, compound commands, redirections.
#include <algorithm>
#include <cctype>
#include <utility>

#include "shell/parser.h"

namespace errand::shell {
namespace {

constexpr std::string_view quoting = "'\"\\$`";

// "NAME=...", "NAME+=..." or "NAME[...]=..." whose beginning stood there as it is.
bool is_assignment(const Word& word) {
  const size_t equals = word.text.find('=');
  if (equals == std::string::npos || equals >= word.plain) return false;
  std::string_view name(word.text.data(), equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  if (const size_t bracket = name.find('['); bracket != std::string_view::npos && name.ends_with(']'))
    name = name.substr(0, bracket);
  return is_name(name);
}

// "1", "-" (closed) or "1-" (moved).
bool is_descriptor(std::string_view text) {
  if (text.ends_with('-')) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Parser::Nest::Nest(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ > depth_max) parser_.refuse("it is nested too deeply", Code::too_large);
}

Status Parser::run() {
  list({});
  read_heres();
  for (const auto& [command, here] : reads_here_) out_.commands[command].here = heres_[static_cast<size_t>(here)].body;
  if (!error_.empty()) return fail(code_, error_);
  return {};
}

Status Parser::run_expansions() {
  Word word;
  while (!at_end()) {
    if (peek() == '\\')
      pos_ = std::min(pos_ + 2, text_.size());
    else if (peek() == '$')
      dollar(word, true);
    else if (peek() == '`')
      backtick(word, true);
    else
      ++pos_;
  }
  if (!error_.empty()) return fail(code_, error_);
  return {};
}

void Parser::refuse(std::string why, Code code) {
  if (error_.empty()) {
    error_ = std::move(why);
    code_ = code;
  }
  pos_ = text_.size();
}

void Parser::skip_blanks() {
  while (!at_end()) {
    if (is_blank(peek())) {
      ++pos_;
    } else if (peek() == '\\' && peek(1) == '\n') {
      pos_ += 2;
    } else if (peek() == '#') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      break;
    }
  }
}

void Parser::newline() {
  ++pos_;
  read_heres();
}

void Parser::skip_newlines() {
  for (skip_blanks(); peek() == '\n' && !at_end(); skip_blanks()) newline();
}

void Parser::expect(char c) {
  if (at_end() || peek() != c) return refuse(std::string("a ") + c + " is missing");
  ++pos_;
}

void Parser::expect_word(std::string_view word) {
  skip_newlines();
  if (reserved() != word) return refuse("the word " + std::string(word) + " is missing");
  pos_ += word.size();
}

// The next word where it is nothing but plain letters: it may be a reserved one.
std::string_view Parser::reserved() const {
  size_t end = pos_;
  while (end < text_.size() && !is_meta(text_[end]) && !quoting.contains(text_[end])) ++end;
  if (end < text_.size() && quoting.contains(text_[end])) return {};
  return text_.substr(pos_, end - pos_);
}

bool Parser::at(Words terminators) const {
  const std::string_view word = reserved();
  return std::ranges::any_of(terminators, [&](std::string_view end) {
    return end == ")" || end == ";;" ? starts(end) || (end == ";;" && starts(";&")) : word == end;
  });
}

void Parser::add(Command command) {
  if (out_.commands.size() >= commands_max) return refuse("it has too many commands", Code::too_large);
  out_.commands.push_back(std::move(command));
}

void Parser::list(Words terminators) {
  for (;;) {
    skip_newlines();
    if (at_end() || at(terminators)) return;
    pipeline();
    skip_blanks();
    if (at_end() || at(terminators)) return;
    if (starts("&&") || starts("||")) {
      pos_ += 2;
    } else if (peek() == ';' || peek() == '&') {
      ++pos_;
    } else if (peek() == '\n') {
      newline();
    } else {
      return refuse("something is where a command should end");
    }
  }
}

void Parser::pipeline() {
  for (std::string_view word = reserved(); word == "!" || word == "time" || word == "coproc"; word = reserved()) {
    out_.plain = false;
    pos_ += word.size();
    skip_blanks();
    if (word == "time" && reserved() == "-p") {
      pos_ += 2;
      skip_blanks();
    }
  }
  std::vector<size_t> parts;
  for (;;) {
    parts.push_back(out_.commands.size());
    command();
    skip_blanks();
    if (peek() != '|' || peek(1) == '|' || at_end()) break;
    pos_ += peek(1) == '&' ? 2 : 1;
    skip_newlines();
  }
  for (size_t part = 0; part < parts.size(); ++part) {
    const bool last = part + 1 == parts.size();
    const size_t end = last ? out_.commands.size() : parts[part + 1];
    for (size_t i = parts[part]; i < end; ++i) {
      Command& command = out_.commands[i];
      if (part > 0 && command.input == Command::From::inherited) command.input = Command::From::pipe;
      if (!last && command.output == Command::To::inherited) command.output = Command::To::pipe;
    }
  }
}

void Parser::command() {
  const Nest nest(*this);
  if (at_end()) return refuse("a command is missing");
  const size_t from = out_.commands.size();
  if (peek() == '(') {
    out_.plain = false;
    if (const size_t end = peek(1) == '(' ? arithmetic_end() : 0; end > 0) {
      arithmetic(end);
    } else {
      ++pos_;
      list({")"});
      expect(')');
    }
    return redirects(from);
  }
  if (compound(reserved())) return redirects(from);
  simple();
}

bool Parser::compound(std::string_view word) {
  const auto begins = [&](std::string_view with) {
    if (word != with) return false;
    pos_ += with.size();
    return true;
  };
  if (begins("{")) {
    list({"}"});
    expect_word("}");
  } else if (begins("if")) {
    if_clause();
  } else if (begins("while") || begins("until")) {
    while_clause();
  } else if (begins("for")) {
    for_clause(false);
  } else if (begins("select")) {
    for_clause(true);
  } else if (begins("case")) {
    case_clause();
  } else if (begins("[[")) {
    test_clause();
  } else if (begins("function")) {
    skip_blanks();
    const Word name = read_word();
    skip_blanks();
    if (peek() == '(') {
      expect('(');
      skip_blanks();
      expect(')');
    }
    function_body(name.text);
  } else {
    return false;
  }
  out_.plain = false;
  return true;
}

void Parser::if_clause() {
  list({"then"});
  expect_word("then");
  list({"elif", "else", "fi"});
  while (reserved() == "elif" && !at_end()) {
    pos_ += 4;
    list({"then"});
    expect_word("then");
    list({"elif", "else", "fi"});
  }
  if (reserved() == "else") {
    pos_ += 4;
    list({"fi"});
  }
  expect_word("fi");
}

void Parser::while_clause() {
  list({"do"});
  expect_word("do");
  list({"done"});
  expect_word("done");
}

void Parser::for_clause(bool select) {
  skip_blanks();
  if (starts("((")) {
    const size_t end = arithmetic_end();
    if (end == 0) return refuse("a ) is missing");
    arithmetic(end);
  } else {
    const Word name = read_word();
    // `for PATH in .` says which programs run, as `PATH=.` does (and `path` to zsh). Other variables are the script's
    // own.
    if (name.text == "path" || std::ranges::none_of(name.text, [](unsigned char c) { return std::islower(c); })) {
      Command sets;
      sets.assignments.push_back(name.text + "=");
      add(std::move(sets));
    }
    skip_newlines();
    if (reserved() == "in") {
      pos_ += 2;
      for (skip_blanks(); !at_end() && !is_meta(peek()); skip_blanks()) read_word();
    }
  }
  if (select) {
    Command asks;
    asks.words.push_back({.text = "select", .expansion = {}, .plain = 6});
    add(std::move(asks));
  }
  skip_blanks();
  if (peek() == ';') ++pos_;
  skip_newlines();
  const bool braces = reserved() == "{";
  expect_word(braces ? "{" : "do");
  list({braces ? "}" : "done"});
  expect_word(braces ? "}" : "done");
}

void Parser::case_clause() {
  skip_blanks();
  read_word();
  expect_word("in");
  for (skip_newlines(); !at_end() && reserved() != "esac"; skip_newlines()) {
    if (peek() == '(') ++pos_;
    for (;;) {
      skip_blanks();
      const size_t before = pos_;
      read_word();
      if (pos_ == before) return refuse("a pattern is missing");
      skip_blanks();
      if (peek() != '|' || at_end()) break;
      ++pos_;
    }
    expect(')');
    list({";;", "esac"});
    if (starts(";;&"))
      pos_ += 3;
    else if (starts(";;") || starts(";&"))
      pos_ += 2;
  }
  expect_word("esac");
}

// [[ ... ]]: its operators are not the shell's.
void Parser::test_clause() {
  for (;;) {
    skip_newlines();
    if (at_end()) return refuse("the word ]] is missing");
    if (reserved() == "]]") break;
    const size_t before = pos_;
    const Word word = read_word();
    // bash evaluates what stands beside -eq, also what was quoted: `'a[$(rm x)]'` runs.
    if (word.text.contains("$(") || word.text.contains('`')) return refuse("a quoted text may be run");
    if (pos_ == before) ++pos_;
  }
  pos_ += 2;
}

void Parser::function_body(std::string name) {
  out_.functions.push_back(std::move(name));
  skip_newlines();
  const size_t from = out_.commands.size();
  command();
  for (size_t i = from; i < out_.commands.size(); ++i)
    if (out_.commands[i].input == Command::From::inherited) out_.commands[i].input = Command::From::caller;
}

// NAME=( ... )
void Parser::array() {
  out_.plain = false;
  expect('(');
  for (skip_newlines(); !at_end() && peek() != ')'; skip_newlines()) {
    const size_t before = pos_;
    read_word();
    if (pos_ == before) return refuse("a ) is missing");
  }
  expect(')');
}

void Parser::simple() {
  Command command;
  std::vector<Redirect> redirected;
  for (skip_blanks(); !at_end(); skip_blanks()) {
    if (Redirect one; redirect(one)) {
      redirected.push_back(one);
      continue;
    }
    const bool substituted = (peek() == '<' || peek() == '>') && peek(1) == '(';
    if (is_meta(peek()) && !substituted) break;
    Word word = read_word();
    // Anything else before a parenthesis is not understood: zsh runs what stands in `cat =(...)`.
    if (word.text.ends_with('=') && peek() == '(' && is_assignment(word)) array();
    if (command.words.empty() && is_assignment(word)) {
      command.assignments.push_back(std::move(word.text));
      continue;
    }
    if (command.words.empty() && word.plain == word.text.size() && word.known && !word.text.empty()) {
      const size_t before = pos_;
      skip_blanks();
      if (peek() == '(' && !at_end()) {
        expect('(');
        skip_blanks();
        expect(')');
        return function_body(std::move(word.text));
      }
      pos_ = error_.empty() ? before : pos_;
    }
    command.words.push_back(std::move(word));
  }
  if (command.words.empty() && command.assignments.empty() && redirected.empty()) return refuse("a command is missing");
  const size_t index = out_.commands.size();
  add(std::move(command));
  if (index < out_.commands.size())
    for (const Redirect& one : redirected) apply(one, index);
}

void Parser::redirects(size_t from) {
  for (skip_blanks(); !at_end(); skip_blanks()) {
    Redirect one;
    if (!redirect(one)) return;
    for (size_t i = from; i < out_.commands.size(); ++i) {
      const Command& command = out_.commands[i];
      if ((one.input && command.input == Command::From::inherited) ||
          (one.output && command.output == Command::To::inherited))
        apply(one, i);
    }
  }
}

void Parser::apply(const Redirect& redirect, size_t index) {
  Command& command = out_.commands[index];
  if (redirect.output) command.output = Command::To::file;
  if (!redirect.input) return;
  command.input = redirect.from;
  command.source = redirect.source;
  if (redirect.here >= 0) reads_here_.emplace_back(index, redirect.here);
}

// False: there is none here.
bool Parser::redirect(Redirect& into) {
  size_t at = pos_;
  int fd = -1;
  if (starts("&>")) {
    fd = 1;
    ++at;
  } else {
    while (at < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at])) && at - pos_ < 3) ++at;
    if (at >= text_.size() || (text_[at] != '<' && text_[at] != '>')) return false;
    if (at > pos_) fd = static_cast<int>(text_[pos_] - '0') + (at - pos_ > 1 ? 10 : 0);
  }
  const std::string_view rest = text_.substr(at);
  if (rest.starts_with("<(") || rest.starts_with(">(")) return false;
  size_t length = 1;
  for (const std::string_view operation : {"<<<", "<<-", "<<", "<&", "<>", ">>", ">|", ">&"})
    if (rest.starts_with(operation)) {
      length = operation.size();
      break;
    }
  const std::string_view operation = rest.substr(0, length);
  pos_ = at + length;
  if (fd < 0) fd = operation[0] == '<' ? 0 : 1;
  into.input = fd == 0;
  into.output = fd == 1;
  skip_blanks();
  if (operation == "<<" || operation == "<<-") {
    out_.plain = false;
    here_document(into, operation == "<<-");
    return true;
  }
  const size_t before = pos_;
  const Word target = read_word();
  if (pos_ == before) {
    refuse("a redirection has no target");
    return true;
  }
  if (operation[0] == '<') out_.plain = false;
  // `>&1` is a descriptor and `> 1` a file.
  const bool descriptor = operation == ">&" && target.known && is_descriptor(target.text);
  if (operation == "<>" || (operation.starts_with('>') && !descriptor)) out_.writes.push_back(target);
  into.from = Command::From::file;
  if (operation == "<<<") {
    into.from = Command::From::here;
    into.here = static_cast<int>(heres_.size());
    heres_.push_back({.delimiter = {}, .body = target.text, .read = true});
  } else if (target.known && (target.text == "/dev/tty" || target.text == "/dev/stdin")) {
    into.input = false;
  } else {
    into.source = target;
  }
  return true;
}

void Parser::here_document(Redirect& into, bool strip_tabs) {
  const size_t before = pos_;
  const Word delimiter = read_word();
  if (pos_ == before) return refuse("a here-document has no delimiter");
  into.from = Command::From::here;
  into.here = static_cast<int>(heres_.size());
  heres_.push_back({.delimiter = delimiter.text, .strip_tabs = strip_tabs, .expands = !delimiter.quoted, .body = {}});
}

// At the beginning of a line: the bodies of the here-documents that were announced before it.
void Parser::read_heres() {
  for (; heres_read_ < heres_.size(); ++heres_read_) {
    if (heres_[heres_read_].read) continue;
    Here here = std::move(heres_[heres_read_]);
    while (!at_end()) {
      const size_t end = std::min(text_.find('\n', pos_), text_.size());
      std::string_view line = text_.substr(pos_, end - pos_);
      pos_ = std::min(end + 1, text_.size());
      while (here.strip_tabs && line.starts_with('\t')) line.remove_prefix(1);
      if (line == here.delimiter) break;
      here.body.append(line).append("\n");
    }
    const std::string body = here.body;
    const bool expands = here.expands;
    here.read = true;
    heres_[heres_read_] = std::move(here);
    if (!expands) continue;
    if (const Status read = inner(body, true, Command::To::pipe); !read)
      refuse(read.error().message, read.error().code);
  }
}

Result<Script> parse(std::string_view text) {
  if (text.size() > script_bytes_max) return fail(Code::too_large, "the script is too long to be looked at");
  if (text.contains('\0')) return fail(Code::invalid_argument, "the script has a NUL in it");
  Script script;
  if (Status read = Parser(text, 0, script).run(); !read) return std::unexpected(read.error());
  return script;
}

}  // namespace errand::shell

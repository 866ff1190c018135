#include "shell/interactive.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "shell/parse.h"
#include "shell/rules.h"

namespace errand::shell {
namespace {

constexpr int wraps_max = 12;  // A command behind more than this is let pass.

// One program that would be started.
struct Invocation {
  std::vector<Word> words;  // The first is the program.
  bool input = false;       // Its standard input is redirected.
  bool output = false;      // Its standard output is.
  std::string here;         // What a here-document gives it.
};

// The words of an invocation as the program reads them.
struct Arguments {
  std::vector<Word> all;  // Everything behind the program.
  std::vector<Word> options;
  std::vector<Word> operands;
  std::vector<size_t> option_at, operand_at;  // Where they are in `all`.
  bool has_tail = false;                      // The last words are another program's.
};

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "python3.11" is known as "python" too. Others have numbers for names of their own: "top10" is not top.
std::string_view without_version(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789.-");
  const std::string_view plain = end == std::string_view::npos ? name : name.substr(0, end + 1);
  return in_list("python pypy node ruby jruby perl php lua pip gdb lldb", plain) ? plain : name;
}

// A script of one's own may have any name: "./watch" is not watch. What is in a folder of programs is what it is
// called.
bool is_own_script(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  return !path.substr(0, slash).ends_with("bin") && !in_list("manage.py gradlew mvnw rails", path.substr(slash + 1));
}

bool names(std::string_view list, std::string_view program) {
  return in_list(list, program) || in_list(list, without_version(program));
}

bool is_group(std::string_view word) {
  return word.size() >= 2 && word.size() <= 5 && word[0] == '-' &&
         std::ranges::all_of(word.substr(1), [](unsigned char c) { return std::isalpha(c); });
}

// `lax`: a value may be attached ("-mtext").
bool is_option(std::string_view word, std::string_view option, bool lax) {
  if (option.starts_with('=')) return word == option.substr(1);
  if (option.ends_with('=') || option.starts_with('+')) return word.starts_with(option);
  if (option.starts_with("--")) return word == option || (word.starts_with(option) && word[option.size()] == '=');
  if (!option.starts_with('-')) return word == option;
  if (option.size() == 2)
    return word == option || (is_group(word) && word.contains(option[1])) || (lax && word.starts_with(option));
  if (word.starts_with("--")) word.remove_prefix(1);
  return word == option || (word.starts_with(option) && word[option.size()] == '=');
}

template <class Each>
bool any_in(std::string_view list, Each each) {
  while (!list.empty()) {
    const size_t space = std::min(list.find(' '), list.size());
    if (space > 0 && each(list.substr(0, space))) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

// The word may be options that are not seen here: "$FLAGS", "$@".
bool may_be_options(const Word& word) {
  if (word.expansion == "@" || word.expansion == "*") return true;
  std::string name = word.expansion;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word.open && (name.contains("opt") || name.contains("flag") || name.contains("arg") || name.contains("yes"));
}

bool has_option(const std::vector<Word>& words, std::string_view list, bool lax) {
  return std::ranges::any_of(words, [&](const Word& word) {
    return any_in(list, [&](std::string_view option) { return is_option(word.text, option, lax); });
  });
}

// The options of `list` that count behind the word at `place` only.
bool has_option_behind(const Arguments& arguments, size_t place, std::string_view list) {
  return any_in(list, [&](std::string_view option) {
    return option.starts_with('>') &&
           std::any_of(arguments.all.begin() + static_cast<std::ptrdiff_t>(place), arguments.all.end(),
                       [&](const Word& word) { return is_option(word.text, option.substr(1), true); });
  });
}

const Grammar* grammar_of(std::string_view program) {
  const auto rows = grammars();
  const auto row = std::ranges::find_if(rows, [&](const Grammar& g) { return names(g.programs, program); });
  return row == rows.end() ? nullptr : &*row;
}

bool takes_value(const Grammar& grammar, std::string_view option) {
  if (in_list(grammar.values, option)) return true;
  return is_group(option) && in_list(grammar.values, std::string("-") + option.back());
}

Arguments read_arguments(const Invocation& invocation) {
  constexpr Grammar none{};
  const Grammar* const known = grammar_of(base_name(invocation.words[0].text));
  const Grammar& grammar = known != nullptr ? *known : none;
  Arguments out;
  out.all.assign(invocation.words.begin() + 1, invocation.words.end());
  bool options_over = false;
  for (size_t i = 0; i < out.all.size(); ++i) {
    const Word& word = out.all[i];
    const bool option = !options_over && word.text.size() > 1 && (word.text[0] == '-' || word.text[0] == '+');
    if (option && word.text == "--") {
      options_over = true;
    } else if (option) {
      out.options.push_back(word);
      out.option_at.push_back(i);
      if (takes_value(grammar, word.text) && i + 1 < out.all.size()) ++i;
    } else {
      out.operands.push_back(word);
      out.operand_at.push_back(i);
      const bool stops = grammar.only.empty() || in_list(grammar.only, out.operands[0].text);
      if (stops && grammar.stops > 0 && std::ssize(out.operands) >= grammar.stops) options_over = out.has_tail = true;
    }
  }
  return out;
}

// How many operands one of `verbs` takes up at the front; 0: none of them is there.
int verb_length(std::string_view verbs, const std::vector<Word>& operands) {
  int length = 0;
  any_in(verbs, [&](std::string_view verb) {
    int count = 0;
    for (size_t from = 0; from <= verb.size(); ++count) {
      const size_t plus = std::min(verb.find('+', from), verb.size());
      if (count >= std::ssize(operands) || operands[static_cast<size_t>(count)].text != verb.substr(from, plus - from))
        return false;
      from = plus + 1;
    }
    length = count;
    return true;
  });
  return length;
}

bool is_assignment(const Word& word) {
  const size_t equals = word.text.find('=');
  return equals != std::string::npos && equals > 0 && word.text[0] != '-' && equals < word.plain;
}

std::string name_of(std::string_view assignment) { return std::string(assignment.substr(0, assignment.find('='))); }

class Check {
 public:
  explicit Check(const std::vector<std::string>& variables) : variables_(variables.begin(), variables.end()) {}

  std::optional<Refusal> script(std::string_view text, bool input, int wraps) {
    if (wraps > wraps_max) return std::nullopt;
    const Result<Script> parsed = parse(text);
    if (!parsed) return std::nullopt;
    functions_.insert(parsed->functions.begin(), parsed->functions.end());
    for (const Command& command : parsed->commands) note_variables(command);
    for (const Command& command : parsed->commands) {
      if (command.words.empty()) continue;
      Invocation invocation{command.words, input || command.input != Command::From::inherited,
                            command.output != Command::To::inherited, command.here};
      if (auto found = check(invocation, wraps + 1)) return found;
    }
    return std::nullopt;
  }

  std::optional<Refusal> check(const Invocation& invocation, int wraps) {
    const Word& first = invocation.words[0];
    if (wraps > wraps_max || !first.known || first.text.empty() || is_own_script(first.text)) return std::nullopt;
    const std::string program(base_name(first.text));
    if (functions_.contains(program)) return std::nullopt;
    const Arguments arguments = read_arguments(invocation);
    for (const Rule& rule : rules())
      if (auto found = match(rule, program, invocation, arguments)) return found;
    for (const Wrapper& wrapper : wrappers())
      if (auto found = look_through(wrapper, program, invocation, arguments, wraps)) return found;
    if (program == "find") return check_find(invocation, wraps);
    return std::nullopt;
  }

 private:
  // What the script sets counts for all of it: in which order is not worth a false alarm.
  void note_variables(const Command& command) {
    for (const std::string& assignment : command.assignments) variables_.insert(name_of(assignment));
    for (const Word& word : command.words)
      if (is_assignment(word)) variables_.insert(name_of(word.text));
  }

  std::optional<Refusal> match(const Rule& rule, const std::string& program, const Invocation& invocation,
                               const Arguments& arguments) const {
    if (!names(rule.programs, program)) return std::nullopt;
    const int verbs = verb_length(rule.verbs, arguments.operands);
    if (!rule.verbs.empty() && verbs == 0) return std::nullopt;
    if (!rule.when.empty() && !has_option(arguments.options, rule.when, false)) return std::nullopt;
    if (has_option(arguments.has_tail ? arguments.options : arguments.all, rule.unless, true)) return std::nullopt;
    if (verbs > 0 && has_option_behind(arguments, arguments.operand_at[static_cast<size_t>(verbs) - 1], rule.unless))
      return std::nullopt;
    if (!rule.unless.empty() && std::ranges::any_of(arguments.all, may_be_options)) return std::nullopt;
    if (rule.fewer > 0) {
      const auto real = std::ranges::count_if(arguments.operands, [](const Word& word) { return word.text != "-"; });
      if (real - verbs >= rule.fewer) return std::nullopt;
    }
    if ((rule.pass & input) != 0 && invocation.input) return std::nullopt;
    if ((rule.pass & output) != 0 && invocation.output) return std::nullopt;
    if (any_in(rule.variables, [&](std::string_view name) { return variables_.contains(std::string(name)); }))
      return std::nullopt;
    std::string command = program;
    for (int i = 0; i < verbs; ++i) command += " " + arguments.operands[static_cast<size_t>(i)].text;
    return refusal(rule, program, verbs > 0 ? arguments.operands[0].text : "", std::move(command));
  }

  static void replace(std::string& text, std::string_view what, std::string_view with) {
    if (const size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
  }

  static Refusal refusal(const Rule& rule, std::string_view program, std::string_view verb, std::string command) {
    Refusal out{std::string(rule.key), std::move(command), std::string(reason_of(rule.key)), std::string(rule.instead)};
    replace(out.reason, "{}", out.command);
    replace(out.instead, "{program}", program);
    replace(out.instead, "{verb}", verb);
    return out;
  }

  std::optional<Refusal> look_through(const Wrapper& wrapper, const std::string& program, const Invocation& invocation,
                                      const Arguments& arguments, int wraps) {
    if (!names(wrapper.programs, program)) return std::nullopt;
    const int verbs = verb_length(wrapper.verbs, arguments.operands);
    if (!wrapper.verbs.empty() && verbs == 0) return std::nullopt;
    if (has_option(arguments.options, wrapper.nothing, false)) return std::nullopt;
    Invocation inner{{}, invocation.input || wrapper.feeds, invocation.output, {}};
    if (!wrapper.option.empty()) {
      const auto option = std::ranges::find_if(
          arguments.options, [&](const Word& word) { return is_option(word.text, wrapper.option, false); });
      const size_t value = option == arguments.options.end()
                               ? arguments.all.size()
                               : arguments.option_at[static_cast<size_t>(option - arguments.options.begin())] + 1;
      if (value >= arguments.all.size()) {
        // A shell that reads its script from here.
        if (wrapper.rest == Wrapper::Rest::script && arguments.operands.empty() && !invocation.here.empty())
          return script(invocation.here, true, wraps + 1);
        return std::nullopt;
      }
      const Word& named = arguments.all[value];
      if (!wrapper.module) return named.known ? script(named.text, inner.input, wraps + 1) : std::nullopt;
      inner.words.assign(arguments.all.begin() + static_cast<std::ptrdiff_t>(value), arguments.all.end());
    } else {
      size_t operand = static_cast<size_t>(verbs + wrapper.skip);
      // env X=1 command
      for (; operand < arguments.operands.size() && is_assignment(arguments.operands[operand]); ++operand)
        variables_.insert(name_of(arguments.operands[operand].text));
      if (operand >= arguments.operands.size()) return std::nullopt;
      inner.words.assign(arguments.all.begin() + static_cast<std::ptrdiff_t>(arguments.operand_at[operand]),
                         arguments.all.end());
    }
    if (wrapper.rest == Wrapper::Rest::script) {
      std::string text;
      for (const Word& word : inner.words) {
        if (!word.known) return std::nullopt;
        text += (text.empty() ? "" : " ") + word.text;
      }
      return script(text, inner.input, wraps + 1);
    }
    if (!wrapper.only.empty() && !in_list(wrapper.only, base_name(inner.words[0].text))) return std::nullopt;
    return check(inner, wraps + 1);
  }

  // find ... -exec COMMAND {} \;
  std::optional<Refusal> check_find(const Invocation& invocation, int wraps) {
    for (size_t i = 1; i < invocation.words.size(); ++i) {
      const std::string& text = invocation.words[i].text;
      if (text != "-exec" && text != "-execdir") continue;
      Invocation inner{{}, invocation.input, invocation.output, {}};
      for (++i; i < invocation.words.size() && invocation.words[i].text != ";" && invocation.words[i].text != "+"; ++i)
        inner.words.push_back(invocation.words[i]);
      if (inner.words.empty()) continue;
      if (auto found = check(inner, wraps + 1)) return found;
    }
    return std::nullopt;
  }

  std::set<std::string, std::less<>> variables_;
  std::set<std::string, std::less<>> functions_;
};

}  // namespace

std::optional<Refusal> find_interactive(std::string_view script, const std::vector<std::string>& variables) {
  return Check(variables).script(script, false, 0);
}

std::optional<Refusal> find_interactive(const std::vector<std::string>& argv,
                                        const std::vector<std::string>& variables) {
  if (argv.empty()) return std::nullopt;
  Invocation invocation;
  for (const std::string& word : argv)
    invocation.words.push_back({.text = word, .expansion = {}, .plain = word.size()});
  return Check(variables).check(invocation, 0);
}

std::string refusal_text(const Refusal& refusal) {
  return refusal.reason + " A task has no terminal and its standard input is empty, so nobody can answer. Use " +
         refusal.instead + "; or set allow_interactive (--allow-interactive) to start it anyway.";
}

}  // namespace errand::shell

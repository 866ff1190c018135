#include "cli/parse.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/duration.h"
#include "cli/files.h"
#include "cli/find_server.h"
#include "cli/shape.h"

namespace errand::cli {

namespace {

// Shows an option's value and default only. Its help says which values it takes; an error says what excludes what.
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string type = option->get_type_name();
    type.resize(std::min(type.size(), type.find(':')));
    std::string out = option->get_type_size() != 0 && !type.empty() ? " " + type : "";
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) out += " ...";
    if (!option->get_default_str().empty()) out += " [" + option->get_default_str() + "]";
    return out;
  }
};

std::string overview() {
  std::string out = "errand runs background tasks for people and AI agents.\n\nUsage: errand VERB [OPTIONS] ...\n";
  std::string_view group;
  for (const Verb& verb : verbs()) {
    if (!*verb.group) continue;
    if (group != verb.group) out += fmt::format("\n{}:\n", verb.group);
    group = verb.group;
    out += fmt::format("  {:<10}  {}\n", verb.name, verb.summary);
  }
  out += "\nOptions of every verb:\n";
  auto line = [&](std::string_view names, std::string_view help) { out += fmt::format("  {:<18}  {}\n", names, help); };
  for (const OptionShape& option : global_options())
    line(fmt::format("{}{}{}", fmt::join(option.names, ", "), option.value.empty() ? "" : " ", option.value),
         option.help);
  line("-h, --help", "Print help; errand help VERB shows a verb's options");
  return out +
         "\nFor an id, type any unique beginning of it, with or without \"task_\".\n"
         "A verb that needs a server starts one in the background if none runs.\n";
}

// The first word that is neither an option nor the value of one; or "--"; or the end.
size_t first_plain(const std::vector<std::string>& line, size_t from, const std::vector<CLI::App*>& apps) {
  for (size_t i = from; i < line.size(); ++i) {
    const std::string& word = line[i];
    if (word == "--" || word == "-" || !word.starts_with('-')) return i;
    size_t equals = word.find('=');
    // "-ftvalue" carries its value itself; only "-t" or "--title" take the next word.
    for (CLI::App* app : apps) {
      const CLI::Option* option = app->get_option_no_throw(word.substr(0, equals));
      if (option && option->get_expected_min() > 0 && equals == std::string::npos) ++i;
      if (option) break;
    }
  }
  return line.size();
}

// Verbs whose words are not ours to read.
bool takes_words(std::string_view verb) { return verb == "run" || verb == "__complete"; }

std::vector<std::string> option_names(const std::vector<CLI::App*>& apps) {
  std::vector<std::string> names;
  for (CLI::App* app : apps)
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Says what is wrong in our words: CLI11's messages name C++ types.
std::string explain(const CLI::ParseError& error, const std::vector<std::string>& extras,
                    const std::vector<CLI::App*>& apps, const std::string& verb) {
  std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !extras.empty()) {
    const std::string& word = extras.front();
    bool option = word.starts_with('-');
    std::string near = option ? did_you_mean(word.substr(0, word.find('=')), option_names(apps)) : std::string();
    message = option ? fmt::format("errand {} has no option {}", verb, word)
                     : fmt::format("errand {} does not take the argument \"{}\"", verb, word);
    if (!near.empty()) message += fmt::format("; did you mean {}?", near);
  }
  return fmt::format("{}{} See: errand help {}", message, message.ends_with('?') || message.ends_with('.') ? "" : ".",
                     verb);
}

std::string fill_data_dir(const std::string& given) { return absolute(given.empty() ? default_data_dir() : given); }

Stop wrong(std::string message, bool json) { return Stop{Exit::usage, std::move(message), json}; }

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  auto distance = [](const std::string& a, const std::string& b) {
    std::vector<size_t> before(b.size() + 1), row(b.size() + 1), before_that;
    std::iota(before.begin(), before.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
      row[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        if (swapped) row[j] = std::min(row[j], before_that[j - 2] + 1);
      }
      before_that = std::exchange(before, row);
    }
    return before[b.size()];
  };
  std::string best;
  size_t best_distance = 3;
  for (const std::string& name : known) {
    size_t d = word.size() > 2 && name.starts_with(word) ? 1 : distance(word, name);
    if (d < best_distance && d < name.size() - 1) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

std::expected<Parsed, Stop> parse(const std::vector<std::string>& words_given) {
  std::vector<std::string> line = words_given;
  Globals globals;
  CLI::App app("errand", "errand");
  app.set_help_flag();
  app.fallthrough();
  globals_setup(app, globals);

  size_t at = first_plain(line, 0, {&app});
  auto ends = line.begin() + static_cast<long>(std::find(line.begin(), line.end(), "--") - line.begin());
  bool json = std::find(line.begin(), ends, "--json") != ends;
  auto says = [&](std::string_view a, std::string_view b) {
    return std::any_of(line.begin(), line.begin() + static_cast<long>(std::min(at, line.size())),
                       [&](const std::string& word) { return word == a || word == b; });
  };
  if (says("--version", "-V"))
    return Parsed{{fill_data_dir({}), {}, {}, {ColourWish::automatic, json, false}}, VersionArgs{}};
  bool help = says("--help", "-h");
  if (!help && at < line.size() && line[at] == "help") {
    help = true;
    line.erase(line.begin() + static_cast<long>(at));
  }
  if (at >= line.size() || line[at] == "--") {
    bool asked = help || line.empty();
    if (!asked && std::ranges::any_of(line, [](const std::string& word) { return word.starts_with('-'); })) {
      try {
        app.parse(std::vector<std::string>(line.rbegin(), line.rend()));
      } catch (const CLI::ParseError& error) {
        return std::unexpected(wrong(fmt::format("{} See: errand help", error.what()), json));
      }
    }
    return std::unexpected(Stop{Exit::ok, overview(), json});
  }

  if (const Alias* const alias = find_alias(line[at])) {
    line[at] = alias->verb;
    if (*alias->option) line.insert(line.begin() + static_cast<long>(at) + 1, alias->option);
  }
  const std::string& name = line[at];
  const Verb* verb = find_verb(name);
  if (!verb) {
    std::vector<std::string> names;
    for (const Verb& one : verbs())
      if (*one.group) names.emplace_back(one.name);
    std::string near = did_you_mean(name, names);
    return std::unexpected(wrong(fmt::format("\"{}\" is not a verb{} See: errand help", name,
                                             near.empty() ? "." : fmt::format("; did you mean {}?", near)),
                                 json));
  }

  // Only the verb in question is set up: that is what makes a start cheap.
  CLI::App* sub = app.add_subcommand(verb->name, verb->summary);
  sub->set_help_flag("-h,--help", "This help");
  sub->footer(fmt::format("Example:\n  {}\n", verb->example));
  sub->formatter(std::make_shared<PlainFormatter>());
  sub->get_formatter()->column_width(28);
  Made made = verb->setup(*sub, globals);
  line[at] = verb->name;
  std::vector<CLI::App*> apps = {sub, &app};

  // A command's own words are not ours to read.
  std::vector<std::string> command;
  if (takes_words(verb->name)) {
    size_t split = first_plain(line, at + 1, apps);
    size_t begin = split < line.size() && line[split] == "--" ? split + 1 : split;
    command.assign(line.begin() + static_cast<long>(begin), line.end());
    line.resize(split);
  }
  if (help) return std::unexpected(Stop{Exit::ok, sub->help("errand"), json});
  try {
    app.parse(std::vector<std::string>(line.rbegin(), line.rend()));
  } catch (const CLI::CallForHelp&) {
    return std::unexpected(Stop{Exit::ok, sub->help("errand"), json});
  } catch (const CLI::ParseError& error) {
    return std::unexpected(wrong(explain(error, app.remaining(true), apps, verb->name), json));
  }
  globals.data_dir = fill_data_dir(globals.data_dir);
  if (const char* url = std::getenv("ERRAND_URL"); url && globals.url.empty()) globals.url = url;
  VerbArgs args = made();
  if (RunArgs* run = std::get_if<RunArgs>(&args)) {
    if (command.empty())
      return std::unexpected(wrong("The command is missing. Type: errand run -- COMMAND. See: errand help run", json));
    run->command = std::move(command);
  } else if (CompleteArgs* complete = std::get_if<CompleteArgs>(&args)) {
    complete->line = std::move(command);
  }
  return Parsed{std::move(globals), std::move(args)};
}

}  // namespace errand::cli

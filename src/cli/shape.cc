#include "cli/shape.h"

#include <algorithm>

#include <CLI/App.hpp>

#include "base/text.h"

namespace errand::cli {
namespace {

// CLI11 keeps what IsMember accepts only as a part of the type's name: "WORD:{a,b,c}".
std::vector<std::string> choices_in(const std::string& type) {
  const size_t open = type.find(":{");
  const size_t close = type.find('}', open == std::string::npos ? type.size() : open);
  if (close == std::string::npos) return {};
  std::vector<std::string> out;
  for (std::string_view word : split(std::string_view(type).substr(open + 2, close - open - 2), ','))
    out.emplace_back(word);
  return out;
}

OptionShape shape_of(const CLI::Option& option) {
  OptionShape shape;
  const std::string type = option.get_type_name();
  shape.positional = option.get_positional();
  if (shape.positional) shape.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) shape.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) shape.names.push_back("--" + name);
  shape.choices = choices_in(type);
  // A flag has no value, whatever the name of its type.
  if (option.get_type_size() != 0 && option.get_expected_max() > 0) shape.value = type.substr(0, type.find(':'));
  shape.help = option.get_description();
  shape.preset = option.get_default_str();
  shape.required = option.get_required();
  shape.many = shape.positional && option.get_expected_max() > 1;
  if (shape.value.empty() && !shape.positional && option.get_expected_min() > 0) shape.value = "VALUE";
  return shape;
}

std::vector<OptionShape> shapes_of(const CLI::App& app) {
  std::vector<OptionShape> out;
  for (const CLI::Option* option : app.get_options()) out.push_back(shape_of(*option));
  return out;
}

}  // namespace

bool OptionShape::is(const std::string& name) const { return std::ranges::find(names, name) != names.end(); }

std::vector<OptionShape> options_of(const Verb& verb) {
  CLI::App app(verb.summary, verb.name);
  app.set_help_flag("-h,--help", "This help");
  Globals globals;
  const Made made = verb.setup(app, globals);
  return shapes_of(app);
}

std::vector<OptionShape> global_options() {
  CLI::App app("errand", "errand");
  app.set_help_flag();
  Globals globals;
  globals_setup(app, globals);
  return shapes_of(app);
}

const Alias* find_alias(const std::string& name) {
  static constexpr Alias aliases[] = {{"ls", "list", ""},
                                      {"ps", "list", ""},
                                      {"rm", "clear", ""},
                                      {"kill", "cancel", ""},
                                      {"tail", "logs", "--follow"}};
  const auto found = std::ranges::find_if(aliases, [&](const Alias& alias) { return alias.name == name; });
  return found == std::end(aliases) ? nullptr : &*found;
}

const Verb* find_verb(const std::string& name) {
  const Alias* const alias = find_alias(name);
  const std::string wanted = alias ? alias->verb : name;
  const auto found = std::ranges::find_if(verbs(), [&](const Verb& verb) { return verb.name == wanted; });
  return found == verbs().end() ? nullptr : &*found;
}

}  // namespace errand::cli

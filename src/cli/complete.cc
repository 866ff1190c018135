#include "cli/complete.h"

#include <algorithm>

#include "cli/shape.h"

namespace errand::cli {
namespace {

using Shapes = std::vector<OptionShape>;

void offer(Suggestions& out, const std::string& word, const std::string& help) {
  const std::string whole = out.before + word;
  if (whole.starts_with(out.before + out.typed)) out.words.push_back({whole, help});
}

const OptionShape* option_named(const Shapes& shapes, const std::string& name) {
  const auto found = std::ranges::find_if(shapes, [&](const OptionShape& one) { return one.is(name); });
  return found == shapes.end() || found->positional ? nullptr : &*found;
}

Lookup lookup_of(const OptionShape& option) {
  if (option.is("--batch")) return Lookup::batches;
  if (option.is("--agent")) return Lookup::agents;
  if (option.value == "FILE") return Lookup::files;
  if (option.value == "DIR") return Lookup::folders;
  if (!option.positional) return Lookup::none;
  // A verb's words say what it takes; only its own ids are worth a question to the server.
  const bool id = option.is("id") || option.is("ids");
  if (id && option.help.find("batch") != std::string::npos) return Lookup::batches;
  if (id && option.help.find("ask") != std::string::npos) return Lookup::tasks;
  if (option.is("name") && option.help.starts_with("The tool")) return Lookup::tools;
  return Lookup::none;
}

void offer_value(Suggestions& out, const OptionShape& option) {
  out.lookup = lookup_of(option);
  if (option.value == "ID|new") offer(out, "new", "");
  // Of several values with commas between, the last one is being typed.
  if (!option.choices.empty() && option.value == "STATUS") {
    const size_t comma = out.typed.rfind(',');
    if (comma != std::string::npos) {
      out.before += out.typed.substr(0, comma + 1);
      out.typed.erase(0, comma + 1);
    }
  }
  for (const std::string& choice : option.choices) offer(out, choice, "");
}

void offer_options(Suggestions& out, const Shapes& shapes) {
  for (const OptionShape& option : shapes)
    if (!option.positional)
      for (const std::string& name : option.names)
        // Letters are offered to those who typed no more than the dash.
        if (name.starts_with("--") || out.typed == "-") offer(out, name, option.help);
}

void offer_verbs(Suggestions& out) {
  for (const Verb& verb : verbs())
    if (*verb.group) offer(out, verb.name, verb.summary);
}

// What the words before the one being typed have come to.
struct Place {
  std::vector<std::string> plain;      // The words that are neither options nor their values.
  const OptionShape* waits = nullptr;  // The option whose value comes next.
  bool dashes = false;                 // "--" ended the options.
};

Place walk(const std::vector<std::string>& line, size_t from, const Shapes& shapes, bool stop_at_plain) {
  Place place;
  for (size_t i = from; i + 1 < line.size(); ++i) {
    const std::string& word = line[i];
    if (place.waits) {
      place.waits = nullptr;
    } else if (place.dashes || word == "-" || !word.starts_with('-')) {
      place.plain.push_back(word);
      // What follows a command's first word is its own.
      if (stop_at_plain) place.dashes = true;
    } else if (word == "--") {
      place.dashes = true;
    } else if (const OptionShape* option = option_named(shapes, word); option && !option->value.empty()) {
      place.waits = option;
    }
  }
  return place;
}

void offer_positional(Suggestions& out, const Shapes& shapes, size_t index) {
  for (const OptionShape& option : shapes) {
    if (!option.positional) continue;
    if (index == 0 || option.many) return offer_value(out, option);
    --index;
  }
}

}  // namespace

Suggestions suggest(const std::vector<std::string>& line) {
  Suggestions out;
  if (line.empty()) return out;
  out.typed = line.back();
  Shapes shapes = global_options();

  // The verb is the first word that is none of the options of every verb.
  size_t at = 0;
  for (const OptionShape* waits = nullptr; at + 1 < line.size(); ++at) {
    const bool value = waits != nullptr;
    waits = nullptr;
    if (!value && !line[at].starts_with('-')) break;
    const OptionShape* option = value ? nullptr : option_named(shapes, line[at]);
    if (option && !option->value.empty()) waits = option;
  }
  const bool has_verb = at + 1 < line.size();
  const Verb* verb = has_verb ? find_verb(line[at]) : nullptr;
  if (has_verb && line[at] == "help") {
    if (at + 2 == line.size()) offer_verbs(out);
    return out;
  }
  if (has_verb && !verb) return out;
  if (verb) {
    out.verb = verb->name;
    std::ranges::move(options_of(*verb), std::back_inserter(shapes));
  }

  const bool runs = out.verb == "run";
  const Place place = walk(line, has_verb ? at + 1 : 0, shapes, runs);
  if (place.waits) {
    offer_value(out, *place.waits);
  } else if (runs && (place.dashes || !place.plain.empty())) {
    out.lookup = place.plain.empty() ? Lookup::commands : Lookup::files;
  } else if (!place.dashes && out.typed.starts_with('-')) {
    const size_t equals = out.typed.find('=');
    if (equals == std::string::npos) {
      offer_options(out, shapes);
      if (!verb) {
        offer(out, "--help", "Print help");
        offer(out, "--version", "Print the version");
      }
    } else if (const OptionShape* option = option_named(shapes, out.typed.substr(0, equals))) {
      out.before = out.typed.substr(0, equals + 1);
      out.typed.erase(0, equals + 1);
      offer_value(out, *option);
    }
  } else if (!verb) {
    offer_verbs(out);
    offer(out, "help", "Show a verb's options");
  } else if (runs) {
    out.lookup = Lookup::commands;
  } else {
    offer_positional(out, shapes, place.plain.size());
  }
  return out;
}

}  // namespace errand::cli

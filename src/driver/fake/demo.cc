#include "driver/fake/demo.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace errand::fake {
namespace {

constexpr size_t chunk = 24;       // Bytes of a streamed answer at a time,
constexpr Millis chunk_ms = 20;    // and the time between two: about as fast as a model writes.
constexpr size_t quote_max = 200;  // Characters of the prompt that are quoted.
constexpr int64_t day_s = 86'400;

std::string quoted_prompt(const Prompt& prompt) {
  const std::string line = to_utf8(first_line(trim(prompt.text)));
  return std::string(first_characters(line, quote_max));
}

void add_text(Script& script, const Prompt& prompt, int64_t) {
  const std::string quote = quoted_prompt(prompt);
  script.stream(
      fmt::format("**This is a demonstration**: no model is behind it, and nothing was done on your machine.\n\n"
                  "You wrote:\n\n> {}\n\n"
                  "A real agent would answer here, as text that comes piece by piece:\n\n"
                  "1. It may use *Markdown*, lists and `code`.\n"
                  "2. You can leave this page and come back: nothing is lost.\n"
                  "3. Send `help` to see what else I can show.\n",
                  quote.empty() ? "(nothing)" : quote),
      chunk, chunk_ms);
}

void add_tools(Script& script, const Prompt&, int64_t) {
  script.stream("I call three tools; the last one fails (a demonstration: nothing is read or run).\n", chunk, chunk_ms);
  script.tool({.name = "list",
               .input = R"({"path":"."})",
               .summary = "list .",
               .output = "README.md\nsrc/\ntests/\n",
               .ms = 120});
  script.tool({.name = "read",
               .input = R"({"path":"README.md","limit":20})",
               .summary = "read README.md",
               .output = "# A project\n\nThis text is part of the demonstration.\n",
               .ms = 80});
  script.tool({.name = "run",
               .input = R"({"command":"make test"})",
               .summary = "make test",
               .output = "make: *** No rule to make target 'test'.  Stop.\n",
               .is_error = true,
               .ms = 250});
  script.stream("Two tools answered and one failed, as a demonstration of both.\n", chunk, chunk_ms);
}

void add_think(Script& script, const Prompt&, int64_t) {
  script.add(step::Say{.text = "The user wants to see reasoning. This is what an agent thinks before it answers; it is "
                               "kept apart from the answer itself.",
                       .reasoning = true,
                       .chunk = chunk,
                       .every_ms = chunk_ms});
  script.stream("I thought about it (as a demonstration), and this is the answer.\n", chunk, chunk_ms);
}

void add_ask(Script& script, const Prompt&, int64_t) {
  script.ask("colour", "Which colour should the demonstration use?", {"red", "green", "blue"});
  script.stream("You chose **{colour}**. A real agent would now go on with it.\n", chunk, chunk_ms);
}

void add_permission(Script& script, const Prompt&, int64_t) {
  script.ask_permission("permission", "May I write notes.txt? (A demonstration: nothing is written.)", "write",
                        "notes.txt");
  script.when("permission", "deny", Script().stream("You did not allow it, so I left it alone.\n", chunk, chunk_ms));
  script.unless("permission", "deny",
                Script()
                    .tool({.name = "write",
                           .input = R"({"path":"notes.txt"})",
                           .summary = "write notes.txt",
                           .output = "Nothing was written: this is a demonstration.",
                           .ms = 60})
                    .stream("You allowed it ({permission}), so I would have written the file.\n", chunk, chunk_ms));
}

void add_fail(Script& script, const Prompt&, int64_t) {
  script.stream("Now I fail, as you asked.\n", chunk, chunk_ms);
  script.add(step::Fail{
      {"demo_failure", "The demonstration failed because its prompt asked for it.", R"({"asked_for":"fail"})"}});
}

void add_long(Script& script, const Prompt&, int64_t seconds) {
  script.say(fmt::format("I work for {} s, as a demonstration.\n", seconds));
  script.repeat(fmt::format("{{n}} of {} s\n", seconds), seconds, 1'000);
  script.say(fmt::format("I worked for {} s.\n", seconds));
}

void add_flood(Script& script, const Prompt&, int64_t count) {
  script.repeat("{n} ", count, 0);
  script.say(fmt::format("\nThose were {} pieces of text.\n", count));
}

// Markdown of every kind, a thousand words a second: what a page must keep up with.
void add_stream(Script& script, const Prompt&, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = i % 120;
    if (place == 0) text += "\n\n## ";
    if (place == 6) text += "\n\n";
    if (place == 50 || place == 60 || place == 70) text += "\n- ";
    if (place == 80) text += "\n\n```\n";
    if (place == 100) text += "\n```\n\n";
    text += place % 17 == 3 ? "**some** " : "words ";
  }
  script.stream(std::move(text), 6, 1);
  script.say(fmt::format("\n\nI wrote {} words.\n", count));
}

// Unlike text, warnings are not merged: each is an event of its own.
void add_warnings(Script& script, const Prompt&, int64_t count) {
  for (int64_t i = 1; i <= count; ++i)
    script.warn("demo",
                fmt::format("Warning {} of {}, as a demonstration: nothing is wrong, and nothing needs to be done. "
                            "Each of these is one stored event of about two hundred bytes.",
                            i, count));
  script.say(fmt::format("I sent {} warnings.\n", count));
}

void add_noop(Script& script, const Prompt&, int64_t) { script.finish("ok"); }

void add_silent(Script& script, const Prompt&, int64_t seconds) {
  script.silent(seconds * 1'000);
  script.say(fmt::format("I was silent for {} s.\n", seconds));
}

void add_usage(Script& script, const Prompt&, int64_t) {
  script.use({.input_tokens = 1'200, .output_tokens = 340, .cost_usd = 0.0087});
  script.stream("I report 1,200 tokens read, 340 written and a cost of $0.0087, all made up.\n", chunk, chunk_ms);
}

void add_help(Script& script, const Prompt&, int64_t);

constexpr DemoWord words[] = {
    {"text", "", 0, 0, "streams an answer in Markdown (this is what any other prompt does)", add_text},
    {"tools", "", 0, 0, "calls three tools, one of which fails", add_tools},
    {"think", "", 0, 0, "shows reasoning before the answer", add_think},
    {"ask", "", 0, 0, "asks a question with options and uses the answer", add_ask},
    {"permission", "", 0, 0, "asks for permission and obeys", add_permission},
    {"fail", "", 0, 0, "fails, with a code and details", add_fail},
    {"long", "seconds", 30, day_s, "works that long and shows its progress", add_long},
    {"flood", "n", 1'000, 1'000'000, "sends that many pieces of text as fast as it can", add_flood},
    {"stream", "n", 1'000, 100'000, "streams that many words of Markdown, a thousand a second", add_stream},
    {"warnings", "n", 3, 10'000, "warns that often, as fast as it can", add_warnings},
    {"noop", "", 0, 0, "ends at once with the result `ok`", add_noop},
    {"silent", "seconds", 60, day_s, "shows no sign of life that long", add_silent},
    {"usage", "", 0, 0, "reports tokens and cost", add_usage},
    {"help", "", 0, 0, "lists these words", add_help},
};

void add_help(Script& script, const Prompt&, int64_t) {
  std::string text =
      "I am errand's demonstration agent: no model is behind me. Words in your message say what I show, in their "
      "order:\n\n";
  for (const DemoWord& word : words) {
    text += fmt::format("- `{}{}`: {}", word.word, word.argument.empty() ? "" : fmt::format(" [{}]", word.argument),
                        word.effect);
    text += word.argument.empty() ? "\n" : fmt::format(" ({} where you give no number)\n", word.number);
  }
  script.say(text);
}

const DemoWord* find_word(std::string_view token) {
  std::string lower(token);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto it = std::ranges::find(words, lower, &DemoWord::word);
  return it == std::end(words) ? nullptr : &*it;
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Takes the next word off `text`; empty at its end.
std::string_view next_token(std::string_view& text) {
  while (!text.empty() && !is_word_character(text.front())) text.remove_prefix(1);
  size_t size = 0;
  while (size < text.size() && is_word_character(text[size])) ++size;
  const std::string_view token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

std::optional<int64_t> take_number(std::string_view& text) {
  std::string_view rest = text;
  const std::string_view token = next_token(rest);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || end != token.data() + token.size()) return {};
  text = rest;
  return number;
}

}  // namespace

std::span<const DemoWord> demo_words() { return words; }

Script demo_script(const Prompt& given) {
  Script script;
  Prompt prompt = given;
  // What failed is not done again where the retry says what to do instead.
  if (!given.retried_with.empty()) {
    script.say("You had me try again with another word, so I do that instead.\n\n");
    prompt.text = given.retried_with;
  }
  std::string_view text = prompt.text;
  // The shortest way for benchmarks: nothing is said before it.
  if (find_word(trim(text)) == find_word("noop")) {
    add_noop(script, prompt, 0);
    return script;
  }
  if (prompt.earlier > 0)
    script.say(fmt::format("You have sent me {} messages in this conversation.\n\n", prompt.earlier + 1));
  int found = 0;
  for (std::string_view token = next_token(text); !token.empty(); token = next_token(text)) {
    const DemoWord* word = find_word(token);
    if (!word) continue;
    if (++found > demo_words_max) {
      script.say(
          fmt::format("I leave the rest out: {} words at a time are enough for a demonstration.\n", demo_words_max));
      break;
    }
    int64_t number = word->number;
    if (!word->argument.empty())
      number = std::clamp<int64_t>(take_number(text).value_or(word->number), 0, word->number_max);
    word->add(script, prompt, number);
  }
  if (found == 0) (trim(prompt.text).empty() ? add_help : add_text)(script, prompt, 0);
  return script;
}

std::unique_ptr<FakeDriver> make_demo_driver(Timers& timers) {
  FakeOptions options;
  options.script = demo_script;
  options.checks_work_dir = true;
  return std::make_unique<FakeDriver>(timers, std::move(options));
}

}  // namespace errand::fake

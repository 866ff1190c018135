#include "cli/questions.h"

#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/terminal.h"

namespace errand::cli {
namespace {

constexpr size_t answer_bytes_max = 8'192;
constexpr Millis key_wait_ms = 60'000;

std::unexpected<Error> left() {
  return fail(Code::conflict, "Stopped here. What was done so far stays; errand setup can be repeated.", "left");
}

}  // namespace

Result<std::string> Questions::line(std::string_view prompt) const {
  screen_.out(prompt);
  std::string text;
  if (!std::getline(std::cin, text)) {
    screen_.out("\n");
    return left();
  }
  return std::string(trim(std::string_view(text).substr(0, answer_bytes_max)));
}

Result<std::string> Questions::secret(std::string_view prompt) const {
  std::string text;
  {
    Terminal terminal(Terminal::Mode::line);
    screen_.out(prompt);
    for (bool done = false; !done;) {
      terminal.wait(key_wait_ms);
      if (terminal.ended()) return left();
      for (const Key& key : terminal.keys()) {
        if (key.kind == Key::Kind::enter) {
          done = true;
        } else if (key.kind == Key::Kind::character && text.size() < answer_bytes_max) {
          append_character(text, key.character);
        } else if (key.kind == Key::Kind::paste && text.size() < answer_bytes_max) {
          text += first_line(trim(key.text)).substr(0, answer_bytes_max);
        } else if (key.kind == Key::Kind::backspace) {
          text = first_characters(text, count_characters(text) - (text.empty() ? 0 : 1));
        } else if (key.kind == Key::Kind::control && key.character == 'u') {
          text.clear();
        } else if (key.kind == Key::Kind::control && key.character == 'd' && text.empty()) {
          screen_.out("\n");
          return left();
        }
      }
    }
  }
  text = trim(text);
  // Giving the terminal back took the line away.
  screen_.out(fmt::format("{}{}\n", prompt,
                          text.empty() ? std::string("none") : fmt::format("({} characters)", count_characters(text))));
  return text;
}

Result<bool> Questions::yes(std::string_view prompt, bool usual) const {
  for (;;) {
    const Result<std::string> said = line(fmt::format("{} [{}] ", prompt, usual ? "Y/n" : "y/N"));
    if (!said) return std::unexpected(said.error());
    if (said->empty()) return usual;
    if (*said == "y" || *said == "Y" || *said == "yes") return true;
    if (*said == "n" || *said == "N" || *said == "no") return false;
  }
}

Result<size_t> Questions::choose(std::string_view prompt, size_t options, size_t usual) const {
  for (;;) {
    const Result<std::string> said = line(prompt);
    if (!said) return std::unexpected(said.error());
    if (said->empty()) return usual;
    size_t number = 0;
    const auto [end, error] = std::from_chars(said->data(), said->data() + said->size(), number);
    if (error == std::errc() && end == said->data() + said->size() && number >= 1 && number <= options)
      return number - 1;
    screen_.out(fmt::format("Type a number from 1 to {}, or only Enter.\n", options));
  }
}

}  // namespace errand::cli

#include "driver/fake/script.h"

#include <utility>

namespace errand::fake {

Script& Script::add(ScriptStep step) {
  steps_.push_back(std::move(step));
  return *this;
}

Script& Script::stream(std::string text, size_t chunk, Millis every_ms) {
  return add(step::Say{.text = std::move(text), .chunk = chunk, .every_ms = every_ms});
}

Script& Script::repeat(std::string text, int64_t count, Millis every_ms) {
  return add(step::Repeat{std::move(text), count, every_ms});
}

Script& Script::ask(std::string slot, std::string text, std::vector<std::string> options) {
  return add(step::Asking{
      .slot = std::move(slot), .kind = AskKind::answer, .text = std::move(text), .options = std::move(options)});
}

Script& Script::ask_permission(std::string slot, std::string text, std::string tool, std::string subject) {
  return add(step::Asking{.slot = std::move(slot),
                          .kind = AskKind::permission,
                          .text = std::move(text),
                          .options = {"allow", "allow_always", "deny"},
                          .tool = std::move(tool),
                          .subject = std::move(subject)});
}

Script& Script::when(std::string_view slot, std::string_view value, const Script& inner) {
  return branch(slot, value, true, inner);
}

Script& Script::unless(std::string_view slot, std::string_view value, const Script& inner) {
  return branch(slot, value, false, inner);
}

Script& Script::branch(std::string_view slot, std::string_view value, bool equal, const Script& inner) {
  add(step::Check{std::string(slot), std::string(value), equal, static_cast<int>(inner.steps_.size())});
  steps_.insert(steps_.end(), inner.steps_.begin(), inner.steps_.end());
  return *this;
}

Script& Script::fail(std::string code, std::string message) {
  return add(step::Fail{{std::move(code), std::move(message), {}}});
}

std::string fill_in(std::string_view text, const StringMap& answers) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const size_t close = text.find('}');
    const auto answer =
        close == std::string_view::npos ? answers.end() : answers.find(std::string(text.substr(1, close - 1)));
    if (answer == answers.end()) {
      out += '{';
      text.remove_prefix(1);
    } else {
      out += answer->second;
      text.remove_prefix(close + 1);
    }
  }
  return out;
}

}  // namespace errand::fake

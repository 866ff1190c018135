// Any bytes as a script: read or refused, within its bounds, and checked without a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "shell/interactive.h"
#include "shell/parse.h"
#include "shell/subjects.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand::shell;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto script = parse(text);
  if (script) {
    if (script->commands.size() > commands_max) std::abort();
    size_t bytes = 0;
    for (const Command& command : script->commands)
      for (const Word& word : command.words) {
        if (word.plain > word.text.size()) std::abort();
        bytes += word.text.size();
      }
    // Nothing is made up: quotes and escapes only take away. (A backtick is read once, as the command that it holds.)
    if (bytes > 2 * size + 16) std::abort();
  } else if (script.error().message.empty()) {
    std::abort();
  }
  if (const auto found = find_interactive(text); found && (found->key.empty() || found->instead.empty())) std::abort();
  if (const auto lines = subjects(text)) {
    if (lines->empty() || lines->size() > subjects_max) std::abort();
    for (const std::string& line : *lines)
      if (line.empty() || line.find_first_of("\r\n") != std::string::npos) std::abort();
  }
  return 0;
}

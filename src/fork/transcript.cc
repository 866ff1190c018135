#include "fork/transcript.h"

#include <fmt/format.h>

namespace errand::fork {
namespace {

std::string shown(const Part& part) {
  switch (part.type) {
    case PartType::text:
    case PartType::notice:
      return part.text;
    case PartType::tool_call:
      return fmt::format("[call {}: {} {}]", part.call_id, part.name, part.input.empty() ? "{}" : part.input);
    case PartType::tool_result:
      return fmt::format("[{} of {}]\n{}", part.is_error ? "error" : "result", part.call_id, part.text);
    case PartType::file:
      return fmt::format("[file \"{}\" ({})]", part.name, part.media_type);
    case PartType::reasoning:
      break;
  }
  return {};
}

}  // namespace

std::string transcript(const std::vector<Message>& messages) {
  std::string out;
  Role speaking = Role::system;
  for (const Message& message : messages) {
    std::string said;
    for (const Part& part : message.parts)
      if (const std::string text = shown(part); !text.empty()) said += (said.empty() ? "" : "\n\n") + text;
    if (said.empty()) continue;
    if (!out.empty()) out += "\n\n";
    // An answer may be many messages; it is headed once.
    if (message.role != speaking && message.role != Role::system) out += fmt::format("## {}\n\n", name(message.role));
    if (message.role == Role::system && speaking != Role::system) out += "---\n\n";
    speaking = message.role;
    out += said;
  }
  return out;
}

}  // namespace errand::fork

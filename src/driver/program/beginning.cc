#include "driver/program/beginning.h"

#include <utility>

#include "base/text.h"
#include "task/json_in.h"

namespace errand::program {
namespace {

constexpr std::string_view note_name = "began";
constexpr size_t why_max = 500;

}  // namespace

std::string beginning_note(std::string_view why) {
  why = trim(first_line(trim(why)));
  std::string text = "You began to work by yourself. Go on.";
  if (!why.empty()) text = why.substr(0, utf8_prefix(why, why_max));
  return encode_parts({{.type = PartType::notice, .text = std::move(text), .name = std::string(note_name)}});
}

bool is_beginning(const Message& message) {
  return message.parts.size() == 1 && message.parts.front().type == PartType::notice &&
         message.parts.front().name == note_name;
}

}  // namespace errand::program

// Any bytes as a SKILL.md: read or refused, and what is given can stand in a prompt.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "driver/builtin/skills/skill_head.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto head = builtin::parse_skill_head(text);
  if (!head) {
    if (head.error().message.empty()) std::abort();
    return 0;
  }
  if (!head->name.empty() && !builtin::is_skill_name(head->name)) std::abort();
  if (head->description.empty() || !is_utf8(head->description) ||
      count_characters(head->description) > builtin::skill_description_max ||
      head->description.find('\n') != std::string::npos)
    std::abort();
  if (head->body > size) std::abort();
  return 0;
}

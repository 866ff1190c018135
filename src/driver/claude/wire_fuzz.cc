// Whatever the program (or whoever stands in its place) says: it is read without harm, and what is reported of it keeps
// the contract of driver.h, also where it is taken up again between two lines.
#include <cstdint>
#include <string>
#include <string_view>

#include "driver/claude/outcome.h"
#include "driver/claude/translate.h"
#include "tests/contract/wire_check.h"

namespace errand::claude {
namespace {

void take(Translator& translator, std::string_view line, std::vector<Report>& out) {
  const Event event = parse_line(line);
  translator.take(event, out);
  if (line.size() % 7 == 0) translator.settle(out);
  if (event.type == Event::Type::result) (void)outcome_of(event);
  for (const Block& block : event.blocks) {
    (void)read_question(block.input);
    ERRAND_CHECK(is_utf8(subject_of(block.input)), "what it is about is text");
    ERRAND_CHECK(parse_line(answers_line("r", block.input, "yes")).type == Event::Type::other, "ours is not theirs");
  }
  (void)reset_time(line);
}

}  // namespace
}  // namespace errand::claude

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  errand::test::check_wire<errand::claude::Translator>({reinterpret_cast<const char*>(data), size},
                                                       errand::test::Heard(), errand::claude::take);
  return 0;
}

// Whatever OpenCode (or whoever answers in its place) says: it is read without harm, what is reported of it keeps the
// contract of driver.h, read twice it is reported once, and a fork of it is made of whole parts.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "driver/opencode/fork_plan.h"
#include "driver/opencode/translate.h"
#include "driver/opencode/wire.h"
#include "tests/contract/wire_check.h"

namespace errand::opencode {
namespace {

bool is_said(const Report& report) {
  return std::holds_alternative<report::Text>(report) || std::holds_alternative<report::ToolStarted>(report);
}

void take(Translator& translator, std::string_view line, std::vector<Report>& out) {
  if (const std::optional<Event> event = parse_event(line)) translator.take(*event, out);
  if (const Result<std::vector<MessageSeen>> messages = parse_messages(line)) {
    translator.missed();
    translator.take(*messages, out);
    (void)outcome_of(*messages, "", false);
    Translator fresh;
    std::vector<Report> once, twice;
    fresh.take(*messages, once);
    fresh.take(*messages, twice);
    ERRAND_CHECK(messages->size() != 1 || std::ranges::none_of(twice, is_said), "what is read again is said once");
    const size_t keep = messages->size() - messages->size() / 3;
    const Result<ForkPlan> plan =
        plan_fork(*messages, keep, {TaskId("task_x"), "do it"}, {.tool_result_chars = 20, .tokens = 1'000});
    ERRAND_CHECK(plan && !plan->preamble.empty(), "any session can be forked");
    for (const Edit& edit : plan->edits)
      ERRAND_CHECK((edit.method == "PATCH") == !edit.body.empty(), "a part is patched whole, or deleted");
  }
  for (const Event::Type type : {Event::Type::permission, Event::Type::question}) (void)parse_requests(line, type);
  (void)parse_ids(line);
  (void)is_busy(line, "ses_1");
  (void)error_text(500, line);
}

}  // namespace
}  // namespace errand::opencode

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A part may be told once more behind the end of its message.
  errand::test::check_wire<errand::opencode::Translator>({reinterpret_cast<const char*>(data), size},
                                                         errand::test::Heard(false), errand::opencode::take);
  return 0;
}

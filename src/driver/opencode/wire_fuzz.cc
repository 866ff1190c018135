// Whatever OpenCode (or whoever answers in its place) says: it is read without harm, what is reported of it keeps the
// contract of driver.h, read twice it is reported once, and a fork of it is made of whole parts.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "driver/opencode/fork_plan.h"
#include "driver/opencode/translate.h"
#include "driver/opencode/wire.h"

namespace errand::opencode {
namespace {

// What every sink relies on.
class Heard {
 public:
  void hear(const std::vector<Report>& reports) {
    for (const Report& any : reports) {
      if (std::holds_alternative<report::MessageBegan>(any)) {
        ERRAND_CHECK(!open_, "a message inside a message");
        open_ = true;
        parts_ = 0;
      } else if (std::holds_alternative<report::MessageEnded>(any)) {
        ERRAND_CHECK(open_, "the end of no message");
        open_ = false;
      } else if (const auto* text = std::get_if<report::Text>(&any)) {
        ERRAND_CHECK(open_ && !text->text.empty() && is_utf8(text->text), "a text that is one");
        ERRAND_CHECK(text->part >= 0 && text->part <= parts_, "parts begin in order");
        parts_ = std::max(parts_, text->part + 1);
      } else if (const auto* tool = std::get_if<report::ToolStarted>(&any)) {
        ERRAND_CHECK(open_ && tool->part == parts_, "a call is a new part");
        ++parts_;
      }
    }
  }
  bool open() const { return open_; }

 private:
  bool open_ = false;
  int parts_ = 0;
};

bool is_said(const Report& report) {
  return std::holds_alternative<report::Text>(report) || std::holds_alternative<report::ToolStarted>(report);
}

void check(std::string_view bytes) {
  Translator translator;
  Heard heard;
  for (const std::string_view line : split(bytes, '\n')) {
    std::vector<Report> out;
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
    heard.hear(out);
    // Taken up again, it goes on where it was.
    if (line.size() % 5 == 0) translator = Translator::from(translator.mark());
  }
  std::vector<Report> last;
  translator.close(last);
  heard.hear(last);
  ERRAND_CHECK(!heard.open(), "what is open is closed in the end");
  (void)Translator::from(bytes);
}

}  // namespace
}  // namespace errand::opencode

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  errand::opencode::check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

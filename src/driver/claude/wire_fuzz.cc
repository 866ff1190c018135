// Whatever the program (or whoever stands in its place) says: it is read without harm, and what is reported of it keeps
// the contract of driver.h, also where it is taken up again between two lines.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "driver/claude/outcome.h"
#include "driver/claude/translate.h"

namespace errand::claude {
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
        ERRAND_CHECK(text->part == parts_ || text->part == parts_ - 1, "parts begin in order");
        if (text->part == parts_) ++parts_;
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

void check(std::string_view bytes) {
  Translator translator;
  Heard heard;
  for (const std::string_view line : split(bytes, '\n')) {
    std::vector<Report> out;
    const Event event = parse_line(line);
    translator.take(event, out);
    if (line.size() % 3 == 0) translator.settle(out);
    heard.hear(out);
    if (event.type == Event::Type::result) (void)outcome_of(event);
    for (const Block& block : event.blocks) {
      (void)read_question(block.input);
      ERRAND_CHECK(is_utf8(subject_of(block.input)), "what it is about is text");
      ERRAND_CHECK(parse_line(answers_line("r", block.input, "yes")).type == Event::Type::other, "ours is not theirs");
    }
    (void)reset_time(line);
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
}  // namespace errand::claude

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  errand::claude::check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

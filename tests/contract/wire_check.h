// The frame of the wire fuzzers: whatever an agent's program says, line by line, what is reported of it keeps the
// contract of driver.h, also where a server is killed between two lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "driver/driver.h"

namespace errand::test {

// What every sink relies on.
class Heard {
 public:
  // `calls_inside`: a call's result comes before the end of its message.
  explicit Heard(bool calls_inside = true) : calls_inside_(calls_inside) {}

  void hear(const std::vector<Report>& reports) {
    for (const Report& any : reports) {
      if (std::holds_alternative<report::MessageBegan>(any)) {
        ERRAND_CHECK(!open_, "a message inside a message");
        open_ = true;
        parts_ = 0;
      } else if (std::holds_alternative<report::MessageEnded>(any)) {
        ERRAND_CHECK(open_ && (running_ == 0 || !calls_inside_), "the end of a message whose calls are done");
        open_ = false;
      } else if (const auto* text = std::get_if<report::Text>(&any)) {
        ERRAND_CHECK(open_ && !text->text.empty() && is_utf8(text->text), "a text that is one");
        ERRAND_CHECK(text->part >= 0 && text->part <= parts_, "parts begin in order");
        parts_ = std::max(parts_, text->part + 1);
      } else if (const auto* tool = std::get_if<report::ToolStarted>(&any)) {
        ERRAND_CHECK(open_ && tool->part == parts_, "a call is a new part");
        ++parts_;
        ++running_;
      } else if (const auto* done = std::get_if<report::ToolCompleted>(&any); done && calls_inside_) {
        ERRAND_CHECK(open_ && running_ > 0 && is_utf8(done->output), "a call ends once");
        --running_;
      }
    }
  }
  bool open() const { return open_; }

 private:
  const bool calls_inside_;
  bool open_ = false;
  int parts_ = 0;
  int running_ = 0;
};

// `take(translator, line, reports)` reads a line, and checks what else there is to it.
template <class Translator, class Take>
void check_wire(std::string_view bytes, Heard heard, Take take) {
  Translator translator;
  for (const std::string_view line : split(bytes, '\n')) {
    std::vector<Report> out;
    take(translator, line, out);
    heard.hear(out);
    if (line.size() % 3 != 0) continue;
    const std::string mark = translator.mark();
    translator = Translator::from(mark);
    ERRAND_CHECK(translator.mark() == mark, "a mark is taken up as it is");
  }
  std::vector<Report> last;
  translator.close(last);
  heard.hear(last);
  ERRAND_CHECK(!heard.open(), "what is open is closed in the end");
  (void)Translator::from(bytes);
}

}  // namespace errand::test

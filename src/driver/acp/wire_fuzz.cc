// Whatever an agent says: it is read without harm, what is reported of it keeps the contract of driver.h also where a
// server is killed between two lines, and what is answered is one line.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/text.h"
#include "driver/acp/translate.h"
#include "driver/acp/wire.h"

namespace errand::acp {
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
        ERRAND_CHECK(open_ && running_ == 0, "the end of a message whose calls are done");
        open_ = false;
      } else if (const auto* text = std::get_if<report::Text>(&any)) {
        ERRAND_CHECK(open_ && !text->text.empty() && is_utf8(text->text), "a text that is one");
        ERRAND_CHECK(text->part >= 0 && text->part <= parts_, "parts begin in order");
        parts_ = std::max(parts_, text->part + 1);
      } else if (const auto* tool = std::get_if<report::ToolStarted>(&any)) {
        ERRAND_CHECK(open_ && tool->part == parts_ && !tool->name.empty(), "a call is a new part");
        ++parts_;
        ++running_;
      } else if (const auto* done = std::get_if<report::ToolCompleted>(&any)) {
        ERRAND_CHECK(open_ && running_ > 0 && is_utf8(done->output), "a call ends once");
        --running_;
      }
    }
  }
  bool open() const { return open_; }

 private:
  bool open_ = false;
  int parts_ = 0;
  int running_ = 0;
};

void check_line(const std::string& line) { ERRAND_CHECK(line.find('\n') == std::string::npos, "a message is a line"); }

void check(std::string_view bytes) {
  Translator translator;
  Heard heard;
  for (const std::string_view line : split(bytes, '\n')) {
    std::vector<Report> out;
    const Incoming in = parse_incoming(line);
    if (in.kind == Incoming::Kind::update) translator.take(in.update, out);
    if (in.kind == Incoming::Kind::permission) {
      translator.take_asked(in.update.call, out);
      const PermissionView view = permission_view("Agent", "/", in.update.call);
      ERRAND_CHECK(!view.tool.empty() && !view.text.empty(), "a question says what it is about");
      for (const char* decision : {"allow", "allow_always", "deny"}) {
        const std::string option = option_for(in.options, decision, "");
        const auto found = std::ranges::find(in.options, option, &Option::id);
        ERRAND_CHECK(option.empty() || found != in.options.end(), "what is chosen was offered");
        check_line(permission_line(in.id, option));
      }
      check_line(error_line(in.id, method_not_found, line));
    }
    (void)parse_agent(line);
    const SessionInfo session = parse_session(line);
    check_line(choose_line(1, session.id, session.model, line));
    check_line(open_line(1, "session/load", {.session = session.id, .work_dir = std::string(line)}));
    (void)parse_stopped(line);
    if (in.kind == Incoming::Kind::error) ERRAND_CHECK(!in.error.message.empty(), "an error says something");
    if (line.size() % 7 == 0) translator.begin_all(out);
    if (line.size() % 11 == 0) translator.close(out);
    heard.hear(out);
    if (line.size() % 3 == 0) {
      const std::string mark = translator.mark();
      translator = Translator::from(mark);
      ERRAND_CHECK(translator.mark() == mark, "a mark is taken up as it is");
    }
  }
  std::vector<Report> last;
  translator.close(last);
  heard.hear(last);
  ERRAND_CHECK(!heard.open(), "what is open is closed in the end");
  (void)Translator::from(bytes);
}

}  // namespace
}  // namespace errand::acp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  errand::acp::check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

// Whatever an agent says: it is read without harm, what is reported of it keeps the contract of driver.h also where a
// server is killed between two lines, and what is answered is one line.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "driver/acp/translate.h"
#include "driver/acp/wire.h"
#include "tests/contract/wire_check.h"

namespace errand::acp {
namespace {

void check_line(const std::string& line) { ERRAND_CHECK(line.find('\n') == std::string::npos, "a message is a line"); }

void take(Translator& translator, std::string_view line, std::vector<Report>& out) {
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
  for (const Report& report : out)
    if (const auto* tool = std::get_if<report::ToolStarted>(&report))
      ERRAND_CHECK(!tool->name.empty(), "a call of a tool");
}

}  // namespace
}  // namespace errand::acp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  errand::test::check_wire<errand::acp::Translator>({reinterpret_cast<const char*>(data), size}, errand::test::Heard(),
                                                    errand::acp::take);
  return 0;
}

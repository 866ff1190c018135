// Arguments of tools are hostile: whatever an agent sends, every call is answered once, in JSON and UTF-8, and nothing
// ends the server. The first byte chooses the tool, the second the caller; the rest is the arguments.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "base/check.h"
#include "base/log.h"
#include "tests/tools/fuzz_world.h"
#include "tools/json.h"

namespace errand::tools {
namespace {

void check(const Result<ToolResult>& result) {
  ERRAND_CHECK(result.has_value(), "a tool that is there answers with a result");
  boost::json::error_code error;
  boost::json::parse(result->data, error);
  ERRAND_CHECK(!error, "data is JSON");
  ERRAND_CHECK(!result->text.empty() || !result->is_error, "an error says what is wrong");
  boost::json::parse(result_reply(*result), error);
  ERRAND_CHECK(!error, "the reply is JSON");
}

void call(uint8_t tool, uint8_t who, std::string_view arguments) {
  auto& world = next_world<FuzzWorld>();
  const std::vector<ToolInfo> tools = world.toolbox.list();
  int answers = 0;
  const SessionId session(who % 3 == 0 ? "" : who % 3 == 1 ? "ses_a" : "ses_b");
  world.toolbox.call(tools[tool % tools.size()].name,
                     {.session = session, .message = {}, .cancellation = std::make_shared<Cancellation>()},
                     std::string(arguments), [&](const Result<ToolResult>& result) {
                       ++answers;
                       check(result);
                     });
  // The longest that a call may wait.
  for (int i = 0; i < 8 && answers == 0; ++i) world.pass(600'000);
  ERRAND_CHECK(answers == 1, "every call is answered once");
  (void)parse_call(arguments);
}

}  // namespace
}  // namespace errand::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = (errand::set_log_level(errand::LogLevel::error), true);
  if (!quiet || size < 2) return 0;
  errand::tools::call(data[0], data[1], {reinterpret_cast<const char*>(data) + 2, size - 2});
  return 0;
}

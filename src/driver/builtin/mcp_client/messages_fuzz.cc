// Any bytes as what an MCP server sends: read or refused, never a crash.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "driver/builtin/mcp_client/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace errand;
  using namespace errand::builtin::mcp;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto received = parse_received(text)) {
    if (received->kind == Received::Kind::request && received->answer.empty()) std::abort();
    if (received->answer.find('\n') != std::string::npos) std::abort();
  }
  (void)parse_initialized(text);
  if (const auto page = parse_tools(text))
    for (const ListedTool& tool : page->tools)
      if (tool.name.empty() || tool.input_schema.empty() || !is_utf8(tool.description)) std::abort();
  if (const auto result = parse_call(text); result && !is_utf8(result->text)) std::abort();
  return 0;
}

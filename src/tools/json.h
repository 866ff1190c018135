// Tools and their answers on the wire (GET and POST /api/tools).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/tool.h"

namespace errand::tools {

// {"tools":[{"name","title","description","input_schema","output_schema","annotations","example"}],"family"}
std::string tools_reply(const std::vector<ToolInfo>& tools, std::string_view family);
// {"text","data","is_error"}
std::string result_reply(const ToolResult& result);

// POST /api/tools/{name} {arguments?, session_id?, message_id?, work_dir?}.
struct CallRequest {
  Caller caller;
  std::string arguments;  // JSON text.
};
Result<CallRequest> parse_call(std::string_view body);

}  // namespace errand::tools

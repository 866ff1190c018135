// How results look on the wire, in either era. Inside mcp/ only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcp/rpc.h"
#include "task/notice.h"

namespace errand {
class JsonOut;
}

namespace errand::mcp {

// Opens the object of a result: what every modern one says of itself. `meta` are further members of its _meta, as JSON
// without the braces.
void begin_result(JsonOut& out, const Rpc& rpc, std::string_view type = "complete", std::string_view meta = {});
// How long a modern client may keep it. Lists that never change are anybody's; what tells of tasks is this caller's.
void cache_for(JsonOut& out, const Rpc& rpc, int64_t ttl_ms, std::string_view scope);
inline constexpr int64_t fixed_ttl_ms = 3'600'000;
inline constexpr int64_t tools_ttl_ms = 300'000;

std::string initialize_result(const Rpc& rpc);
std::string discover_result(const Rpc& rpc);
std::string tools_result(const Rpc& rpc);
// `meta` as above.
std::string call_result(const Rpc& rpc, const tools::ToolResult& result, const std::vector<Notice>& notices,
                        std::string_view meta = {});
// {} of that era.
std::string empty_result(const Rpc& rpc);

}  // namespace errand::mcp

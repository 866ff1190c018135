// resources/list, resources/templates/list, resources/read and completion/complete: what the caller's tasks have left.
#pragma once

#include "mcp/rpc.h"

namespace errand::mcp {

void list_resources(const RpcPtr& rpc);
void list_templates(const RpcPtr& rpc);
// A part of at most 64,000 bytes (of an artifact 1 MiB); what is longer says so in its _meta, and ?offset= reads on.
void read_resource(const RpcPtr& rpc);
// Task ids for {id}, names of artifacts for {name}.
void complete(const RpcPtr& rpc);

// No such resource, in the words of the era.
void unknown_resource(const RpcPtr& rpc, std::string_view uri, std::string_view why);

}  // namespace errand::mcp

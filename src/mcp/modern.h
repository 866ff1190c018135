// What a request of 2026-07-28 must say of itself, in its headers and in its _meta, and how a wrong one is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/jsonrpc.h"
#include "mcp/peer.h"
#include "net/http.h"

namespace errand::mcp {

// Which rules a message goes by: modern where its _meta names a version, or its header names one that is not legacy.
Era era_of(const Incoming& message, std::string_view version_header);

// Absent: all is well. Else the error, to be sent with status 400. `headers`: the message came over HTTP.
std::optional<RpcError> check_modern(const Incoming& message, const net::Request& request);

// What the client says that it can do, read into the peer. Modern ones only.
void read_capabilities(const Incoming& message, Peer& peer);

// A header's value that may be written as =?base64?...?=. Absent: it is no such value.
std::optional<std::string> decode_header(std::string_view value);

}  // namespace errand::mcp

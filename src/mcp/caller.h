// Whose tasks a request is about.
#pragma once

#include "base/id.h"
#include "mcp/jsonrpc.h"
#include "net/http.h"

namespace errand::mcp {

inline constexpr size_t session_id_max = 200;

// The session that the request names: by the header Errand-Session-Id, by _meta["errand/session"], by ?session= in its
// address, or (Codex) by _meta.threadId; else `own`. `message` may be empty.
SessionId caller_of(const net::Request& request, const Incoming& message, const SessionId& own);

// For a client of 2026-07-28 that names none: the process of `errand mcp` that speaks for it; over HTTP, where nothing
// tells one client from another, all that go by its name. Two of the same kind that must not see each other's tasks
// have to name their sessions.
SessionId client_session(const net::Request& request, const Incoming& message);

// Whether `session`, which caller_of() found, may be a conversation that errand can copy, as far as its id says: a
// task's own, or one of Claude Code or OpenCode that the client named. A session that errand made for the client, and a
// thread of Codex, is none.
bool may_be_forked(const net::Request& request, const SessionId& session);

// Where the client is: the header Errand-Work-Dir, base64 of an absolute path, which `errand mcp` sends. Empty where
// it says nothing that is one, and for a task: what a task launches works in that task's folder.
std::string work_dir_of(const net::Request& request);

}  // namespace errand::mcp

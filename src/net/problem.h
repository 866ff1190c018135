// Errors as HTTP replies: RFC 9457 problem details, `application/problem+json` with
//   {"type":"urn:errand:problem:CODE","title","status","detail","code"[,"reason"]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http.h"

namespace errand::net {

// The one table from codes to statuses.
int http_status(Code code);
// "Not Found".
std::string_view status_text(int status);

// `reason`, where the error has one, is a field of its own. What may work later has Retry-After.
Response problem(const Error& error);
// With the files that are why, as `files`.
Response problem(const Error& error, const std::vector<std::string>& files);
// For what only HTTP knows (405, 415, 421, ...).
Response problem(int status, std::string_view code, std::string_view detail);

}  // namespace errand::net

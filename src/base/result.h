// Result and Error: how every call that can fail says so.
//
// Exceptions stay inside library adapters. A broken invariant is not an Error: it is a CHECK (base/check.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace errand {

// What kind of failure it is. Few on purpose: net/ maps each to an HTTP status, mcp/ to a JSON-RPC code, cli/ to an
// exit code. The HTTP table is net/problem.cc, the exit codes are cli/exit_code.h.
enum class Code : uint8_t {
  invalid_argument,  // The request is wrong; the same request will always be wrong.
  not_found,         // It is not there (the message says why where we know).
  conflict,          // The request is fine, the state of the thing does not allow it.
  unsupported,       // This driver, store or platform cannot do it.
  too_large,         // Over a limit that the message names.
  exhausted,         // Too much at once; try later (queues, connections, rate).
  storage_full,      // The disk is full; nothing was stored.
  unavailable,       // Not now (locked, starting, stopping); try again.
  unauthorized,      // No credentials, or wrong ones.
  forbidden,         // Known, and not allowed.
  internal,          // Our fault.
};

std::string_view name(Code code);

struct Error {
  Code code = Code::internal;
  std::string message;  // One sentence that the reader can act on.
  std::string
      reason;  // Machine-readable and finer than the code where that helps ("expired", "corrupt"); may be empty.

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

inline std::unexpected<Error> fail(Code code, std::string message, std::string reason = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(reason)});
}

}  // namespace errand

// The outbound HTTP client: model APIs, MCP servers, pages that an agent fetches. libcurl's multi interface on a thread
// of its own; only curl.h and who includes it know it. The library is looked for at run time, so that the binary starts
// without it: then every call ends with an error that names the package.
//
// TLS is always verified. The client uses the proxies of the environment (http_proxy, https_proxy, all_proxy,
// no_proxy), and trusts the machine's certificates or those that Options names. Only http and https, also after a
// redirect.
//
// Threads: everything here is called, and calls back, on the thread of the Executor that the client was given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "base/time.h"

namespace errand::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";
  std::string url;
  Headers headers;  // A name or a value with a line break or a zero byte in it is refused.
  std::string body;

  Millis connect_ms = 10'000;      // Name, connection and TLS.
  Millis first_byte_ms = 120'000;  // From the start to the head of the answer.
  Millis silence_ms = 120'000;  // Between two pieces of the body. The wait for a handler that is slow is not counted.
  int64_t body_max = 64 << 20;  // A longer answer ends the call with `too_large`.
  bool follow_redirects =
      false;  // At most 5; credentials (Authorization, x-api-key, cookies) stay with the first host.
  // Connects only to addresses of the open internet (public_address.h), whatever a name resolves to: for addresses that
  // somebody else chose. Does not use the proxies of the environment, because they may reach private networks.
  bool public_only = false;
  bool compressed = false;  // Ask for a compressed body, and undo it; body_max counts what comes out.
};

struct Head {
  int status = 0;
  Headers headers;  // Names in lower case, in the order in which they came.
  std::string url;  // Where it came from in the end.

  // The first of this name (any case); empty where there is none.
  std::string_view header(std::string_view name) const;
};

// Hears how a call goes: head, body in pieces, done. May destroy its Call (and start others) inside any of them.
class Handler {
 public:
  virtual ~Handler() = default;
  // The final answer's, not that of a proxy or a redirect that is followed.
  virtual void head(const Head&) {}
  virtual void body(std::string_view bytes) = 0;
  // Once and last, where the Call was not destroyed before. Good: the whole answer came, whatever its status. An error
  // has one of these reasons: "connect" (nobody there, name unknown), "tls" (certificate refused), "timeout" (`message`
  // says which), "cut" (the connection ended inside the answer), "too_large", "invalid" (the request),
  // "private_address" (with public_only), "no_library".
  virtual void done(Status) = 0;
};

// A call under way. Its destructor ends the request; after it no callback comes.
class Call {
 public:
  virtual ~Call() = default;
  // Pauses the call until go_on(): the handler is not called, at most in_flight_max bytes of the answer are read ahead,
  // and the rest waits at the server. May be called inside the handler.
  virtual void hold() {}
  virtual void go_on() {}
};

class Client {
 public:
  virtual ~Client() = default;
  // Never calls the handler inside. The handler outlives the call or done().
  virtual std::unique_ptr<Call> start(Request request, Handler& handler) = 0;
};

struct Options {
  std::string ca_file, ca_dir;       // Instead of the machine's own certificates.
  std::string user_agent;            // "errand/1.2.3".
  size_t in_flight_max = 256 << 10;  // Bytes of one call on their way to the handler; beyond it the transfer pauses.
  int idle_connections_max = 16;     // Kept open for the next call.
};

// `ca_file` and `ca_dir` from SSL_CERT_FILE (or CURL_CA_BUNDLE) and SSL_CERT_DIR, as curl and OpenSSL read them.
Options options_from_environment(const std::map<std::string, std::string>& environment);

// Owns its thread. Destroy the calls first; `loop` outlives the client.
std::unique_ptr<Client> make_client(Executor& loop, Options options);

// "libcurl/7.88.1 OpenSSL/3.0.20", or why it cannot be used: for `errand doctor`.
Result<std::string> library_version();

}  // namespace errand::http

// The check that every request passes before its body is read, and the login of browsers.
//
// A request belongs to the owner if it comes through the unix socket, has the token (`Authorization: Bearer TOKEN`), or
// has a browser session (cookie and `X-Errand-Session`, see session.h). It may instead have a token that may do less
// (tokens.h), the session of a paired device (device_login.h) or a task's own token, also on the unix socket. The check
// stores the caller in Request::who; the routes decide what that caller may do. Without credentials only /api/health,
// the page's own files, the exchange of a one-time code and the login of a device answer. Nothing turns this off.
//
// In any case a request must not come from another site: Host must be one of our names (421), Origin our own (403),
// Sec-Fetch-Site none or same-origin (403), and a body must be JSON (415). A foreign page cannot send JSON without
// a CORS preflight, and this server answers none.
//
//   POST /api/login/codes          -> 201 {"code","expires_in_s"}     by the owner: `errand open`
//   POST /api/login {"code"}       -> 200 {"session","expires_at"}    and the cookie; by the page, once per code
//   POST /api/logout               -> 204
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "net/device_login.h"
#include "net/hosts.h"
#include "net/http.h"
#include "net/limiter.h"
#include "net/peers.h"
#include "net/session.h"
#include "net/tokens.h"

namespace errand::net {

struct AuthSettings {
  std::string token;               // From load_or_make_token.
  std::vector<std::string> hosts;  // Further names of this server, see Hosts.
  // Trust X-Forwarded-Proto and -For where loopback or one of `proxies` sends them: the proxy in front sets them.
  bool behind_proxy = false;
  Peers proxies = {};
  std::string ended_sessions;  // A file in the data folder, see Sessions.
};

// Everything but what needs no credentials: /api/health, POST /api/login, the paths of DeviceLogin, and reading the
// page's own files (paths not under /api, /mcp and /metrics).
bool needs_credentials(Method method, std::string_view path);

// Loop thread only.
class Auth {
 public:
  // Each may be null, and outlives this; of the last two both are given or none.
  Auth(AuthSettings settings, Clock& clock, Random& random, Tokens* tokens = nullptr, Devices* devices = nullptr,
       Pairing* pairing = nullptr);

  // A port we listen on; the first one names the cookie.
  void add_port(int port);
  // For make_server; refers to this object.
  HeadCheck head_check() {
    return [this](Request& head, uint64_t content_length) { return check(head, content_length); };
  }
  std::optional<Response> check(Request& head, uint64_t content_length);
  // Does the request have valid credentials? For paths that need none but say more to a caller who has them.
  bool is_known(const Request& request);
  // Answers the login paths. False: it is not one of them, and was not answered.
  bool handle(const ExchangePtr& exchange);

  // The token for what runs inside a task: it reaches that task's subtree (routes/guard.h) while this run is at work.
  // Nothing is stored for it.
  std::string task_token(const TaskId& task, int run) const;

  struct Code {
    std::string code;
    Millis lifetime_ms = 0;
  };
  // A code for one login within the next minute. At most 32 wait at once: a further one replaces the oldest.
  Code make_code();

 private:
  std::optional<Response> check_site(Request& head, bool proxied);
  std::optional<Response> check_credentials(Request& head);
  // The caller that the request's bearer token names; absent: the token is not valid.
  std::optional<Principal> bearer(const Request& request);
  std::optional<Principal> task_bearer(std::string_view given) const;
  Response failed(const Request& request, std::string_view detail);
  std::string_view session_cookie(const Request& request) const;
  std::string set_cookie(std::string_view value, Millis lifetime_ms, bool secure) const;
  Response login(const Request& request);
  Response logout(const Request& request);

  const AuthSettings settings_;
  Clock& clock_;
  Random& random_;
  Tokens* const tokens_;
  Hosts hosts_;
  Sessions sessions_;
  FailureLimiter limiter_;
  std::optional<DeviceLogin> device_login_;
  std::string cookie_name_ = "errand_session";
  std::vector<std::pair<std::string, Time>> codes_;  // With their end (steady), oldest first.
};

}  // namespace errand::net

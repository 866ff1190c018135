// Browser sessions without a table: what a session needs is signed with a key made from the token, so sessions survive
// a restart, cost no memory, and end all at once when the token is changed.
//
// A session is two secrets. The cookie is HttpOnly, so a script that was smuggled into the page cannot read it; but a
// host's cookies are shared by all its ports, so any other local server sees it. The page secret is sent by our page's
// own code in a header, which neither of those can do. Both are needed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/time.h"

namespace errand::net {

inline constexpr Millis session_ms = 12 * 3'600'000;
inline constexpr Millis session_renew_ms = 3'600'000;  // A session that is in use gets a new end this often.

struct Session {
  std::string cookie;       // NONCE.EXPIRES.MAC
  std::string page_secret;  // Stays the same when the session is renewed.
  Time expires_at;          // Wall.
};

class Sessions {
 public:
  // `ended_file` keeps the sessions that were ended early, past a restart too; empty: in memory only.
  Sessions(std::string_view token, std::string ended_file, Random& random);

  Session open(Time now);
  struct Checked {
    bool ok = false;
    bool expired = false;            // It was one of ours: no guess.
    std::optional<Session> renewed;  // Give the browser this cookie.
  };
  Checked check(std::string_view cookie, std::string_view page_secret, Time now) const;
  // A seal for another purpose, under the same key.
  std::string sign_for(std::string_view purpose, std::string_view text) const;
  // From now on it is refused.
  void end(std::string_view cookie, Time now);

 private:
  std::string sign(std::string_view text) const;
  Session make(const std::string& nonce, Time expires_at) const;
  void forget_expired(Time now);
  void save() const;

  std::string key_;
  const std::string ended_file_;
  Random& random_;
  std::map<std::string, Time, std::less<>> ended_;  // Nonce to the latest end that a cookie of it can have.
};

}  // namespace errand::net

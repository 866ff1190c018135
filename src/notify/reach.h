// Which addresses notifications may be sent to. Whoever may add a target chooses an address that this server connects
// to, from inside of its network: so by default only https to the open internet. Pure.
//
// An address is checked when a target is added, to say at once what will not work. What counts is the check while
// connecting: the client (http/client.h) looks at each address that a name resolves to, and follows no redirect.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "notify/target.h"

namespace errand::notify {

// An http or https address in the plain form that every reader of it reads alike: ASCII, no user, no fragment, no
// backslash, no blank.
struct Url {
  std::string scheme, host;  // In lower case; an IPv6 address in its brackets.
  std::string port;          // Empty: the scheme's own.
  std::string path;          // With the query; empty, or from '/' on.

  std::string origin() const { return scheme + "://" + host + (port.empty() ? "" : ":" + port); }
};
std::optional<Url> parse_url(std::string_view text);
// What may be shown of it: "https://hooks.slack.com/…".
std::string masked(std::string_view url);
// By the hosts of the makers; standard for all others.
Shape guess_shape(std::string_view url);

class Reach {
 public:
  // Hosts, or "host:port": they may be private, and http. From the settings file alone.
  explicit Reach(std::vector<std::string> private_hosts);

  bool may_be_private(const Url& url) const;
  // Why nothing can be sent there, as far as the text alone shows.
  Status check(const std::string& url, Shape shape) const;

 private:
  std::vector<std::string> private_hosts_;
};

}  // namespace errand::notify

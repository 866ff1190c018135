#include "notify/reach.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "http/public_address.h"

namespace errand::notify {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool all_of(std::string_view text, std::string_view more, bool letters = true) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (letters && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) ||
           more.contains(c);
  });
}

// RFC 3986: what a path and a query may have.
constexpr std::string_view path_marks = "/-._~!$&'()*+,;=:@%?";

bool is_literal(std::string_view host) {
  return host.starts_with('[') || host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool is_private(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || (is_literal(host) && !http::is_public_address(host));
}

// The push services of the browsers that there are. An address of another one is somebody's own, and belongs into
// private_hosts.
bool is_push_service(std::string_view host) {
  return host == "fcm.googleapis.com" || host == "updates.push.services.mozilla.com" ||
         host.ends_with(".push.services.mozilla.com") || host == "web.push.apple.com" ||
         host.ends_with(".push.apple.com") || host.ends_with(".notify.windows.com");
}

// https://HOST/TOPIC
bool names_topic(const Url& url) {
  const std::string_view topic = std::string_view(url.path).substr(std::min<size_t>(1, url.path.size()));
  return !topic.empty() && topic.size() <= 64 && all_of(topic, "-_");
}

}  // namespace

std::optional<Url> parse_url(std::string_view text) {
  if (text.size() > url_max) return std::nullopt;
  Url url;
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  url.scheme = lower(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") return std::nullopt;
  text.remove_prefix(scheme_end + 3);
  const size_t authority_end = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, authority_end);
  const std::string_view path = text.substr(authority_end);
  if (!all_of(path, path_marks)) return std::nullopt;
  url.path = path.starts_with('?') ? "/" + std::string(path) : std::string(path);
  size_t host_end = authority.find(':');
  if (authority.starts_with('[')) {
    host_end = authority.find(']');
    if (host_end == std::string_view::npos) return std::nullopt;
    ++host_end;
    if (!all_of(authority.substr(1, host_end - 2), ":.")) return std::nullopt;
  }
  host_end = std::min(host_end, authority.size());
  url.host = lower(authority.substr(0, host_end));
  if (url.host.empty() || (!url.host.starts_with('[') && !all_of(url.host, "-."))) return std::nullopt;
  authority.remove_prefix(host_end);
  if (authority.empty()) return url;
  url.port = authority.substr(1);
  if (!authority.starts_with(':') || url.port.empty() || url.port.size() > 5 || !all_of(url.port, "", false))
    return std::nullopt;
  return url;
}

std::string masked(std::string_view text) {
  const std::optional<Url> url = parse_url(text);
  if (!url) return "…";
  return url->origin() + (url->path.size() > 1 ? "/…" : "");
}

Shape guess_shape(std::string_view text) {
  const std::optional<Url> url = parse_url(text);
  if (!url) return Shape::standard;
  const std::string_view host = url->host;
  if (host == "hooks.slack.com") return Shape::slack;
  const bool discord = host == "discord.com" || host == "discordapp.com" || host.ends_with(".discord.com");
  if (discord && url->path.starts_with("/api/webhooks/")) return Shape::discord;
  if (host == "ntfy.sh") return Shape::ntfy;
  return Shape::standard;
}

Reach::Reach(std::vector<std::string> private_hosts) : private_hosts_(std::move(private_hosts)) {
  for (std::string& host : private_hosts_) host = lower(trim(host));
}

bool Reach::may_be_private(const Url& url) const {
  const std::string port = !url.port.empty() ? url.port : url.scheme == "https" ? "443" : "80";
  return std::ranges::any_of(
      private_hosts_, [&](const std::string& host) { return host == url.host || host == url.host + ":" + port; });
}

Status Reach::check(const std::string& text, Shape shape) const {
  const std::optional<Url> url = parse_url(text);
  if (!url)
    return fail(Code::invalid_argument,
                "`url` must be an http or https address without a user, a fragment or blanks, such as "
                "https://example.com/hook.");
  if (shape == Shape::ntfy && !names_topic(*url))
    return fail(Code::invalid_argument, "The `url` of an ntfy topic has the form https://ntfy.sh/TOPIC.");
  if (may_be_private(*url)) return {};
  if (is_private(url->host))
    return fail(Code::forbidden,
                fmt::format("{0} is this machine or a private network. To allow it, write private_hosts = [\"{0}\"] "
                            "under [notify] in errand.toml and restart the server.",
                            url->host),
                "private_address");
  if (url->scheme != "https")
    return fail(Code::forbidden,
                fmt::format("Notifications go out over https. To allow http to {0}, write private_hosts = [\"{0}\"] "
                            "under [notify] in errand.toml and restart the server.",
                            url->host),
                "not_https");
  if (shape == Shape::push && !is_push_service(url->host))
    return fail(Code::forbidden,
                fmt::format("{0} is no push service that errand knows. To allow it, write private_hosts = [\"{0}\"] "
                            "under [notify] in errand.toml and restart the server.",
                            url->host),
                "no_push_service");
  return {};
}

}  // namespace errand::notify

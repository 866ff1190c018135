#include "net/auth.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>
#include <boost/json.hpp>

#include "base/json_out.h"
#include "base/text.h"
#include "net/problem.h"

namespace errand::net {
namespace {

constexpr Millis code_ms = 60'000;
constexpr size_t codes_max = 32;
constexpr int code_bytes = 16;
constexpr std::string_view task_prefix = "errand_task.";

bool is_under(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// "application/json", with parameters or without.
bool is_json(std::string_view content_type) {
  return lower_case(trim(content_type.substr(0, content_type.find(';')))) == "application/json";
}

bool is_address(std::string_view text) {
  unsigned char any[sizeof(in6_addr)];
  const std::string address(text);
  return ::inet_pton(AF_INET, address.c_str(), any) == 1 || ::inet_pton(AF_INET6, address.c_str(), any) == 1;
}

// {"code":"..."} and nothing else.
std::optional<std::string> code_of(const std::string& body) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(body, error);
  if (error || !value.is_object()) return std::nullopt;
  const boost::json::object& object = value.get_object();
  const boost::json::value* code = object.if_contains("code");
  if (object.size() != 1 || !code || !code->is_string()) return std::nullopt;
  return std::string(code->get_string());
}

}  // namespace

bool needs_credentials(Method method, std::string_view path) {
  const bool reads = method == Method::get || method == Method::head;
  if (path == "/api/health") return !reads;
  if (path == "/api/login" || DeviceLogin::is_path(path)) return method != Method::post;
  return !reads || is_under(path, "/api") || is_under(path, "/mcp") || is_under(path, "/metrics");
}

Auth::Auth(AuthSettings settings, Clock& clock, Random& random, Tokens* tokens, Devices* devices, Pairing* pairing)
    : settings_(std::move(settings)),
      clock_(clock),
      random_(random),
      tokens_(tokens),
      hosts_(settings_.hosts),
      sessions_(settings_.token, settings_.ended_sessions, random),
      limiter_(clock, {}) {
  if (devices == nullptr || pairing == nullptr) return;
  device_login_.emplace(DeviceLogin::Parts{
      .devices = *devices,
      .pairing = *pairing,
      .clock = clock,
      .random = random,
      .seal = [this](std::string_view purpose, std::string_view text) { return sessions_.sign_for(purpose, text); },
      .failed = [this](const Request& request, std::string_view detail) { return failed(request, detail); }});
}

void Auth::add_port(int port) {
  hosts_.add_port(port);
  // With the port, because a browser keeps one set of cookies for all ports of a host.
  if (cookie_name_ == "errand_session") cookie_name_ += "_" + std::to_string(port);
}

std::optional<Response> Auth::check(Request& head, uint64_t content_length) {
  // Anybody can write these headers: they count from the proxy alone.
  const bool proxied =
      settings_.behind_proxy && !head.over_unix && (is_loopback_peer(head.peer) || settings_.proxies.has(head.peer));
  if (proxied) {
    head.secure = head.secure || lower_case(head.header("x-forwarded-proto")) == "https";
    // The last entry is the one that the proxy itself added.
    const auto entries = split(head.header("x-forwarded-for"), ',');
    if (!entries.empty() && is_address(trim(entries.back()))) head.peer = trim(entries.back());
  }
  if (auto refusal = check_site(head, proxied)) return refusal;
  if (head.method == Method::options || head.method == Method::other) return std::nullopt;  // The server says 405.
  if (auto refusal = check_credentials(head)) return refusal;
  if (content_length != 0 && !is_json(head.header("content-type")))
    return problem(415, "unsupported_media_type", "Send the body as JSON, with \"Content-Type: application/json\".");
  return std::nullopt;
}

std::optional<Response> Auth::check_site(Request& head, bool proxied) {
  for (const auto& [key, value] : head.query) {
    const std::string name = lower_case(key);
    if (name == "token" || name == "access_token" || name == "api_key")
      return problem(
          400, "invalid_argument",
          "A credential in a URL ends up in logs and histories: send it as \"Authorization: Bearer TOKEN\".");
  }
  if (head.over_unix) return std::nullopt;  // No browser speaks to a unix socket.
  // Tailscale says so of requests from the open internet, which serve never lets in and funnel does.
  if (head.count_header("tailscale-funnel-request") > 0)
    return problem(403, "forbidden", "The server answers nobody who comes from the open internet by Tailscale Funnel.");
  const std::string_view host = head.header("host");
  if (!hosts_.allowed(host))
    return problem(421, "misdirected",
                   "The Host header does not name this server. Use localhost with its port, or add the "
                   "name to the setting allow_hosts.");
  if (head.count_header("origin") > 0) {
    const std::string_view origin = head.header("origin");
    const bool same =
        Hosts::same_origin(origin, host, head.secure) || (proxied && Hosts::same_origin(origin, host, !head.secure));
    if (!same) return problem(403, "forbidden", "The server refuses requests from pages of other sites.");
  }
  if (head.count_header("sec-fetch-site") > 0) {
    const std::string site = lower_case(head.header("sec-fetch-site"));
    if (site != "none" && site != "same-origin")
      return problem(403, "forbidden",
                     "The server refuses links from other sites. Type this address into the browser.");
  }
  return std::nullopt;
}

std::string Auth::task_token(const TaskId& task, int run) const {
  const std::string plain = std::string(task_prefix) + task.value + "." + std::to_string(run);
  return plain + "." + sessions_.sign_for("task", plain);
}

std::optional<Principal> Auth::bearer(const Request& request) {
  const std::string_view authorization = request.header("authorization");
  const size_t space = std::min(authorization.find(' '), authorization.size());
  const std::string_view given = trim(authorization.substr(space));
  if (lower_case(authorization.substr(0, space)) != "bearer") return std::nullopt;
  if (equal_secret(given, settings_.token)) return Principal::owner();
  if (given.starts_with(task_prefix)) return task_bearer(given);
  if (given.starts_with(DeviceLogin::session_prefix))
    return device_login_ ? device_login_->bearer(given) : std::nullopt;
  return tokens_ ? tokens_->use(given) : std::nullopt;
}

std::optional<Principal> Auth::task_bearer(std::string_view given) const {
  const auto parts = split(given.substr(task_prefix.size()), '.');
  if (parts.size() != 3 || !is_id(parts[0], "task_")) return std::nullopt;
  Principal who;
  who.task = TaskId(parts[0]);
  const char* const end = parts[1].data() + parts[1].size();
  if (std::from_chars(parts[1].data(), end, who.run) != std::from_chars_result{end, std::errc()}) return std::nullopt;
  if (!equal_secret(given, task_token(who.task, who.run))) return std::nullopt;
  who.id = who.task.value;
  who.scopes.add(Scope::tasks).add(Scope::exec);
  return who;
}

bool Auth::is_known(const Request& request) {
  if (!request.header("authorization").empty()) return bearer(request).has_value();
  if (request.over_unix) return true;
  const std::string_view cookie = session_cookie(request), page_secret = request.header("x-errand-session");
  return !cookie.empty() && !page_secret.empty() && sessions_.check(cookie, page_secret, clock_.wall()).ok;
}

std::optional<Response> Auth::check_credentials(Request& head) {
  if (!needs_credentials(head.method, head.path)) return std::nullopt;
  // Also on the unix socket: who shows a token is whom it names, and no more. One that has ended opens nothing.
  if (!head.header("authorization").empty()) {
    if (std::optional<Principal> who = bearer(head)) {
      head.who = std::move(*who);
      return std::nullopt;
    }
    return failed(
        head, "The token is wrong, revoked or expired. The owner's token is in the file \"token\" of the data folder.");
  }
  if (head.over_unix) {
    head.who = Principal::owner();
    return std::nullopt;
  }
  const std::string_view cookie = session_cookie(head), page_secret = head.header("x-errand-session");
  if (cookie.empty() || page_secret.empty())
    return problem(401, "unauthorized",
                   "Send \"Authorization: Bearer TOKEN\" with the token in the data folder's file \"token\"; for the "
                   "page run `errand open`.");
  const Sessions::Checked checked = sessions_.check(cookie, page_secret, clock_.wall());
  if (checked.expired) return problem(401, "unauthorized", "This session has ended. Run `errand open` for a new one.");
  if (!checked.ok) return failed(head, "This server does not know the session. Run `errand open` for a new one.");
  if (checked.renewed)
    head.reply_headers.emplace_back("Set-Cookie", set_cookie(checked.renewed->cookie, session_ms, head.secure));
  head.who = Principal::owner();
  return std::nullopt;
}

// Somebody gave credentials, and they are wrong.
Response Auth::failed(const Request& request, std::string_view detail) {
  const Millis wait_ms = limiter_.fail(request.peer);
  if (wait_ms == 0) return problem(401, "unauthorized", detail);
  Response response = problem(429, "exhausted",
                              "Too many wrong tokens or codes came from your address. Wait, then send the right one.");
  response.headers = {{"Retry-After", std::to_string((wait_ms + 999) / 1000)}};
  return response;
}

std::string_view Auth::session_cookie(const Request& request) const {
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    for (const std::string_view part : split(value, ';')) {
      const std::string_view pair = trim(part);
      if (pair.starts_with(cookie_name_) && pair.substr(cookie_name_.size()).starts_with('='))
        return pair.substr(cookie_name_.size() + 1);
    }
  }
  return {};
}

std::string Auth::set_cookie(std::string_view value, Millis lifetime_ms, bool secure) const {
  return cookie_name_ + "=" + std::string(value) + "; Path=/; Max-Age=" + std::to_string(lifetime_ms / 1000) +
         "; HttpOnly; SameSite=Strict" + (secure ? "; Secure" : "");
}

Auth::Code Auth::make_code() {
  const Time now = clock_.steady();
  std::erase_if(codes_, [&](const auto& entry) { return entry.second <= now; });
  if (codes_.size() == codes_max) codes_.erase(codes_.begin());
  codes_.emplace_back(random_secret(random_, code_bytes), now + code_ms);
  return {codes_.back().first, code_ms};
}

bool Auth::handle(const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  const bool codes = request.path == "/api/login/codes", logs_in = request.path == "/api/login";
  const bool device = device_login_ && DeviceLogin::is_path(request.path);
  if (!codes && !logs_in && !device && request.path != "/api/logout") return false;
  if (request.method != Method::post) {
    Response response = problem(405, "method_not_allowed", "Use POST here.");
    response.headers.emplace_back("Allow", "POST");
    exchange->reply(std::move(response));
  } else if (device) {
    device_login_->handle(exchange);
  } else if (codes) {
    const Code made = make_code();
    Response response{.status = 201, .content_type = "application/json", .body = {}, .headers = {}};
    JsonOut(response.body).object().field("code", made.code).field("expires_in_s", made.lifetime_ms / 1000).end();
    exchange->reply(std::move(response));
  } else {
    exchange->reply(logs_in ? login(request) : logout(request));
  }
  return true;
}

Response Auth::login(const Request& request) {
  const std::optional<std::string> given = code_of(request.body);
  if (!given)
    return problem(400, "invalid_argument", "Send {\"code\":\"...\"} with the code of the link from `errand open`.");
  const Time now = clock_.steady();
  std::erase_if(codes_, [&](const auto& entry) { return entry.second <= now; });
  const size_t before = codes_.size();
  std::erase_if(codes_, [&](const auto& entry) { return equal_secret(entry.first, *given); });
  if (codes_.size() == before)
    return failed(request, "This code was already used or has expired. Run `errand open` for a new one.");
  const Session session = sessions_.open(clock_.wall());
  Response response;
  JsonOut(response.body).object().field("session", session.page_secret).field("expires_at", session.expires_at).end();
  response.headers.emplace_back("Set-Cookie", set_cookie(session.cookie, session_ms, request.secure));
  return response;
}

Response Auth::logout(const Request& request) {
  Response response{.status = 204, .content_type = {}, .body = {}, .headers = {}};
  const std::string_view cookie = session_cookie(request);
  const Time now = clock_.wall();
  if (!cookie.empty() && sessions_.check(cookie, request.header("x-errand-session"), now).ok)
    sessions_.end(cookie, now);
  response.headers.emplace_back("Set-Cookie", set_cookie("", 0, request.secure));
  return response;
}

}  // namespace errand::net

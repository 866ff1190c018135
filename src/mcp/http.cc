#include "mcp/http.h"

#include <utility>

#include "api/launch.h"
#include "base/json_out.h"
#include "mcp/stream.h"
#include "net/problem.h"

namespace errand::mcp {
namespace {

constexpr size_t sessions_kept = 10'000;
constexpr size_t id_max = 200;
constexpr std::string_view own_prefix = "ses_mcp_";

void reply(const net::ExchangePtr& exchange, int status, std::string body) {
  exchange->reply({.status = status, .content_type = "application/json", .body = std::move(body), .headers = {}});
}

void refuse(const net::ExchangePtr& exchange, int status, std::string_view id, RpcError error) {
  reply(exchange, status, error_message(id, error));
}

// Is the version that the header names one of ours? None: 2025-03-26, which had no header.
bool version_fits(const net::ExchangePtr& exchange, std::string_view id) {
  const std::string_view version = exchange->request.header("mcp-protocol-version");
  if (version.empty() || is_version(version)) return true;
  std::string data;
  JsonOut out(data);
  out.object().key("supported").array();
  for (const std::string_view one : versions) out.value(one);
  out.end().field("requested", version.substr(0, 100)).end();
  refuse(exchange, 400, id, {code::unsupported_version, "This protocol version is not supported here.", data});
  return false;
}

// Whose tasks: what the client says of itself, else the MCP session's own.
SessionId caller_of(const net::Request& request, const Incoming& message, const SessionId& own) {
  for (const std::string& named : {std::string(request.header("errand-session-id")), message.text("_meta", "threadId")})
    if (!named.empty() && named.size() <= id_max && api::is_plain_id(named)) return SessionId(named);
  return own;
}

}  // namespace

void HttpEndpoint::handle(net::ExchangePtr exchange) {
  switch (exchange->request.method) {
    case net::Method::post:
      return post(exchange);
    case net::Method::get:
    case net::Method::head:
      return get(exchange);
    case net::Method::del:
      return forget(exchange);
    default:
      exchange->reply(net::problem(405, "method_not_allowed", "MCP is served for POST, GET and DELETE."));
  }
}

void HttpEndpoint::post(const net::ExchangePtr& exchange) {
  RpcError error;
  std::string id;
  Result<Incoming> message = parse_message(exchange->request.body, error, id);
  if (!message) return refuse(exchange, 400, id, error);
  if (!version_fits(exchange, message->id)) return;
  const bool request = message->kind == Incoming::Kind::request;
  if (request && message->method == "initialize") return initialize(exchange, std::move(*message));
  with_session(exchange, [this, exchange, request, message = std::move(*message)](const SessionId& own) {
    const Peer peer{own.value, caller_of(exchange->request, message, own)};
    if (!request) {
      if (message.kind == Incoming::Kind::notification) parts_.protocol.notification(message, peer);
      return exchange->reply({.status = 202, .content_type = {}, .body = {}, .headers = {}});
    }
    auto cancellation = std::make_shared<tools::Cancellation>();
    // Whoever left would lose what the answer takes: the wait is given up, the task goes on.
    exchange->on_gone([cancellation] { cancellation->cancel(); });
    parts_.protocol.request(message, peer, cancellation,
                            [exchange](std::string answer) { reply(exchange, 200, std::move(answer)); });
  });
}

void HttpEndpoint::initialize(const net::ExchangePtr& exchange, Incoming message) {
  Session session;
  session.id = SessionId(std::string(own_prefix) + random_secret(parts_.random, 18));
  session.origin = "mcp";
  session.title = message.text("clientInfo", "name").substr(0, 100);
  parts_.engine.open_session(session, [this, exchange, message = std::move(message)](const Result<Session>& opened) {
    if (!opened) return refuse(exchange, 503, message.id, {code::internal, opened.error().message, {}});
    if (known_.size() >= sessions_kept) known_.clear();
    known_.insert(opened->id.value);
    parts_.protocol.request(message, {opened->id.value, opened->id}, nullptr,
                            [exchange, id = opened->id.value](std::string answer) {
                              exchange->reply({.status = 200,
                                               .content_type = "application/json",
                                               .body = std::move(answer),
                                               .headers = {{"Mcp-Session-Id", id}}});
                            });
  });
}

void HttpEndpoint::with_session(const net::ExchangePtr& exchange, std::move_only_function<void(SessionId)> then) {
  const std::string id(exchange->request.header("mcp-session-id"));
  const auto unknown = [](const net::ExchangePtr& to) {
    refuse(to, 404, {}, {code::invalid_request, "There is no such session: initialize again.", {}});
  };
  if (id.empty())
    return refuse(
        exchange, 400, {},
        {code::invalid_request, "Mcp-Session-Id is missing: begin with `initialize`, which answers one.", {}});
  if (ended_.contains(id) || !id.starts_with(own_prefix) || id.size() > id_max || !api::is_plain_id(id))
    return unknown(exchange);
  if (known_.contains(id)) return then(SessionId(id));
  parts_.readers.post([this, exchange, id, unknown, then = std::move(then)]() mutable {
    const bool stored = parts_.store.session(SessionId(id)).has_value();
    parts_.loop.post([this, exchange, id, stored, unknown, then = std::move(then)]() mutable {
      if (!stored) return unknown(exchange);
      if (known_.size() >= sessions_kept) known_.clear();
      known_.insert(id);
      then(SessionId(id));
    });
  });
}

void HttpEndpoint::get(const net::ExchangePtr& exchange) {
  if (!version_fits(exchange, {})) return;
  with_session(exchange, [this, exchange](const SessionId& own) {
    Incoming nothing;
    RpcError error;
    std::string id;
    if (Result<Incoming> empty = parse_message(R"({"jsonrpc":"2.0","method":"x"})", error, id)) nothing = *empty;
    const SessionId caller = caller_of(exchange->request, nothing, own);
    exchange->stream(net::sse_response(),
                     std::make_unique<NoticeStream>(
                         NoticeStreamParts{parts_.engine, parts_.store, parts_.loop, parts_.readers, parts_.heartbeats},
                         caller, exchange->request.header("last-event-id")));
  });
}

void HttpEndpoint::forget(const net::ExchangePtr& exchange) {
  with_session(exchange, [this, exchange](const SessionId& own) {
    if (ended_.size() >= sessions_kept) ended_.clear();
    ended_.insert(own.value);
    known_.erase(own.value);
    exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
}

}  // namespace errand::mcp

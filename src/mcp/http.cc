#include "mcp/http.h"

#include <utility>

#include <boost/json.hpp>

#include "api/launch.h"
#include "base/json_out.h"
#include "base/text.h"
#include "mcp/answer_stream.h"
#include "mcp/caller.h"
#include "mcp/modern.h"
#include "mcp/resources.h"
#include "mcp/task_uri.h"
#include "mcp/tasks.h"
#include "net/problem.h"
#include "net/routes/guard.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

constexpr size_t sessions_kept = 10'000;
constexpr std::string_view own_prefix = "ses_mcp_";

void reply(const net::ExchangePtr& exchange, int status, std::string body) {
  exchange->reply({.status = status, .content_type = "application/json", .body = std::move(body), .headers = {}});
}

void refuse(const net::ExchangePtr& exchange, int status, std::string_view id, const RpcError& error) {
  reply(exchange, status, error_message(id, error));
}

// In the modern era some errors are the request's, and its status says so.
int status_of(Era era, int error) {
  if (era == Era::legacy) return 200;
  if (error == code::method_not_found) return 404;
  return error == code::missing_capability ? 400 : 200;
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

bool takes_stream(const net::Request& request) {
  return request.header("accept").find("text/event-stream") != std::string_view::npos;
}

std::string idempotency_key(const net::Request& request) {
  const std::string_view key = request.header("idempotency-key");
  return key.size() <= session_id_max && api::is_plain_id(std::string(key)) ? std::string(key) : std::string();
}

void read_caller(const net::Request& request, Peer& peer) {
  peer.forks = may_be_forked(request, peer.session);
  peer.work_dir = work_dir_of(request);
  peer.who = request.who.id;
  peer.rights = net::rights_of(request.who);
}

// What the sessions that this caller opens begin with, and no others do but the owner's, who may use all: a session's
// id is no secret.
std::string prefix_for(const net::Principal& who) {
  return who.is_owner() ? std::string(own_prefix) : std::string(own_prefix) + who.id + "_";
}

// The list of texts `notifications.NAME` of a listen request.
std::vector<std::string> texts_in(const json::object& wanted, std::string_view name) {
  std::vector<std::string> out;
  const json::value* list = wanted.if_contains(name);
  if (!list || !list->is_array()) return out;
  for (const json::value& one : list->as_array())
    if (one.is_string() && out.size() < uris_max) out.emplace_back(one.as_string());
  return out;
}

}  // namespace

HttpEndpoint::HttpEndpoint(HttpParts parts) : parts_(parts), with_(parts.protocol.parts()) {
  parts_.protocol.on_change = [this](const SessionId& session) { list_changed(session); };
}

NoticeStreamParts HttpEndpoint::stream_parts() const {
  return {with_.engine, with_.store, with_.loop, with_.readers, parts_.heartbeats};
}

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
  if (era_of(*message, trim(exchange->request.header("mcp-protocol-version"))) == Era::modern)
    return post_modern(exchange, std::move(*message));
  post_legacy(exchange, std::move(*message));
}

void HttpEndpoint::post_modern(const net::ExchangePtr& exchange, Incoming message) {
  const net::Request& request = exchange->request;
  if (message.kind == Incoming::Kind::response)
    return refuse(exchange, 400, {}, {code::invalid_request, "The message must be a request or a notification.", {}});
  if (const auto wrong = check_modern(message, request)) return refuse(exchange, 400, message.id, *wrong);
  Peer peer{.era = Era::modern};
  peer.session = caller_of(request, message, client_session(request, message));
  // Only `errand mcp` speaks for one client over many requests, and cancels one by another.
  const std::string_view connection = request.header("errand-connection");
  read_caller(request, peer);
  peer.connection =
      connection.empty() ? "r" + std::to_string(++last_request_) : "c" + peer.who + "/" + std::string(connection);
  read_capabilities(message, peer);
  if (message.kind == Incoming::Kind::notification) {
    parts_.protocol.notification(message, peer);
    return exchange->reply({.status = 202, .content_type = {}, .body = {}, .headers = {}});
  }
  if (message.method == "subscriptions/listen") return listen(exchange, std::move(message), std::move(peer));
  serve(exchange, std::move(message), std::move(peer));
}

void HttpEndpoint::post_legacy(const net::ExchangePtr& exchange, Incoming message) {
  if (!version_fits(exchange, message.id)) return;
  const bool request = message.kind == Incoming::Kind::request;
  if (request && message.method == "initialize") return initialize(exchange, std::move(message));
  with_session(exchange, [this, exchange, request, message = std::move(message)](const SessionId& own) mutable {
    Peer peer{.era = Era::legacy, .connection = own.value, .session = caller_of(exchange->request, message, own)};
    read_caller(exchange->request, peer);
    if (request) {
      if (message.method == "resources/subscribe" || message.method == "resources/unsubscribe")
        return subscribe(exchange, message, peer);
      return serve(exchange, std::move(message), std::move(peer));
    }
    if (message.kind == Incoming::Kind::notification) parts_.protocol.notification(message, peer);
    exchange->reply({.status = 202, .content_type = {}, .body = {}, .headers = {}});
  });
}

void HttpEndpoint::serve(const net::ExchangePtr& exchange, Incoming message, Peer peer) {
  auto cancellation = std::make_shared<tools::Cancellation>();
  // `errand mcp` comes again where the server stops in the middle of a call.
  const bool bridged = exchange->request.count_header("errand-connection") > 0;
  if (bridged) peer.key = net::key_of(exchange->request.who, idempotency_key(exchange->request));
  const json::value* token = message.meta("progressToken");
  const bool tells = token && (token->is_string() || token->is_int64() || token->is_uint64());
  if (Protocol::may_wait(message) && tells && takes_stream(exchange->request)) {
    auto stream = std::make_unique<AnswerStream>(parts_.heartbeats, with_.clock, json::serialize(*token), cancellation);
    Answering answering = stream->answering(bridged);
    exchange->stream(net::sse_response(), std::move(stream));
    return parts_.protocol.request(std::move(message), std::move(peer), cancellation, std::move(answering));
  }
  // Whoever left would lose what the answer takes: the wait is given up, the task goes on.
  exchange->on_gone([cancellation] { cancellation->cancel(); });
  const Era era = peer.era;
  parts_.protocol.request(std::move(message), std::move(peer), cancellation, [exchange, era, bridged](Answer answer) {
    reply(exchange, answer.stopping && bridged ? 503 : status_of(era, answer.error), std::move(answer.text));
  });
}

void HttpEndpoint::initialize(const net::ExchangePtr& exchange, Incoming message) {
  Session session;
  session.id = SessionId(prefix_for(exchange->request.who) + random_secret(parts_.random, 18));
  session.origin = "mcp";
  session.title = message.text("clientInfo", "name").substr(0, 100);
  with_.engine.sessions().open_session(
      session, [this, exchange, message = std::move(message)](const Result<Session>& opened) {
        if (!opened) return refuse(exchange, 503, message.id, {code::internal, opened.error().message, {}});
        if (known_.size() >= sessions_kept) known_.clear();
        known_.insert(opened->id.value);
        Peer peer{.era = Era::legacy, .connection = opened->id.value, .session = opened->id};
        read_caller(exchange->request, peer);
        parts_.protocol.request(message, peer, nullptr, [exchange, id = opened->id.value](Answer answer) {
          exchange->reply({.status = 200,
                           .content_type = "application/json",
                           .body = std::move(answer.text),
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
  const bool own = id.starts_with(prefix_for(exchange->request.who));
  if (ended_.contains(id) || !own || id.size() > session_id_max || !api::is_plain_id(id)) return unknown(exchange);
  if (known_.contains(id)) return then(SessionId(id));
  with_.readers.post([this, exchange, id, unknown, then = std::move(then)]() mutable {
    const bool stored = with_.store.session(SessionId(id)).has_value();
    with_.loop.post([this, exchange, id, stored, unknown, then = std::move(then)]() mutable {
      if (!stored) return unknown(exchange);
      if (known_.size() >= sessions_kept) known_.clear();
      known_.insert(id);
      then(SessionId(id));
    });
  });
}

std::shared_ptr<Subjects> HttpEndpoint::subjects_of(const std::string& connection) {
  if (subjects_.size() >= sessions_kept)
    std::erase_if(subjects_, [](const auto& one) { return one.second->streams.empty(); });
  std::shared_ptr<Subjects>& subjects = subjects_[connection];
  if (!subjects) {
    subjects = std::make_shared<Subjects>();
    subjects->list = true;
  }
  return subjects;
}

void HttpEndpoint::list_changed(const SessionId& session) {
  const auto range = listening_.equal_range(session.value);
  for (auto it = range.first; it != range.second;) {
    const auto subjects = it->second.lock();
    it = subjects && !subjects->streams.empty() ? std::next(it) : listening_.erase(it);
    if (subjects)
      for (TellingStream* const stream : std::vector(subjects->streams)) stream->list_changed();
  }
}

// Subscriptions of a session hold as long as this server runs: a client that finds it restarted subscribes again.
void HttpEndpoint::subscribe(const net::ExchangePtr& exchange, const Incoming& message, const Peer& peer) {
  const std::string uri = message.text("uri");
  const std::shared_ptr<Subjects> subjects = subjects_of(peer.connection);
  const bool adds = message.method == "resources/subscribe";
  if (!parse_task_uri(uri))
    return refuse(exchange, 200, message.id, {code::unknown_resource_2025, "There is no such resource.", {}});
  if (adds && subjects->uris.size() >= uris_max)
    return refuse(exchange, 200, message.id, {code::invalid_params, "Too many subscriptions. End some first.", {}});
  if (adds)
    subjects->uris.insert(uri);
  else
    subjects->uris.erase(uri);
  for (TellingStream* const stream : subjects->streams) stream->subjects_changed();
  reply(exchange, 200, result_message(message.id, "{}"));
}

void HttpEndpoint::get(const net::ExchangePtr& exchange) {
  if (!version_fits(exchange, {})) return;
  with_session(exchange, [this, exchange](const SessionId& own) {
    const SessionId caller = caller_of(exchange->request, {}, own);
    auto subjects = subjects_of(own.value);
    listening_.emplace(caller.value, subjects);
    exchange->stream(net::sse_response(),
                     std::make_unique<TellingStream>(stream_parts(), caller, exchange->request.header("last-event-id"),
                                                     std::move(subjects)));
  });
}

void HttpEndpoint::listen(const net::ExchangePtr& exchange, Incoming message, Peer peer) {
  const json::value* value = message.param("notifications");
  if (!value || !value->is_object())
    return refuse(exchange, 200, message.id,
                  {code::invalid_params, "`notifications` must name what to listen to.", {}});
  const json::object& wanted = value->as_object();
  auto subjects = std::make_shared<Subjects>();
  const auto rpc = std::make_shared<Rpc>(with_, message, std::move(peer), nullptr, nullptr);
  // What was not asked for, or is never told, is not in the answer.
  std::string params;
  JsonOut out(params);
  out.object().key("_meta").object().key("io.modelcontextprotocol/subscriptionId").raw(message.id).end();
  out.key("notifications").object();
  if (const json::value* list = wanted.if_contains("resourcesListChanged");
      list && list->is_bool() && list->as_bool()) {
    subjects->list = true;
    out.field("resourcesListChanged", true);
  }
  if (wanted.contains("resourceSubscriptions")) {
    out.key("resourceSubscriptions").array();
    for (std::string& uri : texts_in(wanted, "resourceSubscriptions")) {
      if (!parse_task_uri(uri)) continue;
      out.value(uri);
      subjects->uris.insert(std::move(uri));
    }
    out.end();
  }
  if (wanted.contains("taskIds") && rpc->peer.takes_tasks) {
    out.key("taskIds").array();
    for (std::string& id : texts_in(wanted, "taskIds")) {
      if (!parse_handle(*rpc, id)) continue;
      out.value(id);
      subjects->handles.insert(std::move(id));
    }
    out.end();
  }
  out.end().end();
  listening_.emplace(rpc->peer.session.value, subjects);
  exchange->stream(net::sse_response(), std::make_unique<TellingStream>(
                                            stream_parts(), rpc, std::move(subjects),
                                            notification_message("notifications/subscriptions/acknowledged", params)));
}

void HttpEndpoint::forget(const net::ExchangePtr& exchange) {
  with_session(exchange, [this, exchange](const SessionId& own) {
    if (ended_.size() >= sessions_kept) ended_.clear();
    ended_.insert(own.value);
    known_.erase(own.value);
    subjects_.erase(own.value);
    exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
}

}  // namespace errand::mcp

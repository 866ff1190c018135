#include "mcp/caller.h"

#include <boost/json.hpp>

#include "api/fields.h"
#include "api/launch.h"
#include "base/encode.h"
#include "base/text.h"

namespace errand::mcp {
namespace {

namespace json = boost::json;

std::string text_of(const json::value* value) {
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

SessionId caller_of(const net::Request& request, const Incoming& message, const SessionId& own) {
  // A task's own token speaks for that task and nobody else.
  if (!request.who.session.empty()) return request.who.session;
  std::string in_meta, thread;
  if (message.document) {
    in_meta = text_of(message.meta("errand/session"));
    thread = text_of(message.meta("threadId"));
  }
  for (const std::string& named : {std::string(request.header("errand-session-id")), in_meta,
                                   std::string(request.param("session").value_or("")), thread})
    if (!named.empty() && named.size() <= session_id_max && api::is_plain_id(named)) return SessionId(named);
  return own;
}

SessionId client_session(const net::Request& request, const Incoming& message) {
  const std::string connection(request.header("errand-connection"));
  if (!connection.empty() && connection.size() <= session_id_max && api::is_plain_id(connection))
    return SessionId("mcp-" + connection);
  const json::value* info = message.meta("io.modelcontextprotocol/clientInfo");
  std::string name = info && info->is_object() ? text_of(info->as_object().if_contains("name")) : std::string();
  if (name.empty() || name.size() > 100) name = "client";
  // Two callers with the same program are two: neither is told what the other is owed.
  std::string id = request.who.is_owner() ? "mcp-" : "mcp-" + request.who.id + "-";
  for (const char c : name) id += api::is_plain_id(std::string(1, c)) ? c : '-';
  return SessionId(id);
}

bool may_be_forked(const net::Request& request, const SessionId& session) {
  if (!request.who.session.empty()) return true;
  if (request.header("errand-session-id") != session.value && request.param("session").value_or("") != session.value)
    return false;
  // OpenCode's and tasks', or a UUID: Claude Code's.
  const auto is_uuid = [](std::string_view id) {
    return id.size() == 36 && id.find_first_not_of("0123456789abcdefABCDEF-") == std::string_view::npos;
  };
  return session.value.starts_with("ses_") || is_uuid(session.value);
}

std::string work_dir_of(const net::Request& request) {
  if (!request.who.session.empty()) return {};
  const std::optional<std::string> folder = from_base64(request.header("errand-work-dir"));
  return folder && api::is_absolute_path(*folder) && is_utf8(*folder) ? *folder : std::string();
}

}  // namespace errand::mcp

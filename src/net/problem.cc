#include "net/problem.h"

#include "base/json_out.h"

namespace errand::net {
namespace {

Response build(int status, std::string_view code, std::string_view detail, std::string_view reason,
               const std::vector<std::string>& files = {}) {
  Response response{.status = status, .content_type = "application/problem+json", .body = {}, .headers = {}};
  JsonOut out(response.body);
  out.object().field("type", "urn:errand:problem:" + std::string(code)).field("title", status_text(status));
  out.field("status", status).field("detail", detail).field("code", code);
  if (!reason.empty()) out.field("reason", reason);
  if (!files.empty()) {
    out.key("files").array();
    for (const std::string& file : files) out.value(file);
    out.end();
  }
  out.end();
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"errand\"");
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace

int http_status(Code code) {
  switch (code) {
    case Code::invalid_argument:
      return 400;
    case Code::not_found:
      return 404;
    case Code::conflict:
      return 409;
    case Code::unsupported:
      return 422;
    case Code::too_large:
      return 413;
    case Code::exhausted:
      return 503;
    case Code::storage_full:
      return 507;
    case Code::unavailable:
      return 503;
    case Code::unauthorized:
      return 401;
    case Code::forbidden:
      return 403;
    case Code::internal:
      return 500;
  }
  return 500;
}

std::string_view status_text(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Status";
  }
}

Response problem(const Error& error) {
  // What is too much is this caller's own doing, and not the server's state.
  const bool own = error.code == Code::exhausted && error.reason == "too_many_messages";
  return build(own ? 429 : http_status(error.code), name(error.code), error.message, error.reason);
}

Response problem(const Error& error, const std::vector<std::string>& files) {
  return build(http_status(error.code), name(error.code), error.message, error.reason, files);
}

Response problem(int status, std::string_view code, std::string_view detail) { return build(status, code, detail, {}); }

}  // namespace errand::net

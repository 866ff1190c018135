#include "net/page.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/problem.h"

namespace errand::net {
namespace {

constexpr std::array<std::string_view, 9> addresses = {"/",         "/tasks", "/chat",     "/agents", "/batches",
                                                       "/attempts", "/usage", "/settings", "/pair"};

// Nothing but our own files, no inline script or style, no frame around it. Text of agents is data: `errand` is the one
// policy that makes a script address, and it makes one, that of the page's worker. A frame in it shows an artifact from
// bytes that the page has read (blob:). It inherits this policy, and the page gives it a sandbox without scripts.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; frame-src blob:; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types errand";

// Does the list of an Accept-Encoding header have this coding, not refused by q=0?
bool accepts(std::string_view header, std::string_view coding) {
  for (const std::string_view entry : split(header, ',')) {
    const auto parts = split(entry, ';');
    if (lower_case(trim(parts[0])) != coding) continue;
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::string weight = lower_case(trim(parts[i]));
      if (weight.starts_with("q=") && weight.find_first_not_of("0.", 2) == std::string::npos) return false;
    }
    return true;
  }
  return false;
}

// If-None-Match: the browser has one of these. Weak ones compare the same.
bool has_already(std::string_view header, std::string_view etag) {
  for (std::string_view entry : split(header, ',')) {
    entry = trim(entry);
    if (entry.starts_with("W/")) entry.remove_prefix(2);
    if (entry == etag || entry == "*") return true;
  }
  return false;
}

}  // namespace

Response page_reply(const Request& request, std::span<const PageFile> files) {
  if (request.method != Method::get && request.method != Method::head) {
    Response response = problem(405, "method_not_allowed", "The page's files take only GET and HEAD.");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  int status = 200;
  auto file = std::ranges::find(files, request.path, &PageFile::path);
  if (file == files.end()) {
    if (request.path.starts_with("/assets/"))
      return problem(404, "not_found", "This file is not part of the page. Reload the page.");
    if (std::ranges::find(addresses, request.path) == addresses.end()) status = 404;
    file = std::ranges::find(files, "/index.html", &PageFile::path);
    if (file == files.end()) return problem(404, "not_found", "This server was built without its page.");
  }
  Response response{.status = status, .content_type = std::string(file->media_type), .body = {}, .headers = {}};
  response.headers = {{"Content-Security-Policy", std::string(policy)},
                      {"Cache-Control", file->immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Vary", "Accept-Encoding"},
                      {"ETag", std::string(file->etag)}};
  if (status == 200 && has_already(request.header("if-none-match"), file->etag)) {
    response.status = 304;
    return response;
  }
  const std::string_view wanted = request.header("accept-encoding");
  std::string_view body = file->plain;
  if (!file->brotli.empty() && accepts(wanted, "br")) {
    body = file->brotli;
    response.headers.emplace_back("Content-Encoding", "br");
  } else if (!file->gzip.empty() && accepts(wanted, "gzip")) {
    body = file->gzip;
    response.headers.emplace_back("Content-Encoding", "gzip");
  }
  response.body = body;
  return response;
}

void serve_page(const ExchangePtr& exchange) { exchange->reply(page_reply(exchange->request, page_files())); }

}  // namespace errand::net

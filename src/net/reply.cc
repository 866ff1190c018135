#include "net/reply.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

#include "net/problem.h"

namespace errand::net {
namespace {

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  const size_t from = out.size();
  out += value;
  std::replace_if(
      out.begin() + static_cast<ptrdiff_t>(from), out.end(),
      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }, ' ');
  out += "\r\n";
}

// The same second is formatted once.
std::string_view http_date(Time wall) {
  thread_local int64_t second = -1;
  thread_local char text[32];
  if (second != wall.ms / 1000) {
    second = wall.ms / 1000;
    const std::time_t when = second;
    std::tm parts{};
    gmtime_r(&when, &parts);
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  }
  return text;
}

struct Default {
  std::string_view name;  // In lower case, to compare.
  std::string_view line;
};
constexpr Default defaults[] = {
    {"x-content-type-options", "X-Content-Type-Options: nosniff\r\n"},
    {"referrer-policy", "Referrer-Policy: no-referrer\r\n"},
    {"content-security-policy", "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"},
    {"cross-origin-resource-policy", "Cross-Origin-Resource-Policy: same-origin\r\n"},
    {"cache-control", "Cache-Control: no-store\r\n"},
};

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string reply_head(const Response& response, const std::vector<std::pair<std::string, std::string>>& more,
                       const ReplyShape& shape) {
  std::string out;
  out.reserve(512);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 status_text(response.status), http_date(shape.wall));
  if (has_body(response.status)) {
    if (!response.content_type.empty()) append_header(out, "Content-Type", response.content_type);
    if (shape.framing == Framing::length)
      fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", response.body.size());
    else if (shape.framing == Framing::chunked)
      out += "Transfer-Encoding: chunked\r\n";
  }
  for (const auto& [name, line] : defaults) {
    const auto names_it = [&](const auto& header) { return lower_case(header.first) == name; };
    if (std::ranges::none_of(response.headers, names_it)) out += line;
  }
  for (const auto& [name, value] : more) append_header(out, name, value);
  for (const auto& [name, value] : response.headers) append_header(out, name, value);  // The later cookie wins.
  if (!shape.keep_alive)
    out += "Connection: close\r\n";
  else if (shape.http10)
    out += "Connection: keep-alive\r\n";
  out += "\r\n";
  return out;
}

}  // namespace errand::net

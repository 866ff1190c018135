#include "net/reply.h"

#include <algorithm>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

#include "net/problem.h"

namespace errand::net {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return low(x) == low(y);
  });
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  for (const char c : value) out += (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? ' ' : c;
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
  std::string_view name, value;
};
constexpr Default defaults[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
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
  for (const auto& [name, value] : defaults) {
    const bool named = std::ranges::any_of(response.headers, [&](const auto& h) { return same_name(h.first, name); });
    if (!named) append_header(out, name, value);
  }
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  for (const auto& [name, value] : more) append_header(out, name, value);
  if (!shape.keep_alive)
    out += "Connection: close\r\n";
  else if (shape.http10)
    out += "Connection: keep-alive\r\n";
  out += "\r\n";
  return out;
}

}  // namespace errand::net

#include "cli/mcp_post.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/sse.h"
#include "cli/connection.h"
#include "cli/http_reader.h"

namespace errand::cli {
namespace {

constexpr Millis connect_ms = 5'000;
constexpr Millis write_ms = 30'000;
// A call may wait an hour, and a wait for a task's result for as long as that takes; a server that goes away ends the
// connection.
constexpr Millis answer_ms = 7LL * 86'400'000;
// A stream says something every 15 s.
constexpr Millis silence_ms = 60'000;

std::unexpected<Error> not_sent(const Error& error) { return fail(error.code, error.message, "not_sent"); }

std::string request_of(const Target& target, const McpPost& post) {
  std::string text = fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: {}\r\nUser-Agent: errand-mcp\r\nAccept: application/json, text/event-stream\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n",
      target.authority, post.body.size());
  if (!target.token.empty()) text += fmt::format("Authorization: Bearer {}\r\n", target.token);
  if (target.local && !post.work_dir.empty()) text += fmt::format("Errand-Work-Dir: {}\r\n", to_base64(post.work_dir));
  for (const auto& [name, value] : post.headers) text += fmt::format("{}: {}\r\n", name, value);
  return text.append("\r\n").append(post.body);
}

}  // namespace

Result<Reply> post_mcp(const Where& where, Start start, const McpPost& post) {
  const Result<Target> target = find_server(where, start);
  if (!target) return not_sent(target.error());
  Result<std::unique_ptr<Connection>> connection = Connection::open(target->endpoint, steady_now() + connect_ms);
  if (!connection) return not_sent(connection.error());
  if (Status sent = (*connection)->write(request_of(*target, post), steady_now() + write_ms); !sent)
    return std::unexpected(sent.error());
  HttpReader reader;
  SseParser events;
  bool streams = false, given = false;
  Status going;
  while (going && !reader.done()) {
    std::string piece;
    switch ((*connection)->read(piece, steady_now() + (streams ? silence_ms : answer_ms))) {
      case Connection::Read::some:
        going = reader.feed(piece);
        break;
      case Connection::Read::eof:
        going = reader.eof();
        break;
      default:
        going = fail(Code::unavailable, "The server does not answer. errand doctor may say why.", "timeout");
    }
    streams =
        reader.head_done() && reader.status() == 200 && reader.header("content-type").starts_with("text/event-stream");
    if (!streams || reader.body().empty()) continue;
    events.feed(reader.body(), [&](const SseEvent& event) {
      if (event.type != "message" || event.data.empty()) return true;
      given = given || event.data.starts_with(R"({"jsonrpc":"2.0","id")");
      post.message(event.data);
      return true;
    });
    reader.body().clear();
    if (events.too_large())
      going = fail(Code::unavailable, "The server sent an event that is too large.", "bad_answer");
  }
  if (!going) return std::unexpected(going.error());
  if (streams && !given) return fail(Code::unavailable, "The server ended the stream before its answer.", "closed");
  return Reply{reader.status(), std::move(reader.body()), reader.headers()};
}

}  // namespace errand::cli

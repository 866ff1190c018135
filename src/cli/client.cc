#include "cli/client.h"

#include <algorithm>
#include <poll.h>

#include <fmt/format.h>

#include "cli/http_reader.h"
#include "cli/interrupt.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr Millis connect_ms = 5'000;
constexpr Millis idle_max_ms = 5'000;  // A connection that was idle for longer may be closed by the server any moment.
constexpr Millis silence_max_ms = 90'000;  // Of a stream: the server sends heartbeats, so this is a dead connection.
constexpr Millis lost_max_ms = 60'000;     // How long a lost server is looked for.
constexpr int repeats_max = 3;

void pause_ms(Millis ms, int wake = -1) {
  pollfd waits[2] = {{Interrupt::fd(), POLLIN, 0}, {wake, POLLIN, 0}};
  ::poll(waits, 2, static_cast<int>(ms));
}

bool is_interrupt(const Error& error) { return error.reason == "interrupted"; }

// One stream connection: what came of it.
enum class Broke : uint8_t { ended, stopped, deadline, interrupted, lost };

struct StreamState {
  SseParser parser;
  std::string last_id;
  bool ended = false;  // The last event was `end`.
};

}  // namespace

Client::~Client() = default;

std::string_view Reply::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                 c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Query& Query::add(std::string_view name, std::string_view value) {
  if (!value.empty()) text_.append(text_.empty() ? "?" : "&").append(name).append("=").append(url_encode(value));
  return *this;
}

Result<Target> Client::target() {
  if (!target_) {
    Result<Target> found = find_server(where_, start_);
    if (!found) return found;
    target_ = std::move(*found);
  }
  return *target_;
}

std::string Client::head(std::string_view method, const std::string& path) const {
  std::string head =
      fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: errand-cli\r\n", method, path, target_->authority);
  if (!target_->token.empty()) head += fmt::format("Authorization: Bearer {}\r\n", target_->token);
  for (const auto& [name, value] : headers_) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

Result<Reply> Client::exchange(const std::string& request, bool repeatable) {
  Time deadline = steady_now() + reply_ms_;
  bool reused = idle_ && steady_now() - idle_since_ < idle_max_ms;
  std::unique_ptr<Connection> connection = reused ? std::move(idle_) : nullptr;
  idle_.reset();
  if (!connection) {
    auto opened = Connection::open(target_->endpoint, steady_now() + connect_ms);
    if (!opened) return std::unexpected(opened.error());
    connection = std::move(*opened);
  }
  HttpReader reader;
  Status going = connection->write(request, deadline);
  bool heard = false;
  while (going && !reader.done()) {
    std::string piece;
    switch (connection->read(piece, deadline)) {
      case Connection::Read::some:
        heard = true;
        going = reader.feed(piece);
        break;
      case Connection::Read::eof:
        going = reader.eof();
        break;
      case Connection::Read::timeout:
      case Connection::Read::woken:
        going = fail(Code::unavailable, "The server does not answer. errand doctor may say why.", "timeout");
        break;
      case Connection::Read::interrupted:
        going = fail(Code::unavailable, "Interrupted.", "interrupted");
        break;
    }
  }
  if (!going) {
    if (reused && !heard && repeatable && !is_interrupt(going.error())) return exchange(request, repeatable);
    return std::unexpected(going.error());
  }
  Reply reply{reader.status(), std::move(reader.body()), reader.headers()};
  if (reader.keep_alive()) {
    idle_ = std::move(connection);
    idle_since_ = steady_now();
  }
  return reply;
}

Result<Reply> Client::request(std::string_view method, const std::string& path, std::string_view body,
                              std::string_view idempotency_key) {
  bool repeatable = method == "GET" || !idempotency_key.empty();
  for (int repeat = 0;; ++repeat) {
    Result<Target> found = target();
    if (!found) return std::unexpected(found.error());
    std::string request = head(method, path);
    if (!idempotency_key.empty()) request += fmt::format("Idempotency-Key: {}\r\n", idempotency_key);
    if (method != "GET")
      request += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
    request.append("\r\n").append(body);
    Result<Reply> reply = exchange(request, repeatable);
    if (reply || !repeatable || repeat >= repeats_max || is_interrupt(reply.error())) return reply;
    target_.reset();  // It may have been restarted elsewhere.
    pause_ms(100 << repeat);
  }
}

Result<std::string> Client::call(std::string_view method, const std::string& path, std::string_view body,
                                 std::string_view idempotency_key) {
  Result<Reply> reply = request(method, path, body, idempotency_key);
  if (!reply) return std::unexpected(reply.error());
  if (reply->status >= 400) return std::unexpected(parse_problem(reply->status, reply->body));
  return std::move(reply->body);
}

namespace {

Result<Broke> read_stream(Connection& connection, HttpReader& reader, StreamState& state, const StreamCalls& calls) {
  auto take = [&](const SseEvent& event) {
    state.last_id = event.id;
    state.ended = event.type == "end";
    return !calls.event || calls.event(event);
  };
  Time heard = steady_now();
  // After `end` the server closes; one that does not gets a moment and no more.
  constexpr Millis close_ms = 1'000;
  for (;;) {
    if (calls.tick && !calls.tick()) return Broke::stopped;
    if (!reader.body().empty()) {
      bool going = state.parser.feed(reader.body(), take);
      reader.body().clear();
      if (state.parser.too_large())
        return fail(Code::unavailable, "The server sent an event that is too large.", "bad_answer");
      if (!going) return Broke::stopped;
    }
    if (reader.done()) return state.ended ? Broke::ended : Broke::lost;
    Time now = steady_now();
    Time until = heard + (state.ended ? close_ms : silence_max_ms);
    if (now >= until) return state.ended ? Broke::ended : Broke::lost;
    if (calls.deadline && now >= calls.deadline) return Broke::deadline;
    if (calls.deadline) until = std::min(until, calls.deadline);
    if (calls.tick) until = std::min(until, now + calls.tick_ms);
    std::string piece;
    switch (connection.read(piece, until, calls.wake_fd)) {
      case Connection::Read::some:
        heard = steady_now();
        if (Status fed = reader.feed(piece); !fed) return std::unexpected(fed.error());
        break;
      case Connection::Read::eof:
        return state.ended ? Broke::ended : Broke::lost;
      case Connection::Read::interrupted:
        return Broke::interrupted;
      case Connection::Read::timeout:
      case Connection::Read::woken:
        break;
    }
  }
}

// Until the head of the reply is there.
Status read_head(Connection& connection, HttpReader& reader, Time deadline) {
  while (!reader.head_done()) {
    std::string piece;
    switch (connection.read(piece, deadline)) {
      case Connection::Read::some:
        if (Status fed = reader.feed(piece); !fed) return fed;
        break;
      case Connection::Read::interrupted:
        return fail(Code::unavailable, "Interrupted.", "interrupted");
      default:
        return fail(Code::unavailable, "The server closed the connection. Try again.", "closed");
    }
  }
  return {};
}

Error problem_of(Connection& connection, HttpReader& reader, Time deadline) {
  std::string piece;
  while (!reader.done() && connection.read(piece, deadline) == Connection::Read::some && reader.feed(piece))
    piece.clear();
  return parse_problem(reader.status(), reader.body());
}

}  // namespace

Result<StreamEnd> Client::stream(const std::string& path, std::string last_id, const StreamCalls& calls) {
  StreamState state;
  state.last_id = std::move(last_id);
  Start start = start_;
  Time lost_since;
  Millis pause = 20;
  for (;;) {
    Result<Broke> broke = Broke::lost;
    Error why{Code::unavailable, "The server closed the connection.", "closed"};
    Result<Target> found = target();
    Result<std::unique_ptr<Connection>> connection =
        found ? Connection::open(found->endpoint, steady_now() + connect_ms) : std::unexpected(found.error());
    if (connection) {
      std::string request = head("GET", path) + "Accept: text/event-stream\r\n";
      if (!state.last_id.empty()) request += fmt::format("Last-Event-ID: {}\r\n", state.last_id);
      HttpReader reader;
      Time deadline = steady_now() + reply_ms_;
      Status sent = (*connection)->write(request + "\r\n", deadline);
      if (sent) sent = read_head(**connection, reader, deadline);
      if (!sent) {
        why = sent.error();
      } else if (reader.status() == 204) {
        return StreamEnd::nothing;
      } else if (reader.status() != 200) {
        why = problem_of(**connection, reader, deadline);
        if (why.code != Code::unavailable) return std::unexpected(why);
      } else {
        if (lost_since && calls.lost) calls.lost(false);
        lost_since = {};
        pause = 20;
        state.parser.restart();
        if (calls.connected) {
          Result<bool> going = calls.connected();
          if (!going && going.error().code != Code::unavailable) return std::unexpected(going.error());
          if (going && !*going) return StreamEnd::stopped;
        }
        broke = read_stream(**connection, reader, state, calls);
        if (!broke) return std::unexpected(broke.error());
      }
    } else {
      why = connection.error();
    }
    if (is_interrupt(why) || Interrupt::happened()) return StreamEnd::interrupted;
    switch (*broke) {
      case Broke::ended:
        return StreamEnd::ended;
      case Broke::stopped:
        return StreamEnd::stopped;
      case Broke::deadline:
        return StreamEnd::deadline;
      case Broke::interrupted:
        return StreamEnd::interrupted;
      case Broke::lost:
        break;
    }
    // Found again at each try, since it may come back on another port; not started, since whoever stopped it may be
    // replacing it just now.
    Time now = steady_now();
    if (!lost_since) {
      if (!found && start == Start::if_none) return std::unexpected(why);  // It could not be started: nothing was lost.
      lost_since = now;
      if (calls.lost) calls.lost(true);
    } else if (now - lost_since > lost_max_ms) {
      return std::unexpected(why);
    }
    if (calls.deadline && now >= calls.deadline) return StreamEnd::deadline;
    if (calls.tick && !calls.tick()) return StreamEnd::stopped;
    target_.reset();
    start = start_ = Start::never;
    pause_ms(pause, calls.wake_fd);
    pause = std::min<Millis>(pause * 2, 500);
  }
}

}  // namespace errand::cli

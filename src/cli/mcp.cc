// errand mcp: MCP over standard input and output, for clients that start a program. A line is a message; each goes to
// the server's /mcp as it is, and what comes back are lines. Nothing is done before the first message; the server is
// found or started then. When the server is restarted, what was under way goes on: it is asked again, and what starts
// something has a key by which the server knows it.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/encode.h"
#include "base/id.h"
#include "base/json_out.h"
#include "base/mutex.h"
#include "cli/files.h"
#include "cli/mcp_post.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr int calls_max = 64;  // Under way at once; further ones wait their turn.
constexpr Millis patience_ms = 60'000;
constexpr size_t session_id_max = 200;
constexpr std::string_view roots_request = "errand-roots";  // The id of our question for the client's roots.
constexpr auto roots_patience = std::chrono::seconds(2);    // A client that does not answer it is where we are.

using Again = McpMessage::Again;
using Headers = std::vector<std::pair<std::string, std::string>>;

void pause_ms(Millis span) { usleep(static_cast<useconds_t>(span * 1'000)); }

bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= session_id_max &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") ==
             std::string_view::npos;
}

bool is_header_text(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return text == std::string_view(text).substr(0, 1'000) && !text.starts_with(' ') && !text.ends_with(' ');
}

// What the stateless protocol repeats in headers.
Headers modern_headers(const McpMessage& message) {
  Headers headers;
  if (is_header_text(message.version)) headers.emplace_back("MCP-Protocol-Version", message.version);
  if (is_header_text(message.method)) headers.emplace_back("Mcp-Method", message.method);
  if (!message.name.empty() && message.name.size() <= 8'000)
    headers.emplace_back("Mcp-Name", is_header_text(message.name) && !message.name.starts_with("=?")
                                         ? message.name
                                         : "=?base64?" + to_base64(message.name) + "?=");
  return headers;
}

class Bridge {
 public:
  Bridge(const Globals& globals, std::string session)
      : globals_(globals), caller_(std::move(session)), here_(absolute(".")) {}

  int run() {
    for (std::string line; std::getline(std::cin, line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (std::optional<std::string> root = first_root(line, roots_request)) {
        roots_told(std::move(*root));
        continue;
      }
      McpMessage message = parse_mcp_message(line);
      // In order: what opens the session, and what is not answered.
      if (message.id.empty() || message.method == "initialize" || message.method.empty()) {
        if (message.method == "initialize") offers_roots_ = offers_roots(line);
        handle(line, message);
        if (message.method == "notifications/initialized" && message.version.empty()) {
          ask_roots();
          listen();
        }
        if (message.method == "notifications/roots/list_changed") ask_roots();
        continue;
      }
      wait_for_room();
      std::thread([this, line, message = std::move(message)] {
        handle(line, message);
        const Lock lock(mutex_);
        --under_way_;
      }).detach();
    }
    // The client has gone: what waits is given up by the server when our connections close. No task ends by it.
    std::cout.flush();
    _exit(code(Exit::ok));
  }

 private:
  void wait_for_room() {
    for (;; pause_ms(5)) {
      const Lock lock(mutex_);
      if (under_way_ >= calls_max) continue;
      ++under_way_;
      return;
    }
  }

  void write(const std::string& text) {
    const Lock lock(mutex_);
    std::cout << text << '\n' << std::flush;
    if (!std::cout) _exit(code(Exit::ok));
  }
  void write_error(const McpMessage& message, int rpc_code, std::string_view words) {
    if (message.id.empty()) return;
    std::string text;
    JsonOut out(text);
    out.object().field("jsonrpc", "2.0").key("id").raw(message.id).key("error").object();
    out.field("code", rpc_code).field("message", words).end().end();
    write(text);
  }

  // A client with roots works in the first of them; any other where it started us (R14.1).
  void ask_roots() {
    if (!offers_roots_) return;
    {
      const Lock lock(mutex_);
      roots_asked_ = true;
    }
    write(fmt::format(R"({{"jsonrpc":"2.0","id":"{}","method":"roots/list"}})", roots_request));
  }
  void roots_told(std::string root) {
    {
      const Lock lock(mutex_);
      root_ = std::move(root);
      roots_asked_ = false;
    }
    roots_known_.notify_all();
  }
  std::string folder() {
    Lock lock(mutex_);
    roots_known_.wait_for(lock, roots_patience, [this]() REQUIRES(mutex_) { return !roots_asked_; });
    roots_asked_ = false;  // It was waited for once.
    return root_.empty() ? here_ : root_;
  }

  std::string session() {
    const Lock lock(mutex_);
    return session_;
  }
  // Made with the first message: whoever only starts us leaves no trace.
  std::string connection() {
    const Lock lock(mutex_);
    if (connection_.empty()) {
      SystemRandom random;
      connection_ = random_secret(random, 12);
    }
    return connection_;
  }

  Headers headers_for(const McpMessage& message, const std::string& session) {
    Headers headers;
    if (!message.version.empty()) headers = modern_headers(message);
    if (message.version.empty() && !session.empty()) headers.emplace_back("Mcp-Session-Id", session);
    headers.emplace_back("Errand-Connection", connection());
    if (!caller_.empty()) headers.emplace_back("Errand-Session-Id", caller_);
    return headers;
  }

  // The server no longer knows the session (its data folder is another one): begins a new one as the client did.
  bool open_again(const std::string& lost) {
    const Lock opening(opening_);
    if (session() != lost) return true;
    std::string initialize;
    {
      const Lock lock(mutex_);
      initialize = initialize_;
    }
    if (initialize.empty()) return false;
    const Result<Reply> reply =
        post_mcp(where_of(globals_), Start::if_none,
                 {.body = std::move(initialize), .headers = headers_for({}, {}), .work_dir = {}, .message = {}});
    if (!reply || reply->status != 200) return false;
    const Lock lock(mutex_);
    session_ = reply->header("mcp-session-id");
    return true;
  }

  void handle(const std::string& line, const McpMessage& message) {
    const bool legacy = message.version.empty(), listens = message.method == "subscriptions/listen";
    std::string key;
    if (message.again == Again::keyed) {
      SystemRandom random;
      key = random_secret(random, 18);
    }
    const std::string work_dir = message.method == "tools/call" ? folder() : std::string();
    bool opened_again = false, acknowledged = false;
    for (Millis waited = 0, pause = 50;;) {
      const std::string own = !legacy || message.method == "initialize" ? "" : session();
      Headers headers = headers_for(message, own);
      if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
      const auto told = [&](const std::string& text) {
        // It was told so already, before the server was restarted.
        const bool repeats = listens && text.contains("notifications/subscriptions/acknowledged");
        if (!repeats || !std::exchange(acknowledged, true)) write(text);
        waited = 0;
        pause = 50;
      };
      Result<Reply> reply =
          post_mcp(where_of(globals_), Start::if_none,
                   {.body = line, .headers = std::move(headers), .work_dir = work_dir, .message = told});
      if (reply && reply->status == 404 && !own.empty() && !std::exchange(opened_again, true) && open_again(own))
        continue;
      // It is about to stop, and has done nothing.
      const bool stopping = reply && reply->status == 503;
      if (reply && !stopping) return answered(line, message, *reply);
      const std::string why = reply ? "The server is stopping." : reply.error().message;
      const bool sent = !reply && reply.error().reason != "not_sent";
      if (sent && message.again == Again::unsafe)
        return write_error(message, -32603,
                           fmt::format("{} The call may have been carried out: background_list shows the tasks.", why));
      if (waited >= patience_ms) return write_error(message, -32603, why);
      pause_ms(pause);
      waited += pause;
      pause = std::min<Millis>(pause * 2, 1'000);
    }
  }

  void answered(const std::string& line, const McpMessage& message, const Reply& reply) {
    if (message.method == "initialize" && reply.status == 200) {
      const Lock lock(mutex_);
      session_ = reply.header("mcp-session-id");
      initialize_ = line;
    }
    if (reply.status == 202 || reply.body.empty()) return;
    if (reply.body.starts_with(R"({"jsonrpc")")) {
      // A notification gets no answer, whatever was wrong with it; a line that is no message does.
      if (!message.id.empty() || message.method.empty()) write(reply.body);
      return;
    }
    write_error(message, -32603, parse_problem(reply.status, reply.body).message);
  }

  // What the server tells a session without being asked.
  void listen() {
    if (std::exchange(listening_, true)) return;
    std::thread([this] {
      for (;; pause_ms(1'000)) {
        Client client(where_of(globals_));
        client.set_start(Start::never);
        Headers headers = headers_for({}, session());
        client.set_headers(std::move(headers));
        StreamCalls calls;
        calls.event = [this](const SseEvent& event) {
          if (event.type == "message" && !event.data.empty()) write(event.data);
          last_event_ = event.id;
          return true;
        };
        // However it ended: it is asked for again.
        [[maybe_unused]] const auto ended = client.stream("/mcp", last_event_, calls);
      }
    }).detach();
  }

  const Globals& globals_;
  const std::string caller_;
  const std::string here_;     // The folder that the client started us in.
  bool offers_roots_ = false;  // Of the reading thread.
  Mutex mutex_, opening_;
  Wakeup roots_known_;
  bool roots_asked_ GUARDED_BY(mutex_) = false;
  std::string root_ GUARDED_BY(mutex_);
  std::string session_ GUARDED_BY(mutex_), initialize_ GUARDED_BY(mutex_), connection_ GUARDED_BY(mutex_);
  std::string last_event_;  // Of the listening thread.
  bool listening_ = false;
  int under_way_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

int mcp(Context& context, const McpArgs& args) {
  std::string session = args.session;
  if (const char* claude = std::getenv("CLAUDE_CODE_SESSION_ID"); claude && session.empty()) session = claude;
  if (!session.empty() && !is_plain(session))
    return context.screen.fail(
        {Code::invalid_argument,
         "The value of --session is not a session id: at most 200 letters, digits and _ - . :", "usage"});
  std::ios::sync_with_stdio(false);
  return Bridge(context.globals, std::move(session)).run();
}

}  // namespace errand::cli

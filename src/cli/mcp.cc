// errand mcp: MCP over standard input and output, for clients that start a program. A line is a message; each goes to
// the server's /mcp as it is, and what comes back is a line. Nothing is done before the first message; the server is
// found or started then. When the server is restarted the session goes on, and what only reads is asked again.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr int calls_max = 64;  // Under way at once; further ones wait their turn.
constexpr Millis patience_ms = 60'000;
constexpr size_t session_id_max = 200;

void pause_ms(Millis span) { usleep(static_cast<useconds_t>(span * 1'000)); }

bool is_plain(std::string_view id) {
  return !id.empty() && id.size() <= session_id_max &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") ==
             std::string_view::npos;
}

class Bridge {
 public:
  Bridge(const Globals& globals, std::string session) : globals_(globals), caller_(std::move(session)) {}

  int run() {
    for (std::string line; std::getline(std::cin, line);) {
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      McpMessage message = parse_mcp_message(line);
      // In order: what opens the session, and what is not answered.
      if (message.id.empty() || message.method == "initialize" || message.method.empty()) {
        handle(line, message);
        continue;
      }
      wait_for_room();
      std::thread([this, line, message = std::move(message)] {
        handle(line, message);
        const std::scoped_lock lock(mutex_);
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
      const std::scoped_lock lock(mutex_);
      if (under_way_ >= calls_max) continue;
      ++under_way_;
      return;
    }
  }

  void write(const std::string& text) {
    const std::scoped_lock lock(mutex_);
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

  Result<Reply> send(const std::string& line, const std::string& session) {
    Client client(where_of(globals_));
    std::vector<std::pair<std::string, std::string>> headers = {{"Accept", "application/json, text/event-stream"}};
    if (!session.empty()) headers.emplace_back("Mcp-Session-Id", session);
    if (!caller_.empty()) headers.emplace_back("Errand-Session-Id", caller_);
    client.set_headers(std::move(headers));
    return client.request("POST", "/mcp", line);
  }

  std::string session() {
    const std::scoped_lock lock(mutex_);
    return session_;
  }

  // The server no longer knows the session (its data folder is another one): begins a new one as the client did.
  bool open_again(const std::string& lost) {
    const std::scoped_lock opening(opening_);
    if (session() != lost) return true;
    if (initialize_.empty()) return false;
    const Result<Reply> reply = send(initialize_, {});
    if (!reply || reply->status != 200) return false;
    const std::scoped_lock lock(mutex_);
    session_ = reply->header("mcp-session-id");
    return true;
  }

  void handle(const std::string& line, const McpMessage& message) {
    bool opened_again = false;
    for (Millis waited = 0, pause = 50;;) {
      const std::string own = message.method == "initialize" ? "" : session();
      Result<Reply> reply = send(line, own);
      if (reply && reply->status == 404 && !own.empty() && !std::exchange(opened_again, true) && open_again(own))
        continue;
      if (reply) return answered(line, message, *reply);
      if (!message.repeatable)
        return write_error(message, -32603,
                           fmt::format("{} The call may have been done all the same: background_list shows the tasks "
                                       "that there are.",
                                       reply.error().message));
      if (waited >= patience_ms) return write_error(message, -32603, reply.error().message);
      pause_ms(pause);
      waited += pause;
      pause = std::min<Millis>(pause * 2, 1'000);
    }
  }

  void answered(const std::string& line, const McpMessage& message, const Reply& reply) {
    if (message.method == "initialize" && reply.status == 200) {
      const std::scoped_lock lock(mutex_);
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

  const Globals& globals_;
  const std::string caller_;
  std::mutex mutex_, opening_;
  std::string session_, initialize_;
  int under_way_ = 0;
};

}  // namespace

int mcp(Context& context, const McpArgs& args) {
  std::string session = args.session;
  if (const char* claude = std::getenv("CLAUDE_CODE_SESSION_ID"); claude && session.empty()) session = claude;
  if (!session.empty() && !is_plain(session))
    return context.screen.fail({Code::invalid_argument,
                                "A session's id is made of letters, digits and _ - . : and has at most 200.", "usage"});
  std::ios::sync_with_stdio(false);
  return Bridge(context.globals, std::move(session)).run();
}

}  // namespace errand::cli

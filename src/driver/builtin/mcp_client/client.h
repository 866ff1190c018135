// One MCP server as a client has it: begun, asked for its tools, called. One that dies is begun again by the next call,
// a bounded number of times.
//
// Threads: the engine's only. Nothing is called inside a call, and nothing after destruction.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/timers.h"
#include "driver/builtin/mcp_client/messages.h"
#include "driver/builtin/mcp_client/transport.h"

namespace errand::builtin::mcp {

inline constexpr Millis begin_ms = 30'000;  // For a server to say what it has.
inline constexpr int restarts_max = 3;      // Of one server in one turn.

struct ServerTools {
  std::vector<ListedTool> tools;
  std::vector<std::string> left_out;  // Names of those that cannot be used.
};

class Client final : private Transport::Listener {
 public:
  using Make = std::move_only_function<std::unique_ptr<Transport>()>;
  using Begun = std::move_only_function<void(Result<ServerTools>)>;
  using Called = std::move_only_function<void(Result<CallResult>)>;

  // `make` gives a fresh transport for each start.
  Client(std::string name, Make make, Timers& timers, Executor& engine, Millis call_timeout_ms, std::string version);
  // As ~TurnTools: a server in which a call is under way is left at it, any other is ended.
  ~Client() override;
  // It is ended by the destructor, whatever it does.
  void drop();

  // Once, first.
  void begin(Begun begun);
  // Answers once. An error says why there is no result; `code` unavailable where the call may have had effects.
  // Returns a number for give_up().
  int64_t call(const std::string& tool, std::string arguments, Called called);
  // Nobody waits any more: the server is told, and `called` is not called.
  void give_up(int64_t call);
  // Nobody waits any more, and the call goes on: `called` is not called.
  void leave(int64_t call);
  void close(std::move_only_function<void()> gone);
  const std::string& name() const { return name_; }

 private:
  struct Waiting {
    std::string tool, arguments;
    Called called;
    int64_t request = 0;  // Its id on the wire; 0: not sent yet.
    std::unique_ptr<Timer> timer;
  };
  enum class State : uint8_t { idle, initializing, listing, ready, dead };

  void received(std::string_view message) override;
  void lost(int64_t id, std::string why) override;
  void ended(std::string why) override;

  void start();
  void initialized(const std::string& result);
  void listed(const std::string& result);
  void ready();
  // The server cannot be used: whoever waits is told.
  void fail_all(const std::string& why);
  void send(int64_t number);
  void settle(int64_t request, Result<CallResult> result);
  std::string prefixed(std::string_view why) const;

  const std::string name_;
  Make make_;
  Timers& timers_;
  Executor& engine_;
  const Millis call_timeout_ms_;
  const std::string version_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> old_;  // Of the start before; a transport is never destroyed inside its own call.
  State state_ = State::idle;
  int starts_ = 0;
  int64_t last_id_ = 0;
  int64_t handshake_ = 0;  // The id that initialize or tools/list waits for.
  int pages_ = 0;
  ServerTools found_;
  Begun begun_;
  Timer begin_timer_;
  std::map<int64_t, Waiting> waiting_;  // By number.
  std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);
};

}  // namespace errand::builtin::mcp

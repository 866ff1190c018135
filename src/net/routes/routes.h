// The API's routes: from a request to the engine and the store, and back. Knows what the paths mean and nothing else:
// requests are read by api/, decided by the engine, and errors become problems by net/problem.h.
//
// Threads: everything here happens on the loop. What reads the store or a log is posted to `readers`, and its answer
// back to the loop; so the readers must be stopped before a Routes is destroyed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/agents.h"
#include "base/executor.h"
#include "base/time.h"
#include "driver/model_list.h"
#include "engine/engine.h"
#include "net/devices.h"
#include "net/http.h"
#include "net/pairing.h"
#include "net/server.h"
#include "net/sse.h"
#include "net/tokens.h"
#include "store/store.h"
#include "tools/toolbox.h"

namespace errand::notify {
class Notifier;
}

namespace errand::net {

// All outlive the Routes, which outlives the streams that it opened: destroy the server first.
// What holds commands back on this machine, in words for people.
struct Means {
  std::map<std::string, std::string> limits;  // Empty: not known.
  bool sandbox = false;
  std::string sandbox_text;  // The program; or why there is none, and what to do.
};

struct RouteParts {
  Engine& engine;
  Store& store;
  Executor& loop;
  Executor& readers;
  Clock& clock;
  Heartbeats& heartbeats;
  std::string version;
  // Did this request show credentials? Only /api/health is served without, and tells more to those who did.
  std::function<bool(const Request&)> authenticated;
  std::function<ServerStats()> stats;
  std::function<Means()> means = {};
  std::string data_dir = {};  // Where whole patches are.
  // What is known of the programs of these agents (one for each, absent where it is none): answered on the loop, soon,
  // also where a disk hangs. Absent: nothing is known.
  using Programs = std::vector<std::optional<api::AgentProgram>>;
  std::function<void(const std::vector<Agent>&, std::move_only_function<void(Programs)>)> programs = {};
  // The models that this agent can be asked for: answered on the loop, once. Absent: none is known.
  std::function<void(const Agent&, ModelList::Listed)> models = {};
  Executor* folders = nullptr;  // For looks at folders, which may hang; null: the readers.

  // Served by others; absent: 404.
  std::function<bool(const ExchangePtr&)> login;  // The login paths: Auth::handle.
  Handler page;                                   // What is no API path: the page's own files.
  tools::Toolbox* tools = nullptr;                // /api/tools.
  Tokens* tokens = nullptr;                       // /api/tokens.
  Devices* devices = nullptr;                     // /api/devices,
  Pairing* pairing = nullptr;                     // and how there come to be some: given together.
  notify::Notifier* notifier = nullptr;           // /api/webhooks.
  Handler mcp;                                    // /mcp.
  // Somebody's credentials have ended: Server::end_stale.
  std::function<void()> end_stale = {};
  std::string page_url = {};  // Where people reach the page, without a slash at its end.
};

struct RouteInfo {
  Method method = Method::get;
  std::string_view pattern;  // "/api/tasks/{id}/log"
  std::string_view scope;    // Of the token that it needs; empty: it needs none.
};

class Context;

class Routes {
 public:
  explicit Routes(RouteParts parts);
  ~Routes();

  // Answers the exchange, now or later. Unknown paths: 404; known ones with another method: 405 with Allow.
  void handle(ExchangePtr exchange);

  // Everything the API serves, in a stable order.
  static std::vector<RouteInfo> table();

 private:
  std::unique_ptr<Context> context_;
};

// What open streams are told when the server stops: for Server::stop.
std::string farewell(Time wall);

}  // namespace errand::net

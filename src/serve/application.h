// The server, from its parts: what is made in which order, and how it ends.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "http/client.h"
#include "mcp/http.h"
#include "mcp/protocol.h"
#include "net/auth.h"
#include "net/routes/routes.h"
#include "net/server.h"
#include "net/tokens.h"
#include "notify/notifier.h"
#include "process/client.h"
#include "serve/address.h"
#include "serve/agent_tools.h"
#include "serve/drivers.h"
#include "serve/ground.h"
#include "serve/model_lists.h"
#include "serve/server_file.h"
#include "serve/survey.h"
#include "settings/settings.h"
#include "store/store.h"
#include "tools/toolbox.h"

namespace errand::serve {

class Application {
 public:
  // The data folder is there and the user's alone (data_dir.h). `json`: how the line that tells of a ready server is
  // written.
  // `config`: the file that the settings were read from, absolute, there or not.
  Application(std::string data_dir, std::string config, Settings settings, bool json);

  // All that can fail, before anything is touched that runs (R14.4): where this returns an error no run was taken up,
  // and before the addresses are ours not even the supervisor was asked for. On success the data folder's database is
  // locked and the addresses are taken; who connects waits.
  Status open();

  // Takes up the work of the server before, answers, and goes on until it is told to stop. Returns the exit code. Does
  // not return, but ends the process, where a thread hangs that could use what is destroyed behind this call.
  int run();

  // From any thread, also before run(). Nothing that runs ends by it: children stay with the supervisor.
  void stop();

 private:
  Status open_store();
  Status make_auth();
  Status listen();
  Status connect_supervisor();
  Status make_engine();
  Status make_notifier();
  void make_tools();
  void make_routes();

  Status say_ready();
  void drain();
  void tidy_up();
  void tick_engine();
  StringMap reach_for(const Task& task) const;
  // A program of this completed task's has begun to work by itself (driver/program/beginning.h).
  void ask_for_turn(const TaskId& task, const std::string& why, std::move_only_function<void(bool)> done);

  const std::string data_dir_, config_;
  const Settings settings_;
  const bool json_;
  ServerFile server_file_;
  Address address_;
  std::string url_;    // Empty until its address is taken.
  std::string token_;  // The owner's.
  int exit_code_ = 0;
  bool has_socket_ = false;
  bool draining_ = false;

  // Destroyed in reverse order: what refers to others comes after them.
  Ground ground_;
  std::unique_ptr<net::Timer> engine_timer_ = ground_.loop->timer();
  std::unique_ptr<Store> store_;
  std::optional<net::Tokens> tokens_;
  std::optional<net::Devices> devices_;
  net::Pairing pairing_{ground_.clock, ground_.random};
  std::unique_ptr<net::Auth> auth_;
  std::unique_ptr<process::SupervisorClient> supervisor_;
  ToolsForAgents agent_tools_;
  std::unique_ptr<Drivers> drivers_;
  std::optional<Survey> survey_;
  std::optional<ModelLists> model_lists_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<http::Client> notify_client_;
  std::unique_ptr<notify::Notifier> notifier_;
  std::unique_ptr<tools::Toolbox> tools_;
  std::unique_ptr<mcp::Protocol> protocol_;
  std::unique_ptr<mcp::HttpEndpoint> mcp_;
  std::unique_ptr<net::Routes> routes_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace errand::serve

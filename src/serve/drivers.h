// The drivers that this build has, made from the settings. A new driver is made and listed here (drivers.cc), and its
// agent in agents.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "driver/agent_tools.h"
#include "driver/builtin/tools/tool_set.h"
#include "driver/driver.h"
#include "driver/model_list.h"
#include "driver/program/beginning.h"
#include "driver/programs.h"
#include "driver/run/options.h"
#include "driver/watched/orders.h"
#include "driver/watched/watched_driver.h"
#include "engine/engine.h"
#include "http/client.h"
#include "model/model.h"
#include "process/client.h"
#include "serve/agents.h"
#include "serve/ground.h"
#include "settings/settings.h"

namespace errand::serve {

// What drivers work with. All outlive them.
struct DriverParts {
  Ground& ground;
  process::SupervisorClient& supervisor;
  AgentTools& agent_tools;
  std::string data_dir;
  std::function<StringMap(const Task&)> reach;  // The environment by which a run reaches this server as its task.
  std::vector<std::string> environment;         // Of agents' programs (found_programs.h).
  program::AskForTurn ask_for_turn;             // For those that begin by themselves.
};

class Drivers {
 public:
  // Fails where the settings name a model that cannot be. Starts nothing.
  static Result<std::unique_ptr<Drivers>> make(const DriverParts& parts, const Settings& settings,
                                               const EngineSettings& engine);

  // By the name that agents give.
  const std::map<std::string, Driver*>& all() const { return all_; }
  // Who keeps what tasks changed.
  Changes& changes() { return *orders_; }
  Programs& programs() { return programs_; }
  // Who lists the models of agents on this driver; null: nobody can.
  ModelList* model_list(const std::string& driver) const;
  const DefaultModel& default_model() const { return default_model_; }
  // On the loop, when settings have changed.
  void use(const EngineSettings& now) {
    fork_ = now.fork;
    watch_changes_ = now.watch_changes;
    changes_ = {.max_bytes = now.changes_max_bytes, .keep_ms = now.changes_keep_ms};
  }

 private:
  explicit Drivers(Clock& clock);
  Status make_builtin(const DriverParts& parts, const Settings& settings);
  void make_opencode(const DriverParts& parts);
  void make_claude(const DriverParts& parts, const Settings& settings);
  void make_acp(const DriverParts& parts, const Settings& settings);

  void make_orders(const DriverParts& parts);
  void put_watch(const DriverParts& parts, const std::string& name, Driver& driver);

  fork::Limits fork_;
  std::string watch_changes_;
  watched::Bounds changes_;
  std::shared_ptr<const run::Options> watch_options_;  // For set-up commands.
  DefaultModel default_model_;
  std::map<std::string, Driver*> all_;
  run::Options command_options_;
  run::Options program_options_;  // Of agents' programs: the same, in their environment.
  // In this order: what refers to others comes after them.
  Programs programs_;
  std::unique_ptr<Driver> command_;
  std::unique_ptr<Driver> demo_;
  std::unique_ptr<http::Client> http_;
  std::unique_ptr<model::Models> models_;
  std::unique_ptr<builtin::ToolSet> tool_set_;
  std::unique_ptr<Driver> builtin_;
  std::unique_ptr<Driver> opencode_;
  std::unique_ptr<Driver> claude_;
  std::unique_ptr<Driver> acp_;
  std::unique_ptr<watched::Orders> orders_;
  std::vector<std::unique_ptr<Driver>> watching_;  // In front of those above.
};

}  // namespace errand::serve

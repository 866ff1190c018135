// Agents over ACP, over an agent and a supervisor in memory, whose time goes as fast as the next timer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "driver/acp/acp_driver.h"
#include "tests/contract/driver_contract.h"
#include "tests/contract/driver_fake_supervisor.h"
#include "tests/contract/scripted_acp.h"
#include "tests/contract/timed_world.h"

namespace errand::test {

class AcpWorld final : public TimedWorld {
 public:
  AcpWorld() { restart(); }

  Driver& driver() override { return *driver_; }
  void restart() override {
    driver_.reset();
    driver_ = acp::make_acp_driver(
        {.command = {.data_dir = folder.path(),
                     .environment = {"HOME=/home/me", "GEMINI_API_KEY=k", "ERRAND_TOKEN=x", "CLAUDECODE=1"},
                     .reach = [](const Task&) { return StringMap{{"ERRAND_TOKEN", "of-the-task"}}; },
                     .open_journal = [this](const std::string& run) { return supervisor.journal(run); }},
         .version = "1",
         .mcp_servers =
             [](const Task&) {
               return std::vector<program::McpServer>{
                   {.name = "errand", .command = {"/bin/errand", "mcp"}, .env = {{"ERRAND_TOKEN", "secret"}}}};
             },
         .kept = [this] { return kept; },
         .ask_for_turn = [this](const TaskId&, const std::string& why,
                                std::move_only_function<void(bool)> done) { asked.push_back({why, std::move(done)}); }},
        {.supervisor = supervisor, .timers = timers, .clock = clock});
  }
  int left_behind() override { return supervisor.alive(); }
  bool outlives_server() override { return true; }

  void configure(Agent& configured) override {
    configured.options["command"] = "scripted acp";
    if (terminals) configured.options["client_terminals"] = "true";
  }

  Launch speaks() override { return launch("speaks"); }
  Launch goes_on() override { return launch("goes_on"); }
  Launch fails() override { return launch("fails"); }
  Launch launch(std::string prompt) {
    Launch launch = agent_launch("scripted", std::move(prompt));
    launch.work_dir = "/tmp";
    return launch;
  }

  TestFolder folder;
  FakeSupervisor supervisor{timers};
  ScriptedAcp agent{supervisor, timers};
  program::Holder::Bounds kept;  // Nothing.
  std::vector<TurnAsked> asked;  // By processes that began by themselves.
  bool terminals = false;        // The agent may ask for them.

 private:
  std::unique_ptr<Driver> driver_;
};

struct AcpDriver : testing::Test {
  AcpWorld world;
  static inline const std::string run = "task_00000000000000000000000001.1";
};

}  // namespace errand::test

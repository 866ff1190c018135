#include "driver/opencode/opencode_driver.h"

#include <unistd.h>

#include "driver/agent_driver.h"
#include "driver/conversations.h"
#include "driver/find_program.h"
#include "driver/opencode/opencode_turn.h"
#include "driver/opencode/server.h"
#include "driver/opencode/visits.h"
#include "driver/work_dir.h"

namespace errand::opencode {

namespace {

class OpencodeDriver final : public Driver, public Conversations, public ModelList {
 public:
  OpencodeDriver(Options options, Parts parts)
      : server_(std::move(options), parts),
        readers_(server_),
        lister_(server_),
        cleaner_(server_, server_.sessions()) {}

  Capabilities capabilities() const override { return agent_capabilities(); }
  Status check(const Launch& launch) const override {
    if (Status good = check_prompt(launch); !good) return good;
    if (!launch.model.empty() && launch.model.find('/') == std::string::npos)
      return fail(Code::invalid_argument, "OpenCode's models are named PROVIDER/MODEL: opencode models lists them.");
    return {};
  }
  Look look(const Launch& launch) const override {
    return [folder = launch.work_dir] { return check_folder("work_dir", folder); };
  }
  Result<std::unique_ptr<Turn>> open(TurnRequest request, Sink& sink) override {
    return std::make_unique<OpencodeTurn>(server_, std::move(request), sink);
  }
  void known_runs(std::move_only_function<void(std::vector<KnownRun>)> done) override {
    server_.take_up();
    cleaner_.wake();
    beside_.run(
        [sessions = server_.sessions()] {
          std::vector<KnownRun> known;
          for (const TaskId& task : sessions.tasks()) known.push_back({.task = task});
          return known;
        },
        std::move(done));
  }
  void forget(const TaskId& task) override {
    beside_.run(
        [sessions = server_.sessions(), task] {
          sessions.give_up(task);
          return true;
        },
        [this](bool) { cleaner_.wake(); });
  }

  void server_leaves(bool at_work) override {
    if (!at_work) server_.end_unneeded();
  }

  bool may_have(const SessionId& session) const override {
    return session.value.starts_with("ses_") && session.value.size() <= 100 &&
           session.value.find_first_of("/.") == std::string::npos;
  }
  // The plugin keeps a file for each session that it looks after.
  void has(const SessionId& session, std::move_only_function<void(bool)> done) override {
    beside_.run([file = server_.options().data_dir + "/opencode/" + session.value +
                        ".json"] { return ::access(file.c_str(), F_OK) == 0; },
                std::move(done));
  }
  void read(const SessionId& session, Read done) override { readers_.read(session, std::move(done)); }
  // OpenCode is started for it where it does not run.
  void list_models(const Agent&, Listed done) override { lister_.list(std::move(done)); }

 private:
  Server server_;
  Beside beside_{server_.in_order(), server_.parts().engine};
  Readers readers_;
  Lister lister_;
  Cleaner cleaner_;
};

}  // namespace

std::unique_ptr<Driver> make_opencode_driver(Options options, Parts parts) {
  return std::make_unique<OpencodeDriver>(std::move(options), parts);
}

std::string find_opencode(const std::vector<std::string>& environment) { return find_program(environment, "opencode"); }

}  // namespace errand::opencode

// A turn over ACP: the agent's process, its session, one prompt after the other, what it asks, and its end.
//
// Every line for the agent is stored (State::frames) before it is sent, and every line of the agent's is stored as what
// it meant, with its place. So a server that dies at any instruction leaves a turn that the next one goes on with.
//
// One prompt is in flight at a time, for agents differ in what they make of a second one: messages that come meanwhile
// are the next prompt of the same turn.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/beside.h"
#include "driver/acp/acp_driver.h"
#include "driver/acp/state.h"
#include "driver/driver.h"
#include "driver/line_child/line_child.h"

namespace errand::acp {

// With what a turn begins.
struct Beginning {
  process::SpawnRequest spawn;  // A process of its own, under its own name.
  std::string key;              // program::Kept::key of it.
  bool kept = false;            // It goes on in the process of the turn before, which the state names,
  bool began = false;           // and which works by itself already.
  std::vector<program::McpServer> servers;
  // Told what models a session offers, whenever one opens.
  std::function<void(const std::vector<std::string>& models)> offered;
};

class AcpTurn final : public Turn, private lines::Listener {
 public:
  AcpTurn(const AcpOptions& options, const AcpParts& parts, program::Holder& holder, TurnRequest request, State state,
          Beginning beginning, Sink& sink);

  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  void stop() override;
  void drop() override;
  void probe() override;
  bool lift_quota() override;

 private:
  // lines::Listener
  void started(int64_t taken) override;
  void lines(std::span<const lines::Line> lines) override;
  void ended(const lines::End& end) override;
  void taken(int64_t number) override;
  void refused(int64_t number, const Error& error) override;
  void used(const process::RunUsage& usage) override;

  void prepare();
  bool can_keep() const;
  void hand_over();
  // Puts a line into the row of what is sent; it goes once tell() has stored it. `kept`: what the checkpoint has of it.
  void put(std::string line, std::string kept, Frame frame = {});
  void put(const std::string& line, Frame frame = {}) { put(line, line, std::move(frame)); }
  // Stores what is to be reported with the state as it is, and lets go what was put.
  void tell(std::vector<Report> reports);

  void take(const Incoming& in, std::vector<Report>& out);
  void answered(const Incoming& in, std::vector<Report>& out);
  void initialized(const std::string& result, std::vector<Report>& out);
  void open_session(std::string method);
  std::string session_line() const;
  void opened(const std::string& result, std::vector<Report>& out);
  void not_opened(const RpcError& error, std::vector<Report>& out);
  void settle();
  void wish(const Choice& choice, const std::string& value, std::string_view what, std::vector<Report>& out);
  void choose_or_prompt();
  // What waits; or, where nothing does, this.
  void prompt(const std::string& otherwise = "Go on.");
  std::vector<std::string> prelude();
  void prompt_answered(const Incoming& in, std::vector<Report>& out);
  // It works without a prompt: what it says is the turn, until somebody has something to say to it.
  void listen(std::vector<Report>& out);
  void wait_for_quiet();

  void ask(const Incoming& in, std::vector<Report>& out);
  void give(const std::string& request_id, const std::string& decision, const std::string& word);
  void serve_file(const Incoming& in);
  void serve_terminal(const Incoming& in);
  void create_terminal(const Incoming& in);
  void terminal_ended(const std::string& id);
  // The answer to a request that was being served.
  void served(const std::string& id, std::string line);
  void answer_served();
  void cancel_asks();

  // A usage limit (R4.5) in the place of an answer: it waits, and prompts again. False: it is another error.
  bool wait_for_limit(const RpcError& error, std::vector<Report>& out);
  void sleep();
  void go_on();

  // The outcome is known: the process ends next.
  void finish(Outcome outcome, std::vector<Report>& out);
  void leave();
  void cancel_timers();
  void be_patient();
  void end(Outcome outcome);
  std::string agent_name() const;
  std::string command_text() const;

  const AcpOptions& options_;
  const AcpParts parts_;
  TurnRequest request_;
  program::Holder& holder_;
  const Beginning beginning_;
  Sink& sink_;
  State state_;
  std::unique_ptr<lines::LineChild> child_;  // None, once it is the holder's.
  Beside files_;
  Timer patience_, pause_, stopping_timer_, limit_timer_, quiet_;
  Terminals terminals_;
  // Terminals that start when the checkpoint has them: their command, and the request for it.
  struct Start {
    OpenTerminal open;
    process::SpawnRequest spawn;
    std::string request;
  };
  std::vector<Start> starts_;
  std::deque<Message> waiting_;  // Not in a prompt yet.
  std::set<MessageId> known_;
  bool told_ = false;     // Somebody has said something in this turn.
  std::string prompted_;  // The messages of the last prompt.
  // Decisions that came before it was taken up again: what was decided, and the word that came with it.
  std::map<std::string, std::pair<std::string, std::string>> decided_;
  bool kept_ = false;  // The process of the turn before is being taken up.
  bool preparing_ = false;
  bool started_ = false;
  bool stopping_ = false, over_ = false;
  bool alive_ = false;  // It has said something since the last probe.
  double cpu_s_ = 0;    // Of the process, all in all.
  double probed_cpu_s_ = 0;
  int64_t probed_io_ = 0;
};

}  // namespace errand::acp

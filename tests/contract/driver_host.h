// A stand-in for the engine: opens turns, stores what they report, answers their questions, and dies and comes back at
// any report. It checks every report against the contract of driver.h as it comes.
#pragma once

#include <climits>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "driver/driver.h"
#include "engine/recorder.h"

namespace errand::test {

// Where a driver lives in a test: what survives a restart of the server, and how time goes.
class DriverWorld {
 public:
  virtual ~DriverWorld() = default;
  virtual Driver& driver() = 0;
  // A new server: a new driver over what survives of the old one. All its turns are gone.
  virtual void restart() = 0;
  // Lets time go until `done`. False: it gave up, since nothing happens any more or it took too long.
  virtual bool run_until(const std::function<bool()>& done) = 0;
  // Lets all that is under way come, where nothing is waited for.
  virtual void settle() = 0;
  // What is still at work for a task: live processes, timers.
  virtual int left_behind() = 0;

  // Does goes_on() run outside of the server, so that it is at work while there is none?
  virtual bool outlives_server() { return false; }

  // A report with output came, whatever became of it: what waits for that may go on.
  virtual void heard_output() {}

  // The agent as it is configured, where its driver wants more than its name.
  virtual void configure(Agent& /*agent*/) {}

  // What the suite runs. Each is the same work every time.
  virtual Launch speaks() = 0;   // Reports for a while, with text that is not ASCII, and completes.
  virtual Launch goes_on() = 0;  // Begins with a report and does not end by itself.
  virtual Launch fails() = 0;
};

// Checks a row of reports, and puts them together to what a reader sees in the end.
class Transcript {
 public:
  // Empty, or what is wrong with it.
  std::string add(const Report& report);
  // The server died, and the message that was open was closed as it is.
  void cut() {
    if (MessageSeen* open = open_message()) open->ended = true;
  }
  // A driver that keeps its message was taken up again: where it begins another, what it was saying was cut by the
  // death of the server and is said anew. It is in the conversation, closed as interrupted; what is compared here is
  // the rest.
  bool may_begin_anew = false;
  // Texts joined a part, tools with their results, output joined a stream, sums: the same however it was cut into
  // reports.
  std::string text() const;

  std::set<MessageId> taken;
  std::vector<report::Asks> asks;
  std::vector<report::Output> outputs;
  std::vector<report::Warning> warnings;
  std::vector<report::SystemMessage> system;
  std::optional<Wait> wait;
  int opaque = 0;
  std::string agent_session;
  Usage usage;
  report::Resources resources;
  int alive = 0;
  int messages = 0;  // Assistant messages that began.
  int tool_calls = 0;
  int64_t lines = 0;
  std::string said() const;  // All text of all messages, without reasoning.

 private:
  struct PartSeen {
    std::string kind;  // text, reasoning, tool
    std::string text;
    std::string call_id;
  };
  struct MessageSeen {
    std::vector<PartSeen> parts;
    bool ended = false;
  };
  std::string add_text(int part, const std::string& kind, const std::string& text);
  MessageSeen* open_message();

  std::vector<MessageSeen> seen_;
  std::map<std::string, std::string> results_;  // By call id.
  std::set<std::string> calls_;
  std::map<std::string, std::string> output_;   // By stream.
  std::map<std::string, int64_t> output_next_;  // By stream.
};

class Host final : public Sink {
 public:
  Host(DriverWorld& world, Launch launch, TaskId id = TaskId("task_00000000000000000000000001"));
  ~Host() override;

  // A user's message: given with the next open(), or sent where the turn is at work.
  MessageId prompt(const std::string& text);
  // A notice to its session: likewise. `name`: of what kind it is.
  MessageId notice(const std::string& text, const std::string& name = {});
  // What a fork takes over: a question and its answer, before its own first turn.
  void carry(const std::string& asked, const std::string& answered);
  Status send(const std::string& text, MessageId* id = nullptr);
  Status resend(const MessageId& id);
  // As a retry does: what was taken is given once more with the next open().
  void give_again() {
    again_.clear();
    transcript_.taken.clear();
    for (const Message& message : messages_)
      if (message.role == Role::user) again_.insert(message.id);
  }
  // Begins the next turn (a new run).
  Status open();
  // Stores no report after this many (of this run); the server is about to die.
  void store_only(int reports) { store_max_ = reports; }
  // The server dies as it is and a new one takes the turn up from what was stored.
  Status crash_and_reopen();
  // The server goes away without a word: ~Turn, without an order.
  void close() {
    when_stored_.clear();
    when_room_ = nullptr;
    turn_.reset();
    closed_ = true;
  }
  // As where a stop is not answered.
  void drop() {
    turn_->drop();
    close();
  }

  bool run_until(const std::function<bool()>& done) { return step_until(done); }
  // Until nothing happens any more.
  void settle() {
    step_until([] { return false; });
  }
  bool run_until_ended();
  // The next turn, to its end. `dies_at` > 0: the server dies when it has stored one report less than that of it.
  bool run_turn(int dies_at);
  bool run_until_reports(int count);

  Turn& turn() { return *turn_; }
  Task& task() { return task_; }
  const Transcript& transcript() const { return transcript_; }
  const std::optional<Outcome>& outcome() const { return outcome_; }
  int ended() const { return ended_; }
  int reports() const { return static_cast<int>(stored_.size()); }
  // Of those, how many came though there was no room.
  int pushed() const { return pushed_; }
  const std::vector<std::string>& checkpoints() const { return checkpoints_; }
  // What broke the contract so far, one a line.
  const std::string& broken() const { return broken_; }
  // What a question is answered with; "": not at all.
  std::string reply = "blue";
  std::string decision = "allow";
  Agent agent;         // As it is configured.
  bool slow = false;   // After each report there is no room for more until the world has moved on.
  bool stuck = false;  // There is none from the next report on until this is unset.
  const std::vector<Message>& messages() const { return messages_; }

 private:
  MessageId add_message(Part part);
  void report(std::vector<Report> reports, std::string checkpoint) override;
  void when_stored(Work then) override { when_stored_.push_back(std::move(then)); }
  bool has_room() const override { return room_; }
  void when_room(Work then) override { when_room_ = std::move(then); }
  void ended(Outcome outcome) override;
  void call_stored();
  void store(const std::vector<Report>& reports);
  void keep(Recording& recording);
  Status open_turn(bool reattach);
  void answer_asks();
  bool step_until(const std::function<bool()>& done);

  DriverWorld& world_;
  Task task_;
  std::vector<Message> messages_;  // The conversation, as it is stored.
  std::set<MessageId> again_;      // Given once more.
  ManualClock clock_;
  SeededRandom random_{1};
  IdSource ids_{clock_, random_};
  Recorder recorder_;
  std::vector<std::vector<Report>> stored_;
  std::vector<std::string> checkpoints_;
  int store_max_ = INT_MAX;
  bool lost_ = false;              // A report was not stored: nothing is durable behind it.
  std::vector<Work> when_stored_;  // Called outside the driver's own calls, where all was stored.
  Work when_room_;
  bool room_ = true;
  int pushed_ = 0;
  Transcript transcript_;  // Of what was stored.
  std::optional<Outcome> outcome_;
  int ended_ = 0;
  bool closed_ = false;
  std::string broken_;
  std::unique_ptr<Turn> turn_;
};

}  // namespace errand::test

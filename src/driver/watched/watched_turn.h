// A turn with a snapshot before and behind it, in the task's own work tree where it has one (decision 31).
//
//   preparing  the order `begin`: the start snapshot, the work tree. Then the set-up command, where there is one, and
//              the order `ready`. A task that asked for a work tree and cannot have it fails here (code `isolation`):
//              it never works in the folder itself.
//   working    the real driver's turn; this passes everything on
//   finishing  the order `finish`: the end snapshot. Only then is the end told.
//
// After a restart of the server the orders and the set-up command are found again by their names.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alive.h"
#include "base/timers.h"
#include "driver/driver.h"
#include "driver/watched/orders.h"
#include "driver/watched/set_up.h"

namespace errand::watched {

// What is looked at of tasks that work in the folder itself.
enum class Watch : uint8_t { off, repositories, folders };

// All outlive the turns.
struct WatchParts {
  Orders& orders;
  Timers& timers;
  Executor& folders;  // Threads that may hang in folders of somebody else's.
  Executor& engine;
  process::SupervisorClient& supervisor;        // For set-up commands,
  std::shared_ptr<const run::Options> options;  // which are started as all that runs for a task.
};

class WatchedTurn final : public Turn, public Sink {
 public:
  WatchedTurn(Driver& inner, const WatchParts& parts, Watch watch, TurnRequest request, Sink& sink);
  ~WatchedTurn() override;
  // Reports may follow inside this.
  void start();

  // --- the engine's side
  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  void stop() override;
  void drop() override;
  void probe() override;
  bool unseen() const override { return turn_ && turn_->unseen(); }
  bool lift_quota() override;

  // --- the real turn's side
  void report(std::vector<Report> reports, std::string checkpoint) override;
  void when_stored(Work then) override { sink_.when_stored(std::move(then)); }
  bool has_room() const override { return sink_.has_room(); }
  void when_room(Work then) override { sink_.when_room(std::move(then)); }
  void ended(Outcome outcome) override;

 private:
  enum class State : uint8_t { preparing, working, finishing, over };

  std::string key(const char* order) const { return order + std::to_string(run_); }
  void look_then_begin();
  void begin();
  void begun(Result<ChangesAnswer> answer);
  // What follows when it is stored what the work tree is by now.
  void when_isolated(void (WatchedTurn::*then)());
  std::unique_ptr<SetUp> make_set_up();
  void set_up();
  void was_set_up(std::optional<TaskError> error);
  // It does not begin: what was half made of its work tree is removed, and the outcome told.
  void unprepare(Outcome outcome);
  void open_inner();
  void finished(const Result<ChangesAnswer>& answer);
  void isolated(std::optional<Isolation> isolation);
  void over(Outcome outcome);

  Driver& inner_;
  WatchParts parts_;
  const Watch watch_;
  TurnRequest request_;
  Sink& sink_;
  const bool isolate_;
  const int run_;
  bool reattach_;                       // The real turn may have begun before.
  std::string mark_;                    // The real driver's last: it is stored with what is reported here, too.
  std::optional<Isolation> isolation_;  // As it was last heard of.
  State state_ = State::preparing;
  bool stopping_ = false;
  bool storing_ = false;  // What the work tree is by now: the next step begins then.
  bool watched_ = false;  // There is a start snapshot, as far as is known.
  Outcome outcome_;
  // What came before the real turn was opened, for it: after a restart it may have asked already, or wait for a quota.
  struct Answer {
    std::string request_id, decision, message;
  };
  std::vector<Answer> answers_;
  bool lifted_ = false;
  std::unique_ptr<SetUp> set_up_;  // While it runs.
  std::unique_ptr<Turn> turn_;
  Timer patience_;  // With a folder that does not answer.
  Alive alive_;
};

}  // namespace errand::watched

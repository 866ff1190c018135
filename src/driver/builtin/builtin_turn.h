// One turn of the built-in agent: does what `next_step` says, one durable step after the other.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/beside.h"
#include "base/timers.h"
#include "driver/builtin/answer.h"
#include "driver/builtin/compaction.h"
#include "driver/builtin/mark.h"
#include "driver/builtin/shared.h"
#include "driver/builtin/step.h"
#include "driver/builtin/tool.h"
#include "driver/driver.h"
#include "model/model.h"

namespace errand::builtin {

inline constexpr int max_steps_default = 500;  // Answers of a turn whose agent names no bound.

class BuiltinTurn final : public Turn, private model::Listener, private UsageLimits::Waiter {
 public:
  BuiltinTurn(Shared& shared, Sink& sink, TurnRequest request, ModelChoice choice);
  ~BuiltinTurn() override;

  void begin();

  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  bool lift_quota() override;
  void stop() override;
  void probe() override;
  bool unseen() const override;
  void drop() override;

 private:
  enum class Doing : uint8_t { preparing, storing, asking, summing, calling, waiting };
  // What is to be done about a call that has not begun.
  struct Plan {
    enum class Kind : uint8_t { settle, question, permission, run } kind = Kind::run;
    ToolOutcome outcome;  // With settle.
    bool again = false;
    Tool::Prepared call;               // With permission and run; of a question only the text.
    std::vector<std::string> options;  // Of a question.
  };
  // A call of the answer at hand.
  struct Call {
    Part part;
    std::shared_ptr<const Tool> tool;  // Null: there is none of that name, or it is the loop's own.
    bool planning = false;             // In the background.
    std::optional<Plan> plan;
    std::unique_ptr<ToolRun> run;
    Time began;  // Steady.
    bool started = false;
    std::string permitted;  // What was allowed, where somebody had to be asked.
    bool asked = false;     // Somebody was asked, and has not answered.
    bool done = false;      // Its result is reported,
    bool stored = false;    // and durable.
  };
  // Does `work` in the background, which touches nothing of the turn: it may be gone. Then, if it is not and goes on,
  // `then` gets what came out of it.
  template <class Blocking, class Then>
  void in_background(Blocking work, Then then);

  // --- turn.cc: the flow
  void read_instructions();
  void find_model();
  void prepared();
  void advance();
  void to_model();
  void take_pending(std::vector<Report>& reports);
  void note(std::string_view name, std::string text, std::vector<Report>& reports);
  void add_system_message(std::vector<Part> parts, std::vector<Report>& reports);
  void report(std::vector<Report> reports);
  void store_then(std::vector<Report> reports, Work then);
  void end(Outcome outcome);
  void one_gone();
  void tell_end();
  void fail_turn(std::string code, std::string message, std::string details = {});
  Message* message_of(const MessageId& id);
  StepLimits limits() const;

  // --- turn_model.cc: asking
  void ask_model();
  bool too_long() const;
  void compact(bool harder);
  void summed_up(model::Answer answer);
  void wait_for_quota(const std::string& text, Time until);
  void follow_limit(Time until);
  void sleep_until(Time until);
  void go_on_after_quota();
  void limit_gone() override;
  void block_began(size_t index, const model::Block& block) override;
  void text(size_t index, std::string_view text) override;
  void input(size_t index, std::string_view text) override;
  void retrying(int attempt, Millis wait, const model::Failure& failure) override;
  void answered(model::Answer answer) override;
  report::Used used_by(const model::Answer& answer) const;
  void take_answer(const model::Answer& answer, AnswerWriter::Whole whole, report::Used used);
  void failed(model::Failure failure) override;

  // --- turn_calls.cc: tools
  void run_calls(Next next);
  void go_on_calls();
  bool plan(Call& call);
  static Plan read_call(const Tool* tool, const ToolContext& context, std::string input);
  void ask_for(Call& call);
  void start_call(const std::string& call_id, bool again);
  void run_now(const std::string& call_id, bool again);
  void settle(const std::string& call_id, ToolOutcome outcome);
  Call* find_call(const std::string& call_id);
  ToolContext context_of(const Call& call) const;

  // Fixed after construction.
  Shared& shared_;
  Sink& sink_;
  const std::shared_ptr<const Task> task_;
  const std::shared_ptr<const Agent> agent_;
  const bool reattach_;
  std::vector<std::string> roots_;

  ModelChoice choice_;
  std::string system_;
  std::string instructions_;
  int preparing_ = 0;  // What is still to come before the first step.

  std::vector<Message> messages_;  // The conversation, in the order of taking.
  std::deque<Message> pending_;    // Given and not yet taken.
  std::set<MessageId> seen_;
  size_t first_ = 0;  // The first message of this turn, or behind the last before it.
  Mark mark_;

  Doing doing_ = Doing::preparing;
  std::unique_ptr<TurnTools> tools_;
  std::vector<model::ToolSpec> specs_;
  std::unique_ptr<model::Ask> ask_;
  std::optional<AnswerWriter> writer_;
  Cut cut_;
  bool harder_ = false;         // The compaction under way keeps nothing.
  int compactions_ = 0;         // Since the last answer.
  int cuts_ = 0;                // Answers that were cut, in a row.
  int64_t context_tokens_ = 0;  // Of the conversation up to `context_messages_`, as the provider counted; 0: not known.
  size_t context_messages_ = 0;
  Time asked_at_;           // Steady.
  bool heard_ = false;      // Since the last probe.
  Time quota_backoff_;      // ms: the next wait for a limit whose end is not known.
  bool limited_ = false;    // It waits for a usage limit,
  bool lifted_ = false;     // or somebody said that there is none, before it could.
  std::string limit_text_;  // What was said of the limit that it waited for when the server was restarted.

  struct Early {
    std::string decision, message;
  };
  std::map<std::string, Early> early_;  // Answers to questions of a turn that is just being taken up, by request.
  MessageId calling_;                   // The message whose calls are run.
  std::vector<Call> calls_;

  bool over_ = false;               // Ending, ended or dropped: nothing is reported any more.
  std::optional<Outcome> outcome_;  // Told when nothing is left:
  int to_go_ = 0;                   // calls that are being ended, and the tools themselves; then files are gathered.
  Timer timer_;
  Alive alive_;  // For answers of other threads.
};

template <class Blocking, class Then>
void BuiltinTurn::in_background(Blocking work, Then then) {
  run_then(shared_.parts.background, shared_.parts.loop, alive_.watch(), std::move(work),
           [this, then = std::move(then)](auto result) mutable {
             if (!over_) then(std::move(result));
           });
}

}  // namespace errand::builtin

// A turn in Claude Code: what it is told, what comes of it, and its end.
//
// What it is told is durable first: the number of a frame is in the checkpoint before the frame goes out, so that a
// server that takes the turn up knows by the last number taken what the program has. What it says is taken once: the
// checkpoint has the place in its journal behind the last line that was reported.
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
#include "driver/claude/claude_driver.h"
#include "driver/claude/translate.h"
#include "driver/line_child/line_child.h"

namespace errand::claude {

// With what a turn begins.
struct Beginning {
  process::SpawnRequest spawn;  // A program of its own, under its own name.
  struct File {
    std::string path, bytes;
  } servers;                          // Of MCP, where it has some: written before the program is started.
  std::string key;                    // program::Kept::key of such a program.
  std::optional<program::Kept> kept;  // The program of the turn before: it goes on in it.
};

class ClaudeTurn final : public Turn, private lines::Listener {
 public:
  ClaudeTurn(const Options& options, const Parts& parts, program::Holder& holder, TurnRequest request, Sink& sink,
             Beginning beginning);

  // Its program was, or is to be, started for this turn.
  bool has_own_program() const { return run_ == beginning_.spawn.run; }
  // Makes the task's folder for artifacts and starts the program; or takes it up.
  void begin();

  Status send(const Message& message) override;
  void answer(const std::string& request_id, const std::string& decision, const std::string& message) override;
  void stop() override;
  void drop() override;
  void probe() override;
  bool lift_quota() override;

 private:
  // A frame that is on its way to the program, or a message that it has not dealt with yet.
  struct Sent {
    enum class Kind : uint8_t { message, answer, go_on, note } kind = Kind::message;
    std::string key;   // The message, or the request that is answered; empty for what is errand's own.
    std::string uuid;  // By which the program names a message.
    int64_t number = 0;
    bool taken = false;  // It has begun with it.
  };
  struct Answer {
    std::string decision, message;
  };

  void started(int64_t taken) override;
  void lines(std::span<const lines::Line> lines) override;
  void taken(int64_t number) override;
  void ended(const lines::End& end) override;
  void used(const process::RunUsage& usage) override;

  void prepare();
  void take_beginnings();
  void put_waiting();
  void put(Sent sent, std::string line);
  void give(const std::string& request_id);
  void take(const Event& event, std::vector<Report>& out);
  void time_calls(std::vector<Report>& reports);
  void take_lifecycle(const Event& event, std::vector<Report>& out);
  void take_retry(const Event& event, std::vector<Report>& out);
  void take_result(const Event& event, std::vector<Report>& out);
  void take_message(Sent& sent, std::vector<Report>& out);
  void finish_taken();
  // A program that does not say what becomes of messages: it has the first that was sent when it speaks.
  void take_first(std::vector<Report>& out);
  void ask(const Event& event, std::vector<Report>& out);
  void wait_for_limit(const std::string& text, std::vector<Report>& out);
  void sleep();
  void go_on();
  void close_where_done();
  bool can_keep() const;
  void hand_over();
  Outcome outcome(const lines::End& end) const;
  void report(std::vector<Report> reports);
  void cancel_timers();
  // What a fork has of the conversation before it, where it is not told yet; empty: nothing.
  std::string preamble() const;
  std::string checkpoint() const;
  void restore(std::string_view text);

  const Options& options_;
  const Parts& parts_;
  TurnRequest request_;
  Sink& sink_;
  program::Holder& holder_;
  Beginning beginning_;
  Beside files_;
  Timer stopping_timer_, idle_timer_, settle_timer_, limit_timer_, again_timer_;

  // What is stored.
  std::string run_;      // Of the program, at the supervisor.
  double cpu_from_ = 0;  // What it had used before this turn.
  int64_t next_ = 0;     // In the journal.
  std::vector<Sent> sent_;
  std::map<std::string, std::string> asks_;  // Open requests; of a question, its input.
  Translator translator_;
  bool working_ = false;       // Between its init and its result.
  int64_t background_ = 0;     // Helpers of its own that are at work.
  int64_t shells_ = 0;         // Commands that it has left in the background.
  bool lifecycle_ = false;     // It says what becomes of messages.
  int begun_ = 0;              // It began this turn by itself, and so many in a row; 0: a message did.
  std::optional<Event> last_;  // The last result.
  Time until_;                 // It waits for the usage limit until then.
  Millis backoff_ms_ = 0;      // The last wait where nobody said for how long.

  std::string session_;
  std::deque<Message> waiting_;  // Not sent yet.
  std::set<MessageId> known_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, Time> calls_;  // When they began.
  std::optional<Outcome> refused_;     // Why it was ended before it came to a result.
  Time resets_;                        // When the account's limit ends, as far as it said.
  double cpu_s_ = 0;
  bool preparing_ = false, running_ = false, closing_ = false, stopping_ = false, over_ = false;
  bool told_ = false;                        // Somebody has said something in this turn.
  bool kept_ = false;                        // The program of the turn before is being taken up.
  bool alive_ = false;                       // Something came since the last probe.
  std::unique_ptr<lines::LineChild> child_;  // Last: it calls the rest. None, once it is the holder's.
};

}  // namespace errand::claude

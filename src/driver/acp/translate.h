// What an ACP agent says, as reports. The protocol has no messages, only pieces: where the agent numbers them, a change
// of the number begins the next message; where it does not, what is said behind finished calls does. A call is
// reported when its arguments are known, once. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "driver/acp/wire.h"
#include "driver/driver.h"

namespace errand::acp {

class Translator {
 public:
  // `cost_usd`: what the conversation has cost before, as far as it was reported.
  explicit Translator(double cost_usd = 0) : cost_usd_(cost_usd) {}
  double cost_usd() const { return cost_usd_; }  // Of the session so far; 0: the agent has said nothing of it.

  void take(const Update& update, std::vector<Report>& out);
  // Permission is asked for this call: it is shown before the question.
  void take_asked(const ToolCall& call, std::vector<Report>& out);
  // It was denied. Not every agent says so of the call itself.
  void take_denied(std::string_view call_id);
  // Calls that were named, and whose arguments may still come. Nothing comes any more for a while: they begin as they
  // are.
  bool has_unbegun() const;
  void begin_all(std::vector<Report>& out);
  // The prompt is answered, or the agent is gone: what is open is closed as it is.
  void close(std::vector<Report>& out);

  // The text of the message that is open, or was last, for the result of the turn.
  const std::string& said() const { return said_; }
  // After from(): what was said before, which the mark does not hold.
  void set_said(std::string text) { said_ = std::move(text); }
  bool is_open() const { return open_; }
  bool is_settled() const;  // No call is at work.

  // From which it can go on behind what it has reported. A JSON array.
  std::string mark() const;
  // A fresh one where it is not one of ours.
  static Translator from(std::string_view mark);

 private:
  struct Call {
    enum class State : uint8_t { named, begun, denied, done };
    ToolCall seen;  // All that was said of it, the newest of each.
    State state = State::named;
  };
  void take_text(const Update& update, std::vector<Report>& out);
  void take_call(const ToolCall& call, bool asked, std::vector<Report>& out);
  void take_plan(const std::vector<PlanEntry>& plan, std::vector<Report>& out);
  void begin_message(std::vector<Report>& out);
  void begin_call(Call& call, std::vector<Report>& out);
  void end_call(Call& call, std::vector<Report>& out);

  bool open_ = false;
  std::string message_id_;
  int next_ = 0;         // The index of the next part.
  int text_part_ = -1;   // The part that goes on with the next piece; -1: none.
  bool thinks_ = false;  // That part is reasoning.
  std::vector<Call> calls_;
  std::deque<std::string> done_;  // Ids of calls of earlier messages, the newest: what is said of them comes too late.
  std::string plan_;              // As it was last reported, JSON.
  int plans_ = 0;
  double cost_usd_ = 0;
  std::string said_;
};

// How a call is shown: its name among the agents' tools, its arguments (JSON), one line about it. Where an agent names
// neither, they are made of the kind, the title and the edit.
struct CallView {
  std::string name, input, summary;
};
CallView view_of(const ToolCall& call);

// A change of a file as a unified diff of one hunk, cut where it is long.
std::string diff_text(const Diff& diff);

// What permission rules are held against, and the question for a person.
struct PermissionView {
  std::string tool, subject, text;
  std::string work_dir, diff;  // As report::Asks has them.
  bool reads = false;
};
PermissionView permission_view(std::string_view agent, std::string_view work_dir, const ToolCall& call);

// The option that stands for a decision (allow, allow_always, deny): the one that means this call alone, where it is
// offered. A `word` that names an option of the same sense chooses it. Empty: there is none, and the request is
// answered as cancelled, which no agent takes for a yes.
std::string option_for(const std::vector<Option>& options, std::string_view decision, std::string_view word);

// How the turn ended, by the answer to its last prompt.
Outcome outcome_of(const Stopped& stopped, const std::string& said);
// And by an error in its place. `command`: what a person types to log in.
Outcome outcome_of(const RpcError& error, const AgentInfo& agent, std::string_view command);

}  // namespace errand::acp

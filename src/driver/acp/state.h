// What a turn over ACP must know after a restart: stored as the turn's checkpoint, together with the events that were
// made up to it. From it and from what the agent says behind `next`, a new server goes on exactly where the last one
// stopped. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "driver/acp/terminals.h"
#include "driver/acp/translate.h"
#include "driver/acp/wire.h"
#include "driver/program/holder.h"

namespace errand::acp {

enum class Phase : uint8_t {
  starting,      // Nothing was sent yet.
  initializing,  // Each of these waits for the answer to `request`.
  opening,
  settling,  // The session is loaded, and the agent may still repeat what was said in it.
  choosing,
  prompting,
  leaving,  // All is said: the process ends, and `end` is told.
};

// A line for the agent, numbered. It is stored before it is sent, and kept until the agent's pipe has it: so it is
// there once, whoever dies when.
struct Frame {
  int64_t number = 0;
  // Instead of what is long (a file that was read), this may be an answer that asks the agent to try again: it is sent
  // where the server died before the pipe had the line.
  std::string line;
  std::vector<MessageId> messages;  // Which the line carries.
  bool opens = false;  // Opens the session. The line is not kept, for it may hold a token: it is made anew.
};

// A permission request that has no answer yet.
struct OpenAsk {
  std::string request_id;  // errand's.
  std::string rpc_id;      // The agent's, JSON.
  std::string call_id;
  std::vector<Option> options;
};

struct Wish {
  Choice choice;  // How it is told; without its values.
  std::string value;
};

struct State {
  Phase phase = Phase::starting;
  std::string run;            // The process, where an earlier turn has started it; empty: this turn's own.
  double cpu_from = 0;        // What it had used before this turn.
  int64_t next = 0;           // The journal is read from here.
  int64_t last_request = -1;  // The number of our last request; -1: none yet.
  int64_t request = -1;       // The one that is waited for.
  std::string session;
  std::string method;   // By which the session is opened.
  bool is_new = false;  // Nobody has prompted this session yet: what comes before goes with the first prompt.
  AgentInfo agent;      // Without its logins.
  std::deque<Wish> wishes;
  std::deque<Frame> frames;
  std::vector<OpenAsk> asks;
  std::vector<std::string> serving;  // Requests for files and terminals that are being served, by the agent's ids.
  std::vector<OpenTerminal> terminals;
  int64_t terminals_made = 0;  // So far: their ids are made of it.
  bool by_itself = false;      // It works without a prompt of ours: none is in flight.
  int begun = 0;               // It began this turn by itself, and so many in a row; 0: a message did.
  bool failing = false;        // As the agent last said of the turn.
  Time until;                  // It waits for a usage limit until then (wall time), and no prompt is in flight.
  Millis backoff_ms = 0;       // The last such wait where nobody said for how long.
  int64_t asked = 0;           // Questions so far: their ids are made of it.
  std::optional<Outcome> end;  // How the turn ended, once that is known.
  Translator translator;
};

// The state of a turn that goes on in the process of the turn before: its session is open, all else is new.
State go_on_after(State before, const program::Kept& kept);

std::string encode(const State& state);
// A fresh one where the text is empty. internal: it is none of ours.
Result<State> decode(std::string_view text);

}  // namespace errand::acp

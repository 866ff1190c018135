// A task's events as text for people: what it printed, what the agent said, which tools it used, what it asked.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/wire.h"

namespace errand::cli {

struct Span {
  enum class What : uint8_t {
    output,        // A command's standard output,
    error_output,  // and its standard error.
    said,          // The agent's words.
    thought,       // Its reasoning.
    note,          // Ours about it: whole lines.
  };
  What what = What::note;
  std::string text;  // As it came: not filtered.
  bool operator==(const Span&) const = default;
};

// Events go in, in order; spans come out. Pure.
class Transcript {
 public:
  std::vector<Span> take(const EventInfo& event);

 private:
  void say(std::vector<Span>& out, Span::What what, std::string_view text);
  void note(std::vector<Span>& out, std::string text);
  void take_message(std::vector<Span>& out, const MessageInfo& message);

  bool at_line_start_ = true;
  Span::What last_ = Span::What::note;
  std::map<std::pair<std::string, int64_t>, size_t> said_;  // Bytes of a message's part that deltas have shown.
  std::set<std::string> messages_;                          // Shown whole.
  std::set<std::string> calls_;                             // Tool calls that were told.
};

// The most telling argument of a tool's input, on one line.
std::string input_summary(std::string_view input_json);

}  // namespace errand::cli

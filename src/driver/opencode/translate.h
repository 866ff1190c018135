// What an OpenCode session says, as reports. It takes the same thing any number of times, as events or read again as a
// whole, and reports each piece once: so a lost event stream costs nothing but reading the session again. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"
#include "driver/opencode/wire.h"

namespace errand::opencode {

class Translator {
 public:
  // Assistant messages of the session up to `before` (ids are ordered by time) are not this turn's.
  explicit Translator(std::string before = {}) : done_(std::move(before)) {}

  void take(const Event& event, std::vector<Report>& out);
  // All of the session, or the newest of it, as it is now.
  void take(const std::vector<MessageSeen>& messages, std::vector<Report>& out);
  // Events were missed: pieces of what is being said have no place before it was read again as a whole.
  void missed();
  // The turn is over: what is open is closed as it is.
  void close(std::vector<Report>& out);

  // From which it can go on behind what it has reported. A JSON array.
  std::string mark() const;
  // Nothing of it is taken where it is not one of ours.
  static Translator from(std::string_view mark);

 private:
  struct PartSeen {
    std::string id;
    int index = -1;  // In the message as it is reported; -1: nothing of it was.
    bool reasoning = false;
    bool whole = false;  // Every piece of it came so far, so that the next can be put behind it.
    size_t bytes = 0;    // Of the text, that were reported.
    int state = 0;       // Of a tool: 1 started, 2 completed.
    std::string call_id;
  };
  void take_info(const Info& info, std::vector<Report>& out);
  void take_part(const Part& part, bool live, std::vector<Report>& out);
  void take_delta(const Part& delta, std::vector<Report>& out);
  void take_tool(const Part& part, std::vector<Report>& out);
  PartSeen* find(std::string_view id);

  std::string done_;  // The last message that is complete.
  std::string open_;  // The one that is being said; empty: none.
  std::vector<PartSeen> parts_;
  int next_ = 0;  // The index of the next part.
};

// How the turn ended, by the messages after `before`. `stopped`: it was asked to.
Outcome outcome_of(const std::vector<MessageSeen>& messages, std::string_view before, bool stopped);

// One short line about a tool's arguments: its command, path or whatever is its first text.
std::string summary_of(std::string_view input);

}  // namespace errand::opencode

// What a `claude` program says, as reports. Each line is taken once, in order; the mark says where it stands between
// two of them. Pure.
//
// A message of the model comes in pieces (partial messages) and then block by block as a whole: what the pieces have
// said is not said again, and what they left out follows. It stays open until its tools have answered and the next one
// begins, so that calls and results stand together. What agents of its own say (Event::inner) is no part of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/claude/wire.h"
#include "driver/driver.h"

namespace errand::claude {

class Translator {
 public:
  void take(const Event& event, std::vector<Report>& out);
  // What is open is closed, as it is.
  void close(std::vector<Report>& out);
  // The same where all its calls are answered: something else comes next.
  void settle(std::vector<Report>& out);

  // A JSON array.
  std::string mark() const;
  // Nothing of it is taken where it is not one of ours.
  static Translator from(std::string_view mark);

 private:
  struct Piece {
    int64_t index = 0;  // Of the block in the message of the model.
    bool reasoning = false;
    int part = -1;      // In the message as it is reported; -1: nothing of it was.
    size_t bytes = 0;   // That were reported.
    bool done = false;  // Its whole came, too.
  };
  void begin(const std::string& id, std::vector<Report>& out);
  void say(Piece& piece, std::string_view text, std::vector<Report>& out);
  void take_delta(const Event& event, std::vector<Report>& out);
  void take_block(const Block& block, std::vector<Report>& out);

  bool open_ = false;
  std::string id_;  // Of the message that is open, or was last.
  int next_ = 0;    // The next part.
  std::vector<Piece> pieces_;
  std::vector<std::string> calls_;  // Without an answer.
};

// The name by which rules know a tool: of errand's own tools where it is the same thing ("Bash" is "bash").
std::string rule_name(std::string_view tool);
// One short line about a call, for lists.
std::string summary_of(std::string_view input);

}  // namespace errand::claude

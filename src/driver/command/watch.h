// Watches output for the lines that the launch asked to be told of (notify_on, R5.5).
//
// A pattern is a piece of text; /.../ is a regular expression (RE2's, which takes time linear in the line), /.../i one
// that does not tell letters by their case. A line is what a stream prints up to a line feed or a carriage return,
// without terminal escapes; of a line that is longer than line_max the beginning counts. The streams are watched apart.
// A line is told once, for the first pattern that it matches.
//
// What is told is limited: match_burst at once, then one a second; what is left out is counted, and the last of it is
// told when there is room. All of this is a value that the run's checkpoint carries, so that a line is told once also
// where the server is restarted in the middle of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "driver/driver.h"
#include "process/journal.h"

namespace errand::command {

inline constexpr size_t line_max = 2048;
inline constexpr int64_t match_burst = 10;
inline constexpr Millis match_every_ms = 1'000;
inline constexpr Millis quiet_ms = 1'000;  // After this long without output, a line that has no end is looked at.

// invalid_argument names a pattern that is none.
Status check_patterns(const std::vector<std::string>& patterns);

class Watch {
 public:
  // The patterns were checked; one that is none all the same matches nothing.
  explicit Watch(const std::vector<std::string>& patterns);
  ~Watch();
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;

  bool watches() const;

  // As text without blanks; empty where there is nothing to remember. What is damaged is taken as empty.
  std::string state() const;
  void restore(std::string_view state);

  // What follows is read as one round: it has a budget, so that a flood of output costs a bounded time.
  void begin_round();
  void add(const process::Piece& piece);
  // Output was left out here.
  void gap();
  // For quiet_ms nothing has come.
  void quiet();
  // Nothing follows.
  void finish();

  // Something waits for quiet().
  bool waits() const;
  // What is to be told since the last call: report::Match, and one report::Warning where output was not looked at.
  std::vector<Report> take();

 private:
  struct Pattern;
  // What a stream has printed since its last line end.
  struct Line {
    std::string bytes;
    bool over = false;  // Told, or longer than line_max: the rest of it does not count.
  };
  struct Left {  // Matched and not told: the last of them, and how many.
    int64_t count = 0;
    size_t pattern = 0;
    std::string line;
  };

  void add_text(Line& line, std::string_view bytes);
  void end_line(Line& line);
  bool look_at(const Line& line);
  void look_at_lines(std::string_view lines);
  bool could_match(std::string_view lines);
  void matched(size_t pattern, std::string line);
  void tell_left();
  bool spend(int64_t cost);
  void leave_out(std::string_view lines);
  void look_at_tail();
  void behind();

  std::vector<Pattern> patterns_;
  Line lines_[2];  // By process::Stream.
  Left left_;
  int64_t room_ = match_burst * match_every_ms;  // Milliseconds' worth of what may be told.
  Time room_at_;                                 // When it was reckoned.
  Time last_at_;                                 // Of the newest output.
  bool behind_said_ = false;
  bool begun_ = false;  // Something was added: there is a place to remember.

  int64_t byte_cost_ = 0;  // Of all patterns.
  int64_t budget_ = 0;     // Of the round.
  std::string tail_;       // The newest lines that the round has left out.
  std::vector<Report> made_;
};

}  // namespace errand::command

// A run's log as a reply: plain text, or one JSON object a line ({"stream","offset","at","text"}, the text with its
// line end); all of it, or only the lines that contain a text. Pure: pieces in, text out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/query.h"
#include "driver/driver.h"

namespace errand::net {

class LogText {
 public:
  LogText(api::LogQuery::Format format, std::string grep, Time since)
      : format_(format), grep_(std::move(grep)), since_(since) {}

  // Appends what these pieces give. A line that is not whole yet waits for the rest of it, where lines matter.
  void add(const LogRead& read, std::string& out);
  // No more is coming: what waits is given.
  void finish(std::string& out);

 private:
  struct Line {
    std::string text;
    int64_t offset = 0;
    Time at;
  };
  void add_piece(const LogPiece& piece, std::string& out);
  void give(std::string_view stream, const Line& line, std::string& out) const;
  void say_cut(int64_t bytes, int64_t offset, std::string& out) const;

  api::LogQuery::Format format_;
  std::string grep_;
  Time since_;
  std::map<std::string, Line, std::less<>> open_;  // By stream: the line that has no end yet.
};

// A line longer than this is given in parts.
inline constexpr size_t log_line_max = 64 * 1024;

// The last `lines` lines of a text whose lines end with '\n' (the last one perhaps not).
std::string_view last_lines(std::string_view text, size_t lines);

}  // namespace errand::net

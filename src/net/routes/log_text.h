// A run's log as a reply: plain text, or one JSON object a line ({"stream","offset","at","text"}, the text with its
// line end); all of it, or only what the query asks for. Pure: pieces in, text out.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "api/query.h"
#include "base/escape_filter.h"
#include "driver/driver.h"

namespace errand::net {

class LogText {
 public:
  explicit LogText(const api::LogQuery& query)
      : format_(query.format), grep_(query.grep), since_(query.since), only_(query.stream), strip_(query.strip) {}

  // Appends what these pieces give. A line that is not whole yet waits for the rest of it, where lines matter.
  void add(const LogRead& read, std::string& out);
  // No more is coming: what waits is given.
  void finish(std::string& out);
  // The same task has begun again: its output goes on in another log.
  void say_run(int run, std::string& out);

  // Where a reader may stop so that the next one misses nothing and repeats nothing: no line was under way there.
  struct Clean {
    int64_t offset = -1;  // In the log; -1: there was no such place yet.
    size_t size = 0;      // Of what had been appended to `out`.
  };
  const Clean& clean() const { return clean_; }

 private:
  struct Line {
    std::string text;
    int64_t offset = 0;
    Time at;
  };
  bool by_line() const { return format_ == api::LogQuery::Format::jsonl || !grep_.empty(); }
  void add_piece(const LogPiece& piece, std::string& out);
  void add_lines(const LogPiece& piece, std::string& out);
  void give(std::string_view stream, const Line& line, std::string& out) const;
  void say_cut(const LogRead& read, std::string& out) const;
  EscapeFilter& filter(std::string_view stream);

  api::LogQuery::Format format_;
  std::string grep_;
  Time since_;
  std::string only_;
  bool strip_;
  std::map<std::string, Line, std::less<>> open_;             // By stream: the line that has no end yet.
  std::map<std::string, EscapeFilter, std::less<>> filters_;  // By stream, for text that is not by line.
  int open_lines_ = 0;
  Clean clean_;
};

// A line longer than this is given in parts.
inline constexpr size_t log_line_max = 64 * 1024;

// The last `lines` lines of a text whose lines end with '\n' (the last one perhaps not).
std::string_view last_lines(std::string_view text, size_t lines);

}  // namespace errand::net

// Puts spans of a transcript on the screen: filtered for a terminal, coloured, with times, cut to the last lines or to
// those that match, as was asked for.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/escape_filter.h"
#include "cli/markdown.h"
#include "cli/progress_line.h"
#include "cli/screen.h"
#include "cli/transcript.h"

namespace errand::cli {

struct PrintOptions {
  bool raw = false;                         // No filter, no colours of ours.
  bool timestamps = false;                  // Each line begins with its time.
  std::string grep;                         // Only lines that contain it.
  std::optional<int> tail;                  // Until caught_up(): keeps back all but the last lines.
  bool split = false;                       // A command's standard error goes to ours, and what we say about it.
  bool only_out = false, only_err = false;  // Of a command: one of its streams.
  Time since;                               // Nothing from before.
  bool markdown = false;                    // On a terminal, what an agent says is rendered, a line at a time.
};

class Printer {
 public:
  // `progress`, where given, is taken off the terminal before something is written.
  Printer(const Screen& screen, PrintOptions options, ProgressLine* progress = nullptr);

  void print(const Span& span, Time at);
  // What came so far was history: prints the lines that were kept back.
  void caught_up();
  // At the end: the last line, if it has no newline, and a reset of colours.
  void finish();

 private:
  bool by_line() const { return options_.timestamps || !options_.grep.empty() || options_.tail; }
  std::string_view style_of(Span::What what) const;
  void line(Span::What what, std::string text, Time at);
  void write(Span::What what, std::string_view text);
  bool renders() const { return options_.markdown && !options_.raw && screen_.out_is_terminal(); }
  void end_markdown();

  const Screen& screen_;
  PrintOptions options_;
  ProgressLine* progress_;
  EscapeFilter out_filter_, err_filter_;
  Markdown markdown_;
  struct Unfinished {
    std::string text;
    Time at;
  };
  std::map<Span::What, Unfinished> unfinished_;  // Lines that have no end yet, by_line() only.
  struct Kept {
    Span::What what;
    std::string text;
  };
  std::deque<Kept> kept_;
};

// Events, through a transcript, to a printer.
class EventPrinter {
 public:
  explicit EventPrinter(Printer& printer) : printer_(printer) {}
  // A command's output from this attempt on; earlier ones have logs of their own.
  void from_attempt(int64_t attempt) { from_attempt_ = attempt; }
  // Events up to this one are history (see Printer::caught_up).
  void history_until(int64_t seq) { history_until_ = seq; }

  void take(const EventInfo& event);

 private:
  Printer& printer_;
  Transcript transcript_;
  int64_t from_attempt_ = 0, attempt_ = 1;
  int64_t history_until_ = 0;
};

}  // namespace errand::cli

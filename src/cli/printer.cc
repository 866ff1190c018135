#include "cli/printer.h"

#include "cli/pane.h"
#include "cli/table.h"

namespace errand::cli {

Printer::Printer(const Screen& screen, PrintOptions options, ProgressLine* progress)
    : screen_(screen),
      options_(std::move(options)),
      progress_(progress),
      out_filter_(screen.filter_colours(), EscapeFilter::Hidden::show),
      err_filter_(screen.err_colours() ? EscapeFilter::Colours::keep : EscapeFilter::Colours::drop,
                  EscapeFilter::Hidden::show),
      markdown_(screen.colours()) {}

std::string_view Printer::style_of(Span::What what) const {
  switch (what) {
    case Span::What::thought:
      return "2;3";
    case Span::What::note:
      return "36";
    default:
      return {};
  }
}

void Printer::print(const Span& span, Time at) {
  if ((options_.only_out && span.what == Span::What::error_output) ||
      (options_.only_err && span.what == Span::What::output) || (at && at < options_.since))
    return;
  if (!by_line()) return write(span.what, span.text);
  Unfinished& unfinished = unfinished_[span.what];
  std::string_view rest = span.text;
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    bool first = unfinished.text.empty();
    line(span.what, std::move(unfinished.text.append(rest.substr(0, end))), first ? at : unfinished.at);
    unfinished.text.clear();
  }
  if (rest.empty()) return;
  if (unfinished.text.empty()) unfinished.at = at;
  unfinished.text += rest;
}

void Printer::line(Span::What what, std::string text, Time at) {
  if (!options_.grep.empty() && text.find(options_.grep) == std::string::npos) return;
  if (options_.timestamps) text.insert(0, format_time(at) + " ");
  text += '\n';
  if (!options_.tail) return write(what, text);
  kept_.push_back({what, std::move(text)});
  if (kept_.size() > static_cast<size_t>(*options_.tail)) kept_.pop_front();
}

// What was kept back of the agent's words, before something else is said.
void Printer::end_markdown() {
  if (renders() && markdown_.pending()) screen_.out_bytes(markdown_.finish(screen_.width() - 1));
}

void Printer::write(Span::What what, std::string_view text) {
  if (renders() && what == Span::What::said) {
    const int width = screen_.width() - 1;
    if (const std::string lines = markdown_.feed(text, width); !lines.empty()) screen_.out_bytes(lines);
    if (screen_.pane()) screen_.pane()->set_unfinished(markdown_.unfinished(width));
    return;
  }
  end_markdown();
  if (progress_) progress_->erase();
  bool to_err = options_.split && what != Span::What::output;
  bool terminal = to_err ? screen_.err_is_terminal() : screen_.out_is_terminal();
  std::string shown(text);
  if (terminal && !options_.raw) {
    bool colours = to_err ? screen_.err_colours() : screen_.colours();
    std::string filtered = (to_err ? err_filter_ : out_filter_).feed(text);
    // The newline stays outside, so that a colour never runs over the end of a line.
    bool newline = filtered.ends_with('\n');
    if (newline) filtered.pop_back();
    shown = filtered.empty() ? std::string() : styled(filtered, style_of(what), colours);
    if (newline) shown += '\n';
  }
  if (progress_ && terminal) progress_->hold(!shown.ends_with('\n'));
  to_err ? screen_.err_bytes(shown) : screen_.out_bytes(shown);
}

void Printer::caught_up() {
  if (!options_.tail) return;
  options_.tail.reset();
  for (const Kept& kept : kept_) write(kept.what, kept.text);
  kept_.clear();
}

void EventPrinter::take(const EventInfo& event) {
  if (event.task && event.task->attempt > 0) attempt_ = event.task->attempt;
  bool earlier = event.type == "output" && attempt_ < from_attempt_;
  if (!earlier)
    for (const Span& span : transcript_.take(event)) printer_.print(span, event.at);
  if (event.seq >= history_until_) printer_.caught_up();
}

void Printer::finish() {
  for (auto& [what, unfinished] : unfinished_)
    if (!unfinished.text.empty()) line(what, std::move(unfinished.text), unfinished.at);
  unfinished_.clear();
  caught_up();
  if (options_.raw) return;
  end_markdown();
  if (screen_.out_is_terminal()) screen_.out_bytes(out_filter_.finish());
  if (options_.split && screen_.err_is_terminal()) screen_.err_bytes(err_filter_.finish());
}

}  // namespace errand::cli

#include "cli/transcript.h"

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/text.h"
#include "cli/width.h"

namespace errand::cli {

namespace {

constexpr int summary_columns = 100;

bool is_output(Span::What what) { return what == Span::What::output || what == Span::What::error_output; }

std::string head_of(std::string_view text) {
  std::string head = fit(shown_line(first_line(trim(text))), summary_columns);
  size_t lines = split(trim(text), '\n').size();
  if (lines > 1) head += fmt::format(" (+{} lines)", lines - 1);
  return head;
}

}  // namespace

std::string input_summary(std::string_view input) {
  for (const char* name :
       {"command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt", "text"})
    if (std::string value = member(input, name); !value.empty()) return fit(shown_line(value), summary_columns);
  return input == "{}" ? std::string() : fit(shown_line(input), summary_columns);
}

// What somebody else says begins on a line of its own. A command's bytes are left as they are: its streams are cut
// anywhere, and each must come out as it went in.
void Transcript::say(std::vector<Span>& out, Span::What what, std::string_view text) {
  if (text.empty()) return;
  if (what != last_ && !at_line_start_ && !(is_output(what) && is_output(last_))) {
    out.push_back({is_output(last_) ? what : last_, "\n"});
    at_line_start_ = true;
  }
  out.push_back({what, std::string(text)});
  at_line_start_ = text.ends_with('\n');
  last_ = what;
}

void Transcript::note(std::vector<Span>& out, std::string text) { say(out, Span::What::note, text += '\n'); }

void Transcript::take_message(std::vector<Span>& out, const MessageInfo& message) {
  bool whole = messages_.contains(message.id);
  if (message.role != "assistant") {
    // A user's message is told when it is made; it is "completed" again when the agent takes it.
    if (whole) return;
    messages_.insert(message.id);
    for (const PartInfo& part : message.parts)
      for (std::string_view line : split(trim(part.text), '\n'))
        note(out, (message.role == "user" ? "> " : "# ") + std::string(line));
    return;
  }
  for (size_t i = 0; i < message.parts.size(); ++i) {
    const PartInfo& part = message.parts[i];
    if (part.type == "text" || part.type == "reasoning") {
      size_t& shown = said_[{message.id, static_cast<int64_t>(i)}];
      if (shown < part.text.size())
        say(out, part.type == "text" ? Span::What::said : Span::What::thought,
            std::string_view(part.text).substr(shown));
      shown = part.text.size();
      if (!at_line_start_) say(out, last_, "\n");
    } else if (part.type == "tool_call" && calls_.insert(part.call_id).second) {
      note(out, fmt::format("● {} {}", part.name, input_summary(part.input)));
    }
  }
}

std::vector<Span> Transcript::take(const EventInfo& event) {
  std::vector<Span> out;
  if (event.type == "output") {
    say(out, event.stream == "stderr" ? Span::What::error_output : Span::What::output, event.text);
  } else if (event.type == "message.delta") {
    said_[{event.message_id, event.part}] += event.text.size();
    say(out, event.part_type == "reasoning" ? Span::What::thought : Span::What::said, event.text);
  } else if (event.message && (event.type == "message.created" || event.type == "message.completed")) {
    if (event.type == "message.completed" || event.message->role != "assistant") take_message(out, *event.message);
  } else if (event.type == "tool.started") {
    if (calls_.insert(event.call_id).second) note(out, fmt::format("● {} {}", event.name, input_summary(event.input)));
  } else if (event.type == "tool.completed") {
    std::string head = head_of(event.output);
    if (!head.empty() || event.is_error) note(out, fmt::format("  {} {}", event.is_error ? "✗" : "→", head));
  } else if (event.type == "ask.created") {
    std::string options;
    for (const std::string& option : event.options) options.append(options.empty() ? " [" : ", ").append(option);
    note(out, fmt::format("? {}{}", event.text, options.empty() ? "" : options + "]"));
    if (!event.diff.empty())
      for (const std::string_view line : split(trim(event.diff), '\n')) note(out, "  " + std::string(line));
  } else if (event.type == "ask.answered") {
    note(out, fmt::format("  answered: {}{}", event.decision, event.by.empty() ? "" : " by " + event.by));
  } else if (event.type == "task.warning") {
    note(out, "! " + event.text);
  } else if (event.type == "reset") {
    note(out, "! Earlier events were removed.");
  }
  return out;
}

}  // namespace errand::cli

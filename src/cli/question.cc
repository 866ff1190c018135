#include "cli/question.h"

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/home.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/table.h"

namespace errand::cli {
namespace {

std::string harmless(std::string_view line) {
  return without_escapes(line, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show);
}

std::string_view diff_style(std::string_view line) {
  if (line.starts_with("+++") || line.starts_with("---")) return "2";
  if (line.starts_with('+')) return "32";
  if (line.starts_with('-')) return "31";
  return line.starts_with("@@") ? "36" : "";
}

}  // namespace

std::string diff_lines(std::string_view diff, bool colours) {
  std::string out;
  while (diff.ends_with('\n')) diff.remove_suffix(1);
  if (diff.empty()) return out;
  for (const std::string_view line : split(diff, '\n'))
    out += "  " + styled(harmless(line), diff_style(line), colours) + "\n";
  return out;
}

std::string question_text(const WaitingInfo& waiting, bool colours, bool choices) {
  std::string out;
  const std::string in_folder = "In " + waiting.work_dir;
  for (const std::string_view line : split(trim(waiting.text), '\n'))
    out += harmless(line == in_folder ? "In " + to_home(waiting.work_dir) : std::string(line)) + "\n";
  // Most questions for a command say it themselves.
  if (!waiting.work_dir.empty() && !waiting.text.contains(waiting.work_dir))
    out += styled("in " + harmless(to_home(waiting.work_dir)), "2", colours) + "\n";
  out += diff_lines(waiting.diff, colours);
  if (!choices) return out;
  for (const std::string& option : numbered_options(waiting)) out += "  " + harmless(option) + "\n";
  if (waiting.kind == "permission")
    out += styled("  task   allow everything that this task asks for\n  agent  allow this to the agent from now on", "",
                  colours) +
           "\n";
  return out;
}

std::string answer_body(const WaitingInfo& waiting, const ReplyWords& words, std::string_view message,
                        std::string_view request) {
  std::string body;
  JsonOut out(body);
  out.object().field("request_id", request.empty() ? std::string_view(waiting.request_id) : request);
  if (words.decision.empty()) {
    out.field("answer", to_utf8(words.answer));
  } else {
    out.field("decision", words.decision);
    if (!words.scope.empty()) out.field("scope", words.scope);
    if (!words.pattern.empty()) out.field("pattern", words.pattern);
    if (!message.empty()) out.field("message", to_utf8(message));
  }
  out.end();
  return body;
}

std::string told_words(const ReplyWords& words) {
  if (words.decision.empty()) return shown_line(words.answer);
  if (words.scope == "pattern") return fmt::format("allow {}", shown_line(words.pattern));
  if (words.scope == "task") return "allow everything that it asks for";
  if (words.scope == "agent") return "allow, and its agent from now on";
  return words.decision;
}

}  // namespace errand::cli

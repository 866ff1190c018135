#include "task/commit_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/hidden.h"
#include "base/text.h"

namespace errand {
namespace {

constexpr std::string_view fence = "```", named_fence = "```commit";

std::string plain_line(std::string_view line) {
  std::string out;
  while (!line.empty()) {
    const char32_t c = take_character(line);
    if (c == '\t')
      out += ' ';
    else if (c >= 0x20 && (c < 0x7f || c > 0x9f) && !is_hidden(c))
      append_character(out, c);
  }
  return std::string(trim(out));
}

// Plain lines with at most one empty line between them, whole lines only.
std::string plain_lines(std::string_view text) {
  std::string out;
  bool gap = false;
  for (const std::string_view line : split(text.substr(0, utf8_prefix(text, 4 * body_bytes_max)), '\n')) {
    // The indentation of code and lists is kept.
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string plain = plain_line(line);
    if (plain.empty()) {
      gap = !out.empty();
      continue;
    }
    if (out.size() + indent + plain.size() + 2 > body_bytes_max) {
      if (out.empty()) out = plain.substr(0, utf8_prefix(plain, body_bytes_max));
      break;
    }
    if (!out.empty()) out += gap ? "\n\n" : "\n";
    out.append(indent, ' ').append(plain);
    gap = false;
  }
  return out;
}

std::string subject_of(std::string_view line) {
  const std::string plain = plain_line(line);
  return std::string(trim(first_characters(plain, subject_characters_max)));
}

// The last block that is called "commit", without its fences.
std::optional<std::string> written_by_agent(std::string_view answer) {
  std::optional<std::string> found, open;
  for (const std::string_view line : split(answer, '\n')) {
    const std::string_view word = trim(line);
    if (!open) {
      if (word == named_fence) open.emplace();
    } else if (word == fence) {
      found = std::exchange(open, std::nullopt);
    } else if (open->size() <= 4 * body_bytes_max) {
      open->append(line).append("\n");
    }
  }
  return found;
}

}  // namespace

std::string_view name(CommitText::Source source) {
  switch (source) {
    case CommitText::Source::agent:
      return "agent";
    case CommitText::Source::result:
      return "result";
    case CommitText::Source::title:
      return "title";
  }
  return "title";
}

CommitText commit_text(const Task& task) {
  const bool by_agent = task.launch.kind == TaskKind::agent;
  const std::string_view answer = by_agent && task.result ? std::string_view(*task.result) : std::string_view();
  if (const std::optional<std::string> block = written_by_agent(answer)) {
    const std::string_view text = trim(*block);
    const std::string_view first = first_line(text);
    if (std::string subject = subject_of(first); !subject.empty())
      return {std::move(subject), plain_lines(text.substr(first.size())), CommitText::Source::agent};
  }
  CommitText text{.subject = subject_of(first_line(task.title)), .body = plain_lines(answer)};
  if (text.subject.empty()) text.subject = "Changes of " + task.id.value;
  text.source = text.body.empty() ? CommitText::Source::title : CommitText::Source::result;
  // What it was told, where that is more than its title.
  if (text.body.empty() && by_agent) {
    text.body = plain_lines(task.launch.prompt);
    if (text.body == text.subject) text.body.clear();
  }
  return text;
}

std::string commit_message(const CommitText& text) {
  return text.body.empty() ? text.subject : text.subject + "\n\n" + text.body;
}

std::string_view commit_request() {
  return "Write the text for a commit of what you have changed in this task. Change no file and run no command for it. "
         "Answer with one fenced block like this one, and nothing else:\n\n"
         "```commit\n"
         "What it does, in the imperative, in at most 72 characters\n"
         "\n"
         "What was wrong or missing, and how it is solved, in a few short lines.\n"
         "```";
}

}  // namespace errand

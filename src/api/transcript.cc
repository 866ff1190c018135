#include "api/transcript.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hidden.h"
#include "base/json_out.h"
#include "base/text.h"
#include "base/time.h"

namespace errand::api {
namespace {

struct Fact {
  std::string name, value;
};

std::string tokens_text(const Usage& usage) {
  std::string text = fmt::format("{} in, {} out", usage.input_tokens, usage.output_tokens);
  if (usage.cache_read_tokens > 0) text += fmt::format(" ({} read from a cache)", usage.cache_read_tokens);
  return text;
}

// What has no price is "?", never 0.
std::string cost_text(const Usage& usage) {
  if (usage.unpriced && usage.cost_usd <= 0) return "?";
  return fmt::format("{}${:.4f}", usage.unpriced ? "at least " : "", usage.cost_usd);
}

std::vector<Fact> facts_of(const Task& task) {
  const Launch& launch = task.launch;
  std::vector<Fact> facts;
  const auto add = [&](const char* name, std::string value) {
    if (!value.empty()) facts.push_back({name, std::move(value)});
  };
  add("Task", task.id.value);
  add("Status", std::string(name(task.state)) + (task.error ? " (" + task.error->code + ")" : ""));
  add("Agent", agent_name(launch));
  add("Model", launch.model);
  add("Folder", launch.work_dir);
  add("Created", format_time(task.created_at));
  if (task.completed_at) add("Ended", format_time(task.completed_at));
  if (task.started_at && task.completed_at) add("Duration", format_duration(task.completed_at - task.started_at));
  if (task.exit_code) add("Exit code", std::to_string(*task.exit_code));
  const Usage& usage = task.progress.usage;
  if (usage.input_tokens + usage.output_tokens > 0) {
    add("Tokens", tokens_text(usage));
    add("Cost", cost_text(usage));
  }
  for (const auto& [label, value] : launch.labels) add("Label", fmt::format("{}: {}", label, value));
  return facts;
}

std::string speaker(const Message& message, const Task& task) {
  switch (message.role) {
    case Role::user:
      return "You";
    case Role::assistant:
      return agent_name(task.launch);
    case Role::system:
      return "System";
  }
  return {};
}

std::string size_note(const Part& part) {
  return part.truncated ? fmt::format("[cut: {} bytes in all]", part.size) : std::string();
}

constexpr std::string_view cut_note = "The conversation goes on; this document has its beginning only.";

// --- Markdown

// A line of somebody's that is put into ours: it must not begin a table cell, a tag or a line.
std::string md_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (c == '|' || c == '<' || c == '\\' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

// A fence that no line of the text can end.
std::string fenced(std::string_view text, std::string_view language = {}) {
  size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string out = fence + std::string(language) + "\n" + std::string(text);
  if (!out.ends_with('\n')) out += '\n';
  return out + fence + "\n";
}

std::string quoted(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out += "> " + std::string(line) + "\n";
  return out;
}

void md_part(std::string& out, const Part& part) {
  switch (part.type) {
    case PartType::text:
    case PartType::notice:
      out += std::string(part.text) + "\n\n";
      break;
    case PartType::reasoning:
      if (!part.text.empty()) out += quoted(part.text) + "\n";
      break;
    case PartType::tool_call:
      out += "**" + md_line(part.name) + "**\n\n" + fenced(part.input, "json") + "\n";
      break;
    case PartType::tool_result:
      out += std::string(part.is_error ? "Error:\n\n" : "Result:\n\n") + fenced(part.text);
      if (part.truncated) out += size_note(part) + "\n";
      out += "\n";
      break;
    case PartType::file:
      out += "File: " + md_line(part.name) + "\n\n";
      break;
  }
}

std::string as_markdown(const Transcript& transcript) {
  const Task& task = transcript.task;
  std::string out = "# " + md_line(task.title) + "\n\n| | |\n|---|---|\n";
  for (const Fact& fact : facts_of(task)) out += "| " + fact.name + " | " + md_line(fact.value) + " |\n";
  out += "\n";
  if (!task.launch.command.empty()) out += "## Command\n\n" + fenced(task.launch.command, "sh") + "\n";
  for (const Message& message : transcript.messages) {
    out += "## " + md_line(speaker(message, task)) + " · " + format_time(message.created_at) + "\n\n";
    for (const Part& part : message.parts) md_part(out, part);
  }
  if (transcript.cut) out += std::string(cut_note) + "\n\n";
  if (task.result && transcript.messages.empty()) out += "## Result\n\n" + fenced(*task.result) + "\n";
  if (task.error) out += "## Error\n\n" + fenced(task.error->message) + "\n";
  return out;
}

// --- HTML

// Everything that is not ours goes through here. Characters that turn the direction of a text, or cannot be seen, are
// shown as what they are: nobody reads a command in another order than it has.
void escape(std::string& out, std::string_view text) {
  for (const char c : revealed(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // NUL and most control characters are no HTML.
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
          out += "\xEF\xBF\xBD";
        else
          out += c;
    }
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  escape(out, text);
  return out;
}

void html_block(std::string& out, std::string_view kind, std::string_view text) {
  out += "<pre class=\"" + std::string(kind) + "\" dir=\"auto\">";
  escape(out, text);
  out += "</pre>\n";
}

void html_part(std::string& out, const Part& part) {
  switch (part.type) {
    case PartType::text:
    case PartType::notice:
      html_block(out, "text", part.text);
      break;
    case PartType::reasoning:
      if (part.text.empty()) break;
      out += "<details><summary>Reasoning</summary>\n";
      html_block(out, "text", part.text);
      out += "</details>\n";
      break;
    case PartType::tool_call:
      out += "<details open><summary>" + escaped(part.name) + "</summary>\n";
      html_block(out, "code", part.input);
      out += "</details>\n";
      break;
    case PartType::tool_result:
      out += std::string("<details><summary>") + (part.is_error ? "Error" : "Result") + "</summary>\n";
      html_block(out, "code", part.text);
      if (part.truncated) out += "<p>" + escaped(size_note(part)) + "</p>\n";
      out += "</details>\n";
      break;
    case PartType::file:
      out += "<p>File: " + escaped(part.name) + "</p>\n";
      break;
  }
}

// Its own policy holds also where it is opened from a disk: no script, and nothing is fetched.
constexpr std::string_view html_head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1rem;margin:2rem 0 .5rem;border-top:1px solid #8886;padding-top:1rem}
table{border-collapse:collapse}th{text-align:left;padding-right:1rem;font-weight:600;vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0}
pre.text{font:inherit}
pre.code{font:13px/1.45 ui-monospace,monospace;background:#8881;padding:.75rem;border-radius:.4rem}
summary{cursor:pointer}
</style>
)";

std::string as_html(const Transcript& transcript) {
  const Task& task = transcript.task;
  std::string out(html_head);
  out +=
      "<title>" + escaped(task.title) + "</title></head><body><main>\n<h1>" + escaped(task.title) + "</h1>\n<table>\n";
  for (const Fact& fact : facts_of(task))
    out += "<tr><th scope=\"row\">" + escaped(fact.name) + "</th><td>" + escaped(fact.value) + "</td></tr>\n";
  out += "</table>\n";
  if (!task.launch.command.empty()) {
    out += "<h2>Command</h2>\n";
    html_block(out, "code", task.launch.command);
  }
  for (const Message& message : transcript.messages) {
    out += "<section>\n<h2>" + escaped(speaker(message, task)) + " · <time>" + format_time(message.created_at) +
           "</time></h2>\n";
    for (const Part& part : message.parts) html_part(out, part);
    out += "</section>\n";
  }
  if (transcript.cut) out += "<p>" + std::string(cut_note) + "</p>\n";
  if (task.result && transcript.messages.empty()) {
    out += "<h2>Result</h2>\n";
    html_block(out, "code", *task.result);
  }
  if (task.error) {
    out += "<h2>Error</h2>\n";
    html_block(out, "code", task.error->message);
  }
  return out + "</main></body></html>\n";
}

std::string as_json(const Transcript& transcript) {
  std::string text;
  JsonOut out(text);
  out.object().key("task");
  write_task(out, transcript.task, transcript.moment);
  out.key("messages").array();
  for (const Message& message : transcript.messages) write_message(out, message);
  out.end().field("cut", transcript.cut).end();
  return text + "\n";
}

}  // namespace

std::optional<TranscriptFormat> parse_transcript_format(std::string_view text) {
  if (text == "md") return TranscriptFormat::md;
  if (text == "json") return TranscriptFormat::json;
  if (text == "html") return TranscriptFormat::html;
  return std::nullopt;
}

std::string_view media_type(TranscriptFormat format) {
  switch (format) {
    case TranscriptFormat::md:
      return "text/markdown; charset=utf-8";
    case TranscriptFormat::json:
      return "application/json";
    case TranscriptFormat::html:
      return "text/html; charset=utf-8";
  }
  return "text/plain; charset=utf-8";
}

std::string write_transcript(const Transcript& transcript, TranscriptFormat format) {
  switch (format) {
    case TranscriptFormat::md:
      return as_markdown(transcript);
    case TranscriptFormat::json:
      return as_json(transcript);
    case TranscriptFormat::html:
      return as_html(transcript);
  }
  return {};
}

std::string transcript_name(const Task& task, TranscriptFormat format) {
  std::string name = "errand-";
  for (const char c : task.id.value)
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') name += c;
  switch (format) {
    case TranscriptFormat::md:
      return name + ".md";
    case TranscriptFormat::json:
      return name + ".json";
    case TranscriptFormat::html:
      return name + ".html";
  }
  return name;
}

}  // namespace errand::api

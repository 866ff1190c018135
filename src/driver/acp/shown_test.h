// Reports as text, one line each, for golden files: texts of one part are joined, signs of life left out.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "driver/driver.h"

namespace errand::acp {

inline std::string shown(const std::vector<Report>& reports) {
  std::string out, open;
  const auto flush = [&] {
    if (!open.empty()) out += open + "\n";
    open.clear();
  };
  for (const Report& report : reports) {
    if (const auto* text = std::get_if<report::Text>(&report)) {
      const std::string head = fmt::format("{} {}: ", text->part, text->reasoning ? "thinks" : "says");
      if (!open.starts_with(head)) {
        flush();
        open = head;
      }
      open += text->text;
      continue;
    }
    if (std::holds_alternative<report::Alive>(report)) continue;
    flush();
    if (std::holds_alternative<report::MessageBegan>(report)) out += "began\n";
    if (std::holds_alternative<report::MessageEnded>(report)) out += "ended\n";
    if (const auto* tool = std::get_if<report::ToolStarted>(&report))
      out += fmt::format("{} {} {} {} ({})\n", tool->part, tool->call_id, tool->name, tool->input, tool->summary);
    if (const auto* done = std::get_if<report::ToolCompleted>(&report))
      out += fmt::format("{} {}: {}\n", done->call_id, done->is_error ? "failed" : "done", done->output);
    if (const auto* used = std::get_if<report::Used>(&report))
      out +=
          fmt::format("used {} {} {:.5f}\n", used->usage.input_tokens, used->usage.output_tokens, used->usage.cost_usd);
    if (const auto* warning = std::get_if<report::Warning>(&report))
      out += fmt::format("warning {}: {}\n", warning->code, warning->text);
    if (const auto* asks = std::get_if<report::Asks>(&report))
      out += fmt::format("asks {} [{}]: {}\n", asks->tool, asks->subject, asks->text);
  }
  flush();
  return out;
}

}  // namespace errand::acp

// Reports of a translator as text, for golden tests of what agents' programs say.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "driver/driver.h"

namespace errand::test {

// The lines of a recorded stream.
inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

// One line a report; texts of one part are joined. `other`: how those that are neither text nor the bounds of a message
// look; empty: not at all.
inline std::string shown_reports(const std::vector<Report>& reports,
                                 const std::function<std::string(const Report&)>& other) {
  std::string out, open;
  const auto line = [&](const std::string& text) {
    if (!open.empty()) out += open + "\n";
    open.clear();
    if (!text.empty()) out += text + "\n";
  };
  for (const Report& report : reports) {
    if (const auto* text = std::get_if<report::Text>(&report)) {
      const std::string head = std::to_string(text->part) + (text->reasoning ? " thinks: " : " says: ");
      if (!open.starts_with(head)) {
        line({});
        open = head;
      }
      open += text->text;
    } else if (std::holds_alternative<report::MessageBegan>(report)) {
      line("began");
    } else if (std::holds_alternative<report::MessageEnded>(report)) {
      line("ended");
    } else if (const std::string text = other(report); !text.empty()) {
      line(text);
    }
  }
  line({});
  return out;
}

}  // namespace errand::test

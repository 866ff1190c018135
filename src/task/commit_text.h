// The text for a commit, or a pull request, of what a task changed: the agent's own where it wrote one, else made of
// what the task is called and what it answered. Pure. What others wrote becomes plain text: no control or hidden
// characters, and bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "task/task.h"

namespace errand {

struct CommitText {
  enum class Source : uint8_t {
    agent,   // It was asked for the text (commit_request), and this is its answer.
    result,  // Its title, and what it answered.
    title,   // Its title, and what it was told.
  };
  std::string subject;  // One line, never empty.
  std::string body;     // Lines; may be empty.
  Source source = Source::title;
  bool operator==(const CommitText&) const = default;
};
std::string_view name(CommitText::Source source);

inline constexpr size_t subject_characters_max = 80;
inline constexpr size_t body_bytes_max = 4'000;

CommitText commit_text(const Task& task);
// Subject, an empty line, body.
std::string commit_message(const CommitText& text);
// What an agent is told so that it writes one: in a fenced block that is called "commit".
std::string_view commit_request();

}  // namespace errand

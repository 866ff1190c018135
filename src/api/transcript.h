// A task with its whole conversation as one document, to keep or to send. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "task/json.h"
#include "task/message.h"
#include "task/task.h"

namespace errand::api {

enum class TranscriptFormat : uint8_t {
  md,    // Markdown.
  json,  // The task and its messages as the other routes give them.
  html,  // One file that needs nothing else: no script, nothing fetched, and all that anybody wrote escaped.
};
std::optional<TranscriptFormat> parse_transcript_format(std::string_view text);
std::string_view media_type(TranscriptFormat format);

struct Transcript {
  Task task;
  TaskMoment moment;
  std::vector<Message> messages;  // Oldest first.
  bool cut = false;               // There are more messages than were read: the document says so.
};
std::string write_transcript(const Transcript& transcript, TranscriptFormat format);

// "errand-01JX….md": made of the task's id, so that it is a safe name everywhere.
std::string transcript_name(const Task& task, TranscriptFormat format);

// GET /api/tasks/{id}/export: so many messages, and so many bytes of them.
inline constexpr int64_t transcript_bytes_max = 32 << 20;

}  // namespace errand::api

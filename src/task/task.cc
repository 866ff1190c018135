#include "task/task.h"

#include <algorithm>

#include "base/hidden.h"
#include "base/text.h"
#include "task/message.h"

namespace errand {
namespace {

constexpr size_t title_characters_max = 80;

// The first line that can be seen.
std::string_view first_words(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    if (!is_invisible(line)) return trim(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

// Whoever reads a title that was cut sees that there is more.
std::string cut(std::string_view words) {
  if (first_characters(words, title_characters_max).size() == words.size()) return std::string(words);
  return std::string(trim(first_characters(words, title_characters_max - 1))) + "…";
}

}  // namespace

bool holds_slot(const Task& task) {
  if (task.stopping) return true;
  return task.phase == TurnPhase::working && !waits(task);
}

const std::string& folder_of(const Task& task) {
  const bool own = task.isolation && !task.isolation->work_dir.empty();
  return own ? task.isolation->work_dir : task.launch.work_dir;
}

bool waits(const Task& task) { return task.wait.has_value() || open_ask(task) != nullptr; }

const Ask* open_ask(const Task& task) {
  for (const Ask& ask : task.asks)
    if (ask.decision.empty()) return &ask;
  return nullptr;
}

std::optional<RunRange> runs_of(const Task& task, int attempt) {
  const std::vector<int>& ends = task.progress.attempt_ends;
  if (attempt < 1 || attempt > task.attempt) return std::nullopt;
  // How many attempts back, counted from this one: the oldest may have been dropped.
  const auto back = static_cast<size_t>(task.attempt - attempt);
  if (back > ends.size()) return std::nullopt;
  const size_t at = ends.size() - back;  // Of its own end; of the last attempt there is none yet.
  if (at == 0 && attempt > 1) return std::nullopt;
  const RunRange range{.first = (at == 0 ? 0 : ends[at - 1]) + 1, .last = at == ends.size() ? task.run : ends[at]};
  if (range.last < range.first) return std::nullopt;
  return range;
}

std::string shown_title(std::string_view text) { return cut(first_words(text)); }

Band band_of(const Task& task) {
  if (open_ask(task) != nullptr) return Band::asks;
  if (task.state == TaskState::failed && !task.retrieved_at) return Band::unseen;
  if (task.pinned) return Band::pinned;
  if (task.state == TaskState::pending) return Band::pending;
  if (!at_work(task.state)) return Band::rest;
  return task.phase == TurnPhase::working && !waits(task) ? Band::running : Band::waits;
}

std::string title_of(const Launch& launch) {
  const std::string& work = launch.kind == TaskKind::command ? launch.command : launch.prompt;
  for (const std::string* source : {&launch.title, &launch.description, &work}) {
    const std::string_view words = first_words(*source);
    if (!words.empty()) return cut(words);
  }
  // A prompt of attachments only has no words of its own.
  return launch.kind == TaskKind::command ? "Command" : "Task";
}

std::string text_of(const Message& message) {
  std::string all;
  for (const Part& part : message.parts) {
    if (part.type != PartType::text) continue;
    if (!all.empty()) all += "\n\n";
    all += part.text;
  }
  return all;
}

std::string asked_text(const Ask& ask) { return ask.diff.empty() ? ask.text : ask.text + "\n" + ask.diff; }

}  // namespace errand

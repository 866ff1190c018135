#include "driver/builtin/step.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "driver/builtin/conversation.h"

namespace errand::builtin {
namespace {

bool calls(const Message& message) {
  return std::ranges::any_of(message.parts, [](const Part& part) { return part.type == PartType::tool_call; });
}

bool whole(const Message& message) { return (message.completed_at && !message.interrupted) || calls(message); }

// The last answer, and what it continues where the output limit cut it.
std::string result_of(const std::vector<Message>& messages) {
  std::string result;
  for (size_t i = messages.size(); i-- > 0;) {
    const Message& message = messages[i];
    if (loop_note(message, compaction_name) != nullptr) continue;
    if (message.role == Role::assistant && !whole(message)) continue;
    if (message.role != Role::assistant) break;
    result.insert(0, text_of(message));
    // Behind the answer that was cut stands the request to go on.
    size_t before = i;
    while (before > 0 && (loop_note(messages[before - 1], compaction_name) != nullptr ||
                          (messages[before - 1].role == Role::assistant && !whole(messages[before - 1]))))
      --before;
    if (before == 0 || loop_note(messages[before - 1], continue_name) == nullptr) break;
    i = before - 1;
  }
  return result;
}

Next failure(std::string code, std::string message) {
  return {.kind = Next::Kind::fail, .error = {std::move(code), std::move(message), {}}};
}

}  // namespace

int steps_of(const std::vector<Message>& messages, const StepLimits& limits) {
  int count = 0;
  for (size_t i = limits.first; i < messages.size(); ++i)
    count += messages[i].role == Role::assistant && messages[i].turn == limits.turn && whole(messages[i]) ? 1 : 0;
  return count;
}

int notes_of(const std::vector<Message>& messages, const StepLimits& limits, std::string_view name) {
  int count = 0;
  for (size_t i = limits.first; i < messages.size(); ++i)
    count += messages[i].turn == limits.turn && loop_note(messages[i], name) != nullptr ? 1 : 0;
  return count;
}

Next next_step(const std::vector<Message>& messages, bool more, const StepLimits& limits) {
  const auto last = std::find_if(messages.rbegin(), messages.rend(), [](const Message& message) {
    return loop_note(message, compaction_name) == nullptr && (message.role != Role::assistant || whole(message));
  });
  const bool answered = last != messages.rend() && last->role == Role::assistant && last->turn == limits.turn &&
                        static_cast<size_t>(messages.rend() - last) > limits.first;
  if (answered) {
    // One that was closed without their results was stopped: what had begun is told to the model as interrupted.
    if (std::vector<Part> open = calls_without_result(*last, messages); !open.empty() && !last->completed_at)
      return {.kind = Next::Kind::tools, .calls = std::move(open), .message = last->id};
    if (!calls(*last) && !more) {
      std::string result = result_of(messages);
      if (!trim(result).empty()) return {.kind = Next::Kind::end, .result = std::move(result)};
      if (notes_of(messages, limits, nudge_name) > 0)
        return failure("empty_result",
                       "The model ended its turn twice without a word; retry the task, or give it to another model.");
      return {.kind = Next::Kind::nudge};
    }
  }
  if (limits.max_steps > 0 && steps_of(messages, limits) >= limits.max_steps)
    return failure("budget",
                   fmt::format("It took the {} steps that its agent may take in one turn; retry it to let it go "
                               "on, or raise the agent's max_steps.",
                               limits.max_steps));
  return {.kind = Next::Kind::ask};
}

}  // namespace errand::builtin

#include "task/event_state.h"

#include <string_view>

namespace errand {

std::optional<TaskState> state_told(const Event& event) {
  if (event.type != EventType::task_created && event.type != EventType::task_status && event.type != EventType::end)
    return std::nullopt;
  // The task's own texts stand after its status, so the first is the one.
  constexpr std::string_view mark = "\"status\":\"";
  const std::string_view data = event.data;
  const size_t at = data.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = data.substr(at + mark.size());
  return parse_task_state(rest.substr(0, rest.find('"')));
}

}  // namespace errand

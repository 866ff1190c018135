#include "notify/occasion.h"

#include "task/event_state.h"

namespace errand::notify {

std::string_view name(Occasion occasion) {
  switch (occasion) {
    case Occasion::asked:
      return "asked";
    case Occasion::failed:
      return "failed";
    case Occasion::completed:
      return "completed";
    case Occasion::cancelled:
      return "cancelled";
    case Occasion::test:
      return "test";
  }
  return "";
}

std::optional<Occasion> parse_occasion(std::string_view text) {
  for (int i = 0; i < occasion_count; ++i)
    if (name(static_cast<Occasion>(i)) == text) return static_cast<Occasion>(i);
  return std::nullopt;
}

std::vector<Occasion> Occasions::list() const {
  std::vector<Occasion> all;
  for (int i = 0; i < occasion_count; ++i)
    if (has(static_cast<Occasion>(i))) all.push_back(static_cast<Occasion>(i));
  return all;
}

std::optional<Occasion> occasion_of(const Event& event) {
  if (event.type == EventType::ask_created) return Occasion::asked;
  if (event.type != EventType::end) return std::nullopt;
  const std::optional<TaskState> state = state_told(event);
  if (state == TaskState::failed) return Occasion::failed;
  if (state == TaskState::completed) return Occasion::completed;
  if (state == TaskState::cancelled) return Occasion::cancelled;
  return std::nullopt;
}

}  // namespace errand::notify

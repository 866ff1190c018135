#include "notify/notification.h"

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"

namespace errand::notify {
namespace {

std::string shown_text(std::string_view text) {
  const std::string_view head = first_characters(text, text_characters_max);
  std::string out =
      without_escapes(head, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show) + (head == text ? "" : "…");
  return std::string(trim(out));
}

// The open question that the event tells; null where it is answered, or its turn is over.
const Ask* open_question(const Event& event, const Task& task) {
  for (const Ask& ask : task.asks)
    if (ask.decision.empty() && is_about(event, ask.request_id)) return &ask;
  return nullptr;
}

bool is_wanted(Occasion occasion, const Task& task, const Target& target) {
  if (!target.on.has(occasion)) return false;
  return occasion == Occasion::asked || target.subtasks || task.launch.parent_session_id.empty();
}

}  // namespace

bool is_about(const Event& event, std::string_view request_id) {
  // Both events of a question begin with its id (task/json.cc).
  std::string beginning = "{\"request_id\":";
  append_json_string(beginning, request_id);
  return event.data.starts_with(beginning + ",");
}

std::optional<Notification> notification_of(const Event& event, const Task& task, const Target& target) {
  const std::optional<Occasion> occasion = occasion_of(event);
  if (!occasion || !is_wanted(*occasion, task, target)) return std::nullopt;
  Notification made{.pos = event.pos,
                    .at = event.at,
                    .occasion = *occasion,
                    .task_id = task.id,
                    .kind = std::string(name(task.launch.kind)),
                    .status = std::string(*occasion == Occasion::asked ? name(task.state) : name(*occasion))};
  std::string_view text;
  if (*occasion == Occasion::asked) {
    const Ask* const ask = open_question(event, task);
    if (ask == nullptr) return std::nullopt;
    made.request_id = ask->request_id;
    made.question = name(ask->kind);
    text = ask->text;
  }
  // Started again meanwhile: what came of it is not what the event tells.
  const bool same = *occasion == Occasion::asked || name(task.state) == name(*occasion);
  if (*occasion == Occasion::failed && same && task.error) {
    made.reason = task.error->code;
    text = task.error->message;
  }
  if (*occasion == Occasion::completed && same && task.result) text = *task.result;
  if (target.content == Content::none) return made;
  made.title = shown_line(task.title);
  made.agent = shown_line(agent_name(task.launch));
  made.batch_id = task.launch.batch_id.value;
  if (target.content == Content::text) made.text = shown_text(text);
  return made;
}

Notification test_notification(Time now) {
  return {.at = now, .occasion = Occasion::test, .title = "errand can reach you here"};
}

std::string headline(const Notification& notification) {
  switch (notification.occasion) {
    case Occasion::asked:
      return notification.question == "permission" ? "Needs your permission" : "Asks you";
    case Occasion::failed:
      return "Failed";
    case Occasion::completed:
      return "Completed";
    case Occasion::cancelled:
      return "Cancelled";
    case Occasion::test:
      return "Test";
  }
  return "";
}

}  // namespace errand::notify

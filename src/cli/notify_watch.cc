// errand notify watch: this terminal and the desktop are told what needs a person, until Ctrl-C.
#include <cstdlib>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/ring.h"
#include "cli/short_id.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

bool has_desktop() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != 0;
  };
  const char* const wish = std::getenv("ERRAND_NOTIFY");
  if (wish != nullptr && (std::string_view(wish) == "off" || std::string_view(wish) == "bell")) return false;
  return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("DBUS_SESSION_BUS_ADDRESS")) &&
         on_path("notify-send");
}

// Desktops read some markup in a text.
std::string without_markup(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

class Watcher {
 public:
  explicit Watcher(Context& context) : screen_(context.screen), desktop_(has_desktop()) {}

  void take(const TaskInfo& task) {
    if (told_.is_new(task)) tell(task, news_of(task));
  }

 private:
  void tell(const TaskInfo& task, const std::string& news) const {
    const std::string title = shown_line(task.title);
    if (screen_.json()) {
      std::string line;
      JsonOut(line).object().field("news", news).field("task_id", task.id).field("title", task.title).end();
      screen_.out_line(line);
    } else {
      screen_.out_line(fmt::format("{}: {} ({})", news, title, short_id(task.id)));
    }
    ring(news, title);
    if (desktop_) succeeds({"notify-send", "--app-name=errand", "--", news, without_markup(title)});
  }

  const Screen& screen_;
  const bool desktop_;
  ToldNews told_;
};

}  // namespace

int notify_watch(Context& context) {
  Interrupt interrupt;
  Watcher watcher(context);
  StreamCalls calls;
  calls.event = [&](const SseEvent& event) {
    const Result<EventInfo> info = parse_event(event.data);
    if (info && info->task) watcher.take(*info->task);
    return true;
  };
  calls.lost = [&](bool lost) {
    if (lost) context.screen.say("waiting for the server to come back");
  };
  if (!context.screen.json()) context.screen.say("telling you what needs you; Ctrl-C ends it.");
  const Result<StreamEnd> end = context.client.stream("/api/stream", "", calls);
  if (!end && end.error().reason != "interrupted") return context.screen.fail(end.error());
  return code(Exit::ok);
}

}  // namespace errand::cli

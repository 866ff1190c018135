#include "cli/commit_text.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/task_text.h"
#include "cli/watch.h"

namespace errand::cli {

namespace {

constexpr Millis text_patience_ms = 300'000;

}  // namespace

void say_not_merged(const Screen& screen, std::string_view reply) {
  const std::vector<std::string> files = texts_of(reply, "not_merged");
  if (files.empty()) return;
  screen.say(
      "not in it: these files of its work tree were changed after it had ended, by a test or by somebody. errand merge "
      "--with-later takes them, too:");
  for (const std::string& file : files) screen.err("  " + shown_line(file) + "\n");
}

int wait_for_all(Context& context, const std::vector<std::string>& ids, Time deadline) {
  const Screen& screen = context.screen;
  Interrupt interrupt;
  ProgressLine progress(screen);
  size_t ended = 0;
  WatchCalls calls;
  calls.deadline = deadline;
  calls.tick = [&] { progress.tick(); };
  calls.gone = [&](const std::string&, const Error&) { ++ended; };
  calls.changed = [&](const TaskInfo& task) {
    if (!task.at_work() && !task.stopping) {
      ++ended;
      return true;
    }
    progress.set(ids.size() == 1 ? activity(task) : fmt::format("{} of {} have ended", ended, ids.size()));
    return false;
  };
  const Result<StreamEnd> end = watch_tasks(context.client, ids, calls);
  progress.erase();
  if (!end) return screen.fail(end.error());
  if (*end == StreamEnd::interrupted)
    return screen.fail({Code::unavailable, "Detached; the tasks go on.", "interrupted"}, Exit::interrupted);
  if (*end == StreamEnd::deadline)
    return screen.fail({Code::unavailable,
                        fmt::format("Time is up: {} of {} have ended. The rest goes on; errand wait {} waits for it.",
                                    ended, ids.size(), short_id(ids.front())),
                        "still_running"},
                       Exit::still_running);
  return code(Exit::ok);
}

int ask_for_text(Context& context, const std::string& id) {
  const Screen& screen = context.screen;
  Result<std::string> asked = context.client.post(task_path(id, "/commit-text"));
  if (!asked) return screen.fail(asked.error());
  if (const int exit = wait_for_all(context, {id}, steady_now() + text_patience_ms); exit != 0) return exit;
  Result<std::string> text = context.client.get(task_path(id, "/commit-text"));
  if (!text) return screen.fail(text.error());
  if (member(*text, "source") != "agent")
    screen.say("the agent wrote no text for a commit; its title and answer are used.");
  return code(Exit::ok);
}

}  // namespace errand::cli

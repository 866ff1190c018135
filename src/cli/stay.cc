#include "cli/stay.h"

#include <fmt/format.h>

#include "cli/interrupt.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/watch.h"
#include "cli/whole_output.h"

namespace errand::cli {

namespace {

// Tells once of each question, since nothing goes on until somebody answers.
class Asker {
 public:
  explicit Asker(Context& context, ProgressLine& progress) : context_(context), progress_(progress) {}

  void look_at(const TaskInfo& task) {
    if (!task.waiting_for || task.waiting_for->request_id == told_) return;
    told_ = task.waiting_for->request_id;
    if (told_.empty()) return;
    progress_.erase();
    bool permission = task.waiting_for->kind == "permission";
    context_.screen.say(fmt::format("it asks: {}\nerrand: answer with: errand answer {} {}",
                                    shown_line(task.waiting_for->text), short_id(task.id),
                                    permission ? "allow|deny" : "\"...\""));
  }

 private:
  Context& context_;
  ProgressLine& progress_;
  std::string told_;
};

int end_of(Context& context, const std::string& id) {
  Result<std::string> body = context.client.get(task_path(id));
  Result<TaskInfo> task = body ? parse_task(*body) : std::unexpected(body.error());
  if (!task) return context.screen.fail(task.error());
  if (context.screen.json()) {
    context.screen.out_line(*body);
  } else {
    explain_end(context, *task);
  }
  return task->kind == "command" ? exit_as_the_command(*task) : code(exit_of(*task));
}

// --follow --json: the events, one a line.
Result<StreamEnd> follow_json(Context& context, const std::string& id, int64_t after) {
  StreamCalls calls;
  calls.event = [&](const SseEvent& event) {
    context.screen.out_line(event.data);
    return true;
  };
  return context.client.stream(task_path(id, "/stream"), after > 0 ? std::to_string(after) : "", calls);
}

Result<StreamEnd> wait_for_rest(Context& context, const std::string& id) {
  ProgressLine progress(context.screen);
  Asker asker(context, progress);
  WatchCalls calls;
  calls.changed = [&](const TaskInfo& task) {
    asker.look_at(task);
    progress.set(activity(task));
    return !task.at_work();
  };
  std::optional<Error> gone;
  calls.gone = [&](const std::string&, const Error& error) { gone = error; };
  calls.tick = [&] { progress.tick(); };
  calls.lost = [&](bool lost) {
    if (lost) progress.set("waiting for the server to come back");
  };
  Result<StreamEnd> end = watch_tasks(context.client, {id}, calls);
  if (gone) return std::unexpected(*gone);
  return end;
}

}  // namespace

int detach(Context& context, const std::string& id) {
  std::string shortened = short_id(id);
  context.screen.say(
      fmt::format("detached from {}, which goes on. To come back: errand logs -f {}   To stop it: errand cancel {}",
                  shortened, shortened, shortened));
  return code(Exit::interrupted);
}

void explain_end(Context& context, const TaskInfo& task) {
  if (task.status == "cancelled") {
    context.screen.say(fmt::format("the task was cancelled; errand logs {} shows what it did.", short_id(task.id)));
  } else if (task.status == "failed" &&
             task.reason != "exit") {  // A command's exit code is ours, too, and tells enough.
    context.screen.say(fmt::format("the task failed ({}): {}", task.error_code, shown_line(task.error_message)));
  }
}

Result<StreamEnd> follow(Context& context, const std::string& id, int64_t after, EventPrinter& events,
                         ProgressLine& progress) {
  Asker asker(context, progress);
  StreamCalls calls;
  calls.event = [&](const SseEvent& event) {
    Result<EventInfo> info = parse_event(event.data);
    if (!info) return true;
    info->type = event.type;
    with_whole_output(context, id, *info, [&](const EventInfo& whole) { events.take(whole); });
    if (info->task) {
      progress.set(activity(*info->task));
      asker.look_at(*info->task);
    }
    if (info->progress && !info->progress->recent_tools.empty())
      progress.set(tool_text(info->progress->recent_tools.back()));
    if (info->type == "tool.started") progress.set(info->name + " " + input_summary(info->input));
    return true;
  };
  calls.tick = [&] {
    progress.tick();
    return true;
  };
  calls.lost = [&](bool lost) { progress.set(lost ? "waiting for the server to come back" : ""); };
  return context.client.stream(task_path(id, "/stream"), after > 0 ? std::to_string(after) : "", calls);
}

int print_result(Context& context, const std::string& id) {
  Result<std::string> body = context.client.get(task_path(id, "/result"));
  if (!body) return context.screen.fail(body.error());
  std::string result = member(*body, "result");
  if (!result.empty()) {
    context.screen.out_task_text(result);
    if (!result.ends_with('\n')) context.screen.out("\n");
  }
  return end_of(context, id);
}

int stay_with(Context& context, const TaskInfo& task, int64_t after, Stay stay, std::string_view reply) {
  const Screen& screen = context.screen;
  if (stay == Stay::no) {
    screen.out_line(screen.json() ? reply : std::string_view(task.id));
    return code(Exit::ok);
  }
  Interrupt interrupt;
  if (!screen.json()) screen.say(task.id);
  bool live = stay == Stay::follow || task.kind == "command";
  Result<StreamEnd> end = StreamEnd::ended;
  if (screen.json() && stay == Stay::follow) {
    end = follow_json(context, task.id, after);
  } else if (screen.json() || !live) {
    end = wait_for_rest(context, task.id);
  } else {
    ProgressLine progress(screen);
    Printer printer(screen,
                    {.raw = false, .timestamps = false, .grep = {}, .tail = {}, .split = task.kind == "command"},
                    &progress);
    EventPrinter events(printer);
    end = follow(context, task.id, after, events, progress);
    printer.finish();
  }
  if (end && *end == StreamEnd::interrupted) return detach(context, task.id);
  if (!end) return end.error().reason == "interrupted" ? detach(context, task.id) : screen.fail(end.error());
  if (screen.json() && stay == Stay::follow) {
    Result<TaskInfo> last = get_task(context, task.id);
    if (!last) return screen.fail(last.error());
    return last->kind == "command" ? exit_as_the_command(*last) : code(exit_of(*last));
  }
  return live || screen.json() ? end_of(context, task.id) : print_result(context, task.id);
}

}  // namespace errand::cli

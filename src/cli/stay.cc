#include "cli/stay.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/connection.h"
#include "cli/input_lines.h"
#include "cli/interrupt.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/ring.h"
#include "cli/short_id.h"
#include "cli/watch.h"
#include "cli/whole_output.h"

namespace errand::cli {

namespace {

// Shows each question once, since nothing goes on until somebody answers; and takes the answer where it was asked,
// where a person sits there (R14.3).
class Asker {
 public:
  Asker(Context& context, ProgressLine& progress)
      : context_(context),
        progress_(progress),
        typed_(!context.screen.json() && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0) {}

  // Shows the question with this id, if it is open now. Of those that were answered before, the events tell.
  bool shows(const std::string& task, const std::string& request) {
    if (const Result<TaskInfo> now = get_task(context_, task)) look_at(*now);
    return !request.empty() && told_ == request;
  }

  void look_at(const TaskInfo& task) {
    if (!task.waiting_for || task.waiting_for->request_id.empty()) {
      open_.reset();
      return;
    }
    if (task.waiting_for->request_id == told_) return;
    told_ = task.waiting_for->request_id;
    // What events have of a question is short: it is read whole.
    const Result<TaskInfo> whole = get_task(context_, task.id);
    open_ = whole && whole->waiting_for && whole->waiting_for->request_id == told_ ? *whole->waiting_for
                                                                                   : *task.waiting_for;
    id_ = task.id;
    progress_.erase();
    const bool permission = open_->kind == "permission";
    if (!context_.screen.json()) ring(news_of(task), task.title);
    const Screen& screen = context_.screen;
    screen.say("it asks:\n" + question_text(*open_, screen.err_colours(), typed_) +
               (typed_ ? "errand: type your answer."
                       : fmt::format("errand: answer with: errand answer {} {}", short_id(task.id),
                                     permission ? "allow|always|pattern|task|agent|deny" : "\"...\"")));
  }

  // What was typed meanwhile. A line is an answer only while a question is open.
  void take_input() {
    while (typed_ && open_) {
      const std::optional<std::string> line = input_.next();
      if (!line) return;
      if (trim(*line).empty()) continue;
      progress_.erase();
      const Result<ReplyWords> words = reply_words(*open_, trim(*line));
      if (!words) {
        context_.screen.say(words.error().message);
        continue;
      }
      const Result<std::string> reply =
          context_.client.post(task_path(id_, "/answer"), answer_body(*open_, *words, {}));
      context_.screen.say(reply ? fmt::format("told it: {}.", told_words(*words)) : reply.error().message);
      if (reply || reply.error().code == Code::not_found) open_.reset();
    }
  }

 private:
  Context& context_;
  ProgressLine& progress_;
  const bool typed_;  // By a person, who sees what is asked.
  InputLines input_;
  std::string told_, id_;
  std::optional<WaitingInfo> open_;
};

// `waited_ms`: how long somebody waited for it here.
int end_of(Context& context, const std::string& id, Millis waited_ms) {
  Result<std::string> body = context.client.get(task_path(id));
  Result<TaskInfo> task = body ? parse_task(*body) : std::unexpected(body.error());
  if (!task) return context.screen.fail(task.error());
  if (context.screen.json()) {
    context.screen.out_line(*body);
  } else {
    explain_end(context, *task);
    if (waited_ms >= ring_after_ms) ring(news_of(*task), task->title);
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
  calls.tick = [&] {
    asker.take_input();
    progress.tick();
  };
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
    // A question that is open is shown once, by the asker: with its folder, its diff, and what can be answered.
    if (info->type != "ask.created" || !asker.shows(id, info->request_id))
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
    asker.take_input();
    progress.tick();
    return true;
  };
  calls.lost = [&](bool lost) { progress.set(lost ? "waiting for the server to come back" : ""); };
  return context.client.stream(task_path(id, "/stream"), after > 0 ? std::to_string(after) : "", calls);
}

int print_result(Context& context, const std::string& id, Millis waited_ms) {
  Result<std::string> body = context.client.get(task_path(id, "/result"));
  if (!body) return context.screen.fail(body.error());
  std::string result = member(*body, "result");
  if (!result.empty()) {
    context.screen.out_task_text(result);
    if (!result.ends_with('\n')) context.screen.out("\n");
  }
  return end_of(context, id, waited_ms);
}

int stay_with(Context& context, const TaskInfo& task, int64_t after, Stay stay, std::string_view reply) {
  const Screen& screen = context.screen;
  if (stay == Stay::no) {
    screen.out_line(screen.json() ? reply : std::string_view(task.id));
    return code(Exit::ok);
  }
  Interrupt interrupt;
  const Time began = steady_now();
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
  const Millis waited_ms = steady_now() - began;
  return live || screen.json() ? end_of(context, task.id, waited_ms) : print_result(context, task.id, waited_ms);
}

}  // namespace errand::cli

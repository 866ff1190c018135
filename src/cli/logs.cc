// errand logs: what a command printed, or an agent's conversation.
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/resolve.h"
#include "cli/stay.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// A point in time, or how long ago.
Result<Time> since_of(const LogsArgs& args) {
  if (args.since.empty()) return Time{};
  if (const Result<Time> time = parse_time(args.since)) return time;
  if (const Result<Millis> span = parse_duration(args.since)) return wall_now() - *span;
  return fail(
      Code::invalid_argument,
      fmt::format("\"{}\" is not a time. Write 5m for the last five minutes, or 2026-11-15T09:52:03Z.", args.since));
}

PrintOptions print_options(const LogsArgs& args) {
  return {.raw = args.raw,
          .timestamps = args.timestamps,
          .grep = args.grep,
          .tail = args.tail,
          .split = false,
          .only_out = args.only_out,
          .only_err = args.only_err,
          .since = since_of(args).value_or(Time{})};
}

// A line of the log in its JSON form: {"stream","offset","at","text"}.
void print_json_lines(Printer& printer, std::string_view body) {
  for (std::string_view line : split(body, '\n')) {
    const LogLine printed = parse_log_line(line);
    if (printed.stream.empty()) continue;
    Span::What what = printed.stream == "stderr" ? Span::What::error_output : Span::What::output;
    printer.print({what, printed.text}, parse_time(printed.at).value_or(Time{}));
  }
}

// A command's log as it stands, a page at a time. The server does the filtering; times are ours to put in.
int print_log(Context& context, const std::string& id, const LogsArgs& args) {
  const Screen& screen = context.screen;
  bool lines = screen.json() || args.timestamps;
  PrintOptions options = print_options(args);
  options.grep.clear();
  options.tail.reset();
  options.only_out = options.only_err = false;
  Query query;
  query.add("grep", args.grep).add("format", lines ? "jsonl" : "");
  if (args.attempt) query.add("attempt", std::to_string(*args.attempt));
  if (args.run) query.add("run", std::to_string(*args.run));
  if (args.setup) query.add("setup", "true");
  if (options.since) query.add("since", format_time(std::exchange(options.since, {})));
  query.add("stream", args.only_out ? "stdout" : args.only_err ? "stderr" : "");
  Printer printer(screen, options);
  int64_t offset = 0;
  for (bool more = true; more;) {
    Query page = query;
    args.tail ? page.add("tail", std::to_string(*args.tail)) : page.add("offset", std::to_string(offset));
    Result<Reply> reply = context.client.request("GET", task_path(id, "/log" + page.text()));
    if (!reply) return screen.fail(reply.error());
    if (reply->status >= 400) return screen.fail(parse_problem(reply->status, reply->body));
    if (screen.json()) {
      screen.out(reply->body);
    } else if (lines) {
      print_json_lines(printer, reply->body);
    } else {
      printer.print({Span::What::output, reply->body}, {});
    }
    int64_t next = number(reply->header("x-log-next"));
    more = !args.tail && next > offset && next < number(reply->header("x-log-size"));
    offset = next;
  }
  printer.finish();
  return code(Exit::ok);
}

// A conversation as it stands, from its events.
int print_events(Context& context, const std::string& id, const LogsArgs& args) {
  const Screen& screen = context.screen;
  Printer printer(screen, print_options(args));
  EventPrinter events(printer);
  events.history_until(INT64_MAX);
  for (int64_t after = 0;;) {
    Result<std::string> body = context.client.get(
        task_path(id, "/events" + Query().add("after", std::to_string(after)).add("limit", "1000").text()));
    if (!body) return screen.fail(body.error());
    Result<std::vector<EventInfo>> page = parse_events(*body);
    if (!page) return screen.fail(page.error());
    if (page->empty()) break;
    if (screen.json()) {
      for (const std::string& event : elements(*body, "events")) screen.out_line(event);
    } else {
      for (const EventInfo& event : *page) events.take(event);
    }
    after = page->back().seq;
  }
  printer.finish();
  return code(Exit::ok);
}

int follow_log(Context& context, const TaskInfo& task, const LogsArgs& args) {
  const Screen& screen = context.screen;
  Interrupt interrupt;
  Result<StreamEnd> end = StreamEnd::ended;
  if (screen.json()) {
    StreamCalls calls;
    calls.event = [&](const SseEvent& event) {
      screen.out_line(event.data);
      return true;
    };
    end = context.client.stream(task_path(task.id, "/stream"), "", calls);
  } else {
    ProgressLine progress(screen);
    Printer printer(screen, print_options(args), &progress);
    EventPrinter events(printer);
    events.from_attempt(args.attempt.value_or(static_cast<int>(task.attempt)));
    events.history_until(task.seq);
    end = follow(context, task.id, 0, events, progress);
    printer.finish();
  }
  if (!end) return screen.fail(end.error());
  return *end == StreamEnd::interrupted ? detach(context, task.id) : code(Exit::ok);
}

}  // namespace

int logs(Context& context, const LogsArgs& args) {
  if (const Result<Time> since = since_of(args); !since) return context.screen.fail(since.error());
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return context.screen.fail(id.error());
  Result<TaskInfo> task = get_task(context, *id);
  if (!task) return context.screen.fail(task.error());
  if (args.setup) return print_log(context, *id, args);
  if (args.follow) return follow_log(context, *task, args);
  return task->kind == "command" ? print_log(context, *id, args) : print_events(context, *id, args);
}

}  // namespace errand::cli

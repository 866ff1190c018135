// errand attach: a task's conversation, live: what it says comes as it is said, what is typed goes to it.
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "cli/input_lines.h"
#include "cli/interrupt.h"
#include "cli/reply_words.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/verbs.h"
#include "cli/whole_output.h"

namespace errand::cli {
namespace {

constexpr const char* help_text =
    "a line goes to the task at its next step, or answers what it asks. Also:\n"
    "  /queue TEXT      when its turn is over\n"
    "  /interrupt TEXT  at once, instead of what it does\n"
    "  /send TEXT       as a message, also while it asks something (and for a text that begins with a slash)\n"
    "  /allow /always /deny [TEXT]   answer a permission\n"
    "  /answer TEXT     answer a question with this text, also where it is a number and there are options\n"
    "  /cancel          stop it\n"
    "  /retry [TEXT]    begin again, where it failed or was cancelled\n"
    "  /detach          leave; it goes on (so do Ctrl-C and Ctrl-D)";

class Attached {
 public:
  Attached(Context& context, TaskInfo task, const AttachArgs& args)
      : context_(context),
        screen_(context.screen),
        task_(std::move(task)),
        printer_(screen_, {.tail = args.tail}),
        events_(printer_),
        typed_(::isatty(STDIN_FILENO) != 0),
        history_(task_.seq) {
    events_.history_until(history_);
  }

  int run() {
    Interrupt interrupt;
    if (typed_ && !screen_.json())
      screen_.say(fmt::format("attached to {}; type to talk to it, /help lists what else.", short_id(task_.id)));
    while (!leaving_) {
      Result<StreamEnd> end = show_while_at_work();
      if (!end) return failed(end.error());
      if (*end == StreamEnd::interrupted) return detached(Exit::interrupted);
      if (leaving_) break;
      if (Status read = read_task(); !read) return failed(read.error());
      if (task_.at_work()) continue;
      if (input_.ended()) break;
      told_rest();
      end = wait_at_rest();
      if (!end) return failed(end.error());
      if (*end == StreamEnd::interrupted) return detached(Exit::interrupted);
    }
    printer_.finish();
    if (Status read = read_task(); !read) return screen_.fail(read.error());
    if (task_.at_work() || typed_) return detached(Exit::ok);
    if (!screen_.json()) explain_end(context_, task_);
    return code(exit_of(task_));
  }

 private:
  // --- what the task does

  Result<StreamEnd> show_while_at_work() {
    StreamCalls calls;
    calls.event = [&](const SseEvent& event) {
      take(event);
      return !leaving_;
    };
    calls.tick = [&] {
      take_input();
      if (seen_ >= history_) ask();
      return !leaving_;
    };
    calls.lost = [&](bool lost) {
      if (lost) screen_.say("the server is away; waiting for it");
    };
    return context_.client.stream(task_path(task_.id, "/stream"), seen_ > 0 ? std::to_string(seen_) : "", calls);
  }

  void take(const SseEvent& event) {
    Result<EventInfo> info = parse_event(event.data);
    if (!info) return;
    info->type = event.type;
    if (info->seq > 0) seen_ = info->seq;
    if (info->task) {
      const TaskInfo before = std::exchange(task_, *info->task);
      task_.kind = before.kind;
    }
    if (screen_.json()) return screen_.out_line(event.data);
    // What was typed here stands on the screen already.
    if (info->message && sent_.contains(info->message->id)) return;
    with_whole_output(context_, task_.id, *info, [&](const EventInfo& whole) { events_.take(whole); });
  }

  // At rest it has no stream of its own: until somebody gives it something to do, here or elsewhere.
  Result<StreamEnd> wait_at_rest() {
    const auto at_work = [&]() -> Result<bool> {
      if (Status read = read_task(); !read) return std::unexpected(read.error());
      return task_.at_work();
    };
    StreamCalls calls;
    bool again = false;
    calls.connected = [&]() -> Result<bool> {
      Result<bool> working = at_work();
      if (!working) return working;
      again = *working;
      return !again;
    };
    calls.event = [&](const SseEvent& event) {
      const Result<EventInfo> info = parse_event(event.data);
      again = again || (info && info->task && info->task->id == task_.id && info->task->at_work());
      return !again;
    };
    calls.tick = [&] {
      again = take_input() || again;
      return !again && !leaving_ && !input_.ended();
    };
    return context_.client.stream("/api/stream", "", calls);
  }

  Status read_task() {
    Result<TaskInfo> task = get_task(context_, task_.id);
    if (!task) return std::unexpected(task.error());
    task_ = std::move(*task);
    return {};
  }

  void told_rest() {
    if (screen_.json()) return;
    printer_.finish();
    explain_end(context_, task_);
    if (task_.status == "completed" && typed_) screen_.say("it has answered; what you type next resumes it.");
    if (task_.status != "completed" && typed_) screen_.say("/retry begins it again.");
  }

  void ask() {
    if (!task_.waiting_for || task_.waiting_for->request_id.empty() || task_.waiting_for->request_id == asked_) return;
    asked_ = task_.waiting_for->request_id;
    if (!typed_ || screen_.json()) return;
    const bool permission = task_.waiting_for->kind == "permission";
    screen_.say(permission ? "it waits: allow, always or deny?" : "it waits for your answer.");
  }

  // --- what is typed

  // Everything that has come. True where something was given to the task.
  bool take_input() {
    bool given = false;
    // Two lines are two messages: each is stored before the next is sent.
    while (!leaving_) {
      const std::optional<std::string> line = input_.next();
      if (!line) break;
      if (!trim(*line).empty()) given = take_line(*line) || given;
    }
    if (input_.ended() && typed_) leaving_ = true;
    return given;
  }

  bool take_line(const std::string& line) {
    if (!line.starts_with('/')) return waits() ? answer(line, false) : send(line, {});
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string rest = space == std::string::npos ? std::string() : std::string(trim(line.substr(space)));
    if (word == "/send") return send(rest, {});
    if (word == "/queue") return send(rest, "queue");
    if (word == "/interrupt") return send(rest, "interrupt");
    if (word == "/allow") return decide("allow", rest);
    if (word == "/always") return decide("allow_always", rest);
    if (word == "/deny") return decide("deny", rest);
    if (word == "/answer") return answer(rest, true);
    if (word == "/cancel") return post("/cancel", "{}");
    if (word == "/retry") return retry(rest);
    if (word == "/detach" || word == "/quit" || word == "/exit") {
      leaving_ = true;
    } else if (word == "/help") {
      screen_.say(help_text);
    } else {
      screen_.say(fmt::format("{} is no command here; /help lists them, /send {} says it to the task.",
                              shown_line(word), shown_line(word)));
    }
    return false;
  }

  bool waits() const { return task_.waiting_for && !task_.waiting_for->request_id.empty(); }

  bool send(const std::string& text, const std::string& when) {
    if (text.empty()) return say_false("what should it be told? /queue and /interrupt take a text.");
    std::string body;
    JsonOut out(body);
    out.object().field("message", to_utf8(text));
    if (!when.empty()) out.field("when", when);
    out.end();
    return post("/message", body);
  }

  bool retry(const std::string& text) {
    std::string body;
    JsonOut out(body);
    out.object();
    if (!text.empty()) out.field("message", to_utf8(text));
    out.end();
    return post("/retry", body);
  }

  // To a permission the words that people type; where there are options their numbers too.
  bool answer(const std::string& text, bool literally) {
    if (!waits()) return say_false("it asks nothing just now.");
    const Result<ReplyWords> words = reply_words(*task_.waiting_for, trim(text), literally);
    if (!words && task_.waiting_for->kind == "permission")
      return say_false("it asks for permission: allow, always or deny; /send TEXT says something else to it.");
    if (!words) return say_false("it has no option of that number; /answer TEXT sends a number as it is.");
    if (!words->decision.empty()) return decide(words->decision, {});
    std::string body;
    JsonOut(body)
        .object()
        .field("request_id", task_.waiting_for->request_id)
        .field("answer", to_utf8(words->answer))
        .end();
    return post("/answer", body);
  }

  bool decide(const std::string& decision, const std::string& message) {
    if (!waits()) return say_false("it asks for nothing just now.");
    std::string body;
    JsonOut out(body);
    out.object().field("request_id", task_.waiting_for->request_id).field("decision", decision);
    if (!message.empty()) out.field("message", to_utf8(message));
    out.end();
    return post("/answer", body);
  }

  // What the server refuses is said, and the conversation goes on.
  bool post(std::string_view what, const std::string& body) {
    const Result<std::string> reply = context_.client.post(task_path(task_.id, what), body);
    if (!reply) return say_false(reply.error().message);
    if (typed_) sent_.insert(member(*reply, "message_id"));
    if (const Result<TaskInfo> task = parse_task_reply(*reply); task && task->id == task_.id) task_ = *task;
    return true;
  }

  bool say_false(std::string_view sentence) const {
    screen_.say(sentence);
    return false;
  }

  // --- leaving

  int failed(const Error& error) {
    return error.reason == "interrupted" ? detached(Exit::interrupted) : screen_.fail(error);
  }

  int detached(Exit exit) {
    printer_.finish();
    const std::string id = short_id(task_.id);
    const std::string back = fmt::format("To come back: errand attach {}", id);
    screen_.say(task_.at_work()
                    ? fmt::format("let go of {}, which goes on. {}   To stop it: errand cancel {}", id, back, id)
                    : fmt::format("let go of {}. {}", id, back));
    return code(exit);
  }

  Context& context_;
  const Screen& screen_;
  TaskInfo task_;  // As last heard of.
  Printer printer_;
  EventPrinter events_;
  InputLines input_;
  const bool typed_;       // By a person, who sees it.
  const int64_t history_;  // The events up to here were before.
  int64_t seen_ = 0;       // The last event that was shown.
  std::string asked_;
  std::set<std::string> sent_;
  bool leaving_ = false;
};

}  // namespace

int attach(Context& context, const AttachArgs& args) {
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return context.screen.fail(id.error());
  Result<TaskInfo> task = get_task(context, *id);
  if (!task) return context.screen.fail(task.error());
  return Attached(context, std::move(*task), args).run();
}

}  // namespace errand::cli

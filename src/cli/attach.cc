// errand attach: a task's conversation, live: what it says comes as it is said, what is typed goes to it.
#include <memory>
#include <set>
#include <unistd.h>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "cli/connection.h"
#include "cli/input_lines.h"
#include "cli/interrupt.h"
#include "cli/pane.h"
#include "cli/progress_line.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/ring.h"
#include "cli/short_id.h"
#include "cli/stay.h"
#include "cli/task_text.h"
#include "cli/verbs.h"
#include "cli/whole_output.h"

namespace errand::cli {
namespace {

constexpr const char* help_text =
    "what you type goes to the task: as the answer if it asks something, else as a message for its next step. Also:\n"
    "  /queue TEXT      send a message for after its turn\n"
    "  /interrupt TEXT  stop what it does and send a message\n"
    "  /send TEXT       send a message, not an answer (also for a text that begins with a slash)\n"
    "  /allow /always /pattern /task /agent /deny [TEXT]   answer a permission request\n"
    "  /answer TEXT     answer with exactly this text; a number stays a number\n"
    "  /cancel          stop the task\n"
    "  /retry [TEXT]    start a failed or cancelled task again\n"
    "  /detach          leave; the task goes on (Ctrl-C and Ctrl-D do the same)";

class Attached {
 public:
  Attached(Context& context, TaskInfo task, const AttachArgs& args)
      : context_(context),
        screen_(context.screen),
        task_(std::move(task)),
        typed_(::isatty(STDIN_FILENO) != 0),
        pane_(!screen_.json() && Terminal::possible() ? std::make_unique<Pane>(screen_.colours()) : nullptr),
        printer_(screen_, {.tail = args.tail, .markdown = pane_ != nullptr}),
        events_(printer_),
        history_(task_.seq) {
    events_.history_until(history_);
    context_.screen.set_pane(pane_.get());
    show_state();
  }

  ~Attached() { context_.screen.set_pane(nullptr); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  int run() {
    Interrupt interrupt;
    if (typed_ && !screen_.json())
      screen_.say(fmt::format("attached to {}. Type to talk to it; /help lists the commands.", short_id(task_.id)));
    while (!leaving_) {
      Result<StreamEnd> end = show_while_at_work();
      if (!end) return failed(end.error());
      if (*end == StreamEnd::interrupted) return detached(Exit::interrupted);
      if (leaving_) break;
      if (Status read = read_task(); !read) return failed(read.error());
      if (task_.at_work()) continue;
      if (input_ended()) break;
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
    working_since_ = steady_now();
    StreamCalls calls = calls_of_input();
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
      if (lost) screen_.say("waiting for the server to come back");
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
      show_state();
    }
    if (pane_ && info->message && info->message->role == "user" && info->type == "message.created")
      for (const PartInfo& part : info->message->parts) pane_->remember(part.text);
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
    StreamCalls calls = calls_of_input();
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
      return !again && !leaving_ && !input_ended();
    };
    return context_.client.stream("/api/stream", "", calls);
  }

  Status read_task() {
    Result<TaskInfo> task = get_task(context_, task_.id);
    if (!task) return std::unexpected(task.error());
    task_ = std::move(*task);
    show_state();
    return {};
  }

  void told_rest() {
    if (screen_.json()) return;
    printer_.finish();
    explain_end(context_, task_);
    if (typed_ && steady_now() - working_since_ >= ring_after_ms) ring(news_of(task_), task_.title);
    if (task_.status == "completed" && typed_) screen_.say("it has answered. Type to go on with it.");
    if (task_.status != "completed" && typed_) screen_.say("/retry starts it again.");
  }

  void ask() {
    if (!task_.waiting_for || task_.waiting_for->request_id.empty() || task_.waiting_for->request_id == asked_) return;
    asked_ = task_.waiting_for->request_id;
    if (!typed_ || screen_.json()) return;
    ring(news_of(task_), task_.title);
    // What events have of a question is short: it is read whole.
    if (const Result<TaskInfo> whole = get_task(context_, task_.id); whole && whole->waiting_for) task_ = *whole;
    if (task_.waiting_for && task_.waiting_for->request_id == asked_)
      screen_.say("it asks:\n" + question_text(*task_.waiting_for, screen_.colours(), true) +
                  "errand: type your answer.");
  }

  // Beside the line that is typed.
  void show_state() {
    if (!pane_) return;
    const std::string now = task_.at_work() ? activity(task_) : std::string();
    pane_->set_status(shown_line(fmt::format("{}  {}  {}  /help", short_id(task_.id), status_text(task_), now)));
  }

  // --- what is typed

  bool input_ended() const { return pane_ ? pane_->ended() : input_.ended(); }

  StreamCalls calls_of_input() const {
    StreamCalls calls;
    if (pane_) calls.wake_fd = pane_->wake_fd();
    return calls;
  }

  // Everything that has come. True where something was given to the task.
  bool take_input() {
    bool given = false;
    // Two lines are two messages: each is stored before the next is sent.
    while (!leaving_) {
      const std::optional<std::string> line = pane_ ? pane_->next() : input_.next();
      if (!line) break;
      if (!trim(*line).empty()) given = take_line(*line) || given;
    }
    if (input_ended() && typed_) leaving_ = true;
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
    for (const char* decision : {"allow", "always", "pattern", "task", "agent", "deny"})
      if (word.substr(1) == decision) return decide(decision, rest);
    if (word == "/answer") return answer(rest, true);
    if (word == "/cancel") return post("/cancel", "{}");
    if (word == "/retry") return retry(rest);
    if (word == "/detach" || word == "/quit" || word == "/exit") {
      leaving_ = true;
    } else if (word == "/help") {
      screen_.say(help_text);
    } else {
      screen_.say(fmt::format("{} is not a command. /help lists the commands; /send {} sends it to the task.",
                              shown_line(word), shown_line(word)));
    }
    return false;
  }

  bool waits() const { return task_.waiting_for && !task_.waiting_for->request_id.empty(); }

  bool send(const std::string& text, const std::string& when) {
    if (text.empty()) return say_false("the text is missing: /queue TEXT, /interrupt TEXT, /send TEXT.");
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
    if (!waits()) return say_false("it has no open question.");
    const Result<ReplyWords> words = reply_words(*task_.waiting_for, trim(text), literally);
    if (!words && task_.waiting_for->kind == "permission")
      return say_false(
          "it asks for permission: type allow, always, pattern, task, agent or deny. /send TEXT sends it a message "
          "instead.");
    if (!words) return say_false("it has no option with that number. /answer TEXT sends a number as text.");
    return post("/answer", answer_body(*task_.waiting_for, *words, {}));
  }

  bool decide(const std::string& decision, const std::string& message) {
    if (!waits()) return say_false("it has no open question.");
    const Result<ReplyWords> words = reply_words(*task_.waiting_for, decision);
    if (!words) return say_false(words.error().message);
    return post("/answer", answer_body(*task_.waiting_for, *words, message));
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
                    ? fmt::format("detached from {}, which goes on. {}   To stop it: errand cancel {}", id, back, id)
                    : fmt::format("detached from {}. {}", id, back));
    return code(exit);
  }

  Context& context_;
  const Screen& screen_;
  TaskInfo task_;               // As last heard of.
  const bool typed_;            // By a person, who sees it.
  std::unique_ptr<Pane> pane_;  // Where that is on a terminal.
  Printer printer_;
  EventPrinter events_;
  InputLines input_;
  const int64_t history_;  // The events up to here were before.
  int64_t seen_ = 0;       // The last event that was shown.
  std::string asked_;
  Time working_since_;  // Here, in steady time.
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

// errand top: all tasks on a live screen. What it shows comes from the stream of everything; the list is read once, and
// again where the server was away.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/connection.h"
#include "cli/interrupt.h"
#include "cli/painter.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/ring.h"
#include "cli/short_id.h"
#include "cli/terminal.h"
#include "cli/top_layout.h"
#include "cli/top_log.h"
#include "cli/verbs.h"
#include "cli/width.h"
#include "cli/wrap.h"

namespace errand::cli {
namespace {

using Kind = TopAction::Kind;

constexpr const char* page_size = "200";  // Small, so that keys are taken between two pages.
constexpr Millis frame_ms = 50;           // Between two pictures that no key asked for.
constexpr Millis clock_ms = 1'000;        // Times go on without an event.
constexpr Millis peek_ms = 500;           // Between two readings of a task that changes.
constexpr Millis patience_ms = 10'000;    // For the server's answer to a key.
constexpr const char* states[] = {"pending,running,resumed", "completed,failed,cancelled"};

class Top {
 public:
  explicit Top(Context& context) : context_(context), screen_(context.screen) {}

  int run() {
    // Before the screen is taken: where there is no server, or no right, that is said as every verb says it.
    if (Result<std::string> first = context_.client.get("/api/tasks?limit=1"); !first)
      return screen_.fail(first.error());
    context_.client.set_patience(patience_ms);
    for (;;) {
      const Result<int> exit = on_the_screen();
      if (!exit) return screen_.fail(exit.error());
      if (next_.kind != Kind::open) return *exit;
      // Talking has a screen, keys and a Ctrl-C of its own.
      attach(context_, {.id = next_.id, .tail = std::max(20, screen_.height() * 2)});
      state_.said.clear();
    }
  }

 private:
  // Until it is left: for good, or (next_) for a conversation.
  Result<int> on_the_screen() {
    Interrupt interrupt;
    Terminal terminal(Terminal::Mode::screen);
    terminal_ = &terminal;
    for (;;) {
      next_ = {};
      frame_ = {};
      dirty_ = true;
      const Result<StreamEnd> end = show_list();
      if (!end && end.error().reason != "interrupted") return std::unexpected(end.error());
      if (!end || *end == StreamEnd::interrupted) return code(Exit::interrupted);
      if (next_.kind != Kind::logs) return code(Exit::ok);
      const Result<TaskInfo> task = get_task(context_, next_.id);
      if (!task) {
        state_.say(task.error().message, true);
        continue;
      }
      const Result<LogEnd> log = show_log(context_, terminal, *task);
      if (!log) state_.say(log.error().message, true);
      if (log && *log == LogEnd::quit) return code(Interrupt::happened() ? Exit::interrupted : Exit::ok);
    }
  }

  Result<StreamEnd> show_list() {
    StreamCalls calls;
    calls.wake_fd = terminal_->wake_fd();
    calls.connected = [&]() -> Result<bool> {
      // Where it goes on from an event that was seen nothing is missed.
      if (last_id_.empty() || std::exchange(was_lost_, false)) begin_load();
      return true;
    };
    calls.event = [&](const SseEvent& event) {
      take(event);
      return true;
    };
    calls.tick = [&] {
      const bool going = step();
      calls.tick_ms = state_.loading ? 0 : dirty_ || peek_stale_ ? frame_ms : clock_ms;
      return going;
    };
    calls.lost = [&](bool lost) {
      state_.lost = lost;
      was_lost_ = was_lost_ || lost;
      dirty_ = true;
    };
    return context_.client.stream("/api/stream", last_id_, calls);
  }

  // --- what the server says

  void take(const SseEvent& event) {
    last_id_ = event.id;
    const Result<EventInfo> info = parse_event(event.data);
    if (!info) return;
    if (event.type == "reset") begin_load();
    if (event.type == "task.deleted") model_.remove(info->task_id);
    if (info->task) {
      model_.put(*info->task);
      if (told_.is_new(*info->task) && needs_person(*info->task)) ring(news_of(*info->task), info->task->title);
    }
    if (info->progress) model_.progress(info->task_id, *info->progress);
    if (!info->task_id.empty() && info->task_id == about_id_) peek_stale_ = true;
    dirty_ = true;
  }

  void begin_load() {
    model_.begin_load();
    state_.loading = true;
    stage_ = 0;
    cursor_.clear();
  }

  // One page of the list: first all that are at work, then the newest of the others.
  void load() {
    const Result<std::string> body = context_.client.get(
        "/api/tasks" + Query().add("status", states[stage_]).add("limit", page_size).add("cursor", cursor_).text());
    const Result<TaskPage> page = body ? parse_tasks(*body) : std::unexpected(body.error());
    if (!page) {
      // A server that is away is the stream's business: it comes back, and all is read again.
      state_.loading = false;
      if (page.error().code != Code::unavailable) state_.say(page.error().message, true);
      return;
    }
    for (const TaskInfo& task : page->tasks) model_.put(task);
    cursor_ = page->next_cursor;
    dirty_ = true;
    const bool enough = stage_ == 1 && model_.count(Group::done) >= TopModel::done_max;
    if (enough && !cursor_.empty()) model_.set_cut();
    if (!cursor_.empty() && !enough) return;
    cursor_.clear();
    if (++stage_ < std::size(states)) return;
    state_.loading = false;
    model_.end_load();
  }

  // --- what is typed

  bool step() {
    bool now = false;
    for (const Key& key : terminal_->keys()) {
      do_it(on_key(state_, model_, key, list_rows(state_, look())));
      if (next_.kind != Kind::none) return false;
      now = true;
    }
    if (terminal_->ended()) return false;
    if (terminal_->changed() != Terminal::Changed::nothing) {
      frame_ = {};
      now = true;
    }
    if (now) draw();
    if (state_.loading && !state_.lost) load();
    const Millis since = steady_now() - drawn_;
    if ((dirty_ && since >= frame_ms) || since >= clock_ms) draw();
    peek();
    return true;
  }

  void do_it(const TopAction& action) {
    const std::string id = short_id(action.id);
    switch (action.kind) {
      case Kind::none:
        return;
      case Kind::open: {
        const TopTask* task = model_.get(action.id);
        next_ = action;
        if (task && task->command) next_.kind = Kind::logs;
        return;
      }
      case Kind::quit:
      case Kind::logs:
        next_ = action;
        return;
      case Kind::answer:
        return answer(action);
      case Kind::send: {
        std::string body;
        JsonOut(body).object().field("message", to_utf8(action.text)).end();
        return post(action.id, "/message", body, fmt::format("sent to {}", id));
      }
      case Kind::cancel:
        return post(action.id, "/cancel", "{}", fmt::format("{} is being stopped", id));
      case Kind::retry:
        return post(action.id, "/retry", "{}", fmt::format("{} starts again", id));
    }
  }

  void answer(const TopAction& action) {
    const Result<ReplyWords> words = reply_words(state_.asked, trim(action.text));
    if (!words) return state_.say(words.error().message, true);
    post(action.id, "/answer", answer_body(state_.asked, *words, {}),
         fmt::format("told {}: {}", short_id(action.id), told_words(*words)));
  }

  void post(const std::string& id, std::string_view what, const std::string& body, std::string done) {
    const Result<std::string> reply = context_.client.post(task_path(id, what), body);
    if (!reply) return state_.say(reply.error().message, true);
    state_.say(std::move(done));
    if (const Result<TaskInfo> task = parse_task_reply(*reply); task && task->id == id) model_.put(*task);
  }

  // --- the screen

  TopLook look() const { return {screen_.width(), screen_.height(), screen_.colours(), wall_now()}; }

  void draw() {
    const TopTask* task = model_.selected();
    if (state_.mode == TopState::Mode::answer) task = model_.get(state_.target);
    std::vector<std::string> about;
    if (task) about = about_lines(*task);
    Frame frame = draw_top(model_, state_, about, look());
    screen_.out_bytes(paint(frame_, frame));
    frame_ = std::move(frame);
    drawn_ = steady_now();
    dirty_ = false;
  }

  std::vector<std::string> about_lines(const TopTask& task) const {
    const int width = screen_.width();
    if (!state_.peek && state_.mode != TopState::Mode::answer) return {};
    std::vector<std::string> lines = {
        fit(task.title, width),
        fit(fmt::format("{} · {} · {}{}", task.status, task.agent, task.work_dir.empty() ? "no folder" : task.work_dir,
                        task.attempt > 1 ? fmt::format(" · attempt {}", task.attempt) : ""),
            width)};
    if (state_.mode == TopState::Mode::answer || task.question) {
      const WaitingInfo& question = state_.mode == TopState::Mode::answer ? state_.asked : *task.question;
      std::ranges::move(question_lines(question, width), std::back_inserter(lines));
    } else if (!task.now.empty()) {
      lines.push_back(fit(task.now, width));
    }
    if (task.id == about_id_ && state_.mode != TopState::Mode::answer) {
      const size_t room = static_cast<size_t>(std::max(1, std::clamp(screen_.height() / 3, 5, 16) - 1));
      const size_t rest = room > lines.size() ? room - lines.size() : 0;
      const size_t skip = about_.size() > rest ? about_.size() - rest : 0;
      std::ranges::copy(about_.begin() + static_cast<long>(skip), about_.end(), std::back_inserter(lines));
    }
    return lines;
  }

  // What the selected task said last, read when no key is waiting for its picture.
  void peek() {
    const TopTask* task = state_.peek ? model_.selected() : nullptr;
    if (!task || state_.lost) return;
    const bool another = task->id != about_id_;
    if (!another && !(peek_stale_ && steady_now() - peeked_ >= peek_ms)) return;
    about_id_ = task->id;
    about_.clear();
    peek_stale_ = false;
    peeked_ = steady_now();
    std::string text;
    if (task->command) {
      if (Result<std::string> log = context_.client.get(task_path(task->id, "/log?tail=12"))) text = std::move(*log);
    } else if (const Result<TaskInfo> whole = get_task(context_, task->id)) {
      text = "> " + std::string(first_line(trim(whole->prompt))) + "\n" + whole->result.value_or("");
    }
    text = without_escapes(text, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show);
    for (const std::string_view line : split(trim(text), '\n'))
      about_.push_back(fit(shown_line(line), screen_.width()));
    draw();
  }

  Context& context_;
  const Screen& screen_;
  Terminal* terminal_ = nullptr;
  TopModel model_;
  TopState state_;
  TopAction next_;  // Why the list was left.
  Frame frame_;     // What stands on the screen.
  Time drawn_, peeked_;
  bool dirty_ = true, peek_stale_ = false, was_lost_ = false;
  ToldNews told_;
  std::string last_id_;  // The last event that was seen.
  size_t stage_ = 0;
  std::string cursor_;  // Of the list that is being read.
  std::string about_id_;
  std::vector<std::string> about_;
};

}  // namespace

int top(Context& context, const TopArgs&) {
  if (context.screen.json())
    return context.screen.fail({Code::invalid_argument,
                                "errand top draws a screen and has no JSON. errand list --watch --json prints changes "
                                "as they come.",
                                "usage"});
  if (!Terminal::possible())
    return context.screen.fail(
        {Code::invalid_argument, "errand top needs a terminal. errand list prints the tasks.", "no_terminal"});
  return Top(context).run();
}

}  // namespace errand::cli

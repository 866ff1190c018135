// errand answer: what tasks ask, and the answers.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "cli/launch.h"
#include "cli/question.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/task_text.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

bool asks(const TaskInfo& task) { return task.waiting_for && !task.waiting_for->request_id.empty(); }

Error no_question(const std::string& id) {
  return {Code::conflict,
          fmt::format("{} has no open question. errand answer lists the open questions of all tasks.", short_id(id)),
          "no_question"};
}

int list_questions(Context& context) {
  const Screen& screen = context.screen;
  std::vector<TaskInfo> asking;
  std::vector<std::string> bodies;
  std::string cursor;
  do {
    Result<std::string> body = context.client.get("/api/tasks" + Query()
                                                                     .add("status", "pending,running,resumed")
                                                                     .add("archived", "all")
                                                                     .add("limit", "500")
                                                                     .add("cursor", cursor)
                                                                     .text());
    Result<TaskPage> page = body ? parse_tasks(*body) : std::unexpected(body.error());
    if (!page) return screen.fail(page.error());
    std::vector<std::string> whole = elements(*body, "tasks");
    for (size_t i = 0; i < page->tasks.size() && i < whole.size(); ++i) {
      if (!asks(page->tasks[i])) continue;
      asking.push_back(page->tasks[i]);
      bodies.push_back(whole[i]);
    }
    cursor = page->next_cursor;
  } while (!cursor.empty());

  if (screen.json()) {
    std::string text;
    JsonOut out(text);
    out.object().key("tasks").array();
    for (const std::string& body : bodies) out.raw(body);
    out.end().end();
    screen.out_line(text);
    return code(Exit::ok);
  }
  std::vector<std::vector<Cell>> rows;
  for (const TaskInfo& task : asking) {
    const WaitingInfo& waiting = *task.waiting_for;
    std::string options;
    for (const std::string& option : screen.out_is_terminal() ? numbered_options(waiting) : waiting.options)
      options.append(options.empty() ? "" : ", ").append(option);
    rows.push_back({{screen.out_is_terminal() ? short_id(task.id) : task.id, "1"},
                    {waiting.kind, "33"},
                    {task.title, ""},
                    {waiting.text, ""},
                    {options, "2"}});
  }
  if (!screen.out_is_terminal()) {
    screen.out(render_tabs(rows));
  } else if (rows.empty()) {
    screen.out("No task has an open question.\n");
  } else {
    screen.out(render_table({{"ID"}, {"KIND"}, {"TITLE", 12}, {"QUESTION", 20}, {"OPTIONS", 8}}, rows,
                            {screen.width(), screen.colours(), true}));
    screen.say("answer with: errand answer ID NUMBER, or: errand answer ID \"...\"");
  }
  return code(Exit::ok);
}

int show_question(Context& context, const TaskInfo& task, const std::string& body) {
  const Screen& screen = context.screen;
  if (screen.json()) {
    screen.out_line(member(body, "waiting_for"));
  } else {
    screen.out(question_text(*task.waiting_for, screen.colours(), true));
  }
  return code(Exit::ok);
}

}  // namespace

int answer(Context& context, const AnswerArgs& args) {
  const Screen& screen = context.screen;
  if (args.id.empty()) return list_questions(context);
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  const Result<std::string> whole = context.client.get(task_path(*id));
  const Result<TaskInfo> task = whole ? parse_task(*whole) : std::unexpected(whole.error());
  if (!task) return screen.fail(task.error());
  if (!asks(*task)) return screen.fail(no_question(*id));
  if (args.answer.empty() && args.scope.empty()) return show_question(context, *task, *whole);

  // Of another question than the first one only the id is known.
  WaitingInfo waiting = *task->waiting_for;
  if (!args.request.empty() && args.request != waiting.request_id) waiting.options.clear();
  Result<std::string> typed =
      waiting.kind == "permission" ? Result<std::string>(args.answer) : text_or_stdin(args.answer);
  if (!typed) return screen.fail(typed.error());
  const bool literally = args.literal || args.answer == "-";  // What was piped in is no choice from a list.
  Result<ReplyWords> words = args.answer.empty() ? Result<ReplyWords>(ReplyWords{.decision = "allow"})
                                                 : reply_words(waiting, *typed, literally);
  if (!words) return screen.fail(words.error());
  if (!args.scope.empty()) words->scope = args.scope;
  if (!args.pattern.empty()) words->pattern = args.pattern;
  const std::string body = answer_body(waiting, *words, args.message, args.request);
  Result<std::string> reply = context.client.post(task_path(*id, "/answer"), body);
  if (!reply) return screen.fail(reply.error());
  if (screen.json()) {
    screen.out_line(*reply);
  } else {
    screen.say(fmt::format("told {}: {}.", short_id(*id), told_words(*words)));
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

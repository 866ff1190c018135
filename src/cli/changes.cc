// errand diff, merge, discard: what a task changed, and what becomes of it.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/json_out.h"
#include "base/text.h"
#include "cli/act_on.h"
#include "cli/commit_text.h"
#include "cli/resolve.h"
#include "cli/short_id.h"
#include "cli/table.h"
#include "cli/task_text.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {

namespace {

constexpr const char* nothing = "the task changed nothing.";
constexpr Millis order_patience_ms = 900'000;  // A work tree of many files takes its time.

struct FileInfo {
  std::string path, old_path, name, status;
  int64_t added = 0, removed = 0;
  bool binary = false, certain = true;
};

std::vector<FileInfo> files_of(std::string_view body) {
  std::vector<FileInfo> files;
  for (const std::string& element : elements(body, "files")) {
    FileInfo& file = files.emplace_back();
    file.path = member(element, "path");
    file.old_path = member(element, "old_path");
    file.name = member(element, "name");
    file.status = member(element, "status");
    file.added = number(member(element, "added"));
    file.removed = number(member(element, "removed"));
    file.binary = member(element, "binary") == "true";
    file.certain = member(element, "certain") != "false";
  }
  return files;
}

std::string_view diff_style(std::string_view line) {
  if (line.starts_with("diff --git ") || line.starts_with("--- ") || line.starts_with("+++ ")) return "1";
  if (line.starts_with("@@")) return "36";
  if (line.starts_with('+')) return "32";
  if (line.starts_with('-')) return "31";
  const bool about = line.starts_with("index ") || line.starts_with("new file") || line.starts_with("deleted file") ||
                     line.starts_with("similarity ") || line.starts_with("rename ") || line.starts_with("old mode") ||
                     line.starts_with("new mode");
  return about ? "2" : "";
}

// For a person: what the files hold may not speak to the terminal.
std::string painted(std::string_view patch, bool colours) {
  std::string out;
  while (patch.ends_with('\n')) patch.remove_suffix(1);
  if (patch.empty()) return out;
  for (const std::string_view line : split(patch, '\n'))
    out += styled(without_escapes(line, EscapeFilter::Colours::drop, EscapeFilter::Hidden::show), diff_style(line),
                  colours) +
           "\n";
  return out;
}

// Through $PAGER where a person reads, as git does. False: there is none, and nothing was shown.
bool page(const std::string& text) {
  const char* const chosen = std::getenv("PAGER");
  std::string pager = chosen != nullptr ? chosen : "less";
  if (pager.empty() || pager == "cat") return false;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  Fd read(ends[0]), write(ends[1]);
  if (std::getenv("LESS") == nullptr) ::setenv("LESS", "FRX", 0);  // Short texts stay on the screen, with colours.
  std::vector<std::string> words = {"/bin/sh", "-c", "command -v ${0%% *} >/dev/null || exit 127; eval \"$0\"", pager};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, read.get(), 0);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  read.reset();
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t n = ::write(write.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // The reader has seen enough.
    rest.remove_prefix(static_cast<size_t>(n));
  }
  write.reset();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

void print_patch(const Screen& screen, const std::string& patch) {
  if (!screen.out_is_terminal() && !screen.colours()) return screen.out_bytes(patch);
  const std::string text = painted(patch, screen.colours());
  if (!screen.out_is_terminal() || !page(text)) screen.out_bytes(text);
}

// What is to be known beside the files.
void say_more(const Screen& screen, const std::string& body, size_t listed) {
  if (member(body, "since_merge") == "true") screen.say("the task was merged before: this is what came since.");
  const int64_t total = number(member(body, "files_total"));
  if (total > static_cast<int64_t>(listed))
    screen.say(fmt::format("{} more files are not listed.", total - static_cast<int64_t>(listed)));
  std::string others;
  for (const std::string& task : texts_of(body, "shared_with")) others += (others.empty() ? "" : ", ") + task;
  if (!others.empty())
    screen.say("other tasks worked in the same folder at the same time, so some of it may be theirs: " + others);
  for (const std::string& left : elements(body, "left_out"))
    screen.say(fmt::format("left out: {} ({})", member(left, "path"), member(left, "why")));
}

int print_files(const Screen& screen, const std::string& body, bool names_only) {
  const std::vector<FileInfo> files = files_of(body);
  if (names_only) {
    std::string text;
    for (const FileInfo& file : files) text += file.path + "\n";
    screen.out(text);
  } else {
    std::vector<std::vector<Cell>> rows;
    rows.reserve(files.size());
    for (const FileInfo& file : files)
      rows.push_back({{file.status, "2"},
                      {file.binary ? "binary" : fmt::format("+{}", file.added), "32"},
                      {file.binary ? "" : fmt::format("-{}", file.removed), "31"},
                      {file.old_path.empty() ? file.path : file.old_path + " → " + file.path, ""}});
    if (screen.out_is_terminal() && !rows.empty())
      screen.out(render_table({{"CHANGE", 0, false}, {"ADDED", 0, true}, {"REMOVED", 0, true}, {"FILE", 20, false}},
                              rows, {screen.width(), screen.colours(), true}));
    else
      screen.out(render_tabs(rows));
    if (!rows.empty())
      screen.say(fmt::format("{} {}, {} lines added, {} removed", member(body, "files_total"),
                             rows.size() == 1 ? "file" : "files", member(body, "added"), member(body, "removed")));
  }
  if (files.empty()) screen.say(nothing);
  say_more(screen, body, files.size());
  return code(Exit::ok);
}

// A refusal names its files, each on a line of its own.
int refuse(const Screen& screen, const Reply& reply, const std::string& id) {
  const Error error = parse_problem(reply.status, reply.body);
  const int exit = screen.fail(error);
  if (!screen.json())
    for (const std::string& file : texts_of(reply.body, "files")) screen.err("  " + shown_line(file) + "\n");
  if (!screen.json() && error.reason == "conflict")
    screen.say(fmt::format(
        "nothing was changed. Ask the agent to resolve it, then merge again: errand send {} \"Merge my branch "
        "into yours, resolve the conflicts, and check that everything still works.\" Or resolve it yourself "
        "in its work tree.",
        short_id(id)));
  return exit;
}

// Answers the exit code where it was refused; 0 otherwise.
int order(Context& context, const std::string& id, std::string_view what, const std::string& body, std::string& reply) {
  context.client.set_patience(order_patience_ms);
  Result<Reply> answer = context.client.request("POST", task_path(id, what), body);
  if (!answer) return context.screen.fail(answer.error());
  if (answer->status >= 400) return refuse(context.screen, *answer, id);
  reply = std::move(answer->body);
  if (context.screen.json()) context.screen.out_line(reply);
  return 0;
}

// What else came of a merge: of the other attempts, and of files that are not the task's.
void say_of_others(const Screen& screen, const std::string& reply) {
  say_not_merged(screen, member(reply, "merge"));
  std::string gone;
  for (const std::string& id : texts_of(reply, "discarded")) gone += " " + short_id(id);
  if (!gone.empty()) screen.say(fmt::format("discarded:{}. errand discard{} --restore makes them again.", gone, gone));
  for (const std::string& left : elements(reply, "left"))
    screen.say(fmt::format("not discarded: {} ({})", short_id(member(left, "task_id")), member(left, "why")));
}

int diff_file(Context& context, const std::string& id, const std::string& list, const std::string& wanted) {
  const Screen& screen = context.screen;
  std::string name;
  for (const FileInfo& file : files_of(list))
    if (file.path == wanted || file.name == wanted || file.old_path == wanted) name = file.name;
  if (name.empty())
    return screen.fail({Code::not_found,
                        fmt::format("The task did not change {}. errand diff {} --name-only lists what it changed.",
                                    wanted, short_id(id)),
                        "no_file"});
  Result<std::string> body = context.client.get(task_path(id, "/changes/" + name));
  if (!body) return screen.fail(body.error());
  if (screen.json()) {
    screen.out_line(*body);
    return code(Exit::ok);
  }
  if (const std::string why = member(*body, "why"); !why.empty()) screen.say(why);
  print_patch(screen, member(*body, "patch"));
  return code(Exit::ok);
}

}  // namespace

int diff(Context& context, const DiffArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  context.client.set_patience(order_patience_ms);
  Result<std::string> list = context.client.get(task_path(*id, "/changes"));
  if (!list) return screen.fail(list.error());
  if (!args.path.empty()) return diff_file(context, *id, *list, args.path);
  if (screen.json()) {
    screen.out_line(*list);
    return code(Exit::ok);
  }
  if (args.stat || args.name_only) return print_files(screen, *list, args.name_only);
  const size_t files = elements(*list, "files").size();
  if (files == 0) screen.say(nothing);
  say_more(screen, *list, files);
  if (files == 0) return code(Exit::ok);
  Result<std::string> patch = context.client.get(task_path(*id, "/changes?format=patch"));
  if (!patch) return screen.fail(patch.error());
  print_patch(screen, *patch);
  return code(Exit::ok);
}

int merge(Context& context, const MergeArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  std::string reply;
  if (args.undo) {
    if (const int exit = order(context, *id, "/merge/undo", "{}", reply); exit != 0) return exit;
    if (!screen.json()) screen.say("the merge was taken back; the task's work tree has its changes.");
    return code(Exit::ok);
  }
  if (args.ask)
    if (const int exit = ask_for_text(context, *id); exit != 0) return exit;
  std::string body;
  JsonOut out(body);
  out.object();
  if (args.discard_others) out.field("discard_others", true);
  if (args.with_later) out.field("with_later", true);
  if (!args.mode.empty()) out.field("mode", args.mode);
  if (!args.message.empty()) out.field("message", args.message);
  out.end();
  if (const int exit = order(context, *id, "/merge", body, reply); exit != 0) return exit;
  if (screen.json()) return code(Exit::ok);
  const std::string done = member(reply, "merge");
  const std::string commit = member(done, "commit"), target = member(done, "target");
  if (done.empty() || done == "null")
    screen.say("its changes were merged before.");
  else if (member(done, "mode") == "patch")
    screen.say("its changes are in the folder, uncommitted.");
  else
    screen.say(fmt::format("{} is at {} now, with its changes. errand merge {} --undo takes it back.",
                           target.starts_with("refs/heads/") ? target.substr(11) : target, commit.substr(0, 12),
                           short_id(*id)));
  say_of_others(screen, reply);
  return code(elements(reply, "left").empty() ? Exit::ok : Exit::failed);
}

int discard(Context& context, const DiscardArgs& args) {
  const Screen& screen = context.screen;
  Outcome outcome;
  for (const std::string& text : args.ids) {
    Result<std::string> id = resolve_task(context, text);
    if (!id) {
      outcome.failed(screen, id.error());
      continue;
    }
    std::string reply;
    const int exit = order(context, *id, args.restore ? "/discard/undo" : "/discard", "{}", reply);
    if (exit != 0) {
      outcome.failed_with(exit);
    } else if (!screen.json()) {
      screen.say(args.restore
                     ? fmt::format("its work tree is there again: {}", member(member(reply, "isolation"), "path"))
                     : fmt::format("its work tree is gone; what it changed is kept with the task. errand "
                                   "discard {} --restore makes it again.",
                                   short_id(*id)));
    }
  }
  return outcome.exit();
}

}  // namespace errand::cli

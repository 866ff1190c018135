#include "cli/launch.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/home.h"
#include "base/id.h"
#include "base/text.h"
#include "cli/duration.h"
#include "cli/files.h"
#include "cli/resolve.h"
#include "cli/stay.h"

namespace errand::cli {

namespace {

constexpr size_t message_bytes_max = 8 << 20;

Status write_pairs(JsonOut& out, const char* field, const std::vector<std::string>& pairs, const char* option) {
  if (pairs.empty()) return {};
  out.key(field).object();
  for (const std::string& pair : pairs) {
    size_t equals = pair.find('=');
    if (!is_utf8(pair)) return fail(Code::invalid_argument, fmt::format("The value of {} is not UTF-8.", option));
    if (equals == 0 || equals == std::string::npos)
      return fail(Code::invalid_argument, fmt::format("{} takes NAME=VALUE, not \"{}\".", option, pair));
    out.field(pair.substr(0, equals), pair.substr(equals + 1));
  }
  out.end();
  return {};
}

void write_text(JsonOut& out, const char* field, const std::string& text) {
  if (!text.empty()) out.field(field, text);
}

void write_seconds(JsonOut& out, const char* field, const std::optional<Millis>& span) {
  if (span) out.field(field, static_cast<double>(*span) / 1000);
}

// Where it works, and when its time ends (R14.1, R14.2). What waits for a slot has no end yet.
std::string where_and_how_long(const TaskInfo& task) {
  std::string words = fmt::format("it works in {}", shown_line(to_home(task.work_dir)));
  if (task.deadline_at)
    words += fmt::format(", until {} at the latest ({})", local_time(task.deadline_at, wall_now()),
                         clock_duration(task.deadline_at - task.started_at));
  return words;
}

}  // namespace

Status write_launch(Context& context, JsonOut& out, const LaunchArgs& args) {
  out.field("surface", "cli");
  write_text(out, "title", args.title);
  write_text(out, "description", args.description);
  write_text(out, "model", args.model);
  // A server elsewhere has other folders: there only a folder that was named is meant.
  Result<Target> target = context.client.target();
  if (!target) return std::unexpected(target.error());
  if (!args.work_dir.empty() && !target->local) {
    out.field("work_dir", args.work_dir);
  } else if (target->local) {
    out.field("work_dir", absolute(args.work_dir.empty() ? "." : args.work_dir));
  }
  if (Status written = write_pairs(out, "env", args.env, "--env"); !written) return written;
  if (!args.pass_env.empty()) {
    out.key("pass_env").array();
    for (const std::string& name : args.pass_env) out.value(name);
    out.end();
  }
  if (!args.batch.empty()) {
    std::string batch = args.batch;
    // A beginning of an existing batch means that one; anything else is a name of the caller's own.
    if (batch != "new") {
      Result<std::string> found = resolve_batch(context, batch);
      if (!found && found.error().code != Code::not_found) return std::unexpected(found.error());
      if (found) batch = *found;
    }
    out.field("batch_id", batch);
  }
  write_seconds(out, "timeout_s", args.timeout);
  write_seconds(out, "idle_timeout_s", args.idle_timeout);
  write_seconds(out, "retention_s", args.retention);
  if (args.priority) out.field("priority", *args.priority);
  if (Status written = write_pairs(out, "labels", args.labels, "--label"); !written) return written;
  // An agent's shell says whose it is.
  const char* shell_of = std::getenv("ERRAND_SESSION_ID");
  write_text(out, "parent_session_id", args.parent.empty() && shell_of ? shell_of : args.parent);
  write_text(out, "on_hang", args.on_hang);
  if (!args.notify_on.empty()) {
    out.key("notify_on").array();
    for (const std::string& pattern : args.notify_on) {
      if (!is_utf8(pattern)) return fail(Code::invalid_argument, "The text of --notify-on is not UTF-8.");
      out.value(pattern);
    }
    out.end();
  }
  write_seconds(out, "progress_every_s", args.progress_every);
  if (args.max_restarts) out.field("max_restarts", *args.max_restarts);
  // Who says what it begins with wants it.
  if (args.isolate || !args.isolate_base.empty() || !args.isolate_setup.empty()) out.field("isolate", "worktree");
  write_text(out, "isolate_base", args.isolate_base);
  write_text(out, "isolate_setup", args.isolate_setup);
  return {};
}

int launch(Context& context, const std::string& body, Stay stay) {
  SystemRandom random;
  Result<std::string> reply = context.client.call("POST", "/api/tasks", body, random_secret(random, 18));
  Result<TaskInfo> task = reply ? parse_task(*reply) : std::unexpected(reply.error());
  if (!task) return context.screen.fail(task.error());
  if (!context.screen.json()) context.screen.say(where_and_how_long(*task));
  return stay_with(context, *task, 0, stay, *reply);
}

Result<std::string> text_or_stdin(const std::string& text) {
  if (text != "-") return text;
  Result<std::string> read = read_stdin(message_bytes_max);
  if (read && trim(*read).empty()) return fail(Code::invalid_argument, "Standard input is empty.");
  return read;
}

}  // namespace errand::cli

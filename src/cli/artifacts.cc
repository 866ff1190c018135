// errand artifacts: the files that a task left, and one of them.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.h"
#include "cli/artifact_info.h"
#include "cli/resolve.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

constexpr int64_t part_bytes = 4 << 20;  // Of a download, at a time.

int print_list(const Context& context, const std::string& body) {
  const Screen& screen = context.screen;
  if (screen.json()) {
    screen.out_line(body);
    return code(Exit::ok);
  }
  std::vector<std::vector<Cell>> rows;
  for (const ArtifactInfo& file : parse_artifacts(body))
    rows.push_back(
        {{file.name, ""}, {size_text(file.size), ""}, {file.media_type, ""}, {file.source, "2"}, {file.id, "2"}});
  if (rows.empty()) {
    screen.say("the task has no artifacts.");
  } else if (screen.out_is_terminal()) {
    screen.out(render_table(
        {{"NAME", 20, false}, {"SIZE", 0, true}, {"TYPE", 10, false}, {"FROM", 0, false}, {"ID", 0, false}}, rows,
        {screen.width(), screen.colours(), true}));
  } else {
    screen.out(render_tabs(rows));
  }
  if (number(member(body, "left_out")) > 0)
    screen.say(fmt::format("{} more are not listed: {}", member(body, "left_out"), member(body, "left_out_why")));
  return code(Exit::ok);
}

// A file that is written part by part; standard output where it has no name.
class Saved {
 public:
  explicit Saved(const Screen& screen) : screen_(screen) {}
  Status open(const std::string& path) {
    if (path.empty() || path == "-") return {};
    file_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file_) return failed(path);
    path_ = path;
    return {};
  }
  Status write(std::string_view bytes) {
    if (!file_) {
      screen_.out_bytes(bytes);
      return {};
    }
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed(path_);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  }

 private:
  static std::unexpected<Error> failed(const std::string& path) {
    return errand::fail(Code::unavailable, fmt::format("Cannot write {}: {}.", path, std::strerror(errno)));
  }
  const Screen& screen_;
  std::string path_;
  Fd file_;
};

// By parts, so that a file of any size costs little memory, here and there.
Status download(Context& context, const std::string& id, const ArtifactInfo& file, Saved& saved) {
  for (int64_t offset = 0;;) {
    const bool log = file.source == "log";
    Query query;
    if (log) query.add("run", std::to_string(file.run));
    query.add("offset", std::to_string(offset)).add("limit", std::to_string(part_bytes));
    const std::string path = task_path(id, (log ? "/log" : "/artifacts/" + file.id) + query.text());
    Result<Reply> reply = context.client.request("GET", path);
    if (!reply) return std::unexpected(reply.error());
    if (reply->status >= 400) return std::unexpected(parse_problem(reply->status, reply->body));
    if (Status written = saved.write(reply->body); !written) return written;
    if (log) {
      const int64_t next = number(reply->header("x-log-next"));
      if (next <= offset || next >= number(reply->header("x-log-size"))) return {};
      offset = next;
    } else {
      offset += std::ssize(reply->body);
      if (std::ssize(reply->body) < part_bytes) return {};
    }
  }
}

int preview(Context& context, const std::string& id, const ArtifactInfo& file) {
  const Screen& screen = context.screen;
  const bool log = file.source == "log";
  Result<std::string> body = context.client.get(
      task_path(id, log ? "/log" + Query().add("run", std::to_string(file.run)).add("limit", "65536").text()
                        : "/artifacts/" + file.id + "?preview=true"));
  if (!body) return screen.fail(body.error());
  if (screen.json() || log) {
    screen.json() ? screen.out_line(*body) : screen.out_task_text(*body);
    return code(Exit::ok);
  }
  const std::string text = member(*body, "text");
  screen.out_task_text(text);
  if (!text.empty() && !text.ends_with('\n')) screen.out("\n");
  if (const std::string note = member(*body, "note"); !note.empty()) screen.say(note);
  return code(Exit::ok);
}

}  // namespace

int artifacts(Context& context, const ArtifactsArgs& args) {
  const Screen& screen = context.screen;
  Result<std::string> id = resolve_task(context, args.id);
  if (!id) return screen.fail(id.error());
  Result<std::string> body = args.gather ? context.client.post(task_path(*id, "/artifacts"))
                                         : context.client.get(task_path(*id, "/artifacts"));
  if (!body) return screen.fail(body.error());
  if (args.name.empty()) return print_list(context, *body);

  const std::vector<ArtifactInfo> files = parse_artifacts(*body);
  const auto file = std::ranges::find_if(
      files, [&](const ArtifactInfo& one) { return one.id == args.name || one.name == args.name; });
  if (file == files.end())
    return screen.fail(
        {Code::not_found,
         fmt::format("The task has no artifact \"{}\"; errand artifacts {} lists them.", args.name, args.id),
         "no_artifact"});
  // Bytes that nobody asked to see do not go to a terminal.
  if (args.preview || (args.out.empty() && screen.out_is_terminal())) return preview(context, *id, *file);
  Saved saved(screen);
  Status done = saved.open(args.out);
  if (done) done = download(context, *id, *file, saved);
  if (!done) return screen.fail(done.error());
  if (!args.out.empty() && args.out != "-") screen.say(fmt::format("{} is in {}.", file->name, args.out));
  return code(Exit::ok);
}

}  // namespace errand::cli

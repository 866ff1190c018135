// errand open: the page, logged in by a code that works once.
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/json_out.h"
#include "cli/resolve.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// Gives the link to the program and waits for it; these hand it on to the browser and end.
bool open_with(const std::string& program, const std::string& link) {
  std::string name = program, argument = link;
  char* argv[] = {name.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  int failed = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool open_browser(const std::string& link) {
  const char* chosen = std::getenv("BROWSER");
  if (chosen && *chosen) return open_with(chosen, link);
  // Without a display xdg-open finds a text browser, which takes the terminal and cannot show the page.
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return open_with("wslview", link);
  return open_with("xdg-open", link);
}

}  // namespace

int open(Context& context, const OpenArgs& args) {
  const Screen& screen = context.screen;
  std::string path = "/";
  if (!args.id.empty()) {
    Result<std::string> id = resolve_task(context, args.id);
    if (!id) return screen.fail(id.error());
    path = "/chat?taskId=" + *id;
  }
  Result<Target> target = context.client.target();
  if (!target) return screen.fail(target.error());
  if (target->url.empty())
    return screen.fail({Code::unavailable,
                        "The address of the server is not known: server.json is missing. Restart the server.",
                        "no_url"});
  Result<std::string> body = context.client.post("/api/login/codes");
  if (!body) return screen.fail(body.error());
  // In the fragment, which a browser sends to nobody and no log has.
  std::string link = fmt::format("{}{}#code={}", target->url, path, member(*body, "code"));
  if (screen.json()) {
    std::string text;
    JsonOut(text).object().field("url", link).end();
    screen.out_line(text);
  } else if (args.print || !open_browser(link)) {
    if (!args.print) screen.say("no browser was found. Open this link yourself (it works once, within a minute):");
    screen.out_line(link);
  } else {
    screen.say(fmt::format("opened {} in your browser.", target->url));
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

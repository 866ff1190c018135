// errand open: the page, logged in by a code that works once.
#include <cstdlib>

#include <fmt/format.h>

#include "base/json_out.h"
#include "cli/program.h"
#include "cli/resolve.h"
#include "cli/verbs.h"

namespace errand::cli {

namespace {

// Each hands the link on to the browser and ends.
bool open_browser(const std::string& link) {
  const char* chosen = std::getenv("BROWSER");
  if (chosen && *chosen) return succeeds({chosen, link});
  // Without a display xdg-open finds a text browser, which takes the terminal and cannot show the page.
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return succeeds({"wslview", link});
  return succeeds({"xdg-open", link});
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

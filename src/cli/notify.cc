// errand notify: where notifications go.
#include <unistd.h>

#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

std::string path_of(const std::string& id, std::string_view what = {}) {
  return "/api/webhooks/" + url_encode(id) + std::string(what);
}

std::string words_of(const std::string& json, std::string_view name) {
  std::string all;
  for (const std::string& word : elements(json, name))
    all += (all.empty() ? "" : ",") + word.substr(1, word.size() - 2);
  return all;
}

// Rows of the list, in a word or two.
std::string state_of(const std::string& webhook) {
  if (member(webhook, "enabled") == "false") {
    const std::string why = member(webhook, "disabled_because");
    return why.empty() ? "off" : "off: " + why;
  }
  std::string text = fmt::format("{} delivered", member(webhook, "delivered"));
  if (const std::string waiting = member(webhook, "waiting"); waiting != "0")
    text += fmt::format(", {} waiting", waiting);
  if (const std::string lost = member(webhook, "given_up"); lost != "0") text += fmt::format(", {} given up", lost);
  if (const std::string error = member(webhook, "error"); !error.empty()) text += ". " + error;
  return text;
}

int list(Context& context) {
  const Screen& screen = context.screen;
  const Result<std::string> reply = context.client.get("/api/webhooks");
  if (!reply) return screen.fail(reply.error());
  if (screen.json()) {
    screen.out_line(*reply);
    return code(Exit::ok);
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::string& webhook : elements(*reply, "webhooks"))
    rows.push_back({{member(webhook, "id"), {}},
                    {member(webhook, "name"), {}},
                    {member(webhook, "shape"), {}},
                    {member(webhook, "url"), {}},
                    {words_of(webhook, "on"), {}},
                    {state_of(webhook), {}}});
  if (rows.empty()) {
    screen.say("Notifications go nowhere yet. To add a place: errand notify add https://ntfy.sh/YOUR-TOPIC");
    return code(Exit::ok);
  }
  if (!screen.out_is_terminal()) {
    screen.out(render_tabs(rows));
    return code(Exit::ok);
  }
  screen.out(render_table({{"ID"}, {"NAME", 8}, {"SHAPE"}, {"URL", 16}, {"ON", 8}, {"STATE", 12}}, rows,
                          {.width = screen.width(), .colours = screen.colours()}));
  return code(Exit::ok);
}

int add(Context& context, const NotifyArgs& args) {
  const Screen& screen = context.screen;
  // An address can be a secret, which does not belong into a shell's history.
  Result<std::string> url = text_or_stdin(args.id);
  if (!url) return screen.fail(url.error());
  std::string body;
  JsonOut out(body);
  out.object().field("url", trim(*url));
  if (!args.shape.empty()) out.field("shape", args.shape);
  if (!args.name.empty()) out.field("name", to_utf8(args.name));
  if (!args.on.empty()) {
    out.key("on").array();
    for (const std::string& word : args.on) out.value(word);
    out.end();
  }
  if (!args.content.empty()) out.field("content", args.content);
  if (args.subtasks) out.field("subtasks", true);
  if (!args.quiet.empty()) out.field("quiet", args.quiet);
  if (!args.token_env.empty()) {
    const char* const token = std::getenv(args.token_env.c_str());
    if (token == nullptr || *token == 0)
      return screen.fail(
          {Code::invalid_argument,
           fmt::format("The variable {} is not set: --token-env names the one with the access token.", args.token_env),
           "usage"});
    out.field("token", to_utf8(token));
  }
  out.end();
  const Result<std::string> reply = context.client.post("/api/webhooks", body);
  if (!reply) return screen.fail(reply.error());
  if (screen.json()) {
    screen.out_line(*reply);
    return code(Exit::ok);
  }
  const std::string id = member(*reply, "id"), secret = member(*reply, "secret");
  screen.say(fmt::format("{} gets a notification when a task is: {}. To try it: errand notify test {}",
                         member(*reply, "url"), words_of(*reply, "on"), id));
  if (!secret.empty()) screen.say("The receiver checks signatures with this secret. It is shown only once:");
  screen.out_line(secret.empty() ? id : secret);
  return code(Exit::ok);
}

int test(Context& context, const NotifyArgs& args) {
  const Screen& screen = context.screen;
  const Result<std::string> reply = context.client.post(path_of(args.id, "/test"));
  if (!reply) return screen.fail(reply.error());
  if (screen.json()) screen.out_line(*reply);
  if (member(*reply, "delivered") == "true") {
    if (!screen.json()) screen.say("Delivered. Look whether it arrived.");
    return code(Exit::ok);
  }
  if (screen.json()) return code(Exit::failed);
  return screen.fail({Code::unavailable, "It was not delivered. " + member(*reply, "error"), "not_delivered"},
                     Exit::failed);
}

int remove(Context& context, const NotifyArgs& args) {
  const Result<std::string> reply = context.client.call("DELETE", path_of(args.id));
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    std::string text;
    JsonOut(text).object().field("removed", args.id).end();
    context.screen.out_line(text);
  } else {
    context.screen.say(fmt::format("Removed {}: nothing is sent there any more.", args.id));
  }
  return code(Exit::ok);
}

int enable(Context& context, const NotifyArgs& args, bool enabled) {
  std::string body;
  JsonOut(body).object().field("enabled", enabled).end();
  const Result<std::string> reply = context.client.call("PATCH", path_of(args.id), body);
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
  } else {
    context.screen.say(enabled ? fmt::format("{} hears of what happens from now on.", args.id)
                               : fmt::format("{} is switched off; what it was still owed is dropped.", args.id));
  }
  return code(Exit::ok);
}

int rotate(Context& context, const NotifyArgs& args) {
  const Result<std::string> reply = context.client.post(path_of(args.id, "/rotate"));
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
  } else {
    context.screen.say(
        "The new secret, shown only once. For a day errand signs with the old one too, so that the receiver can "
        "change over:");
    context.screen.out_line(member(*reply, "secret"));
  }
  return code(Exit::ok);
}

}  // namespace

int notify(Context& context, const NotifyArgs& args) {
  switch (args.action) {
    case NotifyAction::list:
      return list(context);
    case NotifyAction::add:
      return add(context, args);
    case NotifyAction::test:
      return test(context, args);
    case NotifyAction::remove:
      return remove(context, args);
    case NotifyAction::on:
      return enable(context, args, true);
    case NotifyAction::off:
      return enable(context, args, false);
    case NotifyAction::rotate:
      return rotate(context, args);
    case NotifyAction::watch:
      return notify_watch(context);
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

// errand token: further tokens, with scopes.
#include <fmt/format.h>

#include "base/json_out.h"
#include "base/text.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

int create(Context& context, const TokenArgs& args) {
  std::string body;
  JsonOut out(body);
  out.object().field("name", args.name).key("scopes").array();
  for (const std::string_view scope : split(args.scopes, ',')) out.value(trim(scope));
  out.end();
  if (args.expires) out.field("expires_in_s", static_cast<double>(*args.expires) / 1'000);
  out.end();
  const Result<std::string> reply = context.client.post("/api/tokens", body);
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
  } else {
    context.screen.say(
        fmt::format("{}, for {}. Keep the token: it is shown only once.", member(*reply, "id"), args.name));
    context.screen.out_line(member(*reply, "token"));
  }
  return code(Exit::ok);
}

int list(Context& context) {
  const Result<std::string> reply = context.client.get("/api/tokens");
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
    return code(Exit::ok);
  }
  const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  for (const std::string& token : elements(*reply, "tokens")) {
    context.screen.out_line(fmt::format("{}  {:<24}  {}  until {}  last used {}", member(token, "id"),
                                        fmt::to_string(fmt::join(texts_of(token, "scopes"), ",")),
                                        member(token, "name"), or_dash(member(token, "expires_at")),
                                        or_dash(member(token, "last_used_at"))));
  }
  return code(Exit::ok);
}

int revoke(Context& context, const TokenArgs& args) {
  const Result<std::string> reply = context.client.call("DELETE", "/api/tokens/" + url_encode(args.name));
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    std::string text;
    JsonOut(text).object().field("revoked", args.name).end();
    context.screen.out_line(text);
  } else {
    context.screen.say(fmt::format("Revoked {}: the server refuses it from now on.", args.name));
  }
  return code(Exit::ok);
}

}  // namespace

int token(Context& context, const TokenArgs& args) {
  switch (args.action) {
    case TokenAction::create:
      return create(context, args);
    case TokenAction::list:
      return list(context);
    case TokenAction::revoke:
      return revoke(context, args);
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

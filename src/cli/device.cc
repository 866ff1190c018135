// errand device: the paired phones.
#include <fmt/format.h>

#include "base/escape_filter.h"
#include "base/json_out.h"
#include "cli/verbs.h"
#include "cli/wire.h"

namespace errand::cli {
namespace {

int list_devices(Context& context) {
  const Result<std::string> reply = context.client.get("/api/devices");
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    context.screen.out_line(*reply);
    return code(Exit::ok);
  }
  const std::vector<std::string> devices = elements(*reply, "devices");
  if (devices.empty()) context.screen.say("No phone is paired. Pair one: errand phone");
  for (const std::string& device : devices)
    context.screen.out_line(fmt::format("{}  {:<20}  {}  paired {}  last used {}", member(device, "id"),
                                        fmt::to_string(fmt::join(texts_of(device, "scopes"), ",")),
                                        one_line(member(device, "name")), member(device, "created_at"),
                                        member(device, "last_used_at")));
  return code(Exit::ok);
}

}  // namespace

int device(Context& context, const DeviceArgs& args) {
  if (args.revoke.empty()) return list_devices(context);
  const Result<std::string> reply = context.client.call("DELETE", "/api/devices/" + url_encode(args.revoke));
  if (!reply) return context.screen.fail(reply.error());
  if (context.screen.json()) {
    std::string text;
    JsonOut(text).object().field("revoked", args.revoke).end();
    context.screen.out_line(text);
  } else {
    context.screen.say(fmt::format("Revoked {}: what it had open is closed, and the server refuses it.", args.revoke));
  }
  return code(Exit::ok);
}

}  // namespace errand::cli

// Devices: phones that were paired, and the codes that pair them.
#include "net/devices.h"

#include <fmt/format.h>

#include "api/fields.h"
#include "api/query.h"
#include "api/requests.h"
#include "api/webhooks.h"
#include "base/encode.h"
#include "base/json_out.h"
#include "net/device_login.h"
#include "net/routes/context.h"
#include "net/routes/guard.h"
#include "notify/notifier.h"

namespace errand::net {
namespace {

// What a phone needs, and no more: it cannot start commands or change the server.
Scopes usual_scopes() { return Scopes().add(Scope::read).add(Scope::tasks).add(Scope::approve); }

Result<Scopes> parse_pairing(std::string_view body) {
  const Result<api::Document> document = api::Document::parse_or_empty(body);
  if (!document) return std::unexpected(document.error());
  api::Fields fields(document->value());
  std::vector<std::string> words;
  Scopes scopes;
  fields.texts("scopes", words, scope_count, {.bytes_max = 20});
  for (const std::string& word : words) {
    const std::optional<Scope> scope = parse_scope(word);
    if (!scope || *scope == Scope::admin) {
      fields.refuse("scopes", "must be of: read, tasks, exec, approve", "out_of_range");
      break;
    }
    scopes.add(*scope);
  }
  if (const Status status = fields.done(); !status) return std::unexpected(status.error());
  return scopes.empty() ? usual_scopes() : scopes;
}

bool absent_devices(const Context& context, const Call& call) {
  if (context.parts.devices && context.parts.pairing) return false;
  call.refuse({Code::not_found, "This server has no devices.", "unknown_path"});
  return true;
}

bool has_query(const Call& call) { return refused(call, api::parse_no_query(call.request().query)); }

// The device that the path names, for itself and for an administrator: to all others it is as if there were none. A
// refusal answers the call.
const Device* named_device(const Context& context, const Call& call) {
  const Principal& who = call.request().who;
  const Device* const device = context.parts.devices->find(call.args[0]);
  if (device != nullptr && (who.id == device->id || who.may(Scope::admin))) return device;
  call.refuse(
      {Code::not_found, "No device has this id. `errand device list` (GET /api/devices) lists the devices.", {}});
  return nullptr;
}

// JSON of how the device is told, or null.
std::string push_state(const Context& context, const std::string& id) {
  if (!context.parts.notifier) return "null";
  const Result<notify::TargetView> view = context.parts.notifier->find(id);
  return view ? api::push_reply(*view) : "null";
}

std::string shown_device(const Context& context, const Device& device) {
  return device_json(device, push_state(context, device.id));
}

// The device that the path names, where the server sends notifications at all; a refusal answers the call.
const Device* pushed_device(const Context& context, const Call& call) {
  if (absent_devices(context, call) || has_query(call)) return nullptr;
  if (context.parts.notifier) return named_device(context, call);
  call.refuse({Code::not_found, "This server sends no notifications.", "unknown_path"});
  return nullptr;
}

}  // namespace

void list_devices(Context& context, Call call) {
  if (absent_devices(context, call) || has_query(call)) return;
  std::string text = R"({"devices":[)";
  bool first = true;
  for (const Device& device : context.parts.devices->list())
    text += (std::exchange(first, false) ? "" : ",") + shown_device(context, device);
  call.answer(200, text + "]}");
}

void open_pairing(Context& context, Call call) {
  if (absent_devices(context, call) || has_query(call)) return;
  const Result<Scopes> scopes = parse_pairing(call.request().body);
  if (!scopes) return call.refuse(scopes.error());
  if (context.parts.devices->full())
    return call.refuse(
        {Code::exhausted, "The server has as many devices as it allows. Revoke one: errand device list", {}});
  const Pairing::Opened opened = context.parts.pairing->open(*scopes);
  std::string text;
  JsonOut out(text);
  const std::string page = context.parts.page_url + "/pair";
  out.object().field("id", opened.id).field("code", for_people(opened.code)).field("page", page);
  // In the fragment, which a browser sends to nobody and no log has.
  out.field("url", page + "#" + opened.code).key("scopes").array();
  for (const Scope scope : scopes->list()) out.value(name(scope));
  out.end().field("expires_in_s", pairing_ms / 1'000).end();
  call.answer(201, std::move(text));
}

void get_pairing(Context& context, Call call) {
  if (absent_devices(context, call) || has_query(call)) return;
  const std::optional<Pairing::View> view = context.parts.pairing->look(call.args[0]);
  if (!view) return call.refuse({Code::not_found, "No code has this id any more. Run `errand phone` again.", {}});
  std::string text;
  JsonOut out(text);
  out.object().field("id", call.args[0]).field("state", name(view->state));
  out.field("expires_in_s", (view->left_ms + 999) / 1'000).key("device");
  const Device* const device = context.parts.devices->find(view->device);
  if (device != nullptr) {
    out.raw(shown_device(context, *device));
  } else {
    out.null();
  }
  out.end();
  call.answer(200, std::move(text));
}

void get_device(Context& context, Call call) {
  if (absent_devices(context, call) || has_query(call)) return;
  if (const Device* const device = named_device(context, call)) call.answer(200, shown_device(context, *device));
}

void remove_device(Context& context, Call call) {
  if (absent_devices(context, call) || has_query(call)) return;
  if (refused(call, api::parse_nothing(call.request().body)) || !named_device(context, call)) return;
  const std::string id = call.args[0];
  const bool own = call.request().who.id == id;
  // First: a server that is killed between the two leaves a phone that is told nothing, not one that is told and gone.
  if (context.parts.notifier && context.parts.notifier->find(id))
    context.parts.notifier->remove(id, [](const auto&) {});
  const auto end_open = [&context] {
    if (context.parts.end_stale) context.parts.end_stale();
  };
  context.parts.devices->remove(id, [call = std::move(call), own, end_open](const Result<void>& removed) {
    if (!removed) {
      call.refuse(removed.error());
    } else {
      call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
    }
    // A device that ends itself still hears the answer to this call.
    if (own) end_open();
  });
  if (!own) end_open();
}

void get_push(Context& context, Call call) {
  if (!pushed_device(context, call)) return;
  context.parts.notifier->push_key([&context, call = std::move(call)](const Result<std::string>& key) {
    if (!key) return call.refuse(key.error());
    std::string text;
    JsonOut out(text);
    out.object().field("key", to_base64url(*key)).key("subscription").raw(push_state(context, call.args[0])).end();
    call.answer(200, std::move(text));
  });
}

void put_push(Context& context, Call call) {
  const Device* const device = pushed_device(context, call);
  if (!device) return;
  Result<notify::Target> target = api::parse_push(call.request().body);
  if (!target) return call.refuse(target.error());
  target->id = device->id;
  target->name = device->name;
  context.parts.notifier->subscribe(std::move(*target),
                                    answering<notify::TargetView>(std::move(call), 200, api::push_reply));
}

void remove_push(Context& context, Call call) {
  if (!pushed_device(context, call) || refused(call, api::parse_nothing(call.request().body))) return;
  const std::string id = call.args[0];
  context.parts.notifier->remove(id, [call = std::move(call)](const Result<void>& removed) {
    // Where there is none, all is as it was asked for.
    if (!removed && removed.error().code != Code::not_found) return call.refuse(removed.error());
    call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
}

void test_push(Context& context, Call call) {
  if (!pushed_device(context, call) || refused(call, api::parse_nothing(call.request().body))) return;
  const std::string id = call.args[0];
  context.parts.notifier->test(id, answering<notify::Outcome>(std::move(call), 200, api::webhook_test_reply));
}

}  // namespace errand::net

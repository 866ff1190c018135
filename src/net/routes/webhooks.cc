// Webhooks: where notifications go.
#include "api/webhooks.h"

#include "api/query.h"
#include "api/requests.h"
#include "net/routes/context.h"

namespace errand::net {
namespace {

// Also where the path names a phone's notifications: those are the device's (devices.cc).
bool absent(const Context& context, const Call& call) {
  if (context.parts.notifier && !call.args.empty() && !call.args[0].starts_with("hook_")) {
    call.refuse({Code::not_found, "No webhook has this id. `errand notify list` (GET /api/webhooks) lists them.", {}});
    return true;
  }
  if (context.parts.notifier) return false;
  call.refuse({Code::not_found, "This server sends no notifications.", "unknown_path"});
  return true;
}

// No query and no body, for what takes neither; a refusal answers the call.
bool has_more(const Call& call) {
  Status status = api::parse_no_query(call.request().query);
  if (status) status = api::parse_nothing(call.request().body);
  if (!status) call.refuse(status.error());
  return !status;
}

}  // namespace

void list_webhooks(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  call.answer(200, api::webhooks_reply(context.parts.notifier->list()));
}

void add_webhook(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  Result<notify::Target> target = api::parse_webhook(call.request().body);
  if (!target) return call.refuse(target.error());
  context.parts.notifier->add(std::move(*target),
                              answering<notify::TargetView>(std::move(call), 201, api::webhook_reply_with_secret));
}

void change_webhook(Context& context, Call call) {
  if (absent(context, call)) return;
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  Result<notify::TargetChange> change = api::parse_webhook_change(call.request().body);
  if (!change) return call.refuse(change.error());
  const std::string id = call.args[0];
  context.parts.notifier->change(id, std::move(*change),
                                 answering<notify::TargetView>(std::move(call), 200, api::webhook_reply));
}

void remove_webhook(Context& context, Call call) {
  if (absent(context, call) || has_more(call)) return;
  const std::string id = call.args[0];
  context.parts.notifier->remove(id, [call = std::move(call)](const Result<void>& removed) {
    if (!removed) return call.refuse(removed.error());
    call.exchange->reply({.status = 204, .content_type = {}, .body = {}, .headers = {}});
  });
}

void rotate_webhook(Context& context, Call call) {
  if (absent(context, call) || has_more(call)) return;
  const std::string id = call.args[0];
  context.parts.notifier->rotate(id,
                                 answering<notify::TargetView>(std::move(call), 200, api::webhook_reply_with_secret));
}

void test_webhook(Context& context, Call call) {
  if (absent(context, call) || has_more(call)) return;
  const std::string id = call.args[0];
  context.parts.notifier->test(id, answering<notify::Outcome>(std::move(call), 200, api::webhook_test_reply));
}

}  // namespace errand::net

// Usage limits of providers: shown, and ended by a person.
#include "api/query.h"
#include "api/replies.h"
#include "net/routes/context.h"

namespace errand::net {

void list_quotas(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  call.answer(200, api::quotas_reply(context.parts.engine.administration().quotas()));
}

void clear_quotas(Context& context, Call call) {
  Result<std::string> account = api::parse_quota_account(call.request().query);
  if (!account) return call.refuse(account.error());
  context.parts.engine.administration().clear_quota(
      std::move(*account), answering<int64_t>(std::move(call), 200, api::quotas_cleared_reply));
}

}  // namespace errand::net

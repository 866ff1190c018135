// Settings: shown and changed.
#include "api/settings.h"

#include "api/query.h"
#include "net/routes/context.h"

namespace errand::net {

void get_settings(Context& context, Call call) {
  if (const Status status = api::parse_no_query(call.request().query); !status) return call.refuse(status.error());
  call.answer(200, api::settings_reply(context.parts.engine.administration().settings()));
}

void change_settings(Context& context, Call call) {
  parse_then(context, std::move(call), api::parse_settings_change, [&context](Call parsed, SettingsChange change) {
    context.parts.engine.administration().change_settings(
        std::move(change), [call = std::move(parsed)](Result<EngineSettings> changed) mutable {
          if (!changed) return call.refuse(changed.error());
          call.answer(200, api::settings_reply(*changed));
        });
  });
}

}  // namespace errand::net

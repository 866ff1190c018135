// errand version.
#include "base/version.h"

#include "base/json_out.h"
#include "cli/verbs.h"

namespace errand::cli {

int version(Context& context, const VersionArgs&) {
  if (!context.screen.json()) {
    context.screen.out_line(std::string("errand ").append(errand::version));
    return code(Exit::ok);
  }
  std::string text;
  JsonOut(text).object().field("version", errand::version).end();
  context.screen.out_line(text);
  return code(Exit::ok);
}

}  // namespace errand::cli
